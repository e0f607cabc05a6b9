"""Kilter for Python: parallel work where cores are not equal."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._core import usable_cpus

if TYPE_CHECKING:
    from . import lab
    from .lab import Policy, platforms, policies, read_results, reproduce, simulate

#: What is imported when it is first asked for, and where it is.
_LATER = {
    "lab": "lab",
    "Policy": "lab",
    "platforms": "lab",
    "policies": "lab",
    "read_results": "lab",
    "reproduce": "lab",
    "simulate": "lab",
}

__all__ = [
    "Policy",
    "lab",
    "platforms",
    "policies",
    "read_results",
    "reproduce",
    "simulate",
    "usable_cpus",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'kilter' has no attribute {name!r}")
    module = importlib.import_module("." + _LATER[name], __name__)
    found = module if name == _LATER[name] else getattr(module, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
