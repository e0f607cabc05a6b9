#!/usr/bin/env python3
"""promises.py ROOT: every test that docs/reliability.md names exists."""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
page = (root / "docs/reliability.md").read_text()
rows = [
    line for line in page.splitlines() if line.startswith("| ") and not line.startswith("| promise")
]
sources = "\n".join(p.read_text() for p in (root / "tests").rglob("*.cpp"))
defined = {
    f"{suite}.{name}"
    for suite, name in re.findall(r"\bTEST(?:_[FP])?\(\s*(\w+)\s*,\s*(\w+)\s*\)", sources)
}
suites = {name.split(".")[0] for name in defined}
cmake = (root / "tests/CMakeLists.txt").read_text() + "cli:bad_input cli:balance cli:run cli:output"
wrong = [
    row for row in rows if "`" not in row.split("|")[2] and "scripts/" not in row.split("|")[2]
]
wrong = [f"no test is named: {row}" for row in wrong]
for row in rows:
    for name in re.findall(r"`([^`]+)`", row.split("|")[2]):
        if not (name in defined or name in suites or name in cmake):
            wrong.append(f"no such test: {name}")
print("\n".join(wrong) or f"{len(rows)} promises, each with its test")
sys.exit(1 if wrong else 0)
