#!/bin/bash
# Usage: sym_test.sh KILTER PROBE GLOBAL_SUM
#
# `kilter lab sym`: what is counted of a program whose calls are known, and that it ends as the
# program does.
. "$(dirname "$0")/checks.sh"
probe=$2 sum=$3
read_json() {
  python3 -c 'import json, sys; d = json.loads(sys.stdin.read().splitlines()[-1]); print(eval(sys.argv[1]))' "$1"
}

out=$("$kilter" lab sym --json - --quiet -- "$sum" 4 12 8 50 1000 2> "$work/errors")
expect "the program's output comes first" 1 "$(echo "$out" | head -n 1 | grep -c 'sum right')"
expect "a parent and its four threads are two groups" "2 [0, 1, 2, 3, 4]" \
  "$(echo "$out" | read_json 'str(d["groups"]) + " " + str([t["index"] for t in d["threads"]])')"
expect "fifty locks each" "[50, 50, 50, 50]" \
  "$(echo "$out" | read_json '[t["locks"] for t in d["threads"][1:]]')"
expect "locks are symmetric" 0.0 "$(echo "$out" | read_json 'd["sym_lock"]')"
expect "it says what it counted instead of instructions" "CPU time" \
  "$(echo "$out" | read_json 'd["instructions"]')"
expect "quiet" "" "$(cat "$work/errors")"

out=$("$kilter" lab sym --json - --quiet -- "$probe" threads 3)
expect "barriers" "[1, 1, 1]" \
  "$(echo "$out" | read_json '[t["barriers"] for t in d["threads"][1:]]')"
out=$("$kilter" lab sym --json - --quiet -- "$probe" conditions 3)
expect "conditions: the parent signals, the others wait" "True True" "$(echo "$out" | read_json 'str(d["threads"][0]["conditions"] == 1) + " " + str(all(t["conditions"] >= 1 for t in d["threads"][1:]))')"
out=$("$kilter" lab sym --json - --quiet -- "$probe" work 1 40)
expect "one thread with forty times the work" "True False" \
  "$(echo "$out" | read_json 'str(0.2 < d["sym_inst"] < 0.25) + " " + str(d["symmetric"])')"
out=$("$kilter" lab sym --json - --quiet -- "$probe" ends)
# A third of them is detached, and may still run when the program ends.
expect "threads that are cancelled are counted too" "True" \
  "$(echo "$out" | read_json '601 <= len(d["threads"]) <= 901')"

if command -v musl-gcc >/dev/null; then
  musl-gcc -o "$work/musl" "$(dirname "$0")/../preload/other_library.c" -pthread
  out=$("$kilter" lab sym --json - --quiet -- "$work/musl" threads)
  expect "a program of another C library is counted" "3 [7, 7]" "$(echo "$out" | read_json 'str(len(d["threads"])) + " " + str([t["locks"] for t in d["threads"][1:]])')"
  out=$("$kilter" lab sym --quiet -- sh -c '"$0" threads; echo "status $?"' "$work/musl")
  expect "and runs as a child" "threads 2
status 0" "$out"
else
  echo "no musl-gcc (package musl-tools): programs of another C library were not tried"
fi

"$kilter" lab sym -- "$probe" threads 1 > /dev/null 2> "$work/errors"
expect "text" "1 1 1" "$(grep -c '^SymInst' "$work/errors") $(grep -c '^SymLock' "$work/errors") $(grep -c 'thread-groups 2' "$work/errors")"
"$kilter" lab sym -- sh -c 'exit 7' 2> "$work/errors"
expect "the program's status" 7 $?
"$kilter" lab sym -- sh -c 'kill -TERM $$' 2> "$work/errors"
expect "a signal" 143 $?
expect "no counts, and why" 1 \
  "$(grep -c '^no counts: the program ended by a signal' "$work/errors")"
"$kilter" lab sym -- /nowhere/program 2> "$work/errors"
expect "not found" 127 $?
touch "$work/plain"
"$kilter" lab sym -- "$work/plain" 2> "$work/errors"
expect "not executable" 126 $?
"$kilter" lab sym 2> "$work/errors"
expect "nothing to run" 125 $?
expect "one line" 1 "$(wc -l < "$work/errors")"
"$kilter" lab sym --json /no/such/file -- true 2> "$work/errors"
expect "an output that cannot be written" 125 $?
finish
