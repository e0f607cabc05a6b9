#!/usr/bin/env python3
"""Two JSON files of kilter bench with the same question: how far the second is from the first.

Usage: agreement.py REFERENCE.json OTHER.json

Throughput: the median over repeats of other / reference, paired by repeat, with the smallest and largest. Places: of all runs together, the
largest difference of a place's share of the critical and of all tasks, in points, and which place that is."""

import collections
import json
import statistics
import sys


def shares(document, runs, which):
    count = collections.Counter()
    for run in runs:
        for p in run["places"]:
            count[(p["leader"], p["width"])] += p["critical"] + (p["other"] if which == "all" else 0)
    total = sum(count.values()) or 1
    return {place: n / total for place, n in count.items()}


def farthest(first, second):
    place = max(first.keys() | second.keys(), key=lambda p: abs(second.get(p, 0) - first.get(p, 0)))
    return 100 * (second.get(place, 0) - first.get(place, 0)), place


def main():
    one, two = (json.load(open(name)) for name in sys.argv[1:3])
    print(f"{'policy':8} {'disturbed':10} {'throughput':>10} {'min..max':>13}   {'critical tasks':>18} {'all tasks':>18}")
    for row in one["summary"]:
        mine = [[r for r in d["runs"] if (r["policy"], r["disturb"]) == (row["policy"], row["disturb"])] for d in (one, two)]
        paired = {r["repeat"]: r["throughput"] for r in mine[0]}
        ratios = [r["throughput"] / paired[r["repeat"]] for r in mine[1] if r["repeat"] in paired]
        if not ratios:
            continue
        cells = []
        for which in ("critical", "all"):
            points, place = farthest(shares(one, mine[0], which), shares(two, mine[1], which))
            cells.append(f"{points:+6.1f} at ({place[0]},{place[1]})")
        print(f"{row['policy']:8} {row['disturb']:10} {statistics.median(ratios):10.3f} {min(ratios):6.3f}..{max(ratios):5.3f}   {cells[0]:>18} {cells[1]:>18}")
    emulation = two["environment"].get("emulation")
    if emulation:
        print(f"emulated: bodies late by {100 * emulation['late_s'] / emulation['modelled_s']:.2f} % of their length, at most {1e3 * emulation['latest_s']:.2f} ms")


main()
