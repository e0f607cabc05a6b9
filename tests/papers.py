#!/usr/bin/env python3
"""What "papers.md E8" means stands in lab/docs/papers.md.

Fails if a reference has no entry there, or if an entry is referred to from nowhere.

Usage: papers.py ROOT | papers.py --self-test
"""

import re

import checker

FOLDERS = (
    "lab",
    "library",
    "prefix",
    "cli",
    "bench",
    "data",
    "docs",
    "examples",
    "python",
    "scripts",
    "tests",
)
SUFFIXES = (".c", ".cmake", ".cpp", ".h", ".hpp", ".md", ".py", ".sh", ".toml", ".txt")
SKIPPED = ("lab/docs/papers.md", "lab/report/", "tests/data/", "tests/fuzz/", "tests/papers.py")

ENTRY = re.compile(
    r'^<a id="([a-z0-9-]+)"></a>\*\*([A-Z][0-9]*(?:\.[0-9])?(?:-[0-9]+)?)(?=[., ])', re.MULTILINE
)
ONE = r"(?:[A-F][0-9]{1,2}(?:\.[0-9])?\b|[SX][0-9]+(?:-[0-9]+)?\b|[FJ]\b)"
# After one of these words all of a list is meant: "papers.md E8", "facts A1.2, E10",
# "papers.md E29-E50".
LISTED = re.compile(rf"(?:\b[Ff]acts|\bpapers\.md)\s+({ONE}(?:(?:, (?:and )?| and |-){ONE})*)")
RANGE = re.compile(r"\b([DE])([0-9]+)-\1([0-9]+)\b")
# These look like nothing else, so they need no word before them.
BARE = re.compile(
    r"(?<![\w.#/-])(?:[AB][0-9]\.[0-9]|[DE][0-9]{1,2}|X(?:19|20|21|22)|S[0-4](?:-[0-9]+)?)(?![\w/]|-[0-9])"
)
CLAIM = re.compile(r'^id = "(S[0-9]-[0-9]+)"', re.MULTILINE)
NO_CLAIM = "S0-99"  # what tests ask for to be refused


def anchor(name):
    return name.lower().replace(".", "-")


def references(line):
    """The names that a line refers to."""
    found = set(BARE.findall(line))
    for listed in LISTED.findall(line):
        found |= set(re.findall(ONE, listed))
    for letter, first, last in RANGE.findall(line):
        found |= {f"{letter}{i}" for i in range(int(first), int(last) + 1)}
    return found


def files(root):
    yield from (root / name for name in ("README.md", "CMakeLists.txt") if (root / name).is_file())
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if (
                path.suffix in SUFFIXES
                and path.is_file()
                and not path.relative_to(root).as_posix().startswith(SKIPPED)
            ):
                yield path


def check(root):
    """The number of references, and what is wrong."""
    page = (root / "lab/docs/papers.md").read_text(encoding="utf-8")
    problems, entries, used, count = [], {}, set(), 0
    for identity, name in ENTRY.findall(page):
        if identity != anchor(name):
            problems.append(
                f"lab/docs/papers.md: {name} has the anchor {identity}, not {anchor(name)}"
            )
        if name in entries:
            problems.append(f"lab/docs/papers.md: two entries are called {name}")
        entries[name] = identity
    anchors = set(entries.values()) | {
        re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-")
        for h in re.findall(r"^#+ (.*)", page, re.MULTILINE)
    }
    claims = {
        c
        for path in sorted((root / "lab/experiments").glob("*.toml"))
        for c in CLAIM.findall(path.read_text(encoding="utf-8"))
    }

    for name in re.findall(r"\]\(#([^)]+)\)", page):
        if name not in anchors:
            problems.append(f"lab/docs/papers.md: a link goes to #{name}, which is not there")
    for path in files(root):
        where = path.relative_to(root).as_posix()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for name in references(line):
                count += 1
                if name in entries:
                    used.add(name)
                elif "-" in name and name not in claims | {NO_CLAIM}:
                    problems.append(f"{where}:{number}: no experiment has the claim {name}")
                elif "-" not in name:
                    problems.append(f"{where}:{number}: {name} has no entry in lab/docs/papers.md")
            for name in re.findall(r"papers\.md#([^)\s]+)", line):
                count += 1
                used |= {n for n, identity in entries.items() if identity == name}
                if name not in anchors:
                    problems.append(f"{where}:{number}: lab/docs/papers.md has no #{name}")
    problems += [
        f"lab/docs/papers.md: nothing refers to {name}" for name in entries if name not in used
    ]
    return count, problems


def self_test():
    entry = '<a id="e8"></a>**E8. When.** Once.\n'
    two = entry + '\n<a id="a1-2"></a>**A1.2. Seven.** All.\n'
    cases = [
        (entry, "// at wake-up (papers.md E8)\n", 0),
        (entry, "// at wake-up (facts E8)\n", 0),
        (entry, "// E8: once\n", 0),
        (entry, "[E8](papers.md#e8)\n", 0),
        (entry, "// nothing\n", 1),
        (entry, "// papers.md E8, E9\n", 1),
        (entry, "// papers.md E8-E10\n", 2),
        (entry, "// E8; papers.md B1\n", 1),
        (entry, "// E8; [this](papers.md#e9)\n", 1),
        (two, "// papers.md A1.2, E8\n", 0),
        (two, "// papers.md E8\n", 1),
        (entry, "// E8 in experiments/E0-1.toml on an A57 with the E5-2650, C99\n", 0),
        (entry, "// E8, S0-1\n", 0),
        (entry, "// E8, S0-2\n", 1),
        (entry + entry, "// E8\n", 1),
        (entry.replace('"e8"', '"e-8"'), "// E8\n", 1),
        (entry + "\n[there](#e9)\n", "// E8\n", 1),
    ]
    experiments = {"lab/experiments/E0-1.toml": 'id = "S0-1"\n'}
    checker.try_cases(
        check,
        [
            ({"lab/docs/papers.md": page, "lab/a.cpp": text} | experiments, expected)
            for page, text, expected in cases
        ],
    )


checker.main(
    __doc__,
    check,
    self_test,
    nothing="found no references",
    done="{} references, each with its entry",
)
