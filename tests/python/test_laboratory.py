"""kilter.simulate, kilter.reproduce and policies in Python, against the build's command."""

import json
import os
import pathlib
import subprocess
import sys
import threading
import traceback

import kilter
import pytest
from kilter import lab

COMMAND = pathlib.Path(kilter.__file__).parent / "bin" / "kilter"
EXAMPLES = pathlib.Path(__file__).parents[2] / "examples" / "python"
# What a document says of the invocation and not of the question.
OF_INVOCATION = {"command_line", "finished", "tool_seconds", "load_average_at_end", "json", "plans"}
CLAIM = "S0-8"
ABC = {"a": {"seconds": 0.01}, "b": {"after": ["a"], "seconds": 0.02, "type": "mul"}}


def command(*words):
    return subprocess.run([COMMAND, *words], capture_output=True, text=True, check=False)


def parts(text):
    """The bytes after `environment`, and what it says of the question."""
    before, rest = text.split('\n "findings"', 1)
    environment = json.loads(before.rstrip(",") + "}")["environment"]
    return rest, {k: v for k, v in environment.items() if k not in OF_INVOCATION}


def makespans(result):
    return {
        policy: [run["seconds"] for e in result.document["experiments"] for run in e["runs"]
                 if run["policy"] == policy]
        for policy in {row["policy"] for row in result.rows}
    }  # fmt: skip


def small(graph="layered", **how):
    how = {"details": False, "repeats": 2, "policy": "rws", **how}
    if isinstance(graph, str):
        how["tasks"] = 200
    return kilter.simulate(graph, **how)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (
            lambda: kilter.simulate("layered", tasks=300, policy="rws,dam-c", disturb="cpu@0"),
            "layered --tasks 300 --on sim:jetson-tx2 --policy rws,dam-c --disturb cpu@0",
        ),
        (
            lambda: kilter.simulate(
                "cholesky",
                n=6,
                on="haswell-16",
                policy=["auto", "cats"],
                disturb=["share@0:25%"],
                seed=7,
                repeats=2,
                fast=[0],
                direct=True,
                scale=0.01,
                widths=[1, 2],
                graphs=2,
            ),  # fmt: skip
            "cholesky:n=6 --on sim:haswell-16 --policy auto --policy cats --disturb share@0:25% "
            "--seed 7 --repeat 2 --fast 0, --direct --scale 0.01 --widths 1,2 --graphs 2",
        ),
        (
            lambda: kilter.simulate(
                ["kmeans", "fft:log2=4"], on=["jetson-tx2", "odroid-xu3"], policy="dam-c", repeats=1
            ),
            "kmeans fft:log2=4 --on sim:jetson-tx2 --on sim:odroid-xu3 --policy dam-c --repeat 1",
        ),
        (
            lambda: kilter.simulate(
                "topcuoglu", tasks=30, on="ideal", policy="heft,cpop", details=False
            ),
            "topcuoglu:tasks=30 --on ideal --policy heft,cpop --no-details",
        ),
        (
            lambda: kilter.simulate("layered", tasks=90, policy="dam-c", as_="coded", repeats=1),
            "layered --tasks 90 --on sim:jetson-tx2 --policy dam-c --as coded --repeat 1",
        ),
    ],
)
def test_the_same_bytes_as_the_command(asked, words):
    expected = command("compare", *words.split(), "--quiet", "--json", "-").stdout
    assert parts(asked().json()) == parts(expected)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"weight": 3}, "--weight 3"),
        ({"repeats": 0}, "--repeat 0"),
        ({"disturb": "cpu@9"}, "--disturb cpu@9"),
        ({"policy": "rwz"}, "--policy rwz"),
        ({"scale": 0.5}, "--scale 0.5"),
    ],
)
def test_errors_are_the_command_s(how, words):
    said = command("compare", "layered", "--on", "sim:jetson-tx2", *words.split()).stderr
    with pytest.raises(ValueError) as error:
        kilter.simulate("layered", **how)
    assert str(error.value) in said


