#!/usr/bin/env python3
"""docs/commands.md: what `--help` of every command says, at 100 columns.

Usage: scripts/commands.py KILTER           prints it
       scripts/commands.py KILTER --check   compares it with the page; fails if they differ
       scripts/commands.py KILTER --renew   writes the page
"""

import pathlib
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs/commands.md"
HEAD = """# Commands

`scripts/commands.py` makes this page from `--help`. `kilter help COMMAND` says the same, and
`kilter help --man COMMAND` is a man page.
"""


def help_of(kilter, words):
    done = subprocess.run([kilter, *words, "--help"], capture_output=True, text=True, check=True)
    return done.stdout.rstrip()


def below(text):
    """The commands that a help text lists."""
    lines = text.splitlines()
    if "Subcommands:" not in lines:
        return
    for line in lines[lines.index("Subcommands:") + 1 :]:
        if not line:
            return
        if line[:2] == "  " and line[2] != " ":
            yield line.split()[0]


def sections(kilter, words=()):
    text = help_of(kilter, words)
    yield f"## {' '.join(('kilter', *words))}\n\n```text\n{text}\n```\n"
    for name in below(text):
        yield from sections(kilter, (*words, name))


def main(kilter, how=""):
    page = "\n".join([HEAD, *sections(kilter)])
    if how == "--renew":
        PAGE.write_text(page, encoding="utf-8")
    elif how == "--check":
        if PAGE.read_text(encoding="utf-8") != page:
            sys.exit(f"docs/commands.md is not what --help says: {sys.argv[0]} {kilter} --renew")
    else:
        sys.stdout.write(page)


if not 2 <= len(sys.argv) <= 3:
    sys.exit(__doc__)
main(*sys.argv[1:])
