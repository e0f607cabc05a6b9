"""`python -m kilter`, and what the script `kilter` calls: the command of this installation."""

import _signal  # not `signal`, which takes longer to load than all else here
import os
import sys


def main():
    """Becomes the command `kilter` with this program's arguments; does not return."""
    command = os.path.join(os.path.dirname(__file__), "bin", "kilter")
    # As the interpreter was started, so that programs of `kilter run` notice nothing of it.
    for ignored in (_signal.SIGPIPE, _signal.SIGXFSZ):
        _signal.signal(ignored, _signal.SIG_DFL)
    with open("/proc/self/environ", "rb") as file:
        variables = [entry.partition(b"=") for entry in file.read().split(b"\0")]
    os.execve(
        command, [command, *sys.argv[1:]], {name: value for name, _, value in variables if name}
    )


if __name__ == "__main__":
    main()
