"""What `submit` of an empty function costs: kilter.Executor beside ThreadPoolExecutor, two workers.

Usage: PYTHONPATH=build/release/python python bench/python/submit.py [ROUNDS]

Both take turns. Per call in microseconds, the median over the rounds and the middle half of them:
`submit`, all calls are submitted; `submit and result`, until the last result is there; `one by
one`, each result is waited for before the next call. `ratio` is of the two in one round.
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
    pairs = []
    for _ in range(rounds):
        pair = []
        for made in (kilter.Executor, ThreadPoolExecutor):
            with made(WORKERS) as executor:
                pair.append(measure(executor))
        pairs.append(pair)
    print(f"Python {sys.version.split()[0]}, {rounds} rounds")
    for what in pairs[0][0]:
        ours = spread([a[what] for a, _ in pairs])
        theirs = spread([b[what] for _, b in pairs])
        ratio = spread([a[what] / b[what] for a, b in pairs])
        print(f"{what:18} kilter {ours:26} threads {theirs:26} ratio {ratio}")


if __name__ == "__main__":
    main()
