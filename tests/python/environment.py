"""For tests that compare Kilter with other programs: the Python that has those."""

import importlib.util
import os
import pathlib
import sys

SKIPPED = 77


def enter(directory, *modules):
    """Begins this script again with the Python of `directory` unless it has these modules.

    Where that Python has them neither, the test is skipped.
    """
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    python = pathlib.Path(directory, "bin", "python")
    if missing and python.exists() and pathlib.Path(sys.prefix) != pathlib.Path(directory):
        os.execv(python, [python, *sys.argv])
    if missing:
        print(f"skipped: no {', '.join(missing)} in {directory}; ./test installs it")
        sys.exit(SKIPPED)
