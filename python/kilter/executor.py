"""Calls on Kilter's workers, as `concurrent.futures` has them."""

from __future__ import annotations

import atexit
import concurrent.futures
import os
import threading
import warnings
import weakref
from collections.abc import Iterable, Iterator
from typing import Any, Callable, NamedTuple

from . import _core

_MOST_WORKERS = 1024

if issubclass(concurrent.futures.TimeoutError, TimeoutError):
    TimeoutError = concurrent.futures.TimeoutError
else:  # before 3.11 they were two

    class TimeoutError(concurrent.futures.TimeoutError, TimeoutError):
        """A time limit has passed."""


class Learned(NamedTuple):
    """What was learned of one type of tasks at one place.

    type: the name of the function. cpus: the workers, from 0, that it ran on. seconds: how long a
    task takes there. samples: how many runs say so.
    """

    type: str
    cpus: range
    seconds: float
    samples: int


class Future(_core.Call, concurrent.futures.Future):
    """The outcome of a call that was submitted to an `Executor`.

    A `concurrent.futures.Future`, so `wait`, `as_completed` and `asyncio.wrap_future` take it.
    """

    def _finish(self) -> None:
        with self._condition:
            self._state = "FINISHED"
            for waiter in self._waiters:
                if self._exception is None:
                    waiter.add_result(self)
                else:
                    waiter.add_exception(self)
            self._condition.notify_all()
        self._invoke_callbacks()

    def _tell(self) -> None:
        with self._condition:
            self._condition.notify_all()
        self._invoke_callbacks()

    def _tell_cancelled(self) -> None:
        with self._condition:
            self._state = "CANCELLED_AND_NOTIFIED"
            for waiter in self._waiters:
                waiter.add_cancelled(self)


class Executor(_core.Pool, concurrent.futures.Executor):
    """Workers, pinned to CPUs, which call what is submitted where it is done soonest.

    max_workers: how many; None: one for each CPU that this process may use (its mask, and what a
    quota of its container pays for). With more than there are CPUs they are not pinned, for calls
    that wait for something else.
    policy: how the worker of a call is chosen, a name of `kilter lab policies`. The default lets
    any free worker take a call. With "auto" a call may wait for a worker whose own one blocks.
    learned: a file that keeps what was learned about the functions. It is read at once if it is
    there, and written by `shutdown`. One that cannot be used, as another machine's, is warned of
    (RuntimeWarning), and then replaced.

    ValueError for a policy that is not known or a number below 1. An executor that is dropped does
    what was submitted, as `concurrent.futures.ThreadPoolExecutor` does, also at the interpreter's
    end. In the child of a fork it refuses everything (RuntimeError).
    """

    def __init__(
        self,
        max_workers: int | None = None,
        *,
        policy: str = "dam-c",
        learned: str | os.PathLike | None = None,
    ) -> None:
        if max_workers is not None and not 1 <= max_workers <= _MOST_WORKERS:
            raise ValueError(
                f"max_workers must be from 1 to {_MOST_WORKERS}, or None, not {max_workers}"
            )
        if _exits:
            raise RuntimeError("cannot make an executor while the interpreter ends")
        file = b"" if learned is None else os.fsencode(learned)
        super().__init__(max_workers or 0, policy, file, Future)
        _live.add(self)
        if file and os.path.exists(file):
            try:
                self._load(file)
            except ValueError as why:
                warnings.warn(f"{why}; learning anew", RuntimeWarning, stacklevel=2)

    def map(
        self,
        fn: Callable[..., Any],
        *iterables: Iterable[Any],
        timeout: float | None = None,
        chunksize: int = 1,
    ) -> Iterator[Any]:
        """An iterator over fn(*items) for the items of the iterables, in their order.

        All is submitted at once, `chunksize` items a call. timeout: seconds from now until the
        last result (TimeoutError). What has not begun is cancelled when the iterator is closed, or
        raises.
        """
        if chunksize < 1:
            raise ValueError(f"chunksize must be at least 1, not {chunksize}")
        if chunksize == 1:
            return super().map(fn, *iterables, timeout=timeout)
        items = list(zip(*iterables))
        chunks = [items[i : i + chunksize] for i in range(0, len(items), chunksize)]
        parts = concurrent.futures.Executor.map(
            _Named(self, _core.name_of(fn)), _of_chunk, [fn] * len(chunks), chunks, timeout=timeout
        )
        return (result for part in parts for result in part)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Takes nothing more. What was submitted is done, or cancelled if it has not begun.

        wait: return when all is done and the workers have ended; not on one of the workers itself,
        which cannot wait for its own end. OSError or ValueError if `learned` cannot be written.
        """
        for future in self._close(cancel_futures):
            future.cancel()
        while wait and not self._ended():
            pass

    def table(self) -> list[Learned]:
        """What was learned so far, one entry for each function and place."""
        return [
            Learned(type, range(leader, leader + width), seconds, samples)
            for type, leader, width, seconds, samples in self._table()
        ]


class _Named:
    """An executor whose calls count under a name."""

    def __init__(self, executor: Executor, name: str) -> None:
        self.submit = lambda fn, *args: executor._submit_as(name, fn, *args)


def _of_chunk(fn: Callable[..., Any], items: list[tuple]) -> list[Any]:
    return [fn(*item) for item in items]


_live: weakref.WeakSet[Executor] = weakref.WeakSet()
_default: Executor | None = None
_default_lock = threading.Lock()
_exits = False


def default_executor() -> Executor:
    """The executor that `kilter.map` and graphs use: one worker for each CPU that may be used.

    It is made at first use, made anew in the child of a fork, and ended with the interpreter.
    """
    global _default
    with _default_lock:
        if _default is None:
            _default = Executor()
        return _default


def map(fn: Callable[..., Any], *iterables: Iterable[Any], chunksize: int | None = None) -> list:
    """A list of fn(*items) for the items of the iterables, by the default executor.

    chunksize: how many items a call takes; None: so many that each worker gets some 32 calls.
    The first exception is raised, and what has not begun is then left out.
    """
    executor = default_executor()
    items = list(zip(*iterables))
    size = chunksize or max(1, len(items) // (32 * executor.workers))
    return list(executor.map(fn, *zip(*items), chunksize=size)) if items else []


def _forget_after_fork() -> None:
    global _default, _default_lock, _live
    _default = None
    _live = weakref.WeakSet()
    _default_lock = threading.Lock()


def _end() -> None:
    global _exits
    _exits = True
    try:
        for executor in list(_live):
            executor.shutdown()
        while not _core.background_is_over():
            pass
    finally:
        _core.end_of_interpreter()


os.register_at_fork(after_in_child=_forget_after_fork)
getattr(threading, "_register_atexit", atexit.register)(_end)
