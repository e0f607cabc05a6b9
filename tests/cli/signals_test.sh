#!/bin/bash
# As threads_test.sh: what of the command is ended by signals, and what watches threads of other programs.
. "$(dirname "$0")/checks.sh"
export XDG_RUNTIME_DIR=$work/runtime
mkdir -m 700 "$XDG_RUNTIME_DIR"

# threads of other programs, and the table of who is moved where
"$kilter" lab balance --quiet --policy dio --quantum 50 --json "$work/session.json" -- sh -c 'for i in 1 2 3; do (sleep 1; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done) & done; wait' &
balanced=$!
sleep 0.7
passes top --once
wait $balanced || fail "balance: exit status $?"
[ -s "$work/session.json" ] || fail "balance --json wrote nothing"

# Ctrl-C and SIGTERM, which a thread of their own waits for
for signal in INT TERM; do
  "$kilter" compare layered --tasks 2000 --repeat 10000 --policy rws,dam-c --no-details --yes >"$work/out" 2>"$work/err" </dev/null &
  running=$!
  sleep 3
  kill -$signal $running
  wait $running
  status=$?
  [ $status -eq 130 ] || [ $status -eq 143 ] || fail "SIG$signal: exit status $status: $(head -c 2000 "$work/err")"
done
finish
