#!/usr/bin/env python3
"""What was changed in the experiment files after each was first written, read from the commits.

    scripts/choices.py

A verdict is worth what was decided before anybody had looked. So this names every setting of a
scenario, and every case and value of a claim, that is not what its first commit had, with the day
and the subject of the commit that changed it. Words for people (`open`, `remark`, `cause`) and
drawings do not count.
"""

import itertools
import pathlib
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORDS = {
    "open",
    "remark",
    "cause",
    "impossible",
    "source",
    "statement",
    "exceptions",
    "reason",
    "what",
    "title",
}


def git(*words):
    return subprocess.run(
        ["git", "-C", ROOT, *words], check=True, capture_output=True, text=True
    ).stdout


def first_tallies():
    for one in tomllib.loads((ROOT / "lab/experiments/readings.toml").read_text())["first"]:
        papers = one["papers"] if isinstance(one["papers"], list) else [one["papers"]]
        day = git("log", "-1", "--date=short", "--format=%ad", one["commit"]).strip()
        yield f"- {' and '.join(papers)}, {day} ({one['commit']}): {one['said']}."


def settings(text):
    """Every setting by what it belongs to: {("scenario matmul", "children"): "queue"}."""
    file = tomllib.loads(text)
    found = {}
    for kind in ("scenario", "native"):
        for one in file.get(kind, []):
            if "platform" in one:  # its name until it became on = "sim:..."
                one["on"] = "sim:" + one.pop("platform")
            found |= {
                (f"{kind} {one['name']}", key): value
                for key, value in one.items()
                if key not in WORDS and key != "name"
            }
    for claim in file.get("claim", []):
        for key in ("value", "case"):
            parts = [
                {k: v for k, v in part.items() if k not in WORDS} for part in claim.get(key, [])
            ]
            found[f"claim {claim['id']}", f"{key}s"] = sorted(map(str, parts))
        found[f"claim {claim['id']}", "decided_by"] = claim.get("decided_by", "runs")
    return found


def said(value):
    if value is None:
        return "-"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def same(a, b):
    """Whether two settings are equal; a number that became its text is."""
    if a == b or a is None or b is None:
        return a == b
    return not isinstance(a, list) and not isinstance(b, list) and str(a) == str(b)


def changes(before, after):
    """Lines: (what, claims or scenarios)."""
    known = {owner for owner, _ in before}
    grouped = {}
    for owner, key in sorted(before.keys() | after.keys()):
        old, new = before.get((owner, key)), after.get((owner, key))
        if same(old, new):
            continue
        if owner not in known:
            grouped.setdefault(("new", ""), []).append(owner)
        elif owner not in {o for o, _ in after}:
            grouped.setdefault(("gone", ""), []).append(owner)
        elif key in ("values", "cases"):
            gone, came = len(set(old or []) - set(new or [])), len(set(new or []) - set(old or []))
            grouped.setdefault(
                (f"{key}: {gone} gone or other, {came} new or other", ""), []
            ).append(owner)
        else:
            grouped.setdefault((f"`{key}`: {said(old)} -> {said(new)}", ""), []).append(owner)
    for (what, _), owners in grouped.items():
        names = list(dict.fromkeys(owners))
        yield what, ", ".join(name.removeprefix("claim ") for name in names)


def main():
    out = [
        "# What was changed after the first look",
        "",
        "What in the experiment files is not as it was first written: settings of scenarios,",
        "cases and values of claims. Their `open` lists say why. What a change decides,",
        "`kilter lab reproduce CLAIM --flips` and `--with` show.",
        "",
        "The first verdicts, before anything was changed (what is `arithmetic` now was",
        "`reproduced` then):",
        "",
        *first_tallies(),
        "",
        "Today's: lab/docs/verdicts.md.",
        "",
    ]
    for path in sorted((ROOT / "lab/experiments").glob("*.toml")):
        if path.name == "readings.toml":
            continue
        places = [f"{folder}/{path.name}" for folder in ("experiments", "lab/experiments")]
        commits = [
            line.split("\t", 2)
            for line in git(
                "log", "--reverse", "--date=short", "--format=%h\t%ad\t%s", "--", *places
            ).splitlines()
        ]
        states = []
        for commit, day, subject in commits:
            try:
                place = git("ls-tree", "--name-only", commit, "--", *places).splitlines()[-1]
                states.append((commit, day, subject, settings(git("show", f"{commit}:{place}"))))
            except (tomllib.TOMLDecodeError, KeyError):
                continue
        rows = [
            (day, commit, subject, what, whom)
            for (_, _, _, old), (commit, day, subject, new) in itertools.pairwise(states)
            for what, whom in changes(old, new)
        ]
        out += [
            f"## {path.name}",
            "",
            f"First written {states[0][1]} ({states[0][0]})."
            + ("" if rows else " Nothing was changed."),
            "",
        ]
        if rows:
            out += ["| day | commit | what | of |", "|---|---|---|---|"]
            for day, commit, subject, what, whom in rows:
                cells = (day, f"{commit} {subject}", what, whom)
                out.append("| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |")
            out.append("")
    sys.stdout.write("\n".join(out).rstrip() + "\n")


if __name__ == "__main__":
    main()
