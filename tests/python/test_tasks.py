"""kilter.Executor, kilter.Graph and kilter.map: what users of concurrent.futures and of graphs rely
on."""

import asyncio
import builtins
import concurrent.futures
import functools
import gc
import threading
import time
import traceback
import weakref
from concurrent.futures import CancelledError

import kilter
import pytest
from kilter.executor import TimeoutError

LONG = 60  # seconds; a wait that takes so long has failed


@pytest.fixture(params=[1, 2, 5])
def pool(request):
    with kilter.Executor(request.param) as executor:
        yield executor


@pytest.fixture
def two():
    with kilter.Executor(2) as executor:
        yield executor


@pytest.fixture
def alone(monkeypatch):
    """What runs while other programs of Kilter have the core is not learned."""
    monkeypatch.setenv("KILTER_SHARING", "0")


def same(x):
    return x


def fails(message):
    raise KeyError(message)


def fibonacci(pool, n):
    if n < 2:
        return n
    one = pool.submit(fibonacci, pool, n - 1)
    return fibonacci(pool, n - 2) + one.result()


class Blocked:
    """Occupies all workers of an executor until the end of the block."""

    def __init__(self, pool):
        self.pool, self.go = pool, threading.Event()

    def __enter__(self):
        begun = threading.Semaphore(0)

        def block():
            begun.release()
            self.go.wait(LONG)

        self.futures = [self.pool.submit(block) for _ in range(self.pool.workers)]
        for _ in self.futures:
            assert begun.acquire(timeout=LONG)
        return self

    def __exit__(self, *_):
        self.go.set()


# ---- futures -----------------------------------------------------------------------------------


def test_calls_have_results(pool):
    def all_of(*args, **kwargs):
        return args, kwargs

    assert pool.submit(all_of, 1, 2, fn=3, self=4).result(LONG) == ((1, 2), {"fn": 3, "self": 4})
    futures = [pool.submit(same, i) for i in range(3000)]
    assert [f.result(LONG) for f in futures] == list(range(3000))
    assert isinstance(futures[0], concurrent.futures.Future)
    assert isinstance(pool, concurrent.futures.Executor)


def test_submit_without_a_function(pool):
    with pytest.raises(TypeError):
        pool.submit()
    with pytest.raises(TypeError):
        pool.submit("not callable").result(LONG)


def test_exception_comes_out_with_its_traceback(pool):
    future = pool.submit(fails, "why")
    with pytest.raises(KeyError, match="why") as caught:
        future.result(LONG)
    assert any(f.name == "fails" for f in traceback.extract_tb(caught.value.__traceback__))
    assert future.exception(LONG) is caught.value
    assert isinstance(pool.submit(exit).exception(LONG), SystemExit)
    assert pool.submit(same, 1).exception(LONG) is None


def test_exception_keeps_nothing_alive(two):
    class Big:
        pass

    big = Big()
    alive = weakref.ref(big)
    future = two.submit(lambda _: 1 / 0, big)
    assert isinstance(future.exception(LONG), ZeroDivisionError)
    del big, future
    two.submit(same, 0).result(LONG)  # the worker has let go of the one before
    gc.disable()
    try:
        deadline = time.monotonic() + LONG
        while alive() is not None and time.monotonic() < deadline:
            # A free-threaded worker drops what others let go of when it runs something.
            list(two.map(time.sleep, [0.01] * 2))
        assert alive() is None
    finally:
        gc.enable()


def test_time_limit(pool):
    with Blocked(pool):
        future = pool.submit(same, 1)
        for call in (future.result, future.exception):
            with pytest.raises(builtins.TimeoutError) as caught:
                call(timeout=0.01)
            assert isinstance(caught.value, concurrent.futures.TimeoutError)
        with pytest.raises(concurrent.futures.TimeoutError):
            future.result(0)
        assert not future.done()
    assert future.result(LONG) == 1


def test_cancel(pool):
    with Blocked(pool) as blocked:
        future = pool.submit(same, 1)
        assert not blocked.futures[0].cancel() and blocked.futures[0].running()
        assert future.cancel() and future.cancel() and future.cancelled() and future.done()
        with pytest.raises(CancelledError):
            future.result()
        with pytest.raises(CancelledError):
            future.exception()
    assert pool.submit(same, 2).result(LONG) == 2