def test_what_only_python_can_ask_wrong():
    for how in ({"on": "native"}, {"policy": small}, {"nonsense": 1}, {"policy": [Copy(), Copy()]}):
        with pytest.raises((ValueError, TypeError)):
            kilter.simulate("layered", **how)
    for graph in ({"a": ["gone"]}, {"a": {"aftr": []}}, {"a": "bc"}, {"a": ["b"], "b": ["a"]}, {}):
        with pytest.raises((ValueError, TypeError, RuntimeError)):
            kilter.simulate(graph, details=False)


# ---- graphs and platforms -----------------------------------------------------------------------


def test_a_dict_a_digraph_and_a_file_are_the_same_graph(tmp_path):
    networkx = pytest.importorskip("networkx")
    graph = networkx.DiGraph()
    graph.add_node("a", seconds=0.01)
    graph.add_node("b", seconds=0.02, type="mul", colour=(1, 2))
    graph.add_edge("a", "b")
    path = tmp_path / "graph"
    path.write_text(
        '{"directed":true,"nodes":[{"id":"a","seconds":0.01},{"id":"b","seconds":0.02,"type":"mul"}],'
        '"links":[{"source":"a","target":"b"}]}'
    )
    expected = makespans(small(path))
    assert makespans(small(ABC)) == makespans(small(graph)) == expected
    assert expected["rws"][0] > 0.03
    with pytest.raises(ValueError, match="DiGraph"):
        small(graph.to_undirected())


def test_seconds_of_edges_count_between_cores():
    networkx = pytest.importorskip("networkx")
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(4), seconds=0.001)
    graph.add_edges_from([(0, 1), (0, 2), (0, 3)], seconds=0.5)
    free = graph.copy()
    networkx.set_edge_attributes(free, 0.0, "seconds")
    assert small(graph).rows[0]["makespan_s"] != small(free).rows[0]["makespan_s"]


def test_a_dask_graph_waits_for_what_it_waits_for():
    pytest.importorskip("dask")
    graph = {"x": 1, "y": (abs, "x"), "z": (max, "y", "y"), "all": (sum, ["y", "z"])}
    config = small(graph).document["experiments"][0]["config"]
    assert (config["tasks"], config["edges"]) == (4, 4)
    import dask

    total = dask.delayed(sum)([dask.delayed(abs)(n) for n in range(3)])
    assert small(total).document["experiments"][0]["config"]["tasks"] >= 4


def test_a_platform_as_a_dict():
    tomllib = pytest.importorskip("tomllib")
    source = EXAMPLES.parents[1] / "data" / "platforms" / "jetson-tx2.toml"
    platform = tomllib.loads(source.read_text(encoding="utf-8"))
    by_name, by_dict = small(disturb="cpu@0"), small(on=platform, disturb="cpu@0")
    assert by_dict.rows == by_name.rows
    platform["kernel"][0]["seconds"] = [1.0]
    with pytest.raises(ValueError, match="jetson-tx2:.*'seconds' has 1 entries"):
        small(on=platform)


# ---- policies in Python -------------------------------------------------------------------------


class Copy(kilter.Policy):
    """rws says all this by saying nothing."""

    def on_ready(self, task, view):
        return lab.wait_in(view.home() if view.waker is None else view.waker)


class Nothing(kilter.Policy):
    name = "says nothing"


class DamC(kilter.Policy):
    """library/policy/dam_c.cpp with Kilter's own table."""

    def discipline(self, machine):
        return lab.Discipline(learns=True, asks_ready_low=False, take_stays=True)

    def on_ready(self, task, view):
        place = view.settle(task, view.best_place(task), "cost")
        return lab.run_next(place) if place == (view.waker, 1) else lab.reserve(place)

    def on_take(self, task, view):
        around = [p for p in view.machine.containing(view.asker) if view.allows(task, p)]
        cost = [(view.time_s(task, p) * p.width, p.width, p.leader) for p in around]
        return lab.run_at(around[cost.index(min(cost))])


