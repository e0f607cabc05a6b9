"""joblib and Dask on Kilter against their own threads, alone and beside a neighbour on CPU 0.

    PYTHONPATH=build/test/python python bench/python/joined.py [joblib] [dask] [distributed]

Each line is a shape. The two sides of a pair run one after the other, in turns, in one process;
the neighbour is a busy loop pinned to CPU 0. Printed is the time of the threads over Kilter's: the
median of the pairs' ratios, and the quartiles. Where other programs of Kilter run, which would get
their share, KILTER_SHARING=0.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import statistics
import subprocess
import sys
import time
from functools import partial

import numpy as np


@contextlib.contextmanager
def neighbour(cpu=0):
    loop = f"import os; os.sched_setaffinity(0, [{cpu}])\nwhile True: pass"
    process = subprocess.Popen([sys.executable, "-c", loop])
    try:
        time.sleep(0.3)
        yield
    finally:
        process.kill()
        process.wait()


def bytes_for(seconds):
    """As many as are hashed in that time, by the fastest of some tries."""
    block = bytes(range(256)) * 4096
    took = []
    for _ in range(20):
        begun = time.perf_counter()
        hashlib.sha1(block).digest()
        took.append(time.perf_counter() - begun)
    length = max(4096, int(len(block) * seconds / min(took)))
    return (block * (length // len(block) + 1))[:length]


def work(block):
    """Releases the interpreter's lock for as long as the block is."""
    return hashlib.sha1(block).digest()


def median_and_quartiles(ratios):
    low, middle, high = statistics.quantiles(ratios, n=4)
    return f"{middle:5.2f}  ({low:.2f} to {high:.2f})"


def compare(name, pairs, threads, ours):
    """Prints the ratio of times of two functions."""
    threads(), ours(), ours()
    ratios, times = [], ([], [])
    for i in range(pairs):
        took = {}
        for side in (threads, ours) if i % 2 else (ours, threads):
            begun = time.perf_counter()
            side()
            took[side] = time.perf_counter() - begun
        ratios.append(took[threads] / took[ours])
        times[0].append(took[threads]), times[1].append(took[ours])
    both = " ".join(f"{1e3 * statistics.median(t):8.1f}" for t in times)
    print(f"{name:42} {median_and_quartiles(ratios)}   {both} ms", flush=True)


# ---- joblib --------------------------------------------------------------------------------------


def joblib_shapes(pairs):
    import kilter.joblib  # noqa: F401, registers the backend
    from joblib import Parallel, delayed

    def calls(pool, count, block, per_call):
        for _ in range(count):
            pool(delayed(work)(block) for _ in range(per_call))

    for name, count, per_call, seconds in [
        ("40 calls of 4 tasks of 0.2 ms", 40, 4, 0.0002),
        ("40 calls of 4 tasks of 1 ms", 40, 4, 0.001),
        ("20 calls of 8 tasks of 5 ms", 20, 8, 0.005),
        ("one call of 300 tasks of 1 ms", 1, 300, 0.001),
        ("one call of 3000 tasks of 10 us", 1, 3000, 0.00001),
    ]:
        block = bytes_for(seconds)
        with Parallel(4, backend="threading") as threads, Parallel(4, backend="kilter") as ours:
            shape = count, block, per_call
            compare(
                "joblib: " + name,
                pairs,
                partial(calls, threads, *shape),
                partial(calls, ours, *shape),
            )


# ---- Dask ----------------------------------------------------------------------------------------


def bag(tasks, block):
    return {("load", i): (work, block) for i in range(tasks)}, [("load", i) for i in range(tasks)]


def tree(leaves, block):
    graph, level = bag(leaves, block)
    while len(level) > 1:
        pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
        name = f"sum{len(pairs)}"
        graph.update({(name, i): (work_after, block, *pair) for i, pair in enumerate(pairs)})
        level = [(name, i) for i in range(len(pairs))]
    return graph, level[0]


def work_after(block, *results):
    return work(block)


def cholesky(n, block):
    """The tasks of a blocked Cholesky factorisation of n x n blocks."""
    graph, last = {}, {}

    def add(kind, at, *needs):
        key = (kind, len(graph))
        graph[key] = (work_after, block, *[last[a] for a in (at, *needs) if a in last])
        last[at] = key

    for k in range(n):
        add("potrf", (k, k))
        for i in range(k + 1, n):
            add("trsm", (i, k), (k, k))
        for i in range(k + 1, n):
            for j in range(k + 1, i + 1):
                add("syrk" if i == j else "gemm", (i, j), (i, k), (j, k))
    return graph, last[n - 1, n - 1]


def dask_shapes(pairs):
    import dask.array
    import dask.threaded
    import kilter.dask

    def shape(name, graph, keys):
        compare(
            "dask: " + name,
            pairs,
            lambda: dask.threaded.get(graph, keys),
            lambda: kilter.dask.get(graph, keys),
        )

    for seconds in (0.0003, 0.002):
        block = bytes_for(seconds)
        shape(f"tree of 64 leaves, {1e3 * seconds:g} ms", *tree(64, block))
        shape(f"Cholesky of 8 x 8 blocks, {1e3 * seconds:g} ms", *cholesky(8, block))
        shape(f"bag of 200, {1e3 * seconds:g} ms", *bag(200, block))
    shape("bag of 2000 empty tasks", *bag(2000, bytes(1)))
    x = dask.array.from_array(np.random.default_rng(1).random((2000, 2000)), chunks=(250, 250))
    sums = [(np.sin(x) ** 2 + i).sum() for i in range(4)]
    compare(
        "dask: four sums of arrays of 64 blocks",
        pairs,
        lambda: dask.compute(*sums, scheduler="threads"),
        lambda: dask.compute(*sums, scheduler=kilter.dask.get),
    )


# ---- Dask distributed ----------------------------------------------------------------------------


def hash_mib(count):
    for _ in range(count):
        hashlib.sha1(bytes(1 << 20)).digest()


def distributed_shapes(pairs):
    import kilter.distributed
    from dask.distributed import Client, LocalCluster

    def calls(client, count, per_call):
        for _ in range(count):
            client.gather([client.submit(hash_mib, 10, pure=False) for _ in range(per_call)])

    def cluster():
        return LocalCluster(4, threads_per_worker=1, dashboard_address=None)

    with cluster() as plain, cluster() as ours, Client(plain) as a, Client(ours) as b:
        b.register_plugin(kilter.distributed.Plugin())
        for shape in ((1, 80), (6, 8)):
            compare(
                f"distributed: {shape[0]} x {shape[1]} of 10 MiB",
                pairs,
                partial(calls, a, *shape),
                partial(calls, b, *shape),
            )


SHAPES = {"joblib": joblib_shapes, "dask": dask_shapes, "distributed": distributed_shapes}


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("what", nargs="*", default=["joblib", "dask"])
    options.add_argument("--pairs", type=int, default=15)
    chosen = options.parse_args()
    for surroundings in (contextlib.nullcontext, neighbour):
        beside = surroundings is neighbour
        print(f"{'beside a neighbour on CPU 0' if beside else 'alone'}, {os.cpu_count()} CPUs")
        with surroundings():
            for what in chosen.what:
                SHAPES[what](chosen.pairs)


if __name__ == "__main__":
    main()
