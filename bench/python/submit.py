"""What `submit` of an empty function costs: kilter.Executor beside ThreadPoolExecutor, two workers.

Usage: PYTHONPATH=build/release/python python bench/python/submit.py [ROUNDS]

Both take turns. Per call in microseconds, the median over the rounds and the middle half of them:
`submit`, all calls are submitted; `submit and result`, until the last result is there; `one by one`,
each result is waited for before the next call. The ratio is of the medians of each round's ratio.
"""

import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import kilter

CALLS, CALLS_ONE_BY_ONE, WORKERS = 20_000, 2_000, 2


def empty():
    pass


def measure(executor):
    """Microseconds per call, by what is measured."""
    executor.submit(empty).result()
    begin = time.perf_counter()
    futures = [executor.submit(empty) for _ in range(CALLS)]
    submitted = time.perf_counter()
    for future in futures:
        future.result()
    done = time.perf_counter()
    for _ in range(CALLS_ONE_BY_ONE):
        executor.submit(empty).result()
    end = time.perf_counter()
    return {
        "submit": (submitted - begin) / CALLS * 1e6,
        "submit and result": (done - begin) / CALLS * 1e6,
        "one by one": (end - done) / CALLS_ONE_BY_ONE * 1e6,
    }


def spread(values):
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:6.2f} ({low:.2f} to {high:.2f})"


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    ours, theirs = [], []
    for _ in range(rounds):
        for made, into in ((kilter.Executor, ours), (ThreadPoolExecutor, theirs)):
            with made(WORKERS) as executor:
                into.append(measure(executor))
    print(f"Python {sys.version.split()[0]}, {rounds} rounds")
    for what in ours[0]:
        a, b = [r[what] for r in ours], [r[what] for r in theirs]
        ratio = spread([x / y for x, y in zip(a, b)])
        print(f"{what:18} kilter {spread(a):26} threads {spread(b):26} ratio {ratio}")


if __name__ == "__main__":
    main()
