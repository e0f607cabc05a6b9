#!/bin/bash
# kilter compare, demo and explain in virtual time, so that it may run beside other tests.
. "$(dirname "$0")/checks.sh"

# every workload of the simulator, and the JSON that names its parameters
passes compare random --on sim:jetson-tx2 --tasks 60 --parallelism 3 --edge-rate 25% \
  --policy rws,perf --repeat 1
says "level width 3, edge rate 25 %"
passes compare kmeans --on sim:haswell-16 --iterations 3 --policy rws,dam-c --repeat 1 \
  --disturb cpu@0-7@25%..75%
says "3 iterations of 32 tasks"
passes compare heat --on sim:haswell-cluster --iterations 2 --policy rws,dam-c --repeat 1
passes compare heat --on sim:haswell-cluster --nodes apart --iterations 2 --policy rws,dam-c \
  --repeat 1
says "on 4 ranks with a runtime each"
refuses "2 ranks need as many nodes" compare heat --on sim:haswell-cluster --nodes apart --ranks 2 \
  --policy rws --repeat 1
refuses "auto has queues" compare heat --on sim:haswell-cluster --nodes apart --iterations 2 \
  --policy auto --repeat 1
refuses "take --nodes shared" compare heat --on emulate:haswell-cluster --nodes apart \
  --iterations 2 --policy rws --repeat 1
# energy where a platform has watts: the TX2 by both published sets
for watts in jetson-tx2 jetson-tx2-erase; do
  passes compare layered --on "sim:$watts" --tasks 500 --parallelism 6 --policy rws --repeat 1 \
    --json "$work/$watts.json" --quiet
done
python3 - "$work" <<'END' || fail "energy of the TX2"
import json, sys
used, other = (json.load(open(f"{sys.argv[1]}/{name}.json"))["experiments"][0]["runs"][0] for name in ("jetson-tx2", "jetson-tx2-erase"))
assert used["seconds"] == other["seconds"] and 0 < used["energy_j"] < other["energy_j"], (used, other)
END
passes compare vgg --on sim:haswell-20 --policy rws,perf --repeat 1 --json - --quiet
json 'e["config"]["workload"] == "vgg" and e["config"]["block_length"] == 16 and
  e["config"]["tasks"] == 839'
json 'all(r["tasks"] == 839 and r["bound_s"] > 0 for r in e["runs"])'

# each policy keeps its own settings where nobody says others
shape="random --kernel mix --on sim:jetson-tx2 --table paper --tasks 120 --parallelism 1 --repeat 2"
makespans() {
  passes compare $shape --json - --quiet "$@"; python3 -c 'import json,sys; print([r["seconds"] for r in json.load(open(sys.argv[1]))["experiments"][0]["runs"]])' "$work/out"
}
# WHAT MAKESPANS MAKESPANS
same() {
  [ -n "$2" ] && [ "$2" = "$3" ] || fail "sim: $1: '$2' and '$3'"
}
for own in perf:chain dam-c:user dam-p:user da:user fa:user fam-c:user cats-2q:user; do
  same "critical tasks of ${own%:*}" "$(makespans --policy "${own%:*}")" "$(makespans --policy "${own%:*}" --criticality "${own#*:}")"
done
[ "$(makespans --policy perf)" != "$(makespans --policy perf --criticality user)" ] ||
  fail "sim: perf runs without its critical path"
passes compare $shape --policy perf --json - --quiet
json 'e["config"]["criticality"] == "own" and
  sum(p["critical"] for r in e["runs"] for p in r["places"]) > 0'

# a reading is the settings that it stands for, but for those that are written
same "--as published" "$(makespans --policy dam-c --as published)" "$(makespans --policy dam-c --timing leader --children queue)"
same "--as coded, with settings of one's own" "$(makespans --policy dam-c --as coded --weight 1 --timing leader)" \
  "$(makespans --policy dam-c --weight 1 --timing leader --children queue --direct --search ready --refresh 10 --fast-order random --blocks task)"
refuses "reading 'coded': no public code has heft" compare $shape --policy heft --as coded
refuses "reading 'old'" compare $shape --policy rws --as old

# Virtual time: the same bytes every time but under `environment`, other ones with another seed; a
# change of platform is a change of places.
simulate() {
  passes compare layered --on sim:jetson-tx2 --table paper --tasks 2000 --parallelism 2 \
    --policy rws,dam-c --disturb cpu@0 --repeat 2 --json - "$@"
}
simulate
json 'e["config"]["on"] == "sim:jetson-tx2" and len(e["machine"]["cores"]) == 6 and
  len(e["runs"]) == 8 and len(e["details"]) == 4'
json 'all(r["ratio_to_bound"] < 1.03 for r in d["rows"])'
json '{s["policy"]: s["ratio_to_rws"] for s in d["rows"] if s["disturb"] == "cpu@0"}["dam-c"] > 1.5'
if command -v python3 >/dev/null; then
  numbers() {
    python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); del d["environment"]; print(json.dumps(d))' "$work/out"
  }
  numbers >"$work/first"
  simulate
  numbers >"$work/second"
  cmp -s "$work/first" "$work/second" || fail "sim: the same arguments gave other bytes"
  simulate --seed 2
  numbers >"$work/second"
  cmp -s "$work/first" "$work/second" && fail "sim: another seed gave the same bytes"
