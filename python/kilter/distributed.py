"""Dask's distributed workers on Kilter's.

    client.register_plugin(kilter.distributed.Plugin())

Each worker of the cluster that is a process then runs its tasks on a `kilter.Executor`. Those of
one computer divide its CPUs among themselves as each of them needs (docs/neighbours.md), and leave
those alone that others use.
"""

from __future__ import annotations

import threading
from typing import Any

from . import cpu_budget
from .executor import Executor

try:
    from dask.utils import key_split
    from distributed.diagnostics.plugin import WorkerPlugin
    from distributed.threadpoolexecutor import ThreadPoolExecutor, thread_state
    from distributed.threadpoolexecutor import _worker as _stand_in
except ImportError as error:
    raise ImportError("kilter.distributed needs distributed: pip install kilter[dask]") from error

__all__ = ["Plugin"]