def test_cancel_wakes_who_waits(two):
    with Blocked(two):
        future = two.submit(same, 1)
        told = []

        def waits():
            try:
                future.result(LONG)
            except CancelledError as e:
                told.append(e)

        threads = [threading.Thread(target=waits) for _ in range(3)]
        for t in threads:
            t.start()
        time.sleep(0.05)
        future.cancel()
        for t in threads:
            t.join(LONG)
        assert len(told) == 3


def test_callbacks(pool):
    seen = []
    with Blocked(pool):
        future = pool.submit(same, 7)
        future.add_done_callback(lambda f: seen.append(("early", f.result())))
        future.add_done_callback(lambda f: 1 / 0)  # is logged, and spoils nothing
        left_out = pool.submit(same, 8)
        left_out.add_done_callback(lambda f: seen.append(f.cancelled()))
        left_out.cancel()
        assert seen == [True]
    future.result(LONG)
    concurrent.futures.wait([future], LONG)
    future.add_done_callback(lambda f: seen.append(("late", f.result())))
    deadline = time.monotonic() + LONG
    while len(seen) < 3 and time.monotonic() < deadline:
        time.sleep(0.001)
    assert sorted(map(str, seen)) == ["('early', 7)", "('late', 7)", "True"]


def test_wait_and_as_completed(pool):
    futures = [pool.submit(same, i) for i in range(50)] + [pool.submit(fails, "x")]
    done, not_done = concurrent.futures.wait(futures, LONG)
    assert done == set(futures) and not not_done
    with Blocked(pool):
        late = pool.submit(same, 1)
        done, not_done = concurrent.futures.wait(
            [*futures, late], LONG, return_when=concurrent.futures.FIRST_COMPLETED
        )
        assert not_done == {late}
        left_out = pool.submit(same, 2)
        assert left_out.cancel()
    completed = set(concurrent.futures.as_completed([late, left_out, futures[0]], LONG))
    assert completed == {late, left_out, futures[0]}
    with Blocked(pool):
        bad = pool.submit(fails, "y")
        more = [pool.submit(same, i) for i in range(3)]
    done, _ = concurrent.futures.wait(
        [bad, *more], LONG, return_when=concurrent.futures.FIRST_EXCEPTION
    )
    assert bad in done


def test_who_waits_is_not_told_of_an_end_that_it_saw(two):
    go = threading.Event()
    future = two.submit(go.wait, LONG)
    with future._condition:  # as concurrent.futures.wait holds it to look, and to enter itself
        go.set()
        time.sleep(0.05)
        assert not future.done()
    assert future.result(LONG)


def test_asyncio(pool):
    async def main():
        loop = asyncio.get_running_loop()
        results = await asyncio.gather(*(loop.run_in_executor(pool, same, i) for i in range(100)))
        with Blocked(pool):
            future = pool.submit(same, 1)
            wrapped = asyncio.wrap_future(future)
            wrapped.cancel()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert future.cancelled()
        with pytest.raises(KeyError):
            await asyncio.wrap_future(pool.submit(fails, "z"))
        return results

    assert asyncio.run(main()) == list(range(100))


def test_a_future_of_nobody(two):
    future = kilter.Future()  # as concurrent.futures documents it for tests
    assert not future.done() and "pending" in repr(future)
    threading.Timer(0.02, future.set_result, [5]).start()
    assert future.result(LONG) == 5
    with pytest.raises(concurrent.futures.InvalidStateError):
        future.set_result(6)
    failed = kilter.Future()
    assert failed.set_running_or_notify_cancel() and failed.running()
    failed.set_exception(OSError("no"))
    with pytest.raises(OSError, match="no"):
        failed.result()


def test_many_threads_wait_for_one_future(two):
    with Blocked(two):
        future = two.submit(same, 3)
        results = []
        threads = [
            threading.Thread(target=lambda: results.append(future.result(LONG))) for _ in range(20)
        ]
        for t in threads:
            t.start()
    for t in threads:
        t.join(LONG)
    assert results == [3] * 20


