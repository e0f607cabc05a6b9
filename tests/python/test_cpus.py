"""What this process may use, and pools of libraries that follow it."""

import contextlib
import ctypes
import hashlib
import os
import pathlib
import pickle
import subprocess
import sys
import textwrap
import threading
import time

import kilter
import pytest
from kilter import _core, _cpus

CPUS = sorted(os.sched_getaffinity(0))
LONG_ENOUGH = 20  # seconds, of a busy machine
several_cpus = pytest.mark.skipif(len(CPUS) < 2, reason="one CPU")


def python(code, *before, env=None):
    """What a program of its own prints."""
    done = subprocess.run(
        [*before, sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


def eventually(holds):
    end = time.monotonic() + LONG_ENOUGH
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.02)
    return False


@contextlib.contextmanager
def neighbour(cpu):
    busy = subprocess.Popen(["taskset", "-c", str(cpu), "sh", "-c", "while :; do :; done"])
    try:
        yield busy.pid
    finally:
        busy.kill()
        busy.wait()


@contextlib.contextmanager
def only(cpus):
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, CPUS)


@pytest.fixture
def quota():
    """Makes a group with a quota of so many CPUs; gives what begins a command in it."""
    top = pathlib.Path("/sys/fs/cgroup/cpu")
    group = top / f"kilter-test-{os.getpid()}"
    if not os.access(top / "tasks", os.W_OK):
        pytest.skip("no cpu hierarchy that can be written")
    group.mkdir()

    def make(cpus):
        (group / "cpu.cfs_period_us").write_text("100000")
        (group / "cpu.cfs_quota_us").write_text(str(int(cpus * 100_000)))
        return ["sh", "-c", f'echo $$ > {group}/tasks && exec "$@"', "sh"]

    yield make
    assert eventually(lambda: not (group / "tasks").read_text())
    group.rmdir()


# ---- each CPU ------------------------------------------------------------------------------------


def test_cpus_are_those_of_the_mask():
    cpus = kilter.cpus()
    assert [cpu.id for cpu in cpus] == CPUS
    assert max(cpu.speed for cpu in cpus) == 1.0
    for cpu in cpus:
        assert 0.0 <= cpu.worth <= cpu.speed <= 1.0
        assert cpu.kind
    with only(CPUS[-1:]):
        assert [cpu.id for cpu in kilter.cpus(0)] == CPUS[-1:]


def test_a_neighbour_is_seen_where_it_is():
    with neighbour(CPUS[0]) as pid:
        assert eventually(lambda: pid in [u.pid for u in kilter.cpus(0.2)[0].users])
        for cpu in kilter.cpus(0.2)[1:]:
            assert pid not in [user.pid for user in cpu.users]
        first = kilter.cpus(0.5)[0]
        assert first.worth < 0.9
        assert [user.name for user in first.users if user.pid == pid] == ["sh"]


def test_worth_is_what_a_thread_would_get():
    def worth(others, *shares, speed=1.0):
        users = [_cpus.User(1, "", share) for share in shares]
        return _cpus._worth(speed, others, users)

    assert worth(0.0) == 1.0
    assert worth(0.3) == 0.7, "another machine's part is gone"
    assert worth(1.0, 1.0) == worth(0.5, 0.5) == 0.5, "whether we are there or not"
    assert worth(0.2, 0.2) == pytest.approx(0.8)
    assert worth(0.7, 0.6, 0.1) == pytest.approx(0.45)
    assert worth(1.0, 1.0, speed=0.5) == 0.25


def test_own_threads_are_no_neighbours():
    end = time.monotonic() + 0.8
    block = bytes(10_000_000)

    def work():
        while time.monotonic() < end:
            hashlib.sha256(block)

    threads = [threading.Thread(target=work) for _ in CPUS]
    for thread in threads:
        thread.start()
    watch, began, own = _core.begin_budget(), time.monotonic(), time.process_time()
    assert os.getpid() not in [user.pid for cpu in kilter.cpus(0.5) for user in cpu.users]
    used = (time.process_time() - own) / (time.monotonic() - began)
    assert _core.look(watch, 0)["others"] < len(CPUS) - used + 0.3
    for thread in threads:
        thread.join()


# ---- how many threads ----------------------------------------------------------------------------


def test_budget_is_a_number_that_says_why():
    budget = kilter.cpu_budget()
    assert 1 <= budget.equal <= budget <= len(CPUS)
    assert f"{int(budget)} of {len(CPUS)} CPU" in budget.why
    again = pickle.loads(pickle.dumps(budget))
    assert (again, again.why) == (budget, budget.why)
    with only(CPUS[:1]):
        assert kilter.cpu_budget() == 1


