"""What the checkers of this folder share: a root to look through, or --self-test."""

import pathlib
import sys
import tempfile


def main(doc, check, self_test, nothing=None, done=None):
    """Runs `check` on the root, or `self_test`.

    `check(root)` gives problems, or a count of what it looked at and problems. `nothing` is said of
    a count of 0, `done` of a good one.
    """
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) != 2:
        sys.exit(doc)
    found = check(pathlib.Path(sys.argv[1]).resolve())
    count, problems = found[0] if isinstance(found, tuple) else None, problems_in(found)
    if problems:
        sys.exit("\n".join(problems))
    if count == 0:
        sys.exit(nothing)
    if done:
        print(done.format(count))


def problems_in(found):
    return found[1] if isinstance(found, tuple) else found


def try_cases(check, cases):
    """Each case is the files of a root, and how many problems `check` must find there."""
    for files, expected in cases:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")
            problems = problems_in(check(root))
        if len(problems) != expected:
            sys.exit(f"self-test: {files}: expected {expected} problems, got {problems}")
    print(f"{len(cases)} cases right")
