#!/usr/bin/env python3
"""A page: every claim as published and as coded, what flips it, and why it does not come out.

    kilter lab reproduce all --quiet --json published.json
    kilter lab reproduce all --quiet --as coded --json coded.json
    kilter lab reproduce all --quiet --flips --json flips.json           (an hour)
    scripts/verdicts.py published.json coded.json flips.json > verdicts.md

lab/docs/verdicts.md says what no run says.

Several files of one reading may be joined with commas.
"""

import json
import pathlib
import sys

MOST_FLIPS = 3
SHORT = {
    "reproduced": "reproduced",
    "direction": "direction",
    "differs": "differs",
    "arithmetic": "arithmetic",
    "input": "input",
    "needs-hardware": "hardware",
}


def claims(files):
    return {
        c["id"]: c
        for name in files.split(",")
        for c in json.loads(pathlib.Path(name).read_text())["claims"]
    }


def order(claim):
    paper, number = claim.split("-")
    return paper, int(number)


def held(claim):
    return (
        f" {sum(c['holds'] for c in claim['cases'])}/{len(claim['cases'])}"
        if claim["cases"]
        else ""
    )


def why(claim):
    if claim["verdict"] not in ("direction", "differs"):
        return "-"
    parts = [claim["impossible"] and f"impossible here: {claim['impossible']}", claim["cause"]]
    return ". ".join(p for p in parts if p) or (
        "not known" if claim["verdict"] == "differs" else "-"
    )


def flips(claim, tried):
    """The choices that change the verdict, those that better it first."""
    if claim["verdict"] not in ("reproduced", "direction", "differs"):
        return "-"
    if not tried:
        return "not tried"
    if not tried["flips"]:
        return f"none of {tried['tried']}"
    rank = ["reproduced", "direction", "differs"]
    changes = sorted(
        tried["flips"],
        key=lambda f: rank.index(f["verdict"]) if f["verdict"] in rank else len(rank),
    )
    said = [f"`{f['reading']}` {SHORT[f['verdict']]}" for f in changes[:MOST_FLIPS]]
    more = f"; {len(changes) - MOST_FLIPS} more" if len(changes) > MOST_FLIPS else ""
    return f"{len(changes)} of {tried['tried']}: {'; '.join(said)}{more}"


def tally(all_claims):
    counts = {}
    for c in all_claims:
        counts[c["verdict"]] = counts.get(c["verdict"], 0) + 1
    return ", ".join(f"{counts[k]} {SHORT[k]}" for k in SHORT if k in counts)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    published, coded, tried = (claims(names) for names in sys.argv[1:])
    rows = [(published[c], coded.get(c, published[c])) for c in sorted(published, key=order)]
    impossible = sum(bool(p["impossible"]) for p, _ in rows if p["verdict"] == "differs")
    out = [
        "# Verdicts",
        "",
        "Behind a verdict stands how many of its cases hold. lab/docs/verdicts.md has more.",
        "",
        f"- As published: {tally(p for p, _ in rows)}.",
        f"- As coded: {tally(c for _, c in rows)}.",
        f"- Of those that differ {impossible} are impossible in the model.",
        "",
        "| claim | published | coded | what flips it | why it does not come out as published |",
        "|---|---|---|---|---|",
    ]
    out += [
        f"| {p['id']} | {SHORT[p['verdict']]}{held(p)} | {SHORT[c['verdict']]}{held(c)} | "
        f"{flips(p, tried.get(p['id']))} | {why(p)} |"
        for p, c in rows
    ]
    sys.stdout.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
