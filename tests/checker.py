"""What the checkers of this folder share: a root to look through, or --self-test."""

import pathlib
import sys


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
    count, problems = found if isinstance(found, tuple) else (None, found)
    if problems:
        sys.exit("\n".join(problems))
    if count == 0:
        sys.exit(nothing)
    if done:
        print(done.format(count))
