#!/usr/bin/env python3
"""kilter.limits() against fixed numbers of threads, alone, beside a neighbour and under a quota.

    PYTHONPATH=build/release/python python bench/python/limits.py [--rounds N] [--only WORD]...

In each round every way runs for one period of the neighbour, in turn. Each line has the ratio of
what came to that of the best fixed number: of limits(), and of no limit at all; the median of the
rounds, the smallest and the largest. A quota needs a control group of version 1 that may be made.
"""

import argparse
import contextlib
import os
import pathlib
import statistics
import subprocess
import sys
import time

PERIOD = 4.0  # seconds; half of it the neighbour is there
WAYS = ("limits()", "1 thread", "2 threads", "no limit")
PLACES = ("alone", "neighbour", "quota")

NEIGHBOUR = f"""
import time
while True:
    while time.time() % {PERIOD} < {PERIOD / 2}: pass
    time.sleep({PERIOD} - time.time() % {PERIOD})
"""


def work_of(name):
    import numpy

    random = numpy.random.default_rng(1)
    if name == "svd":
        matrix = random.random((500, 500))
        return lambda: numpy.linalg.svd(matrix)
    from sklearn.cluster import KMeans
    from sklearn.ensemble import HistGradientBoostingClassifier

    points = random.random((20_000, 20))
    if name == "kmeans":
        return lambda: KMeans(20, n_init=1, max_iter=20, tol=0, random_state=1).fit(points)
    labels = points[:, 0] + points[:, 1] > 1 + 0.2 * random.random(len(points))
    return lambda: HistGradientBoostingClassifier(max_iter=20).fit(points, labels)


def limit(way):
    import kilter
    from threadpoolctl import threadpool_limits

    if way == "limits()":
        return kilter.limits()
    return contextlib.nullcontext() if way == "no limit" else threadpool_limits(int(way[0]))


def rate(work, way):
    """Times a second, from the begin of a period on."""
    time.sleep(PERIOD - time.time() % PERIOD)
    begin, times = time.perf_counter(), 0
    with limit(way):
        while (took := time.perf_counter() - begin) < PERIOD:
            work()
            times += 1
    return times / took


def measure(name, rounds):
    work = work_of(name)
    work()
    rates = {way: [] for way in WAYS}
    for number in range(rounds):
        for way in WAYS[number % len(WAYS) :] + WAYS[: number % len(WAYS)]:
            rates[way].append(rate(work, way))
    best = max(WAYS[1:3], key=lambda way: statistics.median(rates[way]))

    def against_best(way):
        ratios = sorted(a / b for a, b in zip(rates[way], rates[best], strict=True))
        return f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"

    return f"{best}, limits() {against_best('limits()')}, no limit {against_best('no limit')}"


@contextlib.contextmanager
def place(where):
    """Gives the command's first words, and the environment."""
    if where == "neighbour":
        other = subprocess.Popen(["taskset", "-c", "0", sys.executable, "-c", NEIGHBOUR])
        try:
            yield [], {}
        finally:
            other.kill()
            other.wait()
    elif where == "quota":
        groups = pathlib.Path("/proc/self/cgroup").read_text().splitlines()
        own = next(line for line in groups if ":cpu:" in line).split(":")[2].lstrip("/")
        group = pathlib.Path("/sys/fs/cgroup/cpu", own, "kilter-bench")
        group.mkdir()
        (group / "cpu.cfs_quota_us").write_text("100000")
        into = ["sh", "-c", f'echo $$ > {group}/tasks && exec "$@"', "sh"]
        try:
            yield into, {"OMP_NUM_THREADS": "8", "OPENBLAS_NUM_THREADS": "8"}
        finally:
            time.sleep(0.2)
            group.rmdir()
    else:
        yield [], {}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--only", action="append", default=[], help="of names and places")
    arguments.add_argument("--measure", help=argparse.SUPPRESS)
    told = arguments.parse_args()
    if told.measure:
        print(measure(told.measure, told.rounds))
        return
    for where in PLACES:
        for name in ("svd", "kmeans", "boosting"):
            if not set(told.only) <= {where, name}:
                continue
            with place(where) as (before, more):
                command = [sys.executable, __file__, "--measure", name, "--rounds"]
                done = subprocess.run(
                    [*before, *command, str(told.rounds)],
                    env={**os.environ, **more},
                    stdout=subprocess.PIPE,
                    text=True,
                    check=True,
                )
            print(f"{where:10} {name:9} best {done.stdout}", end="", flush=True)


main()
