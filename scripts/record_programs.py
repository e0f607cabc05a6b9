#!/usr/bin/env python3
"""Records the programs of S1 for lab/experiments/programs, which `kilter lab reproduce S1` runs.

    scripts/record_programs.py KILTER [NAME...]

It takes some ten minutes; have nothing else running. Each program runs at S1's sizes, or with fewer
rounds of the same size. Of its rounds some are kept, evenly from the whole run, so that graphs stay
small.
"""

import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "experiments" / "programs"
KEPT = 24  # rounds of a program
CRITICAL = {"step", "end of frame"}  # as the programs have it


def record(kilter, name, words):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "graph.json"
        subprocess.run(
            [
                kilter,
                "lab",
                "app",
                name,
                "--model",
                "serial",
                "--repeat",
                "1",
                "--quiet",
                "--record-graph",
                str(file),
                *words.split(),
            ],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        return json.loads(file.read_text())


def evenly(count, kept):
    return range(count) if count <= kept else [i * count // kept for i in range(kept)]


def graph(name, types, tasks, edges, critical=CRITICAL):
    return {
        "schema": "kilter.graph/1",
        "name": name,
        "types": [{"name": t} for t in types],
        "tasks": [
            {
                "id": i,
                "type": t,
                "seconds": s,
                "widths": [1],
                **({"priority": "high"} if t in critical else {}),
            }
            for i, t, s in tasks
        ],
        "edges": edges,
    }


def rounds_of(recorded):
    """Of a program of steps: (serial seconds, type of the loop, seconds of its blocks) of each."""
    rounds, serial = [], 0.0
    for t in recorded["tasks"]:
        if t["type"] == "step":
            serial += t["seconds"]
            continue
        if not rounds or serial > 0.0:
            rounds.append([serial, t["type"], []])
            serial = 0.0
        rounds[-1][2].append(t["seconds"])
    return rounds


def of_rounds(name, rounds):
    """Serial work, then blocks that wait for it and for which the next serial work waits."""
    tasks, edges, before = [], [], []
    for n, (serial, type_name, blocks) in enumerate(rounds):
        step = f"step {n + 1}"
        tasks.append((step, "step", serial))
        edges += [[b, step] for b in before]
        before = [f"{type_name} {n + 1}.{b + 1}" for b in range(len(blocks))]
        tasks += [(i, type_name, s) for i, s in zip(before, blocks, strict=True)]
        edges += [[step, b] for b in before]
    return graph(name, list(dict.fromkeys(["step"] + [t for _, t, _ in rounds])), tasks, edges)


def steps(kilter, name, words, together=1):
    """`together`: loops that follow one another in a step are kept or left out as one."""
    rounds = rounds_of(record(kilter, name, words))
    groups = [rounds[i : i + together] for i in range(0, len(rounds) - together + 1, together)]
    return of_rounds(name, [r for g in evenly(len(groups), KEPT) for r in groups[g]])


def frames(recorded, name, size, kept):
    """Some frames of a graph, each after the one before it here.

    A frame has `size` tasks, of which the last one joins all.
    """
    tasks, edges, end = [], [], None
    number = {t["id"]: i for i, t in enumerate(recorded["tasks"])}
    pairs = [(number[a], number[b]) for a, b, *_ in recorded["edges"]]
    for f in evenly(len(recorded["tasks"]) // size, kept):
        first, last = f * size, (f + 1) * size
        inner = [(a, b) for a, b in pairs if first <= a and b < last and a < b]
        waits = {b for _, b in inner}
        ids = {
            i: f"{recorded['tasks'][i]['type']} {f + 1}.{i - first + 1}" for i in range(first, last)
        }
        tasks += [
            (ids[i], recorded["tasks"][i]["type"], recorded["tasks"][i]["seconds"])
            for i in range(first, last)
        ]
        edges += [[ids[a], ids[b]] for a, b in inner]
        if end is not None:
            edges += [[end, ids[i]] for i in range(first, last) if i not in waits]
        end = ids[last - 1]
    return graph(name, [t["name"] for t in recorded["types"]], tasks, edges)


def pieces_added(recorded):
    """Seconds of each stage of each item, in order.

    A pipeline's tasks are cut where they hand over to the next one ("hash 3.1", "hash 3.2").
    """
    stages = {}
    for t in recorded["tasks"]:
        number = int(re.search(r" (\d+)", t["id"]).group(1))
        stages.setdefault(t["type"], {}).setdefault(number, 0.0)
        stages[t["type"]][number] += t["seconds"]
    return {s: [v for _, v in sorted(items.items())] for s, items in stages.items()}


def pipeline(name, recorded, order, serial, kept, critical=()):
    """Items pass through the stages; those of a serial stage follow one another.

    The tasks of the stages `critical` are critical.
    """
    stages = pieces_added(recorded)
    items = min(len(stages[s]) for s in order)
    tasks, edges = [], []
    chosen = list(evenly(items, kept))
    for n, item in enumerate(chosen):
        for k, s in enumerate(order):
            tasks.append((f"{s} {n + 1}", s, stages[s][item]))
            if k > 0:
                edges.append([f"{order[k - 1]} {n + 1}", f"{s} {n + 1}"])
            if s in serial and n > 0:
                edges.append([f"{s} {n}", f"{s} {n + 1}"])
    return graph(name, order, tasks, edges, critical)


def first_items(recorded, items):
    """Of a program with one task a stage for each item."""
    recorded["tasks"] = [t for t in recorded["tasks"] if int(t["id"].split()[-1]) <= items]
    there = {t["id"] for t in recorded["tasks"]}
    recorded["edges"] = [e for e in recorded["edges"] if e[0] in there and e[1] in there]
    return recorded


def bodytrack_in_loops(recorded):
    """Its loops as the models without tasks have them. What is one task is serial.

    They are pictures; and for each layer, particles that are made and weighed.
    """
    rounds, serial, made = [], 0.0, {}
    for t in recorded["tasks"]:
        if t["type"] in ("draw", "resample", "estimate"):
            serial += t["seconds"]
        elif t["type"] == "generate":
            made[int(t["id"].split()[-1])] = t["seconds"]
        else:
            seconds = t["seconds"] + (
                made[int(t["id"].split()[-1])] if t["type"] == "weigh" else 0.0
            )
            if serial > 0.0 or not rounds:
                rounds.append([serial, t["type"], []])
                serial = 0.0
            rounds[-1][2].append(seconds)
    return of_rounds("bodytrack", rounds)


def keep(name, data):
    FOLDER.mkdir(exist_ok=True)
    with (
        open(FOLDER / f"{name}.json.gz", "wb") as file,
        gzip.GzipFile("", "wb", 9, file, 0) as packed,
    ):  # the same bytes for the same graph
        packed.write(json.dumps(data, separators=(",", ":")).encode())
    print(
        f"{name}: {len(data['tasks'])} tasks, {sum(t['seconds'] for t in data['tasks']):.3g} s",
        flush=True,
    )


def main():
    kilter, chosen = sys.argv[1], sys.argv[2:]

    def wanted(name):
        return not chosen or name in chosen

    if wanted("blackscholes"):
        keep("blackscholes", steps(kilter, "blackscholes", "--size native --runs 10 --cut tasks"))
    if wanted("swaptions"):
        keep(
            "swaptions", steps(kilter, "swaptions", "--size native --simulations 50000 --cut tasks")
        )
    if wanted("fluidanimate"):
        # A fifth of the particles, for as long as S1's 500 frames last.
        words = "--size large --frames 300 "
        keep(
            "fluidanimate",
            frames(
                record(kilter, "fluidanimate", words + "--joins frame"), "fluidanimate", 257, 10
            ),
        )
        rounds = rounds_of(record(kilter, "fluidanimate", words + "--joins phase --cut tasks"))
        all_frames = [rounds[i : i + 8] for i in range(0, len(rounds) - 7, 8)]
        keep(
            "fluidanimate-phases",
            of_rounds(
                "fluidanimate", [r for f in evenly(len(all_frames), 10) for r in all_frames[f]]
            ),
        )
    if wanted("facesim"):
        keep(
            "facesim",
            steps(kilter, "facesim", "--size native --frames 2 --partitions 32 --cut tasks", 3),
        )
    if wanted("streamcluster"):
        keep(
            "streamcluster",
            steps(
                kilter,
                "streamcluster",
                "--points 20000 --blocks 1 --dimensions 128 --divisions 32 --cut tasks",
            ),
        )
    if wanted("canneal"):
        keep("canneal", steps(kilter, "canneal", "--size native --steps 60 --tasks 32 --cut tasks"))
    if wanted("bodytrack"):
        recorded = record(kilter, "bodytrack", "--size native --frames 4 --tasks 16")
        keep("bodytrack", recorded)
        keep("bodytrack-loops", bodytrack_in_loops(recorded))
    if wanted("dedup"):
        fused, serial = (
            record(kilter, "dedup", "--size large --stages fused"),
            {"fragment", "write"},
        )
        keep("dedup", pipeline("dedup", fused, ["fragment", "pack", "write"], serial, 76))
        keep(
            "dedup-serial-first",
            pipeline("dedup", fused, ["fragment", "pack", "write"], serial, 76, serial),
        )
        keep(
            "dedup-stages",
            pipeline(
                "dedup",
                record(kilter, "dedup", "--size large"),
                ["fragment", "refine", "hash", "compress", "write"],
                {"fragment", "write"},
                76,
            ),
        )
    if wanted("ferret"):
        keep(
            "ferret",
            first_items(record(kilter, "ferret", "--size large --form tasks --slots 64"), 200),
        )
        keep(
            "ferret-stages",
            first_items(
                record(kilter, "ferret", "--size large --form tasks --slots 64 --reads 1"), 200
            ),
        )


if __name__ == "__main__":
    main()
