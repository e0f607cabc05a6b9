#!/usr/bin/env python3
"""Results of the simulator that must not change by accident, byte for byte.

    check.py KILTER             compares with the files beside this one
    check.py KILTER --renew     writes them anew, after a change that was meant; look at the
                                difference before it is committed
    check.py KILTER --dump DIR  writes them there; `--runner 'qemu-aarch64 ...'` starts the program

What depends on the invocation (`environment`), the machine's description and what was measured
natively are left out; numbers are compared as they were written.
"""

import argparse
import json
import os.path
import pathlib
import shlex
import subprocess
import sys

SIMULATIONS = {
    "layered": "layered --on sim:jetson-tx2 --policy rws,fa,da,dam-c,dam-p --table paper"
    " --tasks 400 --parallelism 2 --repeat 2 --disturb cpu@0 --disturb offline@1@25%..60%",
    "wave": "layered --on sim:grid:2x4 --policy all --kernel copy --tile 64 --tasks 300"
    " --parallelism 6 --repeat 1 --disturb wave@0-1:20%,0.02",
    "random": "random --on sim:haswell-20 --policy rws,perf,dam-c --criticality chain --tasks 200"
    " --repeat 1 --disturb quota@all:40%",
    "kmeans": "kmeans --on sim:jetson-tx2 --policy rws,dam-p --table paper --iterations 6"
    " --tasks-per-iteration 12 --repeat 1 --steal richest"
    " --disturb freq@0-1:17%,0.5 --co-runner fluid",
    "heat": "heat --on sim:haswell-cluster --policy dam-c --ranks 4 --tasks-per-rank 5"
    " --iterations 5 --repeat 1",
}
CLAIMS = ["S0-6", "S0-9", "S0-20", "S2-4", "S0-24", "S2-12", "S3-6", "S4-15"]
HERE = pathlib.Path(__file__).parent


class call:
    def __init__(self, kilter, runner):
        self.words = shlex.split(runner) + [kilter]

    def __call__(self, *arguments):
        done = subprocess.run(
            [*self.words, *arguments, "--quiet", "--json", "-"],
            capture_output=True,
            text=True,
            timeout=280,
        )
        if done.returncode != 0:
            sys.exit(
                f"kilter {' '.join(arguments)}: exit status {done.returncode}: "
                f"{done.stderr.strip()[:600]}"
            )
        return json.loads(done.stdout, parse_float=number)


class number(float):
    """Prints as it was read."""

    def __new__(cls, text):
        self = super().__new__(cls, text)
        self.text = text
        return self

    def __repr__(self):
        return self.text


def plain(value):
    """Numbers as they were written; one line for what has no list of objects in it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)}: {plain(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(plain(v) for v in value) + "]"
    return value.text if isinstance(value, number) else json.dumps(value)


def lines(document):
    for key, value in document.items():
        if isinstance(value, list):
            for i, each in enumerate(value):
                yield f"{key}[{i}]: {plain(each)}"
        else:
            yield f"{key}: {plain(value)}"


def simulated(kilter, arguments):
    document = kilter("compare", *arguments.split(), "--no-details")
    (experiment,) = document.pop("experiments")
    for key in ("environment", "columns"):
        del document[key]
    del experiment["machine"]
    return [*lines(document), *lines(experiment)]


def outputs(kilter):
    for name, arguments in SIMULATIONS.items():
        yield f"sim_{name}.txt", [f"kilter compare {arguments}", *simulated(kilter, arguments)]
    verdicts = kilter("lab", "reproduce", *CLAIMS)
    for claim in verdicts["claims"]:
        claim.pop("native", None)
    yield "reproduce.txt", [f"kilter lab reproduce {' '.join(CLAIMS)}", *lines(verdicts)]


def another_seed_differs(kilter):
    arguments = SIMULATIONS["layered"]
    results = [
        [
            line
            for line in simulated(kilter, f"{arguments} --seed {seed}")
            if line.startswith("runs")
        ]
        for seed in (1, 2)
    ]
    same = [a for a, b in zip(*results, strict=True) if a == b]
    return (
        []
        if not same
        else [
            f"{len(same)} of {len(results[0])} runs are the same with another seed: {same[0][:200]}"
        ]
    )


def main():
    parse = argparse.ArgumentParser()
    parse.add_argument("kilter")
    parse.add_argument("--renew", action="store_true")
    parse.add_argument("--dump")
    parse.add_argument("--runner", default="")
    options = parse.parse_args()
    kilter = call(options.kilter, options.runner)
    if options.renew or options.dump:
        where = pathlib.Path(options.dump or HERE)
        where.mkdir(parents=True, exist_ok=True)
        for name, text in outputs(kilter):
            (where / name).write_text("\n".join(text) + "\n")
        return 0
    wrong = another_seed_differs(kilter)
    for name, text in outputs(kilter):
        golden = (HERE / name).read_text().splitlines()
        if golden == text:
            continue
        first = len(os.path.commonprefix([golden, text]))
        was, now = (all[first] if first < len(all) else "nothing" for all in (golden, text))
        at = len(os.path.commonprefix([was, now]))
        shown = slice(max(0, at - 60), at + 120)
        wrong.append(
            f"{name}, line {first + 1}, from character {at}:\n"
            f"  was {was[shown]}\n  is  {now[shown]}"
        )
    for each in wrong:
        print(each)
    if wrong:
        print(f"If the change was meant: python3 tests/golden/check.py {options.kilter} --renew")
    return 1 if wrong else 0


sys.exit(main())
