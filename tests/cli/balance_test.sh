#!/bin/bash
# kilter lab balance and kilter top as users call them: streams and exit status are the program's,
# bad usage is refused with 125 and one line.
. "$(dirname "$0")/checks.sh"
export XDG_RUNTIME_DIR=$work/runtime
mkdir -m 700 "$XDG_RUNTIME_DIR"
exec </dev/null

for command in "lab balance" top; do
  passes $command --help
  says "Examples:"
done

# the program's input, output and status are what they are without Kilter
ends 0 lab balance --quiet --policy dio --quantum 50 -- sh -c 'echo out; echo err >&2; cat' <<<in
[ "$(cat "$work/out")" = "$(printf 'out\nin')" ] ||
  fail "standard output of the program: $(cat "$work/out")"
[ "$(cat "$work/err")" = err ] || fail "standard error of the program: $(cat "$work/err")"
ends 7 lab balance --quiet -- sh -c 'exit 7'
ends 0 lab balance --quiet --policy rr -- \
  sh -c '[ "$1" = --help ] && [ "$2" = "" ] && [ "$3" = -- ]' sh --help '' --
ends 143 lab balance --quiet -- sh -c 'kill -TERM $$'
(trap '' CHLD; ends 5 lab balance --quiet -- sh -c 'exit 5'; exit "$failures") ||
  fail "a parent that ignores SIGCHLD"
ends 127 lab balance --quiet -- /no/such/program
ends 126 lab balance --quiet -- /etc/passwd
before=$(ulimit -n)
ends 0 lab balance --quiet -- sh -c "[ \"\$(ulimit -n)\" = $before ]"

# a signal that only Kilter gets is passed on, and the program decides
"$kilter" lab balance --quiet -- sh -c 'trap "exit 9" TERM; while :; do sleep 0.05; done' &
pid=$!
sleep 0.7
kill -TERM $pid
wait $pid
status=$?
[ "$status" -eq 9 ] || fail "a program that handles SIGTERM: status $status, expected 9"

# JSON is the last line, after what the program prints
ends 3 lab balance --policy dio --quantum 50 --json - -- sh -c 'for i in 1 2 3; do (i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done) & done; wait; echo last; exit 3'
[ "$(head -n 1 "$work/out")" = last ] || fail "JSON before the program's own output"
last_json 'd["schema"] == "kilter.balance/1" and d["policy"] == "dio" and
  d["observer"] in ("pmu", "software") and d["quanta"] >= 1'
last_json '{"swaps", "rejected", "fairness", "prediction_error", "programs"} <= set(d) and
  all({"pid", "name", "threads", "seconds"} <= set(p) for p in d["programs"])'
grep -q '^kilter balance: observer' "$work/err" || fail "does not say which observer"

# without counters it says at the start, in one line, what it will do then
ends 0 lab balance --json - -- true
if grep -q '"observer":"times"' "$work/out"; then
  last_json 'd["policy"] == "spread" and d["class_only"]'
  grep -q 'no counters.*policy is spread' "$work/err" ||
    grep -q '; so the policy is spread' "$work/err" ||
    fail "does not say at the start that there are no counters: $(cat "$work/err")"
  [ "$(head -n 1 "$work/err" | grep -c 'so the policy is spread')" -eq 1 ] ||
    fail "that is not the first line: $(cat "$work/err")"
  ends 0 lab balance --policy dike -- true
  grep -q 'dike cannot tell which of equal cores' "$work/err" ||
    fail "dike does not say at the start that it moves nothing: $(cat "$work/err")"
fi
ends 0 lab balance --quiet -- true
[ -s "$work/err" ] && fail "--quiet: $(cat "$work/err")"

# whatever becomes of Kilter's own words, the program's output and status stay what they are
spoilt() {  # spoilt WHAT STATUS: what was expected of a program that prints "out" and ends with 3
  [ "$2" -eq 3 ] || fail "$1: exit status $2, expected 3"
  [ "$(cat "$work/out")" = out ] || fail "$1: the program printed '$(cat "$work/out")'"
}
if [ -w /dev/full ]; then
  timeout 60 "$kilter" lab balance -- sh -c 'sleep 0.3; echo out; exit 3' >"$work/out" 2>/dev/full
  spoilt "standard error is full" $?
  timeout 60 "$kilter" lab balance --json - -- sh -c 'echo out >"$1"; exit 3' sh "$work/out" \
    >/dev/full 2>"$work/err"
  spoilt "standard output is full" $?
  grep -q -- "--json '-': .*No space left" "$work/err" ||
    fail "does not say that the result is lost: $(cat "$work/err")"
  timeout 60 "$kilter" lab balance --pid 999999999 2>/dev/full
  [ $? -eq 125 ] || fail "a refusal that cannot be written"
