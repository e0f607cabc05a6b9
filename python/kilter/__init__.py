"""Kilter for Python: parallel work where cores are not equal."""

from ._core import usable_cpus

__all__ = ["usable_cpus"]
