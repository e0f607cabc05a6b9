#!/bin/bash
# kilter lab app heat: right under every model, on one computer and on four ranks of Open MPI; a rank that dies ends all, and a checkpoint goes on as if nothing had been.
. "$(dirname "$0")/checks.sh"
cd "$work" || exit 1

passes lab app heat --model all --disturb share@0:50% --repeat 2 --json - --quiet
json 'len({r["fingerprint"] for r in d["runs"]}) == 1 and len(d["runs"]) == 2 * 8 * d["config"]["repeat"] and d["environment"]["complete"]'
passes lab app heat --output "a b.plate" --quiet
passes lab app heat --input "a b.plate" --steps 250 --output warm.png
says "256 x 256 points, 50 steps"
[ "$(file -b --mime-type warm.png)" = image/png ] || fail "warm.png is no picture"
passes lab app heat --input warm.png --steps 20 --quiet

# Memory does not grow with the number of tasks, here 800,000.
passes lab app heat --blocks 64x64 --repeat 1 --json - --quiet
json 'd["runs"][0]["tasks"] == 64 * 64 * 200 and d["most_bytes"] < 200e6'

head -c 1000 "a b.plate" >cut.plate
: >empty.plate
for file in cut.plate empty.plate missing.plate .; do refuses "'$file'" lab app heat --input "$file" --output never; done
for steps in 100 200; do refuses "has already made 200" lab app heat --input "a b.plate" --steps $steps --output never; done
for blocks in 8 0x1 8x 8x1x1 -1x1 99999x1; do refuses "--blocks '$blocks'" lab app heat --blocks="$blocks" --output never; done
refuses "fewer blocks" lab app heat --blocks 300x1 --output never
refuses "did you mean 'grid'?" lab app heat --layout gird --output never
refuses "did you mean 'join'?" lab app heat --exchange joined --output never
refuses "at most 200000 are taken" lab app heat --size native --blocks 9999x9999 --output never
refuses "there is no directory" lab app heat --checkpoint no/such/folder
refuses "--output writes there already" lab app heat --output never --checkpoint never
refuses "--json writes there already" lab app heat --json never --checkpoint never
refuses "--checkpoint writes there already" lab app heat --record-graph never --checkpoint never
refuses "name a file" lab app heat --checkpoint -
[ -e never ] && fail "something was written although the input was refused"

if ! command -v mpirun >/dev/null; then
  refused=$(OMPI_COMM_WORLD_SIZE=2 "$kilter" lab app heat 2>&1) && fail "a rank without MPI ran alone"
  grep -q "cannot join" <<<"$refused" || fail "a rank without MPI says '$refused'"
  finish
fi

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
if ! timeout 60 mpirun --oversubscribe -n 2 true >out 2>err </dev/null; then
  echo "mpirun starts nothing here, so ranks are tested as threads only (unit_programs): $(head -c 300 err)"
  finish
fi
# in_ranks COUNT ARGS...: as `passes`, but as so many ranks.
in_ranks() {
  local count=$1
  shift
  timeout 300 mpirun --oversubscribe -n "$count" "$kilter" "$@" >"$work/out" 2>"$work/err" </dev/null || fail "$count ranks of kilter $*: $(head -c 600 "$work/err")"
}
fingerprints() { python3 -c 'import json, sys; print(*sorted({r["fingerprint"] for f in sys.argv[1:] for r in json.load(open(f))["runs"]}))' "$@"; }
passes lab app heat --json alone.json --quiet
in_ranks 4 app heat --json rows.json --quiet
in_ranks 4 app heat --layout grid --exchange join --model kilter,static --disturb share@0:20% --json grid.json --quiet
in_ranks 3 app heat --policy dam-c --blocks 3x4 --json three.json --quiet
[ "$(fingerprints alone.json rows.json grid.json three.json | wc -w)" = 1 ] || fail "ranks give another field"
in_ranks 2 app heat
grep -q "2 ranks (2 x 1)" out || fail "ranks are not told of: $(cat out)"
grep -q $'\033' out && fail "colour in a file"

for input in "--input missing.plate" "--blocks 100x1" "--policy dam"; do
  # shellcheck disable=SC2086  # words
  timeout 60 mpirun --oversubscribe -n 4 "$kilter" lab app heat $input >out 2>err </dev/null
  status=$?
  [ "$status" = 2 ] || fail "four ranks, $input: exit status $status"
  [ "$(grep -c '^kilter: ' err)" = 1 ] || fail "four ranks, $input: not one line of ours: $(cat err)"
done

# A rank dies; from what was kept all go on to the same end.
steps=20000
passes lab app heat --steps $steps --repeat 1 --json undisturbed.json --quiet
timeout 120 mpirun --oversubscribe -n 4 "$kilter" lab app heat --steps $steps --checkpoint "$work/kept.plate" --checkpoint-every 50 --quiet >out 2>err </dev/null &
job=$!
for _ in $(seq 600); do [ -e kept.plate ] && break; sleep 0.1; done
kill -9 "$(pgrep -f "^$kilter lab app heat .*$work/kept" | tail -1)" || fail "no rank to kill: $(cat out err)"
wait $job && fail "three of four ranks went on"
grep -q "mpirun noticed that process rank . .* exited on signal 9" err || fail "nobody says which rank died: $(cat err)"
pgrep -f "^$kilter lab app heat .*$work/kept" >/dev/null && fail "a rank is left"
passes lab app heat --input kept.plate --steps $steps --repeat 1 --json continued.json --quiet
[ "$(fingerprints undisturbed.json continued.json | wc -w)" = 1 ] || fail "what was continued has another end"

finish
