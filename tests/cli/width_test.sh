#!/bin/bash
# Text, tables and help fit terminals of 60, 80 and 200 columns without cutting a word; where there
# is no terminal lines have at most 100.
. "$(dirname "$0")/checks.sh"
command -v python3 >/dev/null || exit 0

cat >"$work/width.py" <<'PY'
import fcntl, os, pty, re, struct, subprocess, sys, termios

kilter, commands = sys.argv[1], [line.split() for line in sys.stdin.read().splitlines()]

def on_terminal(words, columns):
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    child = subprocess.Popen([kilter, *words], stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.DEVNULL)
    os.close(theirs)
    text = b""
    try:
        while part := os.read(ours, 65536):
            text += part
    except OSError:  # the last writer has gone
        pass
    child.wait()
    return text.decode()

def check(words, text, columns):
    lines = re.sub("\x1b\\[[0-9;]*m", "", text).replace("\r", "").split("\n")
    if len(lines) < 3:
        sys.exit(f"kilter {' '.join(words)}: {text!r}")
    for line in lines:
        longest_word = max(map(len, line.split()), default=0)
        if len(line) > columns and longest_word < columns // 2:
            sys.exit(f"kilter {' '.join(words)} at {columns} columns: {line!r}")

for words in commands:
    for columns in (60, 80, 200):
        check(words, on_terminal(words, columns), columns)
    piped = subprocess.run([kilter, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout
    check(words, piped, 100)
    # The same words, whatever the width.
    narrow = re.sub("\x1b\\[[0-9;]*m", "", on_terminal(words, 60))
    if "--repeat" not in words and [w for w in narrow.split() if w != "\\"] != [w for w in piped.split() if w != "\\"]:
        sys.exit(f"kilter {' '.join(words)}: words are lost at 60 columns")
PY
python3 "$work/width.py" "$kilter" <<'COMMANDS' || fail "some text does not fit"
--help
compare --help
compare layered --help
lab --help
run --help
graph --help
help lab reproduce
topo --on sim:jetson-tx2
lab platforms
lab platforms jetson-tx2
lab policies
graph info cholesky:n=6
lab reproduce --list
compare layered --tasks 300 --repeat 1 --on sim:jetson-tx2 --policy all --disturb cpu@0 --quiet
compare cholesky:n=6 --on sim:jetson-tx2 --repeat 1 --policy all --quiet
COMMANDS

finish