def test_many_threads_submit(pool):
    totals = []

    def submits():
        totals.append(sum(f.result(LONG) for f in [pool.submit(same, i) for i in range(500)]))

    threads = [threading.Thread(target=submits) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(LONG)
    assert totals == [sum(range(500))] * 8


# ---- executors ---------------------------------------------------------------------------------


def test_map(pool):
    assert list(pool.map(pow, range(10), range(10))) == [i**i for i in range(10)]
    assert list(pool.map(pow, range(10), [2] * 10, chunksize=3)) == [i * i for i in range(10)]
    it = pool.map(lambda x: 1 // (x - 2), range(5))
    assert [next(it), next(it)] == [-1, -1]
    with pytest.raises(ZeroDivisionError):
        next(it)
    with pytest.raises(ValueError, match="chunksize"):
        pool.map(same, [1], chunksize=0)
    with pytest.raises(concurrent.futures.TimeoutError), Blocked(pool):
        list(pool.map(same, [1], timeout=0.01))


def test_map_submits_at_once(two):
    done = threading.Event()
    results = two.map(lambda x: done.set(), [1])
    assert done.wait(LONG)
    assert list(results) == [None]


def test_calls_of_one_function_begin_in_order():
    with kilter.Executor(1) as one:
        order = []
        with Blocked(one):
            for i in range(200):
                one.submit(order.append, i)
        one.submit(same, 0).result(LONG)
    assert order == list(range(200))


def test_no_call_waits_behind_a_long_one_while_a_worker_is_free():
    with kilter.Executor(4) as four:
        go = threading.Event()
        long_ones = [four.submit(go.wait, LONG) for _ in range(3)]
        for _ in range(20):
            assert [four.submit(same, i).result(LONG) for i in range(20)] == list(range(20))
            futures = [four.submit(len, "ab") for _ in range(50)]
            assert sum(f.result(LONG) for f in futures) == 100
        assert not any(f.done() for f in long_ones)
        go.set()


def test_workers_run_at_the_same_time():
    with kilter.Executor(4) as four:
        barrier = threading.Barrier(4)
        futures = [four.submit(barrier.wait, LONG) for _ in range(4)]
        assert sorted(f.result(LONG) for f in futures) == [0, 1, 2, 3]
        assert four.workers == 4


def test_calls_wait_for_calls(pool):
    assert pool.submit(fibonacci, pool, 14).result(LONG) == 377


def test_a_call_that_waits_runs_no_strangers(two):
    lock = threading.Lock()

    def takes():
        with lock:
            return 1

    def holds():
        with lock:
            mine = two.submit(same, 1)
            others.extend(two.submit(takes) for _ in range(10))
            return mine.result(LONG)

    others = []
    assert two.submit(holds).result(LONG) == 1
    assert sum(f.result(LONG) for f in others) == 10


def test_shutdown(pool):
    with Blocked(pool):
        futures = [pool.submit(same, i) for i in range(20)]
        pool.shutdown(wait=False)
        with pytest.raises(RuntimeError, match="after shutdown"):
            pool.submit(same, 1)
    assert [f.result(LONG) for f in futures] == list(range(20))
    pool.shutdown()
    pool.shutdown()


def test_shutdown_cancels(pool):
    with Blocked(pool) as blocked:
        futures = [pool.submit(same, i) for i in range(20)]
        pool.shutdown(wait=False, cancel_futures=True)
        assert all(f.cancelled() for f in futures)
    pool.shutdown()
    assert all(f.done() and not f.cancelled() for f in blocked.futures)


def test_shutdown_by_its_own_worker(pool):
    def ends():
        pool.shutdown()
        return 1

    assert pool.submit(ends).result(LONG) == 1
    pool.shutdown()


def test_an_executor_that_is_dropped_does_what_was_submitted():
    executor = kilter.Executor(2)
    with Blocked(executor):
        futures = [executor.submit(same, i) for i in range(50)]
        gone = weakref.ref(executor)
        executor = None
        gc.collect()
    assert [f.result(LONG) for f in futures] == list(range(50))
    deadline = time.monotonic() + LONG
    while gone() is not None and time.monotonic() < deadline:  # what blocked it ends meanwhile
        gc.collect()
        time.sleep(0.01)
    assert gone() is None


def test_wrong_arguments():
    for count in (0, -1, 2**32 + 1):
        with pytest.raises(ValueError, match="max_workers must be from 1 to"):
            kilter.Executor(count)
    with pytest.raises(ValueError, match="no-such-policy"):
        kilter.Executor(policy="no-such-policy")
    with pytest.raises(TypeError):
        kilter.Executor("2")


@pytest.mark.parametrize("policy", ["auto", "rws", "dam-c", "heft", "fam-c", "da", "cats"])
def test_policies(policy):
    with kilter.Executor(3, policy=policy) as executor:
        assert [f.result(LONG) for f in [executor.submit(same, i) for i in range(300)]] == list(
            range(300)
        )
        graph = kilter.Graph()
        tasks = [graph.add(same, i, critical=i % 2 == 0) for i in range(100)]
        total = graph.add(sum, tasks)
        graph.run(executor)
        assert total.result() == 4950


class Named:
    def method(self):
        return 1

    def __call__(self):
        return 2


def test_types_are_names_of_functions(alone, two):
    nested = functools.partial(functools.partial(same, 1))
    for f in (nested, Named().method, Named(), functools.partial(len, "a")):
        two.submit(f).result(LONG)
    list(two.map(fails.__class__, [], chunksize=2))
    list(two.map(abs, [1, 2, 3], chunksize=2))
    two.shutdown()
    names = {cell.type for cell in two.table()}
    assert names == {"same", "Named.method", "Named", "len", "abs"}
    for cell in two.table():
        assert cell.seconds > 0 and cell.samples >= 1
        assert len(cell.cpus) == 1 and cell.cpus[0] in (0, 1)


def test_more_types_than_are_told_apart(two):
    def one(i):
        f = lambda: i  # noqa: E731
        f.__qualname__ = f"f{i}"
        return f

    futures = [two.submit(one(i)) for i in range(1500)]
    assert [f.result(LONG) for f in futures] == list(range(1500))


def test_what_was_learned_is_kept(alone, tmp_path):
    file = tmp_path / "learned.json"
    with kilter.Executor(2, learned=file) as first:
        for _ in range(10):
            first.submit(same, 1).result(LONG)
    with kilter.Executor(2, learned=str(file)) as second:
        assert {cell.type for cell in second.table()} == {"same"}
    with (
        pytest.warns(RuntimeWarning, match="learning anew"),
        kilter.Executor(3, learned=file) as other,
    ):
        assert other.table() == []
    file.write_text("{")
    with pytest.warns(RuntimeWarning, match="learning anew"):
        kilter.Executor(2, learned=file).shutdown()
    unwritable = kilter.Executor(1, learned=tmp_path / "no" / "such" / "folder")
    with pytest.raises(ValueError, match="folder"):
        unwritable.shutdown()


def test_default_executor_and_map():
    assert kilter.map(same, range(1000)) == list(range(1000))
    assert kilter.map(pow, [2, 3], [4, 5]) == [16, 243]
    assert kilter.map(same, []) == []
    assert kilter.map(same, iter("abc"), chunksize=2) == ["a", "b", "c"]
    assert kilter.default_executor() is kilter.default_executor()
    with pytest.raises(KeyError):
        kilter.map(fails, ["a"])


# ---- graphs ------------------------------------------------------------------------------------


def test_graph_passes_results(pool):
    g = kilter.Graph()
    a = g.add(same, 2)
    b = g.add(pow, a, 5)
    c = g.add(sum, [a, b, 6], start=a)
    d = g.add(dict, {"x": c}, y=(a, "z"))
    assert g.run(pool) is None
    assert (a.result(), b.result(), c.result()) == (2, 32, 42)
    assert d.result() == {"x": 42, "y": (2, "z")}
    assert d.exception() is None
    g.run(pool)
    assert c.result() == 42


def test_graph_follows_edges_and_data(pool):
    g, order = kilter.Graph(), []
    last = g.add(order.append, "last")
    first = g.add(order.append, "first")
    g.edge(first, last)
    g.add(order.append, "end", after=[first, last])
    g.run(pool)
    assert order == ["first", "last", "end"]

    numpy = pytest.importorskip("numpy")
    x, y = numpy.zeros(1000), numpy.zeros(1000)
    g = kilter.Graph()

    def add_to(target, source):
        target += source + 1

    for _ in range(20):
        g.add(add_to, x, y, reads=[y], writes=[x])
        g.add(add_to, y, x, reads=[x, y], writes=[y])
    g.run(pool)
    a = b = 0
    for _ in range(20):
        a += b + 1
        b += a + 1
    assert (x == a).all() and (y == b).all()


def test_graph_fails(pool):
    g = kilter.Graph()
    bad = g.add(fails, "here")
    after = g.add(same, bad)
    with pytest.raises(RuntimeError, match="has not ended"):
        bad.result()
    with pytest.raises(KeyError, match="here"):
        g.run(pool)
    assert isinstance(bad.exception(), KeyError)
    with pytest.raises(CancelledError):
        after.result()
    with pytest.raises(CancelledError):
        after.exception()


def test_graph_runs_again_after_it_failed(pool):
    values = []
    g = kilter.Graph()
    top = g.add(lambda: values[0])
    double = g.add(lambda v: 2 * v, top)
    with pytest.raises(IndexError):
        g.run(pool)
    values.append(21)
    g.run(pool)
    assert double.result() == 42 and top.exception() is None


def test_graph_run_in_the_background(two):
    go = threading.Event()
    g = kilter.Graph()
    early = g.add(same, 1)
    late = g.add(go.wait, LONG, after=early)
    run = g.start(two)
    assert run.result(early, LONG) == 1 and early.result() == 1
    assert not run.done()
    with pytest.raises(TimeoutError):
        run.wait(0.01)
    with pytest.raises(TimeoutError):
        run.result(late, timeout=0.01)
    with pytest.raises(RuntimeError, match="has not ended"):
        late.result()
    with pytest.raises(RuntimeError, match="running"):
        g.start(two)
    with pytest.raises(RuntimeError, match="running"):
        g.add(same, 1)
    go.set()
    assert run.result(late) is True
    run.wait()
    assert run.done()


def test_graph_is_cancelled(two):
    go = threading.Event()
    g = kilter.Graph()
    begun = g.add(go.wait, LONG)
    never = g.add(same, 1, after=begun)
    run = g.start(two)
    deadline = time.monotonic() + LONG
    run.cancel()
    go.set()
    with pytest.raises(CancelledError):
        run.wait(LONG)
    assert time.monotonic() < deadline
    with pytest.raises(CancelledError):
        never.result()


def test_graph_time_limit(two):
    go = threading.Event()
    g = kilter.Graph()
    g.add(same, 2, after=g.add(go.wait, LONG))
    with pytest.raises(TimeoutError):
        g.run(two, timeout=0.02)
    go.set()


def test_graph_inside_a_task(pool):
    def inner(i):
        g = kilter.Graph()
        total = g.add(sum, [g.add(same, i) for _ in range(10)])
        g.run(pool)
        return total.result()

    g = kilter.Graph()
    total = g.add(sum, [g.add(inner, i) for i in range(20)])
    g.run(pool)
    assert total.result() == 10 * sum(range(20))
    assert pool.submit(inner, 4).result(LONG) == 40


def test_graph_waits_for_itself(two):
    g = kilter.Graph()
    own = g.add(lambda: run.wait())
    run = g.start(two)
    with pytest.raises(RuntimeError, match="cannot end before it"):
        run.wait(LONG)
    assert isinstance(own.exception(), RuntimeError)


def test_graph_refuses():
    g, h = kilter.Graph(), kilter.Graph()
    a, b, other = g.add(same, 1), g.add(same, 2), h.add(same, 3)
    run = g.start()
    run.wait()
    for wrong in (
        lambda: g.add(same, other),
        lambda: g.add(same, [other]),
        lambda: g.add(same, 1, after=other),
        lambda: g.edge(a, other),
        lambda: run.result(other),
    ):
        with pytest.raises(ValueError, match="of another graph"):
            wrong()
    with pytest.raises(TypeError):
        g.run(concurrent.futures.ThreadPoolExecutor(1))
    with pytest.raises(TypeError):
        g.add(same, 1, after=[1])
    g.edge(a, b)
    g.edge(b, a)
    with pytest.raises(ValueError, match="cycle"):
        g.run()


def test_graph_that_is_dropped_while_it_runs(two):
    go, ended = threading.Event(), threading.Event()
    g = kilter.Graph()
    g.add(ended.set, after=g.add(go.wait, LONG))
    g.start(two)
    gone = weakref.ref(g)
    del g
    gc.collect()
    go.set()
    assert ended.wait(LONG)
    deadline = time.monotonic() + LONG
    while gone() is not None and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.01)
    assert gone() is None


def test_graph_in_a_cycle_of_references_is_collected():
    class Holds:
        pass

    held = Holds()
    g = kilter.Graph()
    held.task = g.add(same, held)
    g.run()
    gone = weakref.ref(held)
    del held, g
    gc.collect()
    assert gone() is None


def test_types_of_a_graph(alone, two):
    g = kilter.Graph()
    g.add(same, 1, type="mine")
    g.add(same, g.add(len, "a"))
    g.run(two)
    two.shutdown()
    assert {cell.type for cell in two.table()} == {"mine", "len", "same"}
