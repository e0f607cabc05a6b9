"""Pools of BLAS and OpenMP threads that follow what the computer has left."""

from __future__ import annotations

import atexit
import contextlib
import functools
import itertools
import math
import os
import threading
import time

from . import _core, _cpus

try:
    import threadpoolctl

    if tuple(map(int, threadpoolctl.__version__.split(".")[:2])) < (3, 7):
        raise ImportError  # older ones may hang where another thread imports meanwhile
except ImportError:
    raise ImportError(
        "kilter.limits needs threadpoolctl 3.7 or newer: pip install kilter[limits]"
    ) from None

_BETWEEN_LOOKS = 0.1  # seconds: ticks of 10 ms say enough then
_CROWD = 0.15  # CPUs that own threads wait for, per thread of a pool: a second pool makes it half
_FIRST_HOLD, _LONGEST_HOLD = 5.0, 300.0  # seconds, until it is tried whether they still do


# ---- numbers of libraries ------------------------------------------------------------------------


class _Pool:
    """A library's number of threads: what the program asks for, and what it gets."""

    def __init__(self, get, set_):
        self.get, self.set = get, set_
        self.asked = self.given = get()

    def follow(self, most: int, limited: bool):
        """`limited`: a limiter of threadpoolctl is open. What it has set is nothing that the
        program asks for, so it is not to be raised; and when it closes it sets what it found."""
        now = self.get()
        if not limited and now != self.given:
            self.asked = now
        self.given = min(self.asked, most, now if limited else self.asked)
        if self.given != now:
            self.set(self.given)

    def found_again(self):
        """A limiter has closed, and set what it found: that was ours, or is more."""
        self.given = self.get()
        self.asked = max(self.asked, self.given)

    def restore(self):
        if self.asked != self.given == self.get():
            self.set(self.asked)


def _openblas(library):
    """Its functions themselves: threadpoolctl lets one thread alone set the number, which would be
    the one that watches."""
    for before, after in itertools.product(("", "scipy_"), ("", "64_", "_64")):
        get = getattr(library.dynlib, f"{before}openblas_get_num_threads{after}", None)
        set_ = getattr(library.dynlib, f"{before}openblas_set_num_threads{after}", None)
        if get and set_:
            return get, set_
    return None


def _functions(library):
    """How to read and set a library's number, and whether that is the calling thread's alone."""
    if library.internal_api == "openblas":
        # with OpenMP's threads it takes the calling thread's number of OpenMP
        found = None if library.threading_layer == "openmp" else _openblas(library)
    else:
        found = library.get_num_threads, library.set_num_threads
    of_thread = library.internal_api in ("openmp", "mkl")
    return found and found[0]() and (*found, of_thread)


# ---- libraries that keep one another from the CPUs -----------------------------------------------


class _Crowd:
    """Whether this process has more threads that compute than CPUs. Those of OpenBLAS and OpenMP
    both wait by computing, so where a program uses one library after the other they do, with a
    number each that alone would be right: scikit-learn's k-means takes three times as long."""

    def __init__(self):
        self.most = self.before = self.until = None
        self.hold, self.looks = _FIRST_HOLD, 0

    def look(self, given: int, others: float) -> int | None:
        """How many threads pools of the process are to have, None: whatever the budget says.
        `given`: what they have, `others`: the CPUs that others use."""
        at, waited = time.monotonic(), _core.own_waiting_s()
        before, self.before = self.before, (at, waited)
        if before is None or at == before[0]:
            return self.most
        crowd = (waited - before[1]) / (at - before[0]) - others
        self.looks = self.looks + 1 if crowd > _CROWD * given else 0
        if self.looks == 2 and given > 1:
            self.looks = 0
            if self.most is None:
                again = self.until is not None and at < self.until + self.hold
                self.hold = min(2 * self.hold, _LONGEST_HOLD) if again else _FIRST_HOLD
            self.most, self.until = max(1, given - math.ceil(crowd)), at + self.hold
        elif self.most is not None and at > self.until:
            self.most = None
        return self.most


# ---- one for all limits() of the process ---------------------------------------------------------


class _Here(threading.local):
    """What the calling thread has entered."""

    depth = 0

    def __init__(self):
        self.pools: dict[str, _Pool] = {}


