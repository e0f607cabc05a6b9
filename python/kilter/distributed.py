"""Workers of Dask's distributed that run their tasks on Kilter's.

    client.register_plugin(kilter.distributed.Plugin())

Those that are processes of one computer divide its CPUs among themselves, as each needs them, and
keep away from those that others use (docs/neighbours.md).
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
import time
from typing import Any

from ._cpus import cpu_budget
from .executor import Executor

try:
    from dask.utils import key_split
    from distributed import threadpoolexecutor as pools
    from distributed.diagnostics.plugin import WorkerPlugin
except ImportError:
    raise ImportError(
        "kilter.distributed needs distributed: pip install kilter[distributed]"
    ) from None

__all__ = ["Plugin"]


class Plugin(WorkerPlugin):
    """Gives each worker a `kilter.Executor`, until the plugin is removed.

    nthreads: how many tasks a worker begins at the same time. None: what it had, and more while
    `kilter.cpu_budget()`, looked at each second, says so; for tasks that bear no others beside them
    say 1. ValueError if it is below 1.
    """

    name = "kilter"

    def __init__(self, nthreads: int | None = None) -> None:
        if nthreads is not None and nthreads < 1:
            raise ValueError(f"nthreads must be at least 1, or None, not {nthreads}")
        self.nthreads = nthreads

    async def setup(self, worker: Any) -> None:
        self.before = worker.executors["default"], worker.state.nthreads
        worker.executors["default"] = _ThreadPoolExecutor()
        if self.nthreads is None:
            self.following = asyncio.create_task(self.follow_budget(worker.state))
        else:
            worker.state.nthreads = self.nthreads

    async def follow_budget(self, state: Any) -> None:
        while True:
            state.nthreads = max(self.before[1], await asyncio.to_thread(cpu_budget))
            await asyncio.sleep(1)

    async def teardown(self, worker: Any) -> None:
        if self.nthreads is None:
            self.following.cancel()
        ours = worker.executors["default"]
        worker.executors["default"], worker.state.nthreads = self.before
        ours.shutdown(wait=False)


# Workers ask by this name whether tasks see their worker and the context of their caller.
class _ThreadPoolExecutor(pools.ThreadPoolExecutor):
    """Tasks wait in the base's queue; each call of Kilter's executor takes the oldest.

    So a thread can stand in for a task that secedes, as it keeps Kilter's worker till it ends.
    """

    def __init__(self) -> None:
        self.kilter = Executor()
        super().__init__(self.kilter.workers, thread_name_prefix="kilter")

    def _adjust_thread_count(self) -> None:  # by `submit`, and by who secedes
        if getattr(pools.thread_state, "proceed", True):
            self.kilter._submit_as(_type_of_task(), self._run_oldest)
        else:
            stand_in = threading.Thread(
                target=pools._worker, args=(self, self._work_queue), daemon=True
            )
            self._threads.add(stand_in)
            stand_in.start()

    def _run_oldest(self) -> None:
        try:
            task = self._work_queue.get_nowait()
        except queue.Empty:
            return
        if task is None:  # it tells stand-ins of the end
            self._work_queue.put(None)
            return
        here = threading.current_thread()
        self._threads.add(here)
        pools.thread_state.executor, pools.thread_state.proceed = self, True
        try:
            task.run()
        finally:
            if not pools.thread_state.proceed:  # it seceded, so one stand-in is to end
                with self._rejoin_lock:
                    self._rejoin_list.append((here, threading.Event()))
            del pools.thread_state.executor, pools.thread_state.proceed
            self._threads.discard(here)

    def shutdown(self, wait: bool = True, timeout: float | None = None) -> None:
        with self._shutdown_lock:
            self._shutdown = True
        self.kilter.shutdown(wait=False)
        end = time.monotonic() + (1e9 if timeout is None else timeout)
        while wait and time.monotonic() < end and not self.kilter._ended():
            pass
        self._work_queue.put(None)


def _type_of_task() -> str:
    """From the name of the coroutine that executes it, such as "execute('inc-1f0c')"."""
    with contextlib.suppress(RuntimeError):
        task = asyncio.current_task()
        if task is not None and task.get_name().startswith("execute("):
            return key_split(task.get_name()[len("execute(") : -1].strip("'"))
    return "task"