fi
timeout 60 "$kilter" lab balance -- \
  sh -c 'sleep 0.3; echo out; [ -e /proc/$$/fd/2 ] && exit 4; exit 3' >"$work/out" 2>&-
spoilt "standard error is closed" $?
timeout 60 "$kilter" lab balance --record "$work/closed" -- sh -c 'echo out; exit 3' >"$work/out" \
  2>&-
spoilt "standard error is closed, with a record" $?
grep -q 'kilter lab balance' "$work/closed" && fail "messages were written into the record"
{ timeout 60 "$kilter" lab balance -- \
  sh -c 'sleep 0.3; echo out >"$1"; exit 3' sh "$work/out"; echo $? >"$work/status"; } 2>&1 \
  >/dev/null | true
spoilt "nobody reads standard error" "$(cat "$work/status")"

# what it needs and cannot have is said in one line, and the program runs all the same
(ulimit -n 5; timeout 60 "$kilter" lab balance --quiet -- sh -c 'echo out; exit 3' >"$work/out" \
  2>"$work/err"; exit $?)
spoilt "no descriptors are left" $?
[ "$(grep -c "'sh' runs without being balanced" "$work/err")" -eq 1 ] ||
  fail "no descriptors are left: not one line: $(cat "$work/err")"
code=$(LC_ALL=C size "$kilter" | awk 'NR == 2 { print int($4 / 1024) }')
for kilobytes in $((code + 1300)) $((code + 4000)) 24000 30000 45000; do  # from what the loader needs to what all of it needs; with less than its code takes the system ends it before it begins, and with 20000 Debian 13's oneTBB
  (ulimit -v $kilobytes; exec 2>"$work/err"; timeout 60 "$kilter" lab balance -- \
    sh -c 'echo out; exit 3' >"$work/out"; exit $?)
  status=$?
  grep -qE 'error while loading|cannot allocate memory in static|cannot fork|Cannot allocate' "$work/err" && [ ! -s "$work/out" ] && continue  # not Kilter's doing
  spoilt "$kilobytes KiB of memory: $(cat "$work/err")" $status
done

# the program gets no descriptor of Kilter's
timeout 60 "$kilter" lab balance --quiet --record "$work/seen" -- ls /proc/self/fd >"$work/out"
ls /proc/self/fd >"$work/alone"
cmp -s "$work/out" "$work/alone" ||
  fail "the program found the descriptors $(cat "$work/out"), not $(cat "$work/alone")"

# a dry run says what it would do and does nothing
ends 0 lab balance --policy dio --quantum 50 --dry-run -- sh -c 'm=$(grep Cpus_allowed_list /proc/self/status); (sleep 0.4; grep Cpus_allowed_list /proc/self/status) & i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; wait; echo "$m"'
[ "$(sort -u "$work/out" | wc -l)" -eq 1 ] || fail "a dry run changed masks: $(cat "$work/out")"

# lengths are for the library inside of the program
ends 0 lab balance --quiet --policy ljfpf --fast 0, --lengths 2,1 --history "$work/a b" -- \
  sh -c 'echo "$LD_PRELOAD|$KILTER_POLICY|$KILTER_LENGTHS|$KILTER_HISTORY"'
says "libkilter_preload.so|ljfpf|2,1|$work/a b"
ends 0 lab balance --policy cjfpf --fast 0, -- true
grep -q 'places threads as they are created' "$work/err" ||
  fail "does not say what cjfpf does: $(cat "$work/err")"

# observations are recorded, and the same moves follow from them; threads whose pairs happen to
# share a core are not moved, so that may take more than one run
for _ in 1 2 3 4 5 6; do
  ends 0 lab balance --quiet --policy dio --quantum 50 --record "$work/seen" \
    --json "$work/live" -- \
    sh -c 'for i in 1 2 3 4; do timeout 1.5 sh -c "while :; do :; done" & done; wait'
  grep -q '"from":' "$work/live" && break
done
# --fast is about the cores of the recording, not about those of this computer
cat >"$work/eight" <<'END'
{"schema":"kilter.observations/1","machine":"another","cores":8,"observer":"software"}
{"now_s":0.5,"length_s":0.5,"rates":false,"threads":[{"thread":0,"program":0,"core":0,"ran_s":0.5,"class":"memory"},{"thread":1,"program":0,"core":7,"ran_s":0.5,"class":"compute"}]}
END
ends 0 lab balance --quiet --policy dike --observer "replay:$work/eight" --fast 4-7 --json -
last_json 'd["swaps"] == 1'
refuses_125 "8" lab balance --quiet --policy dike --observer "replay:$work/eight" --fast 4-8
ends 0 lab balance --quiet --policy dio --quantum 50 --observer "replay:$work/seen" --json -
last_json 'd["observer"] == "replay" and d["quanta"] >= 1'
if command -v python3 >/dev/null; then
  python3 -c '
