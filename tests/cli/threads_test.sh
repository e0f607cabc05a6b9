#!/bin/bash
# Usage: threads_test.sh KILTER threads | signals: what of the command has threads, briefly: for the
# sanitizers, whose report is an exit status of its own. What it all has to say, commands_test.sh
# knows.
. "$(dirname "$0")/checks.sh"

threads() {
  few=(--tasks 200 --repeat 1 --quiet)
  passes compare layered "${few[@]}" --policy rws,dam-c,cats --disturb cpu@0 \
    --trace "$work/trace.json" --json "$work/bench.json"
  passes lab explain "$work/bench.json" --policy dam-c
  for disturb in share@0:50% wave@0:30%,0.05 session@0; do
    passes compare layered "${few[@]}" --policy auto --disturb "$disturb"
  done
  passes compare layered --on emulate:jetson-tx2 --tasks 40 --policy rws,dam-p --disturb cpu@0 \
    --repeat 1 --quiet
  passes compare layered:tasks=200,p=4 --on native --policy dam-c,heft --repeat 1 --quiet
  passes lab calibrate --kernels matmul --tile matmul=16 --repeats 1 --out "$work/mine.toml"
  passes disturb share@0:50%@0..0.1

  # simulations side by side
  passes lab reproduce matrix --graphs layered-4,tree --on sim:jetson-tx2 --disturb none,cpu \
    --policy dam-c --tasks 50 --seeds 2 --threads 4 --quiet
  passes lab reproduce topcuoglu --every 5000 --quiet
}

# What is ended by signals, and what watches threads of other programs.
signals() {
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
    "$kilter" compare layered --tasks 2000 --repeat 10000 --policy rws,dam-c --no-details --yes \
      >"$work/out" 2>"$work/err" </dev/null &
    running=$!
    sleep 3
    kill -$signal $running
    wait $running
    status=$?
    [ $status -eq 130 ] || [ $status -eq 143 ] ||
      fail "SIG$signal: exit status $status: $(head -c 2000 "$work/err")"
  done
}

part "$2"
finish
