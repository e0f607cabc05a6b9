#!/usr/bin/env python3
"""Fails on two types of one name in one namespace, which break the one-definition rule.

No compiler says so, and what happens depends on optimisation. Fails, too, where kilter::detail is
opened without v0: clang takes that for another namespace, g++ for the one in v0.

Usage: one_definition.py ROOT | one_definition.py --self-test
"""

import collections
import pathlib
import re
import tempfile

import checker

NAMESPACE = re.compile(r"(inline )?namespace ?([\w:]*(?:inline v0::detail)?) ?\{")
TYPE = re.compile(
    r"(?:template <[^>]*>\s*)?(?:struct|class|enum class) (?:alignas\([^)]*\) )?"
    r"(\w+) ?(?:final ?)?(?::[^:]|\{|$)"
)
SPLIT = object()  # what stands for a definition there


def definitions(path):
    """Types outside unnamed namespaces, with their namespaces.

    Relies on the house style: namespaces and their types begin a line, and `}` alone ends both.
    """
    open_ = []
    for line in path.read_text().splitlines():
        if (m := NAMESPACE.match(line)) and not line.rstrip().endswith("}"):
            if "::".join([*open_, m.group(2)]) == "kilter::detail":
                yield SPLIT
            # what is in an inline namespace is in the one around it
            open_.append("" if m.group(1) else m.group(2).replace("inline v0::", "") or "unnamed")
        elif line.startswith("}  // namespace") and open_:
            open_.pop()
        elif (m := TYPE.match(line)) and "unnamed" not in open_:
            yield "::".join([*filter(None, open_), m.group(1)])


def check(root):
    seen = collections.defaultdict(set)
    for top in ("library", "prefix", "lab", "cli"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in (".hpp", ".cpp"):
                for name in definitions(path):
                    seen[name].add(path.relative_to(root).as_posix())
    return [
        f"write namespace kilter::inline v0::detail in {path}"
        for path in sorted(seen.pop(SPLIT, []))
    ] + [
        f"{name} is defined in {' and in '.join(sorted(files))}"
        for name, files in sorted(seen.items())
        if len(files) > 1
    ]


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "lab").mkdir()
        (root / "lab/a.hpp").write_text(
            "namespace k {\nstruct one {\n};\nclass two;\n"
            "namespace {\nstruct three {};\n}  // namespace\n}  // namespace k\n"
        )
        (root / "lab/b.cpp").write_text(
            "namespace k {\nstruct three {};\nstruct two : one {\n};\n}  // namespace k\n"
        )
        assert check(root) == [], check(root)
        (root / "lab/c.hpp").write_text(
            "namespace k {\ninline namespace v0 {\nstruct one {\n};\n"
            "}  // namespace v0\n}  // namespace k\n"
        )
        assert check(root) == ["k::one is defined in lab/a.hpp and in lab/c.hpp"], check(root)
        for way in ("namespace kilter {\n\nnamespace detail {\n", "namespace kilter::detail {\n"):
            (root / "lab/c.hpp").write_text(way)
            found = check(root)
            assert found == ["write namespace kilter::inline v0::detail in lab/c.hpp"], found
        (root / "lab/a.hpp").write_text("namespace kilter::inline v0::detail {\nstruct one {\n};\n")
        (root / "lab/c.hpp").write_text("namespace kilter::inline v0::detail {\nstruct one {\n};\n")
        found = check(root)
        assert found == ["kilter::detail::one is defined in lab/a.hpp and in lab/c.hpp"], found


checker.main(__doc__, check, self_test)
