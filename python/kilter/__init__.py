"""Kilter for Python: parallel work where cores are not equal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._core import usable_cpus

if TYPE_CHECKING:
    from .executor import Executor, Future, Learned, default_executor, map
    from .graph import Graph, Run, Task

__all__ = [
    "Executor",
    "Future",
    "Graph",
    "Learned",
    "Run",
    "Task",
    "default_executor",
    "map",
    "usable_cpus",
]

# Imported at first use, so that `import kilter` takes no time.
_MODULE_OF = {
    "Executor": "executor",
    "Future": "executor",
    "Learned": "executor",
    "default_executor": "executor",
    "map": "executor",
    "Graph": "graph",
    "Run": "graph",
    "Task": "graph",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