import json, sys
moves = [[(m["thread"], m["from"], m["to"], m["why"]) for m in json.load(open(p))["moves"]] for p in sys.argv[1:]]
live, again = ([m for m in one if m[1] != m[2]] for one in moves)
sys.exit(0 if again and set(live) <= set(again) else 1)' "$work/live" "$work/last" || fail "a replay decides differently"
fi

# top sees what runs
"$kilter" lab balance --quiet --policy rr --quantum 50 -- sh -c 'printf "\033[31mred" >/proc/$$/comm; i=0; while [ $i -lt 100 ]; do sleep 0.05; i=$((i+1)); done' &
pid=$!
for _ in $(seq 100); do
  ends 0 top --once --json -
  grep -q '"tid"' "$work/out" && break
  sleep 0.05
done
last_json 'd["schema"] == "kilter.top/1" and d["balances"][0]["policy"] == "rr" and {"tid", "class", "core", "last_move", "misses_per_s", "predicted_per_s"} <= set(d["balances"][0]["threads"][0])'
ends 0 top --once
says "LAST MOVE"
says '\x1b[31mred'
grep -q $'\x1b' "$work/out" && fail "top hands a thread's name to the terminal as it is"
kill -TERM $pid
wait $pid
ends 0 top --once
says "no kilter lab balance"
ends 0 lab balance --restore
says "nothing to restore"

# files that are none of Kilter's are said and stop nobody
echo '{"pid":"x"}' >"$XDG_RUNTIME_DIR/kilter-balance-1.board"
echo '{"pid":'$$',"start":'"$(cut -d' ' -f22 /proc/$$/stat)"',"threads":7}' \
  >"$XDG_RUNTIME_DIR/kilter-balance-2.board"
ends 0 top --once
says "no kilter lab balance"
[ "$(grep -c 'is passed over' "$work/err")" -eq 2 ] ||
  fail "top does not name both boards: $(cat "$work/err")"
echo xxx >"$XDG_RUNTIME_DIR/kilter-balance-99999999.masks"
ends 125 lab balance --restore
grep -q 'kilter-balance-99999999.masks: no file of masks: it has 4 bytes.*set aside as' "$work/err" || fail "does not say what is wrong with the file: $(cat "$work/err")"
ends 0 lab balance --restore
says "nothing to restore"
[ "$(cat "$XDG_RUNTIME_DIR"/*.set-aside)" = xxx ] || fail "a file that could hold masks was lost"
rm -f "$XDG_RUNTIME_DIR"/*

# bad usage
refuses_125 "nothing to balance" lab balance
refuses_125 "nothing to balance" lab balance --
refuses_125 "give one of" lab balance --pid $$ -- true
refuses_125 "did you mean 'dike'" lab balance --policy dyke -- true
refuses_125 "did you mean '--policy'" lab balance --polcy dio -- true
refuses_125 "'0'" lab balance --quantum 0 -- true
refuses_125 "--pid 999999999: there is no such process" lab balance --pid 999999999
refuses_125 "no such group" lab balance --cgroup /no/such/group
refuses_125 "unknown observer 'eyes'" lab balance --observer eyes -- true
refuses_125 "cannot be opened" lab balance --observer replay:/no/such/file -- true
refuses_125 "no directory" lab balance --json /no/such/dir/x -- true
refuses_125 "no directory" lab balance --record /no/such/dir/x -- true
refuses_125 "--lengths: 'x' is no length" lab balance --policy ljfpf --lengths 1,x -- true
refuses_125 "policy 'dio' does not go by lengths" lab balance --policy dio --lengths 1,2 -- true
refuses_125 "give -- PROGRAM" lab balance --policy ljfpf --pid $$
refuses_125 "leave --dry-run out" lab balance --policy cjfpf --dry-run -- true
refuses_125 "there are not that many cores" lab balance --fast 77777 -- true
refuses_125 "an even number of threads" lab balance --swap-size 3 -- true
refuses_125 "quantum" lab balance --policy dike-af --quantum 300 -- true
[ -z "$(ls -A "$XDG_RUNTIME_DIR")" ] || fail "files are left: $(ls -A "$XDG_RUNTIME_DIR")"

finish