class _Keeper:
    """What all limits() of a process do together: the first begins to watch, the last ends it."""

    def __init__(self):
        self.lock = threading.RLock()  # a call in the main thread may come while that one holds it
        self.here = _Here()
        self.entries = 0
        self.pools: dict[str, _Pool] = {}  # the whole process's
        self.functions: dict[str, tuple] = {}  # of each library
        self.limiters: dict[int, int] = {}  # of threadpoolctl, that are open: their threads
        self.libraries = None
        self.watch = self.watched_thread = None
        self.budget = _cpus.Budget(1)
        self.others, self.crowd, self.crowd_leaves = 0.0, _Crowd(), None
        self.most_asked = 1
        self.stop: threading.Event | None = None
        self.watcher: threading.Thread | None = None
        self.main_depth = self.main_has = 0
        self.main_is_called = False

    # -- entering and leaving --

    def enter(self, seconds):
        here = threading.get_native_id()
        fresh = None
        if not self.entries and (seconds or self.watched_thread != here):
            fresh = _core.begin_budget()
            time.sleep(seconds or 0.0)
        with self.lock:
            if fresh is not None and not self.entries:
                self.watch, self.watched_thread = fresh, here
            self.entries += 1
            self.here.depth += 1
            self._count_main(1)
            try:
                self._look()
                self._find_libraries()
                self.follow_here()
                self._begin_to_watch()
            except BaseException:
                self.leave()
                raise

    def leave(self):
        ended = None
        with self.lock:
            if self.here.depth:
                self.here.depth -= 1
                self._count_main(-1)
                if not self.here.depth:
                    self._restore(self.here.pools)
            self.entries -= 1
            if not self.entries:
                ended = self._end()
                _core.leave(self.watch)
                if not self.limiters:  # else when the last of them has closed
                    self._restore(self.pools)
        if ended is not None:
            ended.join()

    def _count_main(self, entered):
        if threading.current_thread() is threading.main_thread():
            self.main_depth += entered

    @staticmethod
    def _restore(pools):
        for pool in list(pools.values()):
            pool.restore()
        pools.clear()

    # -- looking and following --

    def _look(self):
        told = _core.look(self.watch, self.most_asked)
        self.budget, self.others = _cpus._budget(told), told["others"]

    def _look_for_crowd(self):
        given = max((pool.given for pool in list(self.pools.values())), default=1)
        if self.budget.equal > 1 and (given > 1 or self.crowd_leaves):
            self.crowd_leaves = self.crowd.look(given, self.others)

    def _find_libraries(self):
        libraries = _core.libraries_so_far()
        if libraries == self.libraries:
            return
        self.libraries = libraries
        for library in threadpoolctl.ThreadpoolController().lib_controllers:
            if functions := _functions(library):
                self.functions.setdefault(library.filepath, functions)
                self.most_asked = max(self.most_asked, functions[0]())
        self.main_has = 0

    def follow_here(self):
        """Pools of the process, and those of the calling thread."""
        here = threading.get_ident()
        for path, (get, set_, of_thread) in list(self.functions.items()):
            if not (self.here.depth if of_thread else self.entries):
                continue
            pools = self.here.pools if of_thread else self.pools
            pool = pools.get(path) or pools.setdefault(path, _Pool(get, set_))
            limited = here in self.limiters.values() if of_thread else bool(self.limiters)
            most = self.budget.equal
            if self.crowd_leaves and not of_thread:
                most = min(most, self.crowd_leaves)
            pool.follow(most, limited)
        if threading.current_thread() is threading.main_thread():
            self.main_has = self.budget.equal

    def _in_main(self):
        self.main_is_called = False
        with self.lock:
            self.follow_here()

    # -- the thread that watches --

    def _begin_to_watch(self):
        if self.watcher is not None:
            return
        stop = threading.Event()
        watcher = threading.Thread(
            target=self._watch, args=(stop,), name="kilter.limits", daemon=True
        )
        # without a thread, as when the interpreter ends, what was set holds
        with contextlib.suppress(RuntimeError):
            watcher.start()
            self.stop, self.watcher = stop, watcher

    def _end(self):
        """The thread to join, without the lock."""
        watcher, self.watcher = self.watcher, None
        if watcher is not None:
            self.stop.set()
        return watcher

    def _watch(self, stop):
        libraries = None
        while not stop.wait(_BETWEEN_LOOKS):
            with self.lock:
                if stop.is_set():
                    return
                # a computer that cannot be read for once says nothing
                with contextlib.suppress(OSError, ValueError, RuntimeError):
                    self._look()
                    self._look_for_crowd()
                # one import loads many: when it is done
                before, libraries = libraries, _core.libraries_so_far()
                if libraries == before:
                    self._find_libraries()
                self.follow_here()
                calls = self.main_depth and self.main_has != self.budget.equal
                if calls and not self.main_is_called:
                    self.main_is_called = _core.call_in_main_thread(self._in_main)

    # -- limiters of threadpoolctl --

    def opened(self, limiter):
        with self.lock:
            self.limiters[id(limiter)] = threading.get_ident()

    def closed(self, limiter):
        with self.lock:
            self.limiters.pop(id(limiter), None)
            for pool in (*self.pools.values(), *self.here.pools.values()):
                pool.found_again()
            self.follow_here()
            if not self.entries and not self.limiters:
                self._restore(self.pools)

    # -- forks and the end --

    def before_fork(self):
        self.lock.acquire()

    def after_fork(self):
        self.lock.release()

    def after_fork_in_child(self):
        """The other threads are not there, so what they entered will not be left."""
        self.lock = threading.RLock()
        self.watcher = None
        self.main_is_called = False
        self.entries = self.main_depth = self.here.depth
        self.limiters = {k: t for k, t in self.limiters.items() if t == threading.get_ident()}
        if not self.entries:
            self.pools.clear()
        if self.watch is not None:
            _core.forget_after_fork(self.watch)

    def at_exit(self):
        with self.lock:
            ended = self._end()
        if ended is not None:
            ended.join()


