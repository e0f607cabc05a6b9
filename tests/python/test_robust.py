"""What could hang or crash an interpreter: signals, forks, its end. Each in an own process."""

import signal
import subprocess
import sys
import textwrap

import pytest

LONG = 90  # seconds: it hangs

COMMON = """
import faulthandler, gc, os, signal, sys, threading, time
faulthandler.enable()
faulthandler.register(signal.SIGALRM, chain=True)
signal.alarm(60)
import kilter

def same(x):
    return x

def ready():
    print("ready", flush=True)
"""


def program(text, interrupts=0, file=None):
    """What it printed, and its exit code; SIGINT is sent each time that it says it is ready."""
    source = COMMON + textwrap.dedent(text)
    if file is not None:
        file.write_text(source)
    command = [sys.executable, "-c", source] if file is None else [sys.executable, str(file)]
    child = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        for _ in range(interrupts):
            assert child.stdout.readline() == "ready\n", child.communicate(timeout=LONG)[1]
            child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=LONG)
    finally:
        child.kill()
    return out, err, child.returncode


def runs(text, **how):
    """The lines that it printed; it must end well, and say nothing on standard error."""
    out, err, code = program(text, **how)
    assert (code, err) == (0, ""), out + err
    return out.splitlines()


# ---- Ctrl-C ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "waits",
    [
        "e.submit(blocks).result()",
        "e.submit(blocks).exception(1000)",
        "list(e.map(lambda _: blocks(), range(8)))",
        "kilter.map(lambda _: blocks(), range(8))",
        "g.run(e)",
        "g.run(e, timeout=1000)",
        "g.start(e).wait()",
        "r = g.start(e); r.result(first)",
        "concurrent.futures.wait([e.submit(blocks)])",
        "e.submit(blocks); e.shutdown()",
    ],
)
def test_interrupted(waits):
    lines = runs(
        f"""
        import concurrent.futures
        go, begun, after = threading.Event(), threading.Event(), []
        def blocks():
            begun.set()
            go.wait()
        e = kilter.Executor(2)
        g = kilter.Graph()
        first = g.add(blocks)
        g.add(after.append, 1, after=first)
        threading.Thread(target=lambda: (begun.wait(), time.sleep(0.05), ready())).start()
        try:
            {waits}
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        go.set()
        with kilter.Executor(1) as other:
            print(other.submit(same, 1).result())
        e.shutdown()
        if "g.run" in {waits!r}:
            assert not after
        """,
        interrupts=1,
    )
    assert lines == ["interrupted", "1"]


def test_interrupted_at_the_end():
    out, err, code = program(
        """
        def for_ever():
            while True:
                time.sleep(0.001)
        def spins():
            while True:
                pass
        e = kilter.Executor(3)
        e.submit(for_ever)
        e.submit(spins)
        e.submit(time.sleep, 1000)
        threading.Thread(target=lambda: e.submit(same, 1).result(), daemon=True).start()
        import atexit
        atexit.register(print, "atexit", flush=True)
        getattr(threading, "_register_atexit", atexit.register)(ready)
        """,
        interrupts=1,
    )
    assert out == "atexit\n" and code in (0, 1, 130) and "Fatal" not in err, (out, err, code)


# ---- the end of the interpreter ----------------------------------------------------------------


def test_end_with_tasks_under_way():
    lines = runs(
        """
        def later(i):
            time.sleep(0.02)
            print(f"{i}\\n", end="", flush=True)
        e = kilter.Executor(2)
        for i in range(10):
            e.submit(later, i)
        dropped = kilter.Executor(1)
        dropped.submit(later, 10)
        del dropped
        kilter.default_executor().submit(later, 11)
        g = kilter.Graph()
        g.add(later, 13, after=g.add(later, 12))
        g.start()
        """
    )
    assert sorted(map(int, lines)) == list(range(14))


