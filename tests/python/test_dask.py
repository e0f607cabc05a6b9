"""kilter.dask.get and kilter.distributed: what users of Dask's own schedulers rely on."""

import contextvars
import io
import operator
import os
import subprocess
import sys
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor

import kilter
import pytest

dask = pytest.importorskip("dask")
import kilter.dask  # noqa: E402

LONG = 100  # seconds


@pytest.fixture(params=[1, 2, 5])
def pool(request):
    with kilter.Executor(request.param, policy="dam-c") as executor:
        yield executor


def inc(x):
    return x + 1


def fails(x):
    raise KeyError(x)


class Counted:
    """A result that is counted while it lives."""

    alive = most = 0
    lock = threading.Lock()

    def __init__(self, *others):
        with Counted.lock:
            Counted.alive += 1
            Counted.most = max(Counted.most, Counted.alive)

    def __del__(self):
        with Counted.lock:
            Counted.alive -= 1


def tree(leaves):
    graph = {("leaf", i): (Counted,) for i in range(leaves)}
    level = list(graph)
    while len(level) > 1:
        above = [(f"sum{len(level)}", i) for i in range(len(level) // 2)]
        graph.update({key: (Counted, level[2 * key[1]], level[2 * key[1] + 1]) for key in above})
        level = above
    return graph, level[0]


@pytest.mark.parametrize(
    "keys", ["w", "x", ["x", "w"], [["w", ["x"]], ["y", "z"], []], "list", "alias", ("t", 1), []]
)
def test_keys_as_with_dask(keys, pool):
    graph = {
        "x": 1,
        "y": 2,
        "z": (inc, "x"),
        "w": (sum, ["z", "y", (inc, "z")]),
        "list": [(inc, "x"), "y"],
        "alias": "w",
        ("t", 1): (inc, (inc, "z")),
    }
    assert kilter.dask.get(graph, keys, pool=pool) == dask.get(graph, keys)


def test_a_key_that_is_not_there():
    with pytest.raises(KeyError):
        kilter.dask.get({"x": (inc, 1)}, "y")


def test_arrays():
    np = pytest.importorskip("numpy")
    import dask.array as da

    x = da.random.RandomState(1).random_sample((60, 60), chunks=(15, 20))
    found = [
        x.sum(),
        (x + x.T).mean(0),
        x.rechunk((60, 7)).std(1),
        x[::3, 5:].cumsum(0),
        da.linalg.svd(x.rechunk((15, 60)))[1],
    ]
    theirs = dask.compute(*found, scheduler="sync")
    for i, ours in enumerate(dask.compute(*found, scheduler=kilter.dask.get)):
        np.testing.assert_allclose(ours, theirs[i])


def test_bags_and_frames():
    bag = pytest.importorskip("dask.bag").from_sequence(range(200), npartitions=9)
    with dask.config.set(scheduler=kilter.dask.get):
        assert bag.map(inc).filter(lambda i: i % 3 == 0).sum().compute() == sum(range(3, 201, 3))
        assert dict(bag.foldby(lambda i: i % 2, operator.add, 0).compute()) == {0: 9900, 1: 10000}
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    frame = dd.from_pandas(pd.DataFrame({"k": [0, 1, 2] * 30, "v": range(90)}), npartitions=4)
    sums = frame.groupby("k").v.agg(["sum", "max"])
    pd.testing.assert_frame_equal(
        sums.compute(scheduler=kilter.dask.get), sums.compute(scheduler="sync")
    )


@pytest.mark.parametrize("told", [False, True], ids=["", "with callbacks"])
def test_results_go_once_nobody_needs_them(told, pool):
    graph, root = tree(256)
    Counted.most = 0
    with dask.callbacks.Callback(posttask=lambda *_: None) if told else dask.config.set():
        result = kilter.dask.get(graph, [root, ("leaf", 3)], pool=pool)
    assert Counted.alive == 2 and Counted.most < 100
    del result
    assert Counted.alive == 0


def test_what_a_task_raises(pool):
    graph = {"a": 1, "b": (fails, "a"), "c": (inc, "b"), "d": (inc, "a")}
    with pytest.raises(KeyError, match="1") as raised:
        kilter.dask.get(graph, ["c", "d"], pool=pool)
    assert "in fails" in "".join(traceback.format_tb(raised.value.__traceback__))


def test_a_failing_task_again_in_the_caller():
    where = []

    def task():
        where.append(threading.current_thread())
        raise KeyError

    with pytest.raises(KeyError):
        kilter.dask.get({"a": (task,)}, "a", rerun_exceptions_locally=True)
    assert where[1:] == [threading.current_thread()] != where[:1]


def test_callbacks(pool):
    events = []

    class Noted(dask.callbacks.Callback):
        def _start(self, graph):
            events.append("start")

        def _start_state(self, graph, state):
            self.count = len(state["ready"]) + len(state["waiting"])

        def _pretask(self, key, graph, state):
            assert key in state["running"] and key not in state["ready"]
            events.append(key)

        def _posttask(self, key, value, graph, state, worker):
            assert key in state["finished"]
            events.append((key, value))

        def _finish(self, graph, state, failed):
            events.append(("failed", failed))
            assert not state["running"] and len(state["finished"]) == (0 if failed else self.count)

    with Noted():
        kilter.dask.get({"a": (inc, 1), "b": (inc, "a"), "c": (inc, "b")}, "c", pool=pool)
    end = ("failed", False)
    assert events == ["start", "a", ("a", 2), "b", ("b", 3), "c", ("c", 4), end]

    shown = io.StringIO()
    progress = pytest.importorskip("dask.diagnostics").ProgressBar(out=shown, dt=0.01)
    with progress:
        kilter.dask.get(*tree(64), pool=pool)
    assert "100% Completed" in shown.getvalue()


def test_a_failing_callback_ends_it(pool):
    failing = dask.callbacks.Callback(posttask=lambda *_: fails("posttask"))
    with failing, pytest.raises(KeyError, match="posttask"):
        kilter.dask.get(*tree(16), pool=pool)


def test_tasks_that_compute(pool):
    def inner(i):
        graph = {("inner", j): (inc, i + j) for j in range(9)}
        return kilter.dask.get(graph, list(graph), pool=pool)[8]

    with dask.callbacks.Callback(pretask=lambda key, *_: keys.append(key)):
        keys = []
        graph = {("outer", i): (inner, i) for i in range(12)}
        assert kilter.dask.get(graph, list(graph), pool=pool) == tuple(range(9, 21))
    assert sorted(keys) == sorted(graph)  # of the outer graph alone


def test_how_many_workers_and_which():
    def thread():
        return threading.get_ident()

    graph = dict.fromkeys(range(40), (thread,))
    one = set(kilter.dask.get(graph, list(graph), num_workers=1))
    assert len(one) == 1
    with dask.config.set(num_workers=1):
        assert set(kilter.dask.get(graph, list(graph))) == one
    with ThreadPoolExecutor(1) as theirs:
        assert kilter.dask.get({"a": (thread,)}, "a", pool=theirs) == theirs.submit(thread).result()


def test_the_callers_context():
    which = contextvars.ContextVar("which", default="nobody's")
    which.set("the caller's")
    assert kilter.dask.get({"a": (which.get,)}, "a") == "the caller's"


def test_times_are_learned_by_the_prefix_of_the_keys(pool):
    keys = [("load-0a1b2c3d", i) for i in range(200)]
    kilter.dask.get({key: (inc, key[1]) for key in keys}, keys, pool=pool)
    assert {one.type for one in pool.table()} == {"load"}


CLUSTER = """
import threading, time

if __name__ == "__main__":
    import distributed, kilter.distributed

    def inc(x):
        return x + 1

    def sum_of(n):
        with distributed.worker_client() as client:  # it secedes
            return sum(client.gather(client.map(inc, range(n))))

    def secedes(n):
        distributed.secede()
        time.sleep(0.01)
        return distributed.get_worker() is not None

    def look(dask_worker):
        table = getattr(dask_worker.executors["default"], "kilter", None)
        types = {one.type for one in table.table()} if table else None
        return types, dask_worker.state.nthreads

    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True
    ) as cluster, distributed.Client(cluster) as client:
        before = client.run(look)
        for nthreads in (None, 3):
            client.register_plugin(kilter.distributed.Plugin(nthreads))
            tasks = client.map(inc, range(100), pure=False)
            assert client.gather(tasks) == list(range(1, 101))
            assert client.gather(client.map(sum_of, range(8), pure=False)) == [
                n * (n + 1) // 2 for n in range(8)
            ]
            assert all(client.gather(client.map(secedes, range(8), pure=False)))
            try:
                client.submit(inc, "x").result()
            except TypeError:
                pass
            else:
                assert False
            for types, count in client.run(look).values():
                assert "inc" in types and (count == nthreads or not nthreads), (types, count)
        client.unregister_worker_plugin("kilter")
        assert client.run(look) == before
        assert client.gather(client.map(inc, range(10), pure=False)) == list(range(1, 11))
    print("all is well")
"""


def test_workers_of_a_local_cluster(tmp_path):
    pytest.importorskip("distributed")
    script = tmp_path / "cluster.py"
    script.write_text(CLUSTER)
    run = subprocess.run(
        [sys.executable, "-X", "faulthandler", str(script)],
        capture_output=True,
        text=True,
        timeout=LONG,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert "all is well" in run.stdout, run.stderr[-3000:]


def test_a_number_of_threads_that_cannot_be():
    pytest.importorskip("distributed")
    import kilter.distributed

    with pytest.raises(ValueError, match="0"):
        kilter.distributed.Plugin(0)


@pytest.mark.parametrize("name", ["joblib", "dask", "distributed"])
def test_what_to_install(name, monkeypatch):
    for module in [m for m in sys.modules if m.split(".")[0] == name]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, f"kilter.{name}", raising=False)
    monkeypatch.delitem(vars(kilter), name, raising=False)
    with pytest.raises(ImportError, match=rf"pip install kilter\[{name}\]$"):
        getattr(kilter, name)