_keeper = _Keeper()
os.register_at_fork(
    before=_keeper.before_fork,
    after_in_parent=_keeper.after_fork,
    after_in_child=_keeper.after_fork_in_child,
)
atexit.register(_keeper.at_exit)


def _hear_of_limiters():
    """threadpoolctl does not tell who has opened one. All libraries of a limiter get back what it
    found, so what was given meanwhile must be given again."""

    def heard(method, tell):
        @functools.wraps(method)
        def told(limiter, *arguments):
            try:
                return method(limiter, *arguments)
            finally:
                tell(limiter)

        return told

    base = threadpoolctl.threadpool_limits.__mro__[1]
    for limiter in (base, *base.__subclasses__()):
        for name, tell in (("__enter__", _keeper.opened), ("__exit__", _keeper.closed)):
            if name in vars(limiter):
                setattr(limiter, name, heard(vars(limiter)[name], tell))


_hear_of_limiters()


class limits(contextlib.ContextDecorator):
    """Keeps pools of BLAS and OpenMP threads at what makes sense now, while it changes.

    A context manager, and a decorator of functions:

        with kilter.limits():
            numpy.linalg.svd(a)

    Each library of this process gets `cpu_budget().equal` threads and never more than it had. A
    thread looks ten times a second; a change counts when two looks agree. BLAS gets fewer for a
    while where the process has more threads that compute than CPUs. At the end all have what they
    had, and what the program itself has set meanwhile stays. Several may be open, in one
    another and in several threads: the last one ends it.

    OpenMP's number (and MKL's) is one of each thread. It is set in the thread that enters. In the
    main thread it then follows, whenever that one runs Python; a region that has begun keeps its
    threads, and so does scikit-learn's fit(). In other threads `refresh()` sets it anew, and a
    thread that has not entered keeps its own.

    What threadpoolctl's own limits set inside holds until they end. In the child of a fork the
    numbers stay as they are; where the child leaves the block, it has what the program had.

    seconds: how long to measure what others use before it begins. Without, it begins with who runs
    at this moment.

    Raises ImportError without threadpoolctl (`pip install kilter[limits]`), ValueError for seconds
    that are negative or more than an hour.
    """

    def __init__(self, seconds: float | None = None):
        self._seconds = None if seconds is None else _cpus._checked(seconds)

    def __enter__(self) -> limits:
        _keeper.enter(self._seconds)
        return self

    def __exit__(self, *_) -> None:
        _keeper.leave()

    @property
    def budget(self) -> _cpus.Budget:
        """What all limits() keep to now, or kept to last."""
        return _keeper.budget

    @staticmethod
    def refresh() -> None:
        """Sets the numbers of the calling thread, if it has entered, to what makes sense now."""
        with _keeper.lock:
            _keeper._find_libraries()
            _keeper.follow_here()
