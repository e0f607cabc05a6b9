#!/bin/bash
# What of the command has threads, briefly: for the sanitizers, whose report is an exit status of its own. What it all has to say, commands_test.sh knows.
. "$(dirname "$0")/checks.sh"

few=(--tasks 200 --repeat 1 --quiet)
passes compare layered "${few[@]}" --policy rws,dam-c,cats --disturb cpu@0 --trace "$work/trace.json" --json "$work/bench.json"
passes lab explain "$work/bench.json" --policy dam-c
for disturb in share@0:50% wave@0:30%,0.05 session@0; do passes compare layered "${few[@]}" --policy auto --disturb "$disturb"; done
passes compare layered --on emulate:jetson-tx2 --tasks 40 --policy rws,dam-p --disturb cpu@0 --repeat 1 --quiet
passes compare layered:tasks=200,p=4 --on native --policy dam-c,heft --repeat 1 --quiet
passes lab calibrate --kernels matmul --tile matmul=16 --repeats 1 --out "$work/mine.toml"
passes disturb share@0:50%@0..0.1

# simulations side by side
passes lab reproduce matrix --graphs layered-4,tree --on sim:jetson-tx2 --disturb none,cpu --policy dam-c --tasks 50 --seeds 2 --threads 4 --quiet
passes lab reproduce topcuoglu --every 5000 --quiet
finish