@several_cpus
def test_budget_leaves_out_what_others_use():
    with neighbour(CPUS[0]):
        assert eventually(lambda: kilter.cpu_budget() < len(CPUS))
        if len(CPUS) == os.cpu_count():
            assert eventually(lambda: kilter.cpu_budget(0) < len(CPUS)), "it runs at this moment"
        assert eventually(lambda: "others use" in kilter.cpu_budget(0.2).why)


@several_cpus
def test_budget_is_what_the_quota_pays_for(quota):
    code = "import kilter; b = kilter.cpu_budget(0); print(int(b), b.why, sep=chr(10))"
    number, why = python(code, *quota(1))
    assert number == "1"
    assert "the quota pays for 1" in why
    paid = "from kilter import _core; print(_core.look(_core.begin_budget(), 0)['paid'])"
    assert python(paid, *quota(1.5)) == ["2"]


@several_cpus
def test_other_programs_of_kilter_have_their_share():
    pytest.importorskip("threadpoolctl")
    code = """
        import kilter
        with kilter.limits():
            print("begun", flush=True)
            while True:
                pass
    """
    other = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert other.stdout.readline() == "begun\n"
        assert eventually(lambda: "1 other program of Kilter" in kilter.cpu_budget().why) or (
            os.environ.get("KILTER_SHARING") == "0"
        )
        assert kilter.cpu_budget() >= 1
        users = [user for cpu in kilter.cpus(0.3) for user in cpu.users if user.pid == other.pid]
        assert users
        assert all(user.name.startswith("kilter: ") for user in users)
    finally:
        other.kill()
        other.wait()
        other.stdout.close()


@pytest.mark.parametrize("ask", [kilter.cpus, kilter.cpu_budget])
def test_what_cannot_be_measured_for(ask):
    for seconds in (-1, float("nan"), 1e9):
        with pytest.raises(ValueError, match="0.05 to 3600"):
            ask(seconds)
    with pytest.raises(TypeError, match="not str"):
        ask("1")


def test_without_proc():
    code = """
        import subprocess, kilter
        subprocess.run(["mount", "-t", "tmpfs", "none", "/proc"], check=True)
        assert len(kilter.cpus()) >= 1
        print(int(kilter.cpu_budget()))
        try:
            with kilter.limits():
                pass
        except ImportError:
            pass
    """
    alone = ["unshare", "--mount"]
    with contextlib.suppress(FileNotFoundError):
        if subprocess.run([*alone, "true"], capture_output=True).returncode == 0:
            assert int(python(code, *alone)[0]) >= 1
            return
    pytest.skip("no mounts of its own")


# ---- pools of libraries --------------------------------------------------------------------------

PRELUDE = """
import ctypes, os, signal, sys, threading, time
import numpy, threadpoolctl, kilter, kilter._core
libgomp = ctypes.CDLL("libgomp.so.1")
CPUS = sorted(os.sched_getaffinity(0))
def numbers(api):
    return {n["num_threads"] for n in threadpoolctl.threadpool_info() if n["user_api"] == api}
def all_are(number):
    return numbers("blas") == numbers("openmp") == {number}
def have_what_they_had():
    return (numbers("blas"), numbers("openmp")) == HAD
HAD = numbers("blas"), numbers("openmp")
assert HAD[1] == {8}, HAD
budget = None  # where neighbours are to be none
def look(watch, could_use, really=kilter._core.look):
    told = really(watch, could_use)
    return told if budget is None else dict(told, pool=budget, equal=budget, others=0.0)
kilter._core.look = look
def eventually(holds):
    end = time.monotonic() + 20
    while time.monotonic() < end and not holds():
        time.sleep(0.02)
    assert holds(), threadpoolctl.threadpool_info()
"""


@pytest.fixture
def program():
    """Runs a program whose pools have eight threads, but for BLAS that has no more than CPUs."""
    pytest.importorskip("numpy")
    pytest.importorskip("threadpoolctl")
    try:
        ctypes.CDLL("libgomp.so.1")
    except OSError:
        pytest.skip("no libgomp")

    def run(code, *before):
        eight = {"OMP_NUM_THREADS": "8", "OPENBLAS_NUM_THREADS": "8"}
        return python(PRELUDE + textwrap.dedent(code), *before, env=eight)

    return run


def test_limits_keep_both_kinds_at_a_quota(program, quota):
    code = """
        with kilter.limits(0.1) as limits:
            print(numbers("blas"), numbers("openmp"), int(limits.budget))
        assert have_what_they_had()
    """
    assert program(code, *quota(1)) == ["{1} {1} 1"]


@several_cpus
def test_limits_follow_a_mask_that_changes(program):
    program("""
        with kilter.limits() as limits:
            os.sched_setaffinity(0, CPUS[:1])
            eventually(lambda: " of 1 CPU:" in limits.budget.why and all_are(1))
            os.sched_setaffinity(0, CPUS)
            eventually(lambda: f" of {len(CPUS)} CPUs:" in limits.budget.why)
            eventually(lambda: all_are(limits.budget.equal))
        assert have_what_they_had()
    """)