fi
passes compare layered --on sim:jetson-tx2 --tasks 500 --repeat 1 --policy auto \
  --save-table "$work/table"
passes compare layered --on sim:jetson-tx2 --tasks 500 --repeat 1 --policy auto \
  --load-table "$work/table" --json -
json 'e["config"]["learned_rows"] == 1'
passes compare layered --on sim:jetson-tx2 --cores 2 --tasks 500 --policy rws --json -
json 'len(e["machine"]["cores"]) == 2'
# one graph under each of its names, and a workload, wherever it is run in virtual time
passes compare cholesky:n=4 --on sim:jetson-tx2 --repeat 1 --policy rws \
  --json "$work/by_name.json" --quiet
"$kilter" graph make cholesky:n=4 | "$kilter" compare - --on sim:jetson-tx2 --repeat 1 \
  --policy rws --json "$work/by_input.json" --quiet || fail "compare -"
passes compare cholesky:n=4 layered --on sim:jetson-tx2 --repeat 1 --json "$work/both.json" \
  --policy rws --quiet
passes compare layered --on sim:jetson-tx2 --repeat 1 --json "$work/layered.json" --policy rws \
  --quiet
python3 - "$work" <<'PY' || fail "one graph has other results under other names"
import json, sys
read = lambda name: json.load(open(f"{sys.argv[1]}/{name}.json"))
runs = {name: read(name)["experiments"][0]["runs"] for name in ("by_name", "by_input", "layered")}
rows = {r["graph"]: r["makespan_s"] for r in read("both")["rows"]}
sys.exit(not (runs["by_name"] == runs["by_input"]
              and rows == {"cholesky:n=4": runs["by_name"][0]["seconds"], "layered": runs["layered"][0]["seconds"]}))
PY
passes lab demo --on sim:jetson-tx2 --quick --html "$work/demo.html" --json -
json 'e["config"]["on"] == "sim:jetson-tx2" and len(e["machine"]["cores"]) == 6 and
  all(0.05 < r["seconds"] < 1.5 for r in e["runs"] if r["policy"] == "auto")'
passes compare layered --on sim:grid:2x2 --tasks 500 --disturb freq@0-1:50%,0.02 --policy rws,dam-p

passes compare layered --on sim:grid:2x1 --tasks 1000 --policy auto,rws --disturb share@1:50% \
  --repeat 1 --json "$work/result.json"
passes lab explain "$work/result.json" --policy auto --disturb share@1:50%
says "core 1, from"
says "critical tasks went elsewhere"
grep -q "core 0, from" "$work/out" && fail "explain: core 0 was not disturbed"
passes lab explain "$work/result.json" --policy rws
says "nothing was learned"
passes lab explain --disturb share@1:50% --json - "$work/result.json"
json 'd["schema"] == "kilter.explain/1" and [r["policy"] for r in d["runs"]] == ["rws", "auto"]'
json '[f["core"] for f in d["runs"][1]["findings"] if f["kind"] == "slowed_core"] == [1] and
  d["runs"][1]["findings"][0]["samples"]'

finish
