"""Dask's graphs on Kilter's workers.

    import dask, kilter.dask

    with dask.config.set(scheduler=kilter.dask.get):
        x.compute()

The policy sees the whole graph, and learns what each CPU is worth for each kind of task: the prefix
of Dask's keys, such as "sum-partial".
"""

from __future__ import annotations

import contextvars
import inspect
import os
import threading
from collections.abc import Mapping
from typing import Any

from .executor import Executor
from .graph import Graph

try:
    import dask
    from dask import local, threaded
    from dask.callbacks import local_callbacks, unpack_callbacks
    from dask.core import flatten
    from dask.order import order
    from dask.utils import key_split
except ImportError:
    raise ImportError("kilter.dask needs dask: pip install kilter[dask]") from None

__all__ = ["get"]

if hasattr(local, "convert_legacy_graph"):
    _as_graph = local.convert_legacy_graph

    def _call(task: Any, values: dict) -> Any:
        return task(values)
else:  # before 2024.12 tasks were tuples
    _as_graph = dict
    _call = local._execute_task
_takes_keys = "keys" in inspect.signature(local.start_state_from_dask).parameters


def get(
    dsk: Mapping,
    keys: Any,
    cache: Any = None,
    num_workers: int | None = None,
    pool: Any = None,
    callbacks: Any = None,
    rerun_exceptions_locally: bool | None = None,
    **settings: Any,
) -> Any:
    """The results of `keys`, one or lists of them, as `dask.threaded.get` has them.

    num_workers: how many; None: what dask.config says, else one for each CPU. pool: a
    kilter.Executor, whose policy decides how many results are alive at once; with a pool of another
    kind this is `dask.threaded.get`. What a task raises is raised, and what has not begun is left
    out. ProgressBar and other callbacks are called by the workers, one at a time.
    """
    pool = pool or dask.config.get("pool", None)
    num_workers = num_workers or dask.config.get("num_workers", None)
    if not (pool is None or isinstance(pool, Executor)):
        settings.update(callbacks=callbacks, rerun_exceptions_locally=rerun_exceptions_locally)
        return threaded.get(dsk, keys, cache, num_workers, pool, **settings)
    if rerun_exceptions_locally is None:
        rerun_exceptions_locally = dask.config.get("rerun_exceptions_locally", False)
    if not isinstance(dsk, Mapping):
        dsk = dsk.__dask_graph__()
    with local_callbacks(callbacks) as told:
        run = _Run(_as_graph(dsk), set(flatten([keys])), told)
        run.all(pool or _executor(num_workers), cache, rerun_exceptions_locally)
    return local.nested_get(keys, run.values)


class _Run:
    """One graph, with Dask's state of it as callbacks want it."""

    def __init__(self, dsk: Mapping, wanted: set, callbacks: Any) -> None:
        self.dsk = dsk
        self.wanted = wanted
        self.callbacks = callbacks
        _, _, self.before, self.after, _ = unpack_callbacks(callbacks)
        self.state: dict = {}
        self.failed: list = []  # keys
        self.lock = threading.Lock()
        self.context = contextvars.copy_context()

    def all(self, executor: Executor, cache: Any, reruns: bool) -> None:
        begun = []
        succeeded = False
        try:
            for callback in self.callbacks:
                if callback[0]:
                    callback[0](self.dsk)
                begun.append(callback)
            self.start(cache)
            for callback in self.callbacks:
                if callback[1]:
                    callback[1](self.dsk, self.state)
            try:
                self.graph().run(executor)
            except BaseException:
                if reruns and self.failed:  # where a debugger sees it
                    self.compute(self.failed[0])
                raise
            succeeded = True
        finally:
            for callback in begun:
                if callback[4]:
                    callback[4](self.dsk, self.state, not succeeded)

    def start(self, cache: Any) -> None:
        self.priority = order(self.dsk).get
        wanted = {"keys": self.wanted} if _takes_keys else {}
        self.state = local.start_state_from_dask(self.dsk, cache, self.priority, **wanted)
        if self.state["waiting"] and not self.state["ready"]:
            raise ValueError("Found no accessible jobs in dask")
        self.state["ready"] = _Ready.fromkeys(self.state["ready"])
        self.values = self.state["cache"]
        self.dependencies = self.state["dependencies"]
        self.users = self.state["waiting_data"]

    def graph(self) -> Graph:
        graph = Graph()
        tasks: dict = {}  # indices
        runs = self.run_told if self.callbacks else self.run
        for key in sorted((*self.state["ready"], *self.state["waiting"]), key=self.priority):
            task = graph._add(runs, (key,), {}, (), (), key_split(key), False, 0.0)
            for d in self.dependencies[key]:
                if d in tasks:
                    graph._edge(tasks[d], task)
            tasks[key] = task
        return graph

    def compute(self, key: Any) -> Any:
        values = {d: self.values[d] for d in self.dependencies[key]}
        try:
            return self.context.copy().run(_call, self.dsk[key], values)
        except BaseException:
            self.failed.append(key)
            raise

    def run(self, key: Any) -> None:
        self.values[key] = self.compute(key)
        for d in self.dependencies[key]:
            users = self.users[d]
            users.discard(key)
            if not users and d not in self.wanted:
                self.values.pop(d, None)  # two last users may both come here

    def run_told(self, key: Any) -> None:
        with self.lock:
            del self.state["ready"][key]
            self.state["running"].add(key)
            for callback in self.before:
                callback(key, self.dsk, self.state)
        value = self.compute(key)
        with self.lock:
            self.values[key] = value
            local.finish_task(self.dsk, key, self.state, self.wanted, self.priority)
            for callback in self.after:
                callback(key, value, self.dsk, self.state, threading.get_ident())


class _Ready(dict):
    """Dask's list of what is ready, out of which a task is taken wherever it stands."""

    def append(self, key: Any) -> None:
        self[key] = None


# With DAM-C workers go to the end of a branch before they begin the next, as in Dask's order, so
# few results are alive at once. Policies that rank what is ready begin with all leaves.
_executors: dict[int | None, Executor] = {}
_executors_lock = threading.Lock()


def _executor(workers: int | None) -> Executor:
    with _executors_lock:
        if workers not in _executors:
            _executors[workers] = Executor(workers)
        return _executors[workers]


os.register_at_fork(after_in_child=_executors.clear)