@pytest.mark.parametrize(
    ("mine", "theirs"), [(Copy(), "rws"), (Nothing(), "rws"), (DamC(), "dam-c")]
)
@pytest.mark.parametrize("on", ["jetson-tx2", "haswell-16"])
def test_a_copy_gives_the_same_makespans(mine, theirs, on):
    result = kilter.simulate(
        "layered", tasks=1500, on=on, policy=[theirs, mine], disturb=["cpu@0", "wave@0"]
    )
    spans = makespans(result)
    assert spans[mine.name] == spans[theirs]
    assert len(set(spans[theirs])) > 1


def test_every_question_is_asked_and_none_is_too_much():
    asked = {}

    class All(kilter.Policy):
        def discipline(self, machine):
            asked.clear()
            assert machine.name == "jetson-tx2"
            assert machine.cores == 6
            assert machine.kinds == ["denver", "a57"]
            assert lab.Place(0, 2) in machine.containing(1)
            assert machine.fastest_cores() == [0, 1]
            queues = [lab.Queue(order="by_key"), lab.Queue(owner=2, takers=[2, 3])]
            return lab.Discipline(
                queues=queues, deques_too=True, cells=1, type_cells=1, reads_predecessors=True
            )

        def on_submit(self, view):
            tasks = view.batch()
            asked["submit"] = len(tasks)
            assert view.batch_is_whole_graph()
            for task in tasks:
                view.set_critical(task, view.id(task) % 2 == 0)
                view.set_state(task, task.id, 2**64 - 1)
                assert len(view.successors(task)) == len(view.successor_costs_s(task))

        def on_ready(self, task, view):
            asked["ready"] = asked.get("ready", 0) + 1
            assert view.critical(task) == (task.id % 2 == 0)
            assert view.state(task) == (task.id, 2**64 - 1)
            assert view.task_of(view.word_of(task)).id == task.id
            assert view.parent is None or task.id in map(view.id, view.successors(view.parent))
            assert len(view.predecessors(task)) <= task.id
            view.store(0, view.fetch_add(0, 1) + 1)
            view.type_fetch_add(task, 0, 1)
            return lab.wait_in(view.machine.cores, key=task.id)

        def next(self, view, attempt):
            asked["next"] = asked.get("next", 0) + 1
            return lab.take_from(view.machine.cores) if attempt == 0 else lab.nothing()

        def on_take(self, task, view):
            asked["take"] = asked.get("take", 0) + 1
            assert not view.stolen
            return lab.run_at((view.asker, 1)) if attempt_counts(view) else None

        def on_done(self, task, measured, view):
            asked["done"] = asked.get("done", 0) + 1
            assert 0 < measured.sample_s < 1
            assert measured.members[0][0] == measured.place.leader
            view.learn(task)
            assert view.known(task)
            assert view.time_s(task, measured.place) > 0
            asked["cells"] = (view.load(0), view.type_load(task, 0))

        def on_machine(self, view):
            asked["machine"] = [view.online(core) for core in range(view.machine.cores)]

    def attempt_counts(view):
        return view.now_s() >= 0 and view.random(2) < 2 and view.slowdown(view.asker) >= 1

    small(policy=All(), repeats=1, disturb="offline@0@0.001..0.01")
    assert asked["submit"] == asked["take"] == asked["done"] == 200
    assert asked["ready"] >= 200
    assert asked["cells"] == (asked["ready"], asked["ready"])
    assert asked["machine"] == [True] * 6


def test_an_exception_ends_the_run_with_its_traceback():
    class Bad(kilter.Policy):
        def on_take(self, task, view):
            return {}["gone"]

    with pytest.raises(KeyError) as error:
        small(policy=Bad())
    assert traceback.extract_tb(error.value.__traceback__)[-1].name == "on_take"


