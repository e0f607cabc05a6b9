#!/usr/bin/env python3
"""What one person must be able to read may only shrink. Fails beyond LIMITS.

Usage: sizes.py ROOT | sizes.py --self-test

Who made something smaller takes the limit down with it.
"""

import os
import pathlib
import tempfile

import checker

LIMITS = {
    "words of prose": 58_500,  # in all *.md but those that scripts make
    "words of the longest decision": 400,  # a question with its choice, why, and what lost
    "lines of code beyond 100 columns": 234,
    "files of tests": 249,  # without data and golden files
    "lines of the changelog": 80,
}
DECISIONS = ("docs", "inside", "decisions")
MADE = {("docs", "commands.md"), ("docs", "inside", "mutants.md")}
CODE = {".cpp", ".hpp", ".h", ".c", ".py", ".sh", ".js"}
NOT_OURS = {".git", "build", "build-", "bench-results", "__pycache__", "vendor", "node_modules"}


def files(root):
    for folder, below, names in os.walk(root):
        below[:] = [name for name in below if name not in NOT_OURS and name[:6] != "build-"]
        yield from (pathlib.Path(folder) / name for name in names)


def sizes(root):
    found = dict.fromkeys(LIMITS, 0)
    for path in files(root):
        within = path.relative_to(root).parts
        if path.suffix == ".md" and within not in MADE:
            words = len(path.read_text(encoding="utf-8").split())
            found["words of prose"] += words
            if within[:-1] == DECISIONS:
                longest = "words of the longest decision"
                found[longest] = max(found[longest], words)
        if path.suffix in CODE:
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
            found["lines of code beyond 100 columns"] += sum(len(line) > 100 for line in lines)
        if within[0] == "tests" and within[1] not in ("data", "golden"):
            found["files of tests"] += 1
        if within == ("CHANGELOG.md",):
            found["lines of the changelog"] = path.read_text(encoding="utf-8").count("\n")
    return found


def check(root):
    return [
        f"{size:,} {what}, at most {LIMITS[what]:,}: say it shorter, or let something older go"
        for what, size in sizes(root).items()
        if size > LIMITS[what]
    ]


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, content in {
            "a.md": "one two\n",
            "build/b.md": "three\n",
            "c.cpp": "x" * 101 + "\n" + "y" * 100 + "\n",
            "tests/t.cpp": "",
            "tests/data/d.md": "four\n",
            "CHANGELOG.md": "five\n\nsix\n",
            "docs/inside/decisions/d.md": "seven eight nine\n",
            "docs/inside/decisions/e.md": "ten\n",
        }.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(content)
        assert list(sizes(root).values()) == [9, 3, 1, 1, 3], sizes(root)
        assert check(root) == []
        (root / "CHANGELOG.md").write_text("\n" * 81)
        (root / "docs/inside/decisions/e.md").write_text("word " * 401)
        said = [line.split(":")[0] for line in check(root)]
        assert said == [
            "401 words of the longest decision, at most 400",
            "81 lines of the changelog, at most 80",
        ], said


checker.main(__doc__, check, self_test)
