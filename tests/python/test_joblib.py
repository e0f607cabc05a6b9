"""joblib's backend "kilter": what users of joblib.Parallel rely on."""

import gc
import operator
import threading
import time
import traceback
import warnings
from multiprocessing import TimeoutError

import kilter
import kilter.executor
import pytest

joblib = pytest.importorskip("joblib")
import kilter.joblib  # noqa: E402
from joblib import Parallel, delayed  # noqa: E402

LONG = 60  # seconds; a wait that takes so long has failed
streams = pytest.mark.skipif(
    not hasattr(joblib.parallel.ParallelBackendBase, "supports_return_generator"),
    reason="before joblib 1.3",
)


@pytest.fixture(autouse=True, params=[1, 2, 5])
def workers(request, monkeypatch):
    with kilter.Executor(request.param) as executor:
        monkeypatch.setattr(kilter.executor, "_default", executor)
        yield request.param


def squares(count):
    return [i * i for i in range(count)]


def square(i):
    return i * i


def fails_at(which, i):
    if i == which:
        raise KeyError(which)
    return i


@pytest.mark.parametrize("n_jobs", [1, 2, 4, -1])
@pytest.mark.parametrize("settings", [{}, {"pre_dispatch": "all"}, {"batch_size": 3}])
def test_results_in_order(n_jobs, settings):
    pool = Parallel(n_jobs, backend="kilter", **settings)
    for count in (0, 1, 200):
        assert pool(delayed(square)(i) for i in range(count)) == squares(count)


def test_within_parallel_config_and_with_a_kept_pool():
    with joblib.parallel_backend("kilter", n_jobs=3):
        assert Parallel()(delayed(square)(i) for i in range(50)) == squares(50)
        with Parallel(require="sharedmem") as pool:
            for count in (5, 50):
                assert pool(delayed(square)(i) for i in range(count)) == squares(count)


def test_one_job_a_worker(workers):
    assert kilter.joblib.Backend().effective_n_jobs(-1) == workers
    with pytest.raises(ValueError):
        Parallel(0, backend="kilter")([delayed(square)(1)])


def test_tasks_share_memory_and_run_at_once(workers):
    both = threading.Barrier(min(2, workers))
    seen = []
    Parallel(2, backend="kilter")(
        delayed(lambda i: seen.append((i, both.wait(LONG))))(i) for i in range(both.parties)
    )
    assert sorted(i for i, _ in seen) == list(range(both.parties))


def test_no_more_at_once_than_asked_for():
    now, most, lock = [], [], threading.Lock()

    def task(i):
        with lock:
            now.append(i)
            most.append(len(now))
        time.sleep(0.002)
        with lock:
            now.remove(i)

    Parallel(2, backend="kilter")(delayed(task)(i) for i in range(30))
    assert max(most) <= 2


def of_inner(pool, i):
    return sum(pool()(delayed(operator.add)(i, j) for j in range(10)))


@pytest.mark.parametrize("settings", [{}, {"backend": "kilter"}], ids=["of joblib", "named"])
def test_tasks_that_wait_for_their_own(settings):
    def inner():
        return Parallel(4, **settings)

    found = Parallel(4, backend="kilter")(delayed(of_inner)(inner, i) for i in range(12))
    assert found == [10 * i + 45 for i in range(12)]


def test_inside_a_call_of_the_same_executor(workers):
    calls = [
        kilter.default_executor().submit(of_inner, lambda: Parallel(4, backend="kilter"), i)
        for i in range(2 * workers)
    ]
    assert [c.result(LONG) for c in calls] == [10 * i + 45 for i in range(2 * workers)]


def test_what_a_task_raises():
    begun = []

    def task(i):
        begun.append(i)
        return fails_at(7, i)

    for _ in range(3):
        with pytest.raises(KeyError, match="7") as raised:
            Parallel(4, backend="kilter", batch_size=1)(delayed(task)(i) for i in range(10_000))
        assert "fails_at" in "".join(traceback.format_tb(raised.value.__traceback__))
        assert len(begun) < 10_000
        assert Parallel(4, backend="kilter")(delayed(square)(i) for i in range(20)) == squares(20)


def test_what_the_iterator_raises():
    def tasks():
        for i in range(50):
            yield delayed(fails_at)(-1, fails_at(20, i))

    with pytest.raises(KeyError, match="20"):
        Parallel(2, backend="kilter")(tasks())


def test_time_limit():
    ends = threading.Event()
    with pytest.raises(TimeoutError):
        Parallel(2, backend="kilter", timeout=0.05)(delayed(ends.wait)(LONG) for _ in range(2))
    ends.set()


@streams
def test_results_come_one_by_one():
    last = threading.Event()
    tasks = [delayed(square)(i) for i in range(20)] + [delayed(last.wait)(LONG)]
    results = Parallel(2, backend="kilter", return_as="generator")(tasks)
    assert next(results) == 0
    last.set()
    assert list(results) == [*squares(20)[1:], True]


@streams
def test_results_in_any_order():
    try:
        pool = Parallel(2, backend="kilter", return_as="generator_unordered")
    except ValueError:
        pytest.skip("before joblib 1.4")
    assert sorted(pool(delayed(square)(i) for i in range(30))) == squares(30)
    with pytest.raises(KeyError, match="7"):
        list(pool(delayed(fails_at)(7, i) for i in range(30)))


@streams
def test_two_calls_under_way_in_one_context():
    with joblib.parallel_backend("kilter", n_jobs=2):
        first = Parallel(return_as="generator")(delayed(square)(i) for i in range(30))
        assert Parallel()(delayed(square)(i) for i in range(20)) == squares(20)
        assert list(first) == squares(30)


@streams
def test_a_dropped_generator_leaves_out_the_rest():
    begun = []
    results = Parallel(2, backend="kilter", return_as="generator")(
        delayed(lambda i: begun.append(i) or time.sleep(0.002))(i) for i in range(500)
    )
    next(results)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        del results
        gc.collect()
    assert len(begun) < 500


def test_times_are_learned_by_the_name_of_the_function():
    Parallel(2, backend="kilter", batch_size=1)(delayed(square)(i) for i in range(200))
    Parallel(2, backend="kilter", batch_size=5)(delayed(square)(i) for i in range(200))
    assert {"square", "square x5"} <= {one.type for one in kilter.default_executor().table()}