@pytest.mark.parametrize(
    ("answer", "error", "says"),
    [
        (lambda task, view: lab.wait_in(99), RuntimeError, "queue 99 does not exist"),
        (lambda task, view: lab.bind_to((4, 4)), RuntimeError, r"no place \(4, 4\)"),
        (lambda task, view: lab.steal(), TypeError, "wait_in, run_next, bind_to"),
        (lambda task, view: 3, TypeError, "got 3"),
        (lambda task, view: view.idle(6), ValueError, "core 6 does not exist"),
        (lambda task, view: view.load(0), ValueError, "cell 0 does not exist"),
        (lambda task, view: view.time_s(task, (1, 2)), ValueError, r"no place \(1, 2\)"),
        (lambda task, view: view.time_s(3, (0, 1)), TypeError, "a task"),
        (lambda task, view: view.random(-1), ValueError, "from 0"),
        (lambda task, view: view.random(), TypeError, "0 arguments"),
        (lambda task, view: view.learn(task), RuntimeError, "on_done"),
    ],
)
def test_wrong_answers_say_what_would_be_right(answer, error, says):
    class Wrong(kilter.Policy):
        def on_ready(self, task, view):
            return answer(task, view)

    with pytest.raises(error, match=says):
        small(policy=Wrong())


def test_views_and_tasks_are_good_for_one_answer():
    kept = []

    class Keeps(kilter.Policy):
        def on_ready(self, task, view):
            kept.append((task, view))
            if len(kept) == 2:
                with pytest.raises(RuntimeError, match="word_of"):
                    view.id(kept[0][0])
                seen = []
                other = threading.Thread(target=lambda: seen.append(ask(view)))
                other.start()
                other.join()
                assert seen == ["RuntimeError"]

    def ask(view):
        try:
            return view.now_s()
        except RuntimeError as error:
            return type(error).__name__

    small(policy=Keeps())
    assert ask(kept[0][1]) == "RuntimeError"
    for made in (lambda: kept[0][0].id, lab.View, lab.Task):
        with pytest.raises((RuntimeError, TypeError)):
            made()


INTERRUPTED = """
import os, signal, threading, kilter
class Slow(kilter.Policy):
    def on_ready(self, task, view):
        while forever: pass
forever = {forever}
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    kilter.simulate("layered", tasks=100_000, policy={policy}, details=False, repeats=10_000)
except KeyboardInterrupt:
    print("interrupted")
print(len(kilter.simulate("layered", tasks=10).rows))
"""


@pytest.mark.parametrize(
    ("policy", "forever"), [("'rws'", False), ("Slow()", False), ("Slow()", True)]
)
def test_ctrl_c_ends_it_and_what_comes_after_runs(policy, forever):
    program = INTERRUPTED.format(policy=policy, forever=forever)
    run = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", program],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (run.stdout, run.stderr) == ("interrupted\n2\n", "")


