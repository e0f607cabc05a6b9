"""Kilter for Python: parallel work where cores are not equal."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import lab
    from ._core import __version__
    from ._cpus import Budget, Cpu, User, cpu_budget, cpus
    from ._limits import limits
    from .executor import Executor, Future, Learned, default_executor, map
    from .graph import Graph, Run, Task
    from .lab import Policy, platforms, policies, read_results, reproduce, simulate

__all__ = [
    "Budget",
    "Cpu",
    "Executor",
    "Future",
    "Graph",
    "Learned",
    "Policy",
    "Run",
    "Task",
    "User",
    "__version__",
    "cpu_budget",
    "cpus",
    "default_executor",
    "lab",
    "limits",
    "map",
    "platforms",
    "policies",
    "read_results",
    "reproduce",
    "simulate",
]

# The module of each name, loaded when one is asked for: the command needs none. Those that need a
# package of somebody else are in no `import *`.
_module_of = {
    "Budget": "_cpus",
    "Cpu": "_cpus",
    "Executor": "executor",
    "Future": "executor",
    "Graph": "graph",
    "Learned": "executor",
    "Policy": "lab",
    "Run": "graph",
    "Task": "graph",
    "User": "_cpus",
    "__version__": "_core",
    "cpu_budget": "_cpus",
    "cpus": "_cpus",
    "dask": "dask",
    "default_executor": "executor",
    "distributed": "distributed",
    "joblib": "joblib",
    "lab": "lab",
    "limits": "_limits",
    "map": "executor",
    "platforms": "lab",
    "policies": "lab",
    "read_results": "lab",
    "reproduce": "lab",
    "simulate": "lab",
}


def __getattr__(name):
    if name not in _module_of:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = __import__(f"{__name__}.{_module_of[name]}", fromlist=[name])
    found = module if name == _module_of[name] else getattr(module, name)
    return globals().setdefault(name, found)


def __dir__():
    return sorted({*globals(), *_module_of})
