"""Kilter for Python: parallel work where cores are not equal."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._cpus import Budget, Cpu, User, cpu_budget, cpus
    from ._limits import limits
    from .executor import Executor, Future, Learned, default_executor, map
    from .graph import Graph, Run, Task

__all__ = [
    "Budget",
    "Cpu",
    "Executor",
    "Future",
    "Graph",
    "Learned",
    "Run",
    "Task",
    "User",
    "cpu_budget",
    "cpus",
    "default_executor",
    "limits",
    "map",
]

# The module of each name, loaded when one is asked for: the command needs none.
_module_of = {
    "Budget": "_cpus",
    "Cpu": "_cpus",
    "User": "_cpus",
    "cpu_budget": "_cpus",
    "cpus": "_cpus",
    "limits": "_limits",
    "Executor": "executor",
    "Future": "executor",
    "Learned": "executor",
    "default_executor": "executor",
    "map": "executor",
    "Graph": "graph",
    "Run": "graph",
    "Task": "graph",
}


# What needs another package.
_joined = ("dask", "distributed", "joblib")


def __getattr__(name: str) -> Any:
    import importlib

    if name in _joined:
        return importlib.import_module(f"{__name__}.{name}")
    if name not in _module_of:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_module_of[name]}"), name)
    return globals().setdefault(name, value)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_joined})
