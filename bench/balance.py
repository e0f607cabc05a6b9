#!/usr/bin/env python3
"""What balancing the threads of unmodified programs gains on two CPUs of which one is slowed.

Part `lengths` (S3): matmul_xy with threads of lengths 2:1, in which LJFPF knows the lengths, RR
places one CPU after the other, and the kernel does what it does. Part `classes` (S4): four threads
that compute and four that stream from memory, watched and moved by `kilter lab balance`, with what
this machine can see and with rates that are played back. Every contender runs once a round, the
order rotates, the slow CPU changes each round, and the bound is measured in the same round: the
same work on each CPU while the other one works too, speeds added up.
"""

import argparse
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

SHARES = {"1/2": 50.0, "1/1.169": 100 / 1.169}
# Rates that counters would have shown, a second on a core: some 5 GB/s in lines of 64 bytes, and
# what a program in its cache misses.
MEMORY, COMPUTE = {"misses": 80e6, "ratio": 0.5}, {"misses": 0.5e6, "ratio": 0.02}


class Tools:
    def __init__(self, build):
        where = {
            "kilter": "cli",
            "matmul_xy": "lab/apps/threads",
            "libkilter_preload.so": "guests",
        }
        found = {
            name: pathlib.Path(build, folder, name).resolve() for name, folder in where.items()
        }
        missing = [name for name, path in found.items() if not path.is_file()]
        if missing:
            sys.exit(
                f"bench/balance: '{build}' lacks {', '.join(missing)}; bench/balance builds them"
            )
        self.kilter, self.matmul, self.preload = (
            str(found["kilter"]),
            str(found["matmul_xy"]),
            found["libkilter_preload.so"],
        )


class Slowed:
    """A CPU of which a program gets `percent` while the block runs.

    A calibrated real-time burner has the rest.
    """

    def __init__(self, kilter, cpu, percent):
        self.kilter, self.spec = kilter, f"share@{cpu}:{percent:.1f}%"

    def __enter__(self):
        self.process = subprocess.Popen(
            [self.kilter, "disturb", "--smt", self.spec, "--quiet", "--json", "-"],
            stdout=subprocess.DEVNULL,
        )
        time.sleep(0.7)
        if self.process.poll() is not None:
            sys.exit(f"bench/balance: the CPU could not be slowed ({self.spec})")
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()


def say(text):
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def matmul_seconds(command, **environment):
    """Wall-clock seconds of the threads, as the program says; the result must be right."""
    out = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)
    if out.returncode != 0 or "right" not in out.stdout:
        sys.exit(f"bench/balance: {' '.join(command)} failed: {out.stdout}{out.stderr}")
    return float(out.stdout.split(": ")[1].split(" s")[0])