def test_end_by_an_exception_with_tasks_under_way():
    out, err, code = program(
        """
        e = kilter.Executor(2)
        for i in range(6):
            e.submit(lambda: (time.sleep(0.02), print("done", flush=True)))
        raise OSError("of the main thread")
        """
    )
    assert (out.count("done"), code) == (6, 1) and "of the main thread" in err


@pytest.mark.parametrize("how", ["os._exit(3)", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_hard_end(how):
    out, err, code = program(
        f"""
        e = kilter.Executor(2)
        e.submit(time.sleep, 1000)
        e.submit(lambda: [same(i) for i in iter(int, 1)])
        time.sleep(0.05)
        {how}
        """
    )
    assert code in (3, -signal.SIGKILL) and err == ""


def test_a_body_ends_the_process():
    out, err, code = program("kilter.Executor(2).submit(os._exit, 4).result()")
    assert (code, err) == (4, "")


def test_nothing_is_taken_after_the_end_has_begun():
    lines = runs(
        """
        import atexit
        e = kilter.Executor(1)
        def late(e=e, same=same, kilter=kilter):
            for use in (lambda: e.submit(same, 1), kilter.Executor, lambda: kilter.Graph().run(e)):
                try:
                    use()
                    print("taken")
                except Exception as refused:
                    print(type(refused).__name__)
        e.submit(same, 1).result()
        atexit.register(late)
        class Late:
            def __del__(self, late=late):
                late()
        at_the_very_end = Late()
        """
    )
    assert lines[:3] == ["RuntimeError"] * 3 and "taken" not in lines


def test_daemon_threads_wait_at_the_end():
    runs(
        """
        e = kilter.Executor(1)
        go = threading.Event()
        e.submit(go.wait, 0.2)
        pending = kilter.Future()
        for _ in range(5):
            threading.Thread(target=pending.result, daemon=True).start()
            threading.Thread(target=lambda: [same(i) for i in iter(int, 1)], daemon=True).start()
        time.sleep(0.05)
        """
    )


def test_objects_that_die_at_the_end():
    runs(
        """
        class Holds:
            def __init__(self, held):
                self.held, self.itself = held, self
            def __del__(self):
                self.held
        e = kilter.Executor(2)
        sys.modules["__main__"].kept = [Holds(e), Holds(e.submit(same, Holds(e)))]
        g = kilter.Graph()
        g.add(same, Holds(g))
        g.run(e)
        builtins = __import__("builtins")
        builtins.kept = (e, g, kilter.default_executor())
        """
    )


# ---- fork and spawn ----------------------------------------------------------------------------


def test_fork():
    lines = runs(
        """
        import warnings
        warnings.simplefilter("ignore")
        e = kilter.Executor(2)
        go = threading.Event()
        running = e.submit(go.wait)
        assert kilter.map(same, range(100)) == list(range(100))
        default = kilter.default_executor()
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            for use in (lambda: e.submit(same, 1), running.result, lambda: kilter.Graph().run(e),
                        lambda: default.submit(same, 1)):
                try:
                    use()
                    print("taken", flush=True)
                except RuntimeError as why:
                    assert "fork" in str(why) and "\\n" not in str(why)
                    print("refused", flush=True)
            print(sum(kilter.map(same, range(10))), flush=True)
            assert kilter.default_executor() is not default
            with kilter.Executor(1) as own:
                print(own.submit(same, 7).result(), flush=True)
            e.shutdown()
            del e, running, default
            gc.collect()
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
        go.set()
        print(e.submit(same, 8).result())
        """
    )
    assert lines == ["refused"] * 4 + ["45", "7", "8"]


def test_forks_while_others_submit():
    runs(
        """
        import warnings
        warnings.simplefilter("ignore")
        e = kilter.Executor(2)
        stop = threading.Event()
        def busy():
            while not stop.is_set():
                [f.result() for f in [e.submit(same, 1) for _ in range(20)]]
        threads = [threading.Thread(target=busy) for _ in range(3)]
        for t in threads: t.start()
        for _ in range(20):
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                with kilter.Executor(2) as mine:
                    assert sum(mine.map(same, range(50))) == 1225
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        stop.set()
        for t in threads: t.join()
        """
    )


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(method, tmp_path):
    lines = runs(
        f"""
        import multiprocessing, warnings
        warnings.simplefilter("ignore")
        def inside(n):
            return sum(kilter.map(same, range(n)))
        def in_a_task(context):
            with context.Pool(1) as pool:
                return pool.map(inside, [4])
        if __name__ == "__main__":
            context = multiprocessing.get_context("{method}")
            print(inside(10))
            with context.Pool(2) as pool:
                print(pool.map(inside, [5, 6, 7]))
            with kilter.Executor(1) as e:
                print(e.submit(in_a_task, context).result())
        """,
        file=tmp_path / "program.py",
    )
    assert lines == ["45", "[10, 15, 21]", "[6]"]


# ---- many, and odd moments ---------------------------------------------------------------------


def test_a_thousand_executors():
    runs(
        """
        if hasattr(os, "sched_getaffinity"):
            threads = lambda: len(os.listdir("/proc/self/task"))
        before = threads()
        for i in range(1000):
            e = kilter.Executor(2)
            if i % 3 == 0:
                e.submit(same, 1)
            elif i % 3 == 1:
                assert e.submit(same, i).result() == i
            if i % 7 == 0:
                e.shutdown()
            del e
        deadline = time.monotonic() + 60
        while threads() > before and time.monotonic() < deadline:
            time.sleep(0.01)
        assert threads() == before
        """
    )


def test_executors_die_on_their_own_workers():
    runs(
        """
        for i in range(100):
            e = kilter.Executor(2)
            cycle = [e]
            cycle.append(cycle)
            go = threading.Event()
            def collects(held):
                go.wait()
                held.clear()
                gc.collect()
            e.submit(collects, [cycle])
            f = e.submit(same, i)
            del e, cycle
            go.set()
            assert f.result() == i
        """
    )


def test_bodies_that_hold_the_lock():
    lines = runs(
        """
        import re
        def spins():
            end = time.monotonic() + 0.3
            while time.monotonic() < end:
                pass
            return 1
        with kilter.Executor(2) as e:
            spinning = [e.submit(spins) for _ in range(4)]
            in_c = [e.submit(sum, range(10**7)) for _ in range(2)]
            ticks = 0
            while not all(f.done() for f in spinning):
                ticks += 1
                time.sleep(0.001)
            print(sum(f.result() for f in spinning), len({f.result() for f in in_c}))
            print("others ran" if ticks > 5 else ticks)
            # bodies of C code never look whether others want the lock
            many = [e.submit(len, "abc") for _ in range(200000)]
            begin = time.monotonic()
            time.sleep(0.001)
            print(sum(f.result() for f in many))
        """
    )
    assert lines == ["4 1", "others ran", "600000"]


def test_deep_waits():
    lines = runs(
        """
        sys.setrecursionlimit(20000)
        threading.stack_size(64 * 2**20)
        def deep(e, n):
            return 0 if n == 0 else 1 + e.submit(deep, e, n - 1).result()
        with kilter.Executor(2) as e:
            print(e.submit(deep, e, 150).result())
            sys.setrecursionlimit(200)
            f = e.submit(deep, e, 5000)
            print(type(f.exception()).__name__)
        """
    )
    assert lines == ["150", "RecursionError"]


def test_callbacks_and_submissions_everywhere():
    lines = runs(
        """
        with kilter.Executor(2) as e:
            seen = []
            def again(f):
                seen.append(f.result())
                if f.result() < 200:
                    e.submit(same, f.result() + 1).add_done_callback(again)
            e.submit(same, 0).add_done_callback(again)
            while len(seen) < 201:
                time.sleep(0.001)
            print(seen == list(range(201)))
        """
    )
    assert lines == ["True"]


def test_import_starts_nothing():
    lines = runs(
        """
        print(len(os.listdir("/proc/self/task")), "concurrent.futures" in sys.modules)
        """
    )
    assert lines == ["1 False"]
