#!/usr/bin/env python3
"""Fails unless docs/library.md shows programs as they are tested, and messages as Kilter says them.

Each block of code there stands below a line that names its file, and is that file. Each program of
examples/guide is shown. Each message is in tests/unit/runtime/guide_test.cpp, or
tests/unit/c/c_test.cpp, which make Kilter say it, or is a compiler's message out of a header.

Usage: guide.py ROOT | guide.py --self-test
"""

import re

import checker

COLUMNS = 100
PAGE = "docs/library.md"
SAID = "tests/unit/runtime/guide_test.cpp"
SAID_IN_C = "tests/unit/c/c_test.cpp"
PROGRAMS = (".cpp", ".c", ".py")


def blocks(lines):
    """(line of the fence, what stands above it, language, code)"""
    at = None
    for number, line in enumerate(lines, 1):
        if not line.startswith("```"):
            continue
        if at is None:
            at = number
            continue
        above = [above for above in lines[: at - 1] if above.strip()]
        yield (
            at,
            above[-1] if above else "",
            lines[at - 1][3:],
            "".join(within + "\n" for within in lines[at : number - 1]),
        )
        at = None


def wrong_blocks(root, lines):
    shown = set()
    for number, above, _, code in blocks(lines):
        named = re.findall(r"`(examples/[^`]+)`", above)
        if len(named) != 1:
            yield f"{PAGE}:{number}: the line above names no file of examples/, or several"
            continue
        file = root / named[0]
        shown.add(file)
        if not file.is_file():
            yield f"{PAGE}:{number}: {named[0]} does not exist"
        elif file.read_text(encoding="utf-8") != code:
            yield f"{PAGE}:{number}: the block differs from {named[0]}"
    for file in sorted((root / "examples/guide").iterdir()):
        if file.suffix in PROGRAMS and file not in shown:
            yield f"{PAGE}: {file.relative_to(root)} is not shown"


def messages(lines):
    """The last column of each table whose last heading says so, a message a row."""
    listening = False
    for number, line in enumerate(lines, 1):
        cells = [c.strip() for c in line.strip("|").split(" | ")] if line.startswith("| ") else []
        if not cells:
            listening = listening and line.startswith("|-")
        elif cells[-1].startswith("Kilter says"):
            listening = True
        elif listening:
            yield number, cells[-1]


def wrong_messages(root, lines):
    # One string after another is one to the compiler.
    said = re.sub(
        r'"\s*"',
        "",
        "".join(
            f.read_text(encoding="utf-8")
            for f in [
                root / SAID,
                root / SAID_IN_C,
                *sorted((root / "library/include/kilter").glob("*.hpp")),
            ]
        ),
    )
    for number, cell in messages(lines):
        message = re.fullmatch(r"`([^`]+)`", cell)
        if not message:
            yield f"{PAGE}:{number}: no message in backticks: {cell}"
        elif f'"{message[1]}"' not in said:
            yield f"{PAGE}:{number}: neither {SAID} nor {SAID_IN_C} says '{message[1]}'"


def check(root):
    lines = (root / PAGE).read_text(encoding="utf-8").splitlines()
    problems = [
        f"{PAGE}:{n} has {len(line)} columns; the limit is {COLUMNS}"
        for n, line in enumerate(lines, 1)
        if len(line) > COLUMNS and not line.startswith("|")
    ]
    return problems + list(wrong_blocks(root, lines)) + list(wrong_messages(root, lines))


def self_test():
    page = (
        "See `examples/guide/a.cpp`:\n\n```cpp\nint main() {}\n```\n\n"
        "| you wrote | Kilter says |\n|---|---|\n| a | `no a` |\n\n"
        "| x | y |\n|---|---|\n| a | b |\n"
    )
    good = {
        PAGE: page,
        "examples/guide/a.cpp": "int main() {}\n",
        SAID: 'f("no " \n "a");\n',
        SAID_IN_C: "",
    }
    cases = [
        ({}, 0),
        ({PAGE: page.replace("`examples", "examples")}, 2),
        ({PAGE: page.replace("a.cpp", "b.cpp")}, 2),
        ({PAGE: page.replace("{}", "{ }")}, 1),
        ({PAGE: page.replace("See ", "See " + "x" * COLUMNS)}, 1),
        ({"examples/guide/b.cpp": ""}, 1),
        ({"examples/guide/b.c": "", "examples/guide/b.py": ""}, 2),
        ({"examples/guide/CMakeLists.txt": ""}, 0),
        ({PAGE: page.replace("no a", "no b")}, 1),
        ({PAGE: page.replace("`no a`", "no a")}, 1),
        ({SAID: ""}, 1),
        ({SAID: "", SAID_IN_C: 'f("no a");\n'}, 0),
    ]
    checker.try_cases(check, [(good | change, expected) for change, expected in cases])


checker.main(__doc__, check, self_test)