def beside(command, other_cpu, program):
    """The same, while the program runs on the other CPU again and again."""
    loop = subprocess.Popen(
        ["taskset", "-c", str(other_cpu), "sh", "-c", 'while :; do "$@"; done', "sh", *program],
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return matmul_seconds(command)
    finally:
        os.killpg(loop.pid, signal.SIGKILL)
        loop.wait()


def preloaded(tools, command, policy, fast):
    """The same under the preload library, which places threads by `policy`."""
    return matmul_seconds(
        command,
        LD_PRELOAD=tools.preload.name,
        LD_LIBRARY_PATH=str(tools.preload.parent),
        KILTER_POLICY=policy,
        KILTER_FAST_CPUS=str(fast),
    )


def in_turn(round_number, contenders):
    """The contenders' results of one round; each round begins with another one.

    A contender is a function and its arguments.
    """
    names = list(contenders)
    at = round_number % len(names)
    results = {}
    for name in names[at:] + names[:at]:
        function, *arguments = contenders[name]
        results[name] = function(*arguments)
    return results


def of_rounds(rounds, name):
    values = [r[name] for r in rounds]
    return {
        "median": statistics.median(values),
        "mean": statistics.fmean(values),
        "least": min(values),
        "most": max(values),
    }


def lengths(tools, cpus, shares, rounds, seconds):
    """LJFPF by announced lengths 2:1, against RR, the kernel and the bound.

    Of two threads one is of each length; of eight, four.
    """
    rows = []
    columns, unit = 320, 4000  # the right-hand matrix stays in a core's own cache
    alone = matmul_seconds(
        ["taskset", "-c", str(cpus[0]), tools.matmul, "2", str(2 * unit), str(unit), str(columns)]
    )
    for threads in (2, 8):
        pairs = threads // 2
        y = max(1, int(unit * seconds * 2 / alone / pairs))  # two CPUs at full speed: `seconds`
        program = [tools.matmul, str(threads), str(2 * y), str(y), str(columns)]
        for share in shares:
            seen = []
            for r in range(rounds):
                say(f"lengths, {threads} threads, {share}: round {r + 1} of {rounds}")
                slow, fast = cpus[r % 2], cpus[1 - r % 2]
                on_fast, on_slow, on_both = (
                    ["taskset", "-c", where, *program]
                    for where in (str(fast), str(slow), f"{cpus[0]},{cpus[1]}")
                )
                contenders = {
                    "fast CPU alone": (matmul_seconds, on_fast),
                    "fast CPU": (beside, on_fast, slow, program),
                    "slow CPU": (beside, on_slow, fast, program),
                    "ljfpf": (preloaded, tools, on_both, "ljfpf", fast),
                    "rr": (preloaded, tools, on_both, "rr", fast),
                    "kernel": (matmul_seconds, on_both),
                }
                with Slowed(tools.kilter, slow, SHARES[share]):
                    got = in_turn(r, contenders)
                # No schedule is faster than both CPUs busy all the time, or the fast one alone if
                # they hinder one another so much; nor than the longest thread on the fast one.
                got["bound"] = max(
                    1 / max(1 / got["fast CPU"] + 1 / got["slow CPU"], 1 / got["fast CPU alone"]),
                    got["fast CPU alone"] * 2 / 3 / pairs,
                )
                got["bound over ljfpf"] = got["bound"] / got["ljfpf"]
                got["kernel over ljfpf"] = got["kernel"] / got["ljfpf"]
                got["slow CPU's speed"] = got["fast CPU"] / got["slow CPU"]
                seen.append(got)
            row = {"part": "lengths", "threads": threads, "speed": share, "rounds": seen}
            for name in (
                "slow CPU's speed",
                "bound",
                "ljfpf",
                "rr",
                "kernel",
                "bound over ljfpf",
                "kernel over ljfpf",
            ):
                row[name] = of_rounds(seen, name)
            # RR does not know which CPU is slow: its mean is over both.
            row["rr mean over ljfpf mean"] = row["rr"]["mean"] / row["ljfpf"]["mean"]
            rows.append(row)
    return rows


def played_back(tools, programs, directory):
    """What is seen of a run in which nothing moves, with rates as counters would have shown."""
    recorded, result, filled = (
        str(pathlib.Path(directory) / n) for n in ("seen.jsonl", "seen.json", "rates.jsonl")
    )
    watch = ["balance", "--policy", "none", "--observer", "software", "--quiet"]
    into = ["--record", recorded, "--json", result]
    subprocess.run(
        [tools.kilter, *watch, *into, "--", "sh", "-c", programs],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    document = json.loads(pathlib.Path(result).read_text())
    kinds = {i: p["name"] for i, p in enumerate(document["programs"])}
    with open(recorded) as source, open(filled, "w") as target:
        target.write(source.readline())
        for line in source:
            o = json.loads(line)
            o["rates"] = True
            for t in o["threads"]:
                rate = MEMORY if kinds.get(t.get("program", 0)) == "memory" else COMPUTE
                t["misses"] = round(rate["misses"] * t.get("ran_s", 0.0))
                t["miss_ratio"] = rate["ratio"]
                t.pop("class", None)
            target.write(json.dumps(o) + "\n")
    return filled


def classes(tools, cpus, rounds, seconds):
    """Four computing and four streaming threads, one CPU at 1/2: what Dike and DIO do.

    They do it by what is seen here, and by rates that are played back.
    """
    with tempfile.TemporaryDirectory() as directory:
        d = pathlib.Path(directory)
        for kind in ("memory", "compute"):
            (d / kind).symlink_to(tools.matmul)
        times = {}
        sizes = {"memory": (40, 3000), "compute": (2000, 512)}
        for kind, (rows, columns) in sizes.items():  # each alone on one CPU takes about `seconds`
            program = [str(d / kind), "4", str(rows), str(rows), str(columns)]
            took = matmul_seconds(["taskset", "-c", str(cpus[0]), *program])
            program[2:4] = [str(max(1, int(rows * seconds / took)))] * 2
            times[kind] = program
        programs = " & ".join(" ".join(times[k]) for k in times) + " & wait"
        both = ["taskset", "-c", f"{cpus[0]},{cpus[1]}"]

        def run(command, result=None):
            begin = time.monotonic()
            out = subprocess.run(both + command, capture_output=True, text=True)
            took = time.monotonic() - begin
            if out.returncode != 0 or out.stdout.count("right") != 2:
                sys.exit(f"bench/balance: {' '.join(command)} failed: {out.stdout}{out.stderr}")
            if result:
                return took, json.loads(pathlib.Path(result).read_text())["moves_done"]
            return took, 0

        def balanced(policy, observer):
            result = str(d / "result.json")
            options = ["--policy", policy, "--observer", observer, "--quiet", "--json", result]
            return run([tools.kilter, "balance", *options, "--", "sh", "-c", programs], result)

        seen, moves = [], []
        for r in range(rounds):
            say(f"classes: round {r + 1} of {rounds}")
            with Slowed(tools.kilter, cpus[r % 2], 50.0):
                rates = played_back(tools, programs, directory)
                contenders = {"kernel": (run, ["sh", "-c", programs])}
                for policy in ("none", "dike", "dio"):
                    for name, observer in (("software", "software"), ("replay", f"replay:{rates}")):
                        if policy == "none" and name == "replay":
                            continue
                        contenders[f"{policy}, {name}"] = (balanced, policy, observer)
                got = in_turn(r, contenders)
            seen.append({name: took for name, (took, _) in got.items()})
            moves.append({name: count for name, (_, count) in got.items()})
        rows = []
        for name in moves[0]:
            for r in seen:
                r[name + ", speed"] = r["kernel"] / r[name]
            rows.append(
                {
                    "part": "classes",
                    "contender": name,
                    "seconds": of_rounds(seen, name),
                    "speed over kernel": of_rounds(seen, name + ", speed"),
                    "moves": [m[name] for m in moves],
                }
            )
        return rows


def spread(v, digits=2):
    return f"{v['median']:.{digits}f} ({v['least']:.{digits}f} to {v['most']:.{digits}f})"


def show(rows):
    for row in (r for r in rows if r["part"] == "lengths"):
        measured = spread(row["slow CPU's speed"])
        print(
            f"lengths 2:1, {row['threads']} threads, one CPU at {row['speed']} "
            f"(measured {measured})"
        )
        contenders = ("ljfpf", "rr", "kernel", "bound")
        print("  seconds: " + ", ".join(f"{name} {spread(row[name])}" for name in contenders))
        print(
            f"  ljfpf: {spread(row['bound over ljfpf'])} of the bound; "
            f"rr's mean takes {row['rr mean over ljfpf mean']:.2f} times as long, "
            f"the kernel {spread(row['kernel over ljfpf'])} times"
        )
    for i, row in enumerate(r for r in rows if r["part"] == "classes"):
        if i == 0:
            print(
                "four computing and four streaming threads, one CPU at 1/2: "
                "seconds; speed over the kernel's own choice; moves"
            )
        print(
            f"  {row['contender']:<16} {spread(row['seconds'], 1):<22} "
            f"{spread(row['speed over kernel']):<22} {min(row['moves'])} to {max(row['moves'])}"
        )


def main():
    p = argparse.ArgumentParser(
        prog="bench/balance",
        description=__doc__.split("\n\n")[0],
        epilog="example: bench/balance --only lengths --rounds 10 --json lengths.json",
    )
    p.add_argument("--build", required=True, help=argparse.SUPPRESS)
    p.add_argument("--only", choices=("lengths", "classes"), help="one of the two parts")
    p.add_argument(
        "--rounds",
        type=int,
        default=6,
        help="rounds of each line; an even number has each CPU slow equally often (6)",
    )
    p.add_argument(
        "--seconds",
        type=float,
        default=1.0,
        help="length of a run of `lengths` on two equal CPUs; runs of `classes` are four times as "
        "long (1)",
    )
    p.add_argument("--json", metavar="FILE", help="all rounds as data")
    a = p.parse_args()
    cpus = sorted(os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        sys.exit("bench/balance: needs two CPUs; this process may use one")
    if a.rounds < 1 or a.seconds <= 0:
        sys.exit("bench/balance: --rounds must be 1 or more and --seconds above 0")
    tools, rows = Tools(a.build), []
    if a.only != "classes":
        rows += lengths(tools, cpus, SHARES, a.rounds, a.seconds)
    if a.only != "lengths":
        rows += classes(tools, cpus, a.rounds, 4 * a.seconds)
    say("")
    show(rows)
    if a.json:
        pathlib.Path(a.json).write_text(
            json.dumps({"schema": "kilter.bench_balance/1", "cpus": cpus, "rows": rows}, indent=1)
            + "\n"
        )


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
