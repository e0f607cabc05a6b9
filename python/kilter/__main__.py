"""`python -m kilter`, and what the script `kilter` calls: the command of this installation."""

import os
import pathlib
import sys


def main():
    """Becomes the command `kilter` with this program's arguments; does not return."""
    command = str(pathlib.Path(__file__).parent / "bin" / "kilter")
    os.execv(command, [command, *sys.argv[1:]])


if __name__ == "__main__":
    main()