def test_several_threads_do_not_disturb_one_another():
    expected = makespans(small(policy=["rws", DamC()]))
    seen = []
    threads = [
        threading.Thread(target=lambda: seen.append(makespans(small(policy=["rws", DamC()]))))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [expected] * 4


# ---- results ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def traced():
    return kilter.simulate("layered", tasks=200, policy="rws,dam-c", disturb="cpu@0", repeats=2)


def test_results_are_read_as_they_were_written(traced, tmp_path):
    path = tmp_path / "results.json"
    path.write_text(traced.json())
    assert kilter.read_results(path).document == traced.document
    for text in ("{}", "no JSON", '{"schema": "kilter.matrix/1"}'):
        path.write_text(text)
        with pytest.raises(ValueError, match=r"results\.json"):
            kilter.read_results(path)


def test_frames_have_units_and_the_trace_adds_up(traced):
    pytest.importorskip("pandas")
    frame = traced.frame()
    assert list(frame.policy) == ["rws", "dam-c"] * 2
    assert frame.attrs["units"]["throughput"] == "1/s"
    assert len(traced.runs()) == 8
    trace = traced.trace("dam-c", "cpu@0")
    assert trace.task.nunique() == 200
    assert trace.end_s.max() == pytest.approx(trace.attrs["seconds"], rel=1e-3)
    with pytest.raises(ValueError, match="details=True"):
        small(repeats=1).trace()


@pytest.mark.parametrize(
    ("kind", "axis"), [("throughput", "tasks/s"), ("timeline", "time [ms]"), ("places", "place")]
)
def test_pictures_are_labelled_and_fit_a_notebook(traced, kind, axis):
    pytest.importorskip("matplotlib")
    figure = traced.plot(kind)
    picture = figure._repr_png_()
    assert (picture[:4], int.from_bytes(picture[16:20], "big")) == (b"\x89PNG", 640)
    labels = [label for one in figure.axes for label in (one.get_xlabel(), one.get_ylabel())]
    assert any(axis in label for label in labels)
    with pytest.raises(ValueError, match="throughput, timeline, places"):
        traced.plot("pie")


def test_a_notebook_shows_a_table(traced):
    shown = traced._repr_html_()
    assert "<td>dam-c</td>" in shown
    assert "throughput [1/s]" in shown


def test_a_claim_is_judged_as_the_command_does():
    ours = kilter.reproduce(CLAIM, figures=False, quiet=True)
    said = command("lab", "reproduce", CLAIM, "--quiet", "--json", "-").stdout
    assert ours.json() == said
    assert ours.verdict == json.loads(said)["claims"][0]["verdict"]
    with pytest.raises(ValueError, match="S9-1"):
        kilter.reproduce("S9-1")
    with pytest.raises(ValueError, match="no figure"):
        ours.plot()
    pandas = pytest.importorskip("pandas")
    assert list(ours.numbers.published)[0] == json.loads(said)["claims"][0]["published"]
    assert isinstance(ours.numbers, pandas.DataFrame)


@pytest.mark.parametrize("kind", ["bars", "shares", "stacks", "heat", "lines", "starts"])
def test_each_kind_of_figure_is_drawn(kind):
    pytest.importorskip("matplotlib")
    axes = {
        "panel": {"name": "policy", "values": ["rws", "da"]},
        "group": None if kind == "shares" else {"name": "parallelism", "values": [2, 3]},
        "series": {"name": "place", "values": ["0,1", "1,1"]},
    }
    points = [
        {"at": [p, g, s], "obtained": 0.1 + p + g + s, "low": 0.1, "high": 4, "published": 1.0}
        for p in range(2)
        for g in range(1 if kind == "shares" else 2)
        for s in range(2)
    ]
    points[-1]["obtained"] = None
    trace = {"starts": [[0.1, 0, 1, 1], [0.2, 1, 1, 0]], "disturbed_from_s": 0.1}
    figure = {"id": "S0-Fig.1", "title": "of nothing", "kind": kind, "unit": "s", **axes}
    figure |= {"points": points, "traces": [{**trace, "disturbed_to_s": 0.2}] * 2}
    drawn = lab.Reproduction('{"claims": []}', json.dumps([figure])).plot("S0-Fig.1")
    drawn.canvas.draw()
    titles = [one.get_title() for one in drawn.axes]
    assert titles[:2] == ["rws", "da"] or titles[::2] == ["rws", "da"]
    assert drawn.axes[0].has_data()


def test_importing_kilter_starts_and_loads_nothing():
    program = "import sys, kilter; print([m for m in sys.modules if 'lab' in m and 'kilter' in m])"
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "[]\n"


@pytest.mark.parametrize("name", ["neighbour", "policy"])
def test_notebooks_run_and_write_pictures_where_asked(name, tmp_path):
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    package = str(pathlib.Path(kilter.__file__).absolute().parents[1])
    here = {**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": package}
    script = [sys.executable, str(EXAMPLES / f"{name}.py")]
    subprocess.run(script, cwd=tmp_path, env=here, check=True, stdout=subprocess.DEVNULL)
    assert not list(tmp_path.iterdir())
    subprocess.run([*script, "."], cwd=tmp_path, env=here, check=True, stdout=subprocess.DEVNULL)
    assert {path.suffix for path in tmp_path.iterdir()} == {".png"}
