#!/usr/bin/env python3
"""Fails if the README is long, a picture is not what docs/results.md gives, or a page is lost.

It fails on links that lead nowhere too.

Usage: readme.py ROOT | readme.py --self-test
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import checker

LINES, COLUMNS = 120, 100
LINK = re.compile(r'\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"')


def prose(path):
    """A page without its code: what stands in fences and in backticks links nowhere."""
    text = re.sub(r"^ *```.*?^ *```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "``", text)


def anchors(path):
    """What GitHub makes of headings: lower case, no punctuation, dashes for blanks.

    The second of a name ends in -1.
    """
    found, seen = set(), {}
    text = re.sub(r"^ *```.*?^ *```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    found.update(re.findall(r'<a id="([^"]+)">', text))
    for heading in re.findall(r"^#+ +(.+?) *#*$", text, flags=re.M):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        seen[name] = seen.get(name, -1) + 1
        found.add(f"{name}-{seen[name]}" if seen[name] else name)
    return found


def shelves(root):
    return sorted(root.glob("docs/**/*.md")) + sorted(root.glob("lab/docs/**/*.md"))


def pages(root):
    fixed = [root / "README.md", root / "bench/README.md", root / "lab/experiments/README.md"]
    return (
        [p for p in fixed if p.exists()] + shelves(root) + sorted(root.glob("tests/**/README.md"))
    )


def size_of_readme(root):
    lines = (root / "README.md").read_text(encoding="utf-8").splitlines()
    if len(lines) > LINES:
        yield f"README.md has {len(lines)} lines; the limit is {LINES}"
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS:
            yield f"README.md:{number} has {len(line)} columns; the limit is {COLUMNS}"


def links(root, problems):
    """For each page the files that it links to; links that lead nowhere are added to `problems`."""
    leads = {}
    for page in pages(root):
        leads[page] = set()
        for match in LINK.findall(prose(page)):
            target = match[0] or match[1]
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            file = (page.parent / name).resolve() if name else page
            where = page.relative_to(root)
            if not file.exists() or not file.is_relative_to(root):
                problems.append(f"{where}: nothing is at '{target}'")
            elif anchor and file.suffix == ".md" and anchor not in anchors(file):
                problems.append(f"{where}: no heading for '{target}'")
            leads[page] |= set(file.glob("*.md")) if file.is_dir() else {file}
    return leads


def lost_pages(root, leads):
    reached, ahead = set(), [root / "README.md"]
    while ahead:
        page = ahead.pop()
        if page not in reached:
            reached.add(page)
            ahead += leads.get(page, ())
    for page in shelves(root):
        if page not in reached:
            yield f"{page.relative_to(root)}: no way leads there from README.md"


def check(root):
    root = root.resolve()
    problems = list(size_of_readme(root))
    problems += lost_pages(root, links(root, problems))
    return problems


def check_pictures(root):
    done = subprocess.run(
        [sys.executable, root / "scripts/results_picture.py", "--check"],
        capture_output=True,
        text=True,
    )
    return done.stderr.splitlines() if done.returncode else []


def self_test():
    good = {
        "README.md": "# A\n[b](docs/b.md#two-words) [c](docs/more) [d](https://example.org/x)\n",
        "docs/b.md": "## Two `words`!\n[a](../README.md)\n",
        "docs/more/c.md": "`[x](y)`\n\n```\n[x](y)\n```\n",
    }
    cases = [
        ({}, 0),
        ({"README.md": good["README.md"] + "\n" * LINES}, 1),
        ({"README.md": good["README.md"] + "x" * (COLUMNS + 1)}, 1),
        ({"README.md": good["README.md"] + '<img src="docs/none.svg">'}, 1),
        ({"README.md": good["README.md"].replace("two-words", "two")}, 1),
        ({"README.md": good["README.md"].replace("docs/more", "docs/b.md")}, 1),
        ({"docs/b.md": good["docs/b.md"] + "[x](README.md)\n"}, 1),
        ({"docs/b.md": good["docs/b.md"] + "[x](../../outside.md)\n"}, 1),
    ]
    checker.try_cases(check, [(good | change, expected) for change, expected in cases])
    here = pathlib.Path(__file__).resolve().parent.parent
    with tempfile.TemporaryDirectory() as d:
        root = pathlib.Path(d)
        (root / "scripts").mkdir()
        shutil.copy(here / "scripts/results_picture.py", root / "scripts")
        shutil.copytree(here / "docs/pictures", root / "docs/pictures")
        page = (here / "docs/results.md").read_text(encoding="utf-8")
        line = re.search(r"^\| P2/16us \| `cpu@0` .*$", page, flags=re.M)[0]
        for changed, expected in (
            (line, 0),
            (line.replace("1.23", "1.24"), 2),
            (line.replace("P2/16us", "P2/17us"), 1),
            (line + "\n" + line, 1),
        ):
            (root / "docs/results.md").write_text(page.replace(line, changed), encoding="utf-8")
            problems = check_pictures(root)
            if len(problems) != expected:
                sys.exit(
                    f"self-test: a table with '{changed}': expected {expected} problems, "
                    f"got {problems}"
                )


checker.main(__doc__, lambda root: check(root) + check_pictures(root), self_test)
