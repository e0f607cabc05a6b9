"""joblib on Kilter's workers: importing this module registers the backend "kilter"; `import kilter`
alone changes nothing of joblib.

    import joblib, kilter.joblib

    with joblib.parallel_config(backend="kilter"):
        joblib.Parallel(n_jobs=-1)(joblib.delayed(f)(x) for x in data)

Tasks run on threads, as with joblib's "threading": they share memory, and run in parallel where
they release the interpreter's lock. Kilter learns what each CPU is worth for each function. As many
run at once as the computer has CPUs, also if `n_jobs` is more: tasks that wait for one another, or
for a network, belong on "threading".
"""

from __future__ import annotations

import threading
import time
from collections import deque
from multiprocessing import TimeoutError
from typing import Any, Callable

from ._core import name_of, on_worker
from .executor import Executor, default_executor

try:
    from joblib.parallel import (
        AutoBatchingMixin,
        FallbackToBackend,
        ParallelBackendBase,
        SequentialBackend,
        register_parallel_backend,
    )
except ImportError:
    raise ImportError("kilter.joblib needs joblib: pip install kilter[joblib]") from None

__all__ = ["Backend"]


class Batch:
    """Some delayed calls that one worker makes in a row, and joblib's handle of them."""

    def __init__(self, call: Call, calls: Any, completed: Callable) -> None:
        self.call = call
        self.calls = calls
        functions = dict.fromkeys(name_of(f) for f, _, _ in calls.items)
        self.name = "+".join(functions) + (f" x{len(calls)}" if len(calls) > 1 else "")
        self.completed = completed
        self.done = False
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.result = self.calls()
        except BaseException as error:
            self.error = error
        del self.calls  # and the arguments
        self.call.ended(self)

    def outcome(self) -> list:
        """The results, or raises what this batch raised, else what another of its call did."""
        error = self.error or self.call.failed
        if error is not None:
            raise error
        return self.result

    def get(self, timeout: float | None = None) -> list:
        """Waits for the outcome; multiprocessing.TimeoutError after `timeout` seconds."""
        if not self.done:
            self.call.wait(self, timeout)
        return self.outcome()


class Call:
    """One call of a joblib.Parallel: at most `at_once` batches of it are with the executor."""

    def __init__(self, executor: Executor, at_once: float, in_order: bool, streams: bool) -> None:
        self.executor = executor
        self.at_once = at_once
        self.in_order = in_order
        self.streams = streams
        self.failed: BaseException | None = None
        self.aborted = False
        self.waiting: deque[Batch] = deque()
        self.with_executor = 0
        self.unfinished = 0
        self.awaited: Batch | None = None
        self.helped = False
        self.changed = threading.Condition()

    def submit(self, batch: Batch) -> Batch:
        with self.changed:
            self.waiting.append(batch)
            self.unfinished += 1
            starts = self.with_executor < self.at_once
            self.with_executor += starts
            if self.helped:
                self.changed.notify_all()
        if starts:
            self.executor._submit_as(batch.name, self.run_next)
        return batch

    def run_next(self) -> None:
        self.run_waiting()
        with self.changed:
            more = self.with_executor == self.at_once and self.waiting
            if not more:
                self.with_executor -= 1
            name = self.waiting[0].name if more else ""
        if more:
            self.executor._submit_as(name, self.run_next)

    def run_waiting(self) -> bool:
        """Runs a batch that no worker has begun; whether there was one."""
        try:
            batch = self.waiting.popleft()
        except IndexError:
            return False
        batch.run()
        return True

    def ended(self, batch: Batch) -> None:
        # joblib submits further batches in `completed`, so it comes before this one is counted.
        error = batch.error
        if not self.aborted and (error is None or not self.in_order):
            try:
                batch.completed(batch)
            except BaseException as raised:
                error = raised
        with self.changed:
            batch.done = True
            self.failed = self.failed or error
            self.unfinished -= 1
            if self.unfinished == 0 or self.failed or self.awaited is batch:
                self.changed.notify_all()

    def wait(self, batch: Batch, timeout: float | None) -> None:
        # A worker that only waited could be the one that the batch needs.
        self.helped = on_worker()
        # Else all are waited for, so that the thread wakes once.
        one = self.streams or self.helped or timeout is not None
        self.awaited = batch if one else None

        def over() -> bool:
            return self.failed is not None or batch.done or (not one and self.unfinished == 0)

        end = None if timeout is None else time.monotonic() + timeout
        while not over():
            if self.helped and self.run_waiting():
                continue
            with self.changed:
                left = None if end is None else end - time.monotonic()
                came = self.changed.wait_for(lambda: over() or self.helped and self.waiting, left)
            if not came:
                raise TimeoutError(f"no result within {timeout} seconds")

    def abort(self) -> None:
        self.aborted = True
        self.waiting.clear()


class Backend(AutoBatchingMixin, ParallelBackendBase):
    """joblib's backend "kilter": see this module."""

    uses_threads = True
    supports_sharedmem = True
    supports_timeout = True
    supports_return_generator = True
    # Seconds from submission to the end. A batch hides what joblib does for one, some 0.1 ms with
    # the interpreter's lock, and is no longer, since who waits for all waits for the last.
    MIN_IDEAL_BATCH_DURATION = 0.01
    MAX_IDEAL_BATCH_DURATION = 0.05

    def __init__(self, parallel: Any = None, **settings: Any) -> None:
        super().__init__(**settings)
        self.parallel = parallel

    def effective_n_jobs(self, n_jobs: int | None) -> int:
        """How many batches joblib keeps under way: `n_jobs`, of which -1 is one a worker."""
        if n_jobs == 0:
            raise ValueError("n_jobs == 0 in Parallel has no meaning")
        if n_jobs is None:
            return 1
        return n_jobs if n_jobs > 0 else max(default_executor().workers + 1 + n_jobs, 1)

    def configure(self, n_jobs: int = 1, parallel: Any = None, **settings: Any) -> int:
        self.n_jobs = self.effective_n_jobs(n_jobs)
        if self.n_jobs == 1:
            raise FallbackToBackend(SequentialBackend(nesting_level=self.nesting_level))
        if self.parallel is not parallel:  # joblib gives one object to all within parallel_config
            raise FallbackToBackend(Backend(parallel, nesting_level=self.nesting_level))
        # Out of order, joblib knows results by callbacks alone. In order it would look for those
        # each 10 ms, but waits for handles.
        self.supports_retrieve_callback = not getattr(parallel, "return_ordered", True)
        self.executor = default_executor()
        return self.n_jobs

    def start_call(self) -> None:
        few = self.n_jobs < self.executor.workers
        self.call = Call(
            self.executor,
            self.n_jobs if few else float("inf"),
            not self.supports_retrieve_callback,
            getattr(self.parallel, "return_generator", False),
        )

    def submit(self, func: Any, callback: Callable) -> Batch:
        return self.call.submit(Batch(self.call, func, callback))

    apply_async = submit  # its name before joblib 1.5

    def retrieve_result_callback(self, out: Batch) -> list:
        return out.outcome()

    def abort_everything(self, ensure_ready: bool = True) -> None:
        self.call.abort()

    def terminate(self) -> None:
        self.reset_batch_stats()

    def get_nested_backend(self) -> tuple[ParallelBackendBase, None]:
        level = (self.nesting_level or 0) + 1
        return (SequentialBackend if level > 1 else Backend)(nesting_level=level), None


register_parallel_backend("kilter", Backend)
