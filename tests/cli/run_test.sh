#!/bin/bash
# Usage: run_test.sh KILTER OPENMP_PROGRAMS: a program under `kilter run` is the program.
set -u
kilter=$1 programs=$2
failed=0
scratch=$(mktemp -d "${TMPDIR:-/tmp}/a b XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

expect() {  # WHAT EXPECTED GOT
  [ "$2" = "$3" ] || { printf 'FAILED: %s\n  expected: %s\n  got:      %s\n' "$1" "$2" "$3"; failed=1; }
}

expect "input, output and arguments" "one two|in" "$(echo in | "$kilter" run -- sh -c 'read x; printf "%s %s|%s" "$1" "$2" "$x"' name one two)"
"$kilter" run -- sh -c 'exit 7'; expect "its exit status" 7 $?
"$kilter" run --explain -- sh -c 'exit 7' 2> /dev/null; expect "its exit status, explained" 7 $?
bash -c '"$0" run -- sh -c "kill -KILL \$\$"' "$kilter" > /dev/null 2>&1; expect "its signal" 137 $?
bash -c '"$0" run --explain -- sh -c "kill -TERM \$\$"' "$kilter" > /dev/null 2>&1; expect "its signal, explained" 143 $?
"$kilter" run -- ./no_such_program 2> err; expect "a program that is not there" 127 $?
expect "and that is said" "kilter: cannot run './no_such_program': No such file or directory" "$(cat err)"
touch nothing; "$kilter" run --explain -- ./nothing 2> err; expect "a file that is no program" 126 $?
"$kilter" run 2> err; expect "no program at all" 125 $?
expect "and that is said in one line" "kilter: nothing to run: give -- PROGRAM ARGS..." "$(cat err)"
"$kilter" run --json no/such/folder/file -- true 2> err; expect "an output that cannot be" 125 $?

"$kilter" run --explain -- sh -c 'trap "echo got it; exit 3" TERM; echo ready > ready; while :; do sleep 0.05; done' > out 2> /dev/null &
pid=$!
while [ ! -s ready ]; do sleep 0.05; done
kill -TERM $pid; wait $pid; expect "a signal for us is a signal for it" 3 $?
expect "and it got it" "got it" "$(cat out)"

plain=$("$programs" stencil)
expect "the same result" "$plain" "$("$kilter" run -- "$programs" stencil)"
expect "quiet unless asked" "" "$("$kilter" run -- "$programs" stencil 2>&1 > /dev/null)"
OMP_NUM_THREADS=2 "$kilter" run --explain --json told.json -- "$programs" stencil > out 2> err
expect "the same result, explained" "$plain" "$(cat out)"
if [ "$(nproc)" -ge 2 ]; then
  grep -q "on threads of Kilter" err || { echo "FAILED: what was done is said"; cat err; failed=1; }
  python3 - <<'P' || failed=1
import json
told = json.load(open("told.json"))
assert told["schema"] == "kilter.run/1", told
assert told["processes"][0]["regions"][0]["on_pool"] == 48, told
P
fi
expect "a program without regions" "kilter run: no parallel region of OpenMP was seen, so nothing was done" "$("$kilter" run --explain -- true 2>&1)"
expect "nothing is left behind" "" "$(ls "${TMPDIR:-/tmp}" | grep kilter-regions)"
exit $failed
