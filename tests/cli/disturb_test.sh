#!/bin/bash
# kilter disturb SPEC -- PROGRAM as users call it. How much slower anything gets is never asked.
. "$(dirname "$0")/checks.sh"

refuses "'x' is no ratio" disturb cpu@0 --at-most x -- true
refuses "'0' is no ratio" disturb cpu@0 --at-most 0 -- true
refuses "--repeat" disturb cpu@0 --repeat 0 -- true
refuses "seconds" disturb cpu@0@25%..75% -- true
refuses "'gpu" disturb cpu@0 --against gpu@0 -- true
refuses "freq" disturb freq@0:50% -- true
refuses "/no/such/program" disturb none -- /no/such/program
refuses "SPEC" disturb -- true
refuses "nothing to run after --" disturb cpu@0 --
refuses "a program comes after --, as in -- true" disturb cpu@0 true
for option in "--against none" "--repeat 2" "--at-most 2"; do
  # shellcheck disable=SC2086
  refuses "${option%% *}: there is no program" disturb cpu@0 $option
done

# the program's output goes through, ours goes beside it
passes disturb cpu@0 --repeat 2 --at-most 100000 -- sh -c 'echo out; echo err >&2'
[ "$(cat "$work/out")" = "$(printf 'out\nout\nout\nout')" ] ||
  fail "standard output of the program: $(cat "$work/out")"
[ "$(grep -cx err "$work/err")" -eq 4 ] || fail "standard error of the program: $(cat "$work/err")"
grep -q 'ratio .*passes: 100000 at most' "$work/err" ||
  fail "does not say that it passes: $(cat "$work/err")"
passes disturb share@0:50% --quiet --repeat 1 --json - -- true
json 'd["schema"] == "kilter.disturbed/1" and d["against"]["disturb"] == "none" and
  d["disturbed"]["disturb"] == "share@0:50%" and d["ratio"] > 0 and d["passes"]'
json '[(r["disturb"], r["repeat"], r["status"]) for r in d["runs"]] == [("none", 1, 0), ("share@0:50%", 1, 0)]'
[ -s "$work/err" ] && fail "--quiet --json -: $(cat "$work/err")"
passes disturb cpu@0 --against session@0 --repeat 1 --json "$work/file" -- true
grep -q '"against":{"disturb":"session@0"' "$work/file" || fail "--against: $(cat "$work/file")"
passes disturb none -- sh -c '[ "$1" = --help ] && [ "$2" = "a  b" ]' sh --help "a  b"

# what a script needs: 1 for too slow, and for a program that fails
of=disturb
ends 1 cpu@0 --at-most 0.001 --repeat 1 -- true
grep -q 'too slow: 0.001 at most' "$work/err" ||
  fail "does not say that it is too slow: $(cat "$work/err")"
ends 1 cpu@0 -- sh -c 'exit 4'
grep -q 'failed: run 1 under none ended with exit status 4' "$work/err" ||
  fail "does not say which run failed: $(cat "$work/err")"
[ "$(wc -l <"$work/err")" -lt 6 ] || fail "it goes on after a run that failed: $(cat "$work/err")"
ends 1 cpu@0 --json - -- sh -c 'kill -KILL $$'
json 'd["ratio"] is None and not d["passes"] and d["runs"][0]["status"] == 137'

# the disturbance is there while the program runs, and only then
if command -v pgrep >/dev/null; then
  ends 0 session@0 --repeat 1 --quiet -- sh -c 'pgrep -P $PPID | wc -l'
  [ "$(tr '\n' ' ' <"$work/out")" = "1 2 " ] ||
    fail "children of kilter disturb in the two runs: $(tr '\n' ' ' <"$work/out"), expected 1 and 2"
fi

# a signal ends the program and all of it, with nothing left
"$kilter" disturb session@0 --quiet -- sleep 30 2>/dev/null &
pid=$!
sleep 1
kill -TERM $pid
wait $pid
status=$?
[ $status -eq 130 ] || fail "SIGTERM: exit status $status, expected 130"
ps -e -o ppid=,comm= | grep -q "^ *$pid " && fail "SIGTERM left a child"

# for so long, and no longer
timeout 20 "$kilter" disturb cpu@0 --for 0.3 >"$work/out" 2>&1 ||
  fail "--for: exit status $?: $(head -c 300 "$work/out")"
says "cpu@0 for 0.3 s."
refuses "'-1' is no number of seconds above 0" disturb cpu@0 --for -1
refuses "--for: the program's end is the disturbance's" disturb cpu@0 --for 1 -- true
finish