@several_cpus
def test_blas_gives_way_while_own_threads_crowd(program):
    program("""
        import hashlib
        budget = 2
        data, over = bytes(1 << 22), threading.Event()
        def compute():
            while not over.is_set():
                hashlib.sha1(data).digest()
        with kilter.limits():
            eventually(lambda: all_are(2))
            threads = [threading.Thread(target=compute) for _ in range(len(CPUS) + 2)]
            for thread in threads:
                thread.start()
            eventually(lambda: numbers("blas") == {1})
            assert numbers("openmp") == {2}
            over.set()
            eventually(lambda: all_are(2))
        assert have_what_they_had()
    """)


@several_cpus
def test_what_limiters_inside_set_holds_and_goes(program):
    program("""
        budget = 1
        with kilter.limits() as limits:
            with threadpoolctl.threadpool_limits(1, user_api="blas"):
                budget = 2
                eventually(lambda: limits.budget == 2)
                time.sleep(0.3)
                assert numbers("blas") == {1}
            assert all_are(2)
            time.sleep(0.3)
            assert all_are(2), "it set what it had found"
            lowered = threadpoolctl.threadpool_limits(1)
            time.sleep(0.3)
            assert all_are(1), "the program itself has set it"
            lowered.restore_original_limits()
            budget = 1
            eventually(lambda: all_are(1))
            inside = threadpoolctl.threadpool_limits(1)
            inside.__enter__()
        assert numbers("blas") == {1}
        inside.__exit__(None, None, None)
        assert numbers("blas") == HAD[0]
    """)


def test_limits_end_however_they_are_left(program):
    program("""
        def all_as_before():
            assert have_what_they_had()
            assert threading.active_count() == 1

        budget = 1
        for _ in range(3):
            try:
                with kilter.limits():
                    raise KeyError
            except KeyError:
                all_as_before()

        @kilter.limits()
        def nested(depth):
            assert all_are(1)
            return depth and nested(depth - 1)

        nested(3)
        all_as_before()
        failed = []
        def enter_and_leave():
            try:
                for _ in range(50):
                    with kilter.limits():
                        assert all_are(1)
            except BaseException as e:
                failed.append(e)
        threads = [threading.Thread(target=enter_and_leave) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failed, failed
        all_as_before()
    """)


@several_cpus
def test_other_threads_have_their_own_number_of_openmp(program):
    program("""
        budget = 1
        changed, seen = threading.Event(), []
        def inside():
            assert numbers("openmp") == {8}
            with kilter.limits() as limits:
                seen.append(numbers("openmp"))
                changed.set()
                eventually(lambda: limits.budget == 2)
                seen.append(numbers("openmp"))
                limits.refresh()
                seen.append(numbers("openmp"))
            assert numbers("openmp") == {8}
        with kilter.limits():
            thread = threading.Thread(target=inside)
            thread.start()
            changed.wait()
            budget = 2
            thread.join()
            eventually(lambda: all_are(2))
        assert seen == [{1}, {1}, {2}], seen
    """)


def test_a_child_of_a_fork_goes_on_and_has_all_back(program):
    program("""
        budget = 1
        with kilter.limits():
            child = os.fork()
            assert all_are(1)
            with kilter.limits():
                time.sleep(0.3)
        assert have_what_they_had()
        if child:
            assert os.waitpid(child, 0)[1] == 0
    """)


@pytest.mark.parametrize(
    "ends",
    [
        "with kilter.limits(): sys.exit(0)",
        "kilter.limits().__enter__()",
        "kilter.limits().__enter__(); import atexit; atexit.register(kilter.limits().__enter__)",
        "threading.Thread(target=lambda: kilter.limits().__enter__() and time.sleep(0.5)).start()",
        "threading.Thread(target=kilter.limits()(time.sleep), args=(9,), daemon=True).start()",
    ],
)
def test_the_interpreter_ends_inside(program, ends):
    program(ends)


def test_signals_come_through(program):
    program("""
        refresh = kilter.limits.refresh
        signal.signal(signal.SIGALRM, lambda *_: refresh())
        signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
        end = time.monotonic() + 2
        while time.monotonic() < end:
            with kilter.limits():
                pass
        signal.setitimer(signal.ITIMER_REAL, 0)
        assert have_what_they_had()
    """)


def test_without_threadpoolctl_one_line_says_so():
    code = """
        import sys
        sys.modules["threadpoolctl"] = None
        import kilter
        try:
            kilter.limits
        except ImportError as e:
            print(e)
    """
    assert python(code) == [
        "kilter.limits needs threadpoolctl 3.7 or newer: pip install kilter[limits]"
    ]
