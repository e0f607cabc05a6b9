#!/bin/bash
# The commands do what their help says: examples run, JSON parses and has the keys that others rely on, streams are kept apart.
. "$(dirname "$0")/checks.sh"

json() {  # json PYTHON-EXPRESSION: of the last standard output as document `d`; skipped where there is no python3
  command -v python3 >/dev/null || return 0
  python3 -c "import json,sys; d=json.load(open(sys.argv[1])); sys.exit(0 if ($1) else 1)" "$work/out" || fail "JSON: not ($1)"
}

passes --version
says "kilter "
for command in "" topo bench "bench layered" explain sim "sim layered" "sim random" "sim kmeans" "sim heat" "sim vgg" reproduce demo disturb policies platforms calibrate \
    graph "graph make" "graph info" "graph convert" "graph draw"; do
  # shellcheck disable=SC2086
  passes $command --help
  says "Examples:"
done

passes policies
for policy in rws rwsm-c fa fam-c da dam-c dam-p perf fifo random bias cats cats-2q dheft; do says "$policy"; done

passes platforms
for platform in jetson-tx2 haswell-16 haswell-20 haswell-cluster odroid-xu3 xeon-e5320 dike-xeon grid:CxN; do says "$platform"; done
[ "$(wc -l <"$work/out")" -eq "$(grep -c . "$work/out")" ] || fail "platforms: not one line a name"
passes platforms jetson-tx2
says "FITTED to B1 Copy rows"
says "matmul 256, denver"
passes platforms jetson-tx2 --json -
json 'len(d["kernels"]) == 8 and all(k["source"] for k in d["kernels"]) and len(d["clusters"]) == 2'
json '[b["fitted_to"] for b in d["bandwidth"] if b["of"] == "chip"] == [["B1 Copy rows"]]'
passes platforms grid:2x4 --json -
json 'len(d["clusters"]) == 2 and d["kernels"][0]["seconds"][0] == 1e-3'
passes platforms --json -
json '{"jetson-tx2", "server-2x32"} <= {p["name"] for p in d["platforms"]}'

passes topo
passes topo --on sim:jetson-tx2 --json -
json 'len(d["places"]) == 10 and {"cores", "clusters", "places"} <= set(d) and all({"leader", "width"} == set(p) for p in d["places"])'
passes topo --synthetic 'pack:2 l3:1 core:4 pu:1' --json -
json 'len(d["cores"]) == 8 and len(d["clusters"]) == 2'
passes topo --synthetic 'pack:1 l3:1 core:1 pu:1' --json -
json 'd["places"] == [{"leader": 0, "width": 1}]'
passes topo --synthetic 'l3:1 core:9 pu:1' --json -
json 'sorted({p["width"] for p in d["places"]}) == [1, 3, 9]'

small=(bench layered --tasks 400 --repeat 2)
passes "${small[@]}" --policy rws,dam-c --disturb cpu@0 --json -
json 'd["schema"] == "kilter.bench/1" and {"machine", "config", "environment", "runs", "summary"} <= set(d)'
json 'len(d["runs"]) == 8 and len(d["summary"]) == 4 and len(d["details"]) == 4'
json '{"policy", "disturb", "repeat", "root_core", "tasks", "seconds", "throughput", "bound_s", "explored", "places", "cores", "achieved_share", "disturber_progress"} <= set(d["runs"][0])'
json '{"policy", "disturb", "throughput_median", "ratio_to_rws_median", "ratio_min", "ratio_max", "ratio_to_bound"} <= set(d["summary"][0])'
json 'all(r["tasks"] == 400 and sum(p["critical"] + p["other"] for p in r["places"]) == 400 and r["bound_s"] > 0 for r in d["runs"])'
json 'all(r["ratio_to_rws_median"] == 1 for r in d["summary"] if r["policy"] == "rws")'
json 'sorted(r["root_core"] for r in d["runs"] if r["policy"] == "rws" and r["disturb"] == "none") == sorted(i % len(d["machine"]["cores"]) for i in range(2))'
grep -q 'undisturbed' "$work/err" || fail "the table does not go to standard error when JSON takes standard output"

passes "${small[@]}" --policy dam-c --quiet --json -
[ -s "$work/err" ] && fail "--quiet --json - wrote to standard error: $(head -c 200 "$work/err")"
json 'd["summary"][0]["ratio_to_rws_median"] is None'

passes "${small[@]}" --policy rws --root outside --graphs 3 --json -
json 'all(r["root_core"] is None for r in d["runs"]) and sorted(r["graph"] for r in d["runs"]) == [0, 0, 1, 1, 2, 2]'
json '[s["warm"] for s in d["summary"]] == [False, True]'

passes "${small[@]}" --policy dam-c
[ -s "$work/err" ] && fail "a run without a terminal wrote to standard error"
says "add it to --policy"
grep -q "$(printf '\033')" "$work/out" && fail "colour without a terminal"

# every workload of the simulator, and the JSON that names its parameters
passes sim random --on sim:jetson-tx2 --tasks 60 --parallelism 3 --edge-rate 25% --policy rws,perf --repeat 1
says "level width 3, edge rate 25 %"
passes sim kmeans --on sim:haswell-16 --iterations 3 --policy rws,dam-c --repeat 1 --disturb cpu@0-7@25%..75%
says "3 iterations of 32 tasks"
passes sim heat --on sim:haswell-cluster --iterations 2 --policy rws,dam-c --repeat 1
passes sim vgg --on sim:haswell-20 --policy rws,perf --repeat 1 --json - --quiet
json 'd["config"]["workload"] == "vgg" and d["config"]["block_length"] == 16 and d["config"]["tasks"] == 839'
json 'all(r["tasks"] == 839 and r["bound_s"] > 0 for r in d["runs"])'

# every kernel, and the options of the policies
passes "${small[@]}" --kernel copy --tile 64 --policy dam-p
passes "${small[@]}" --kernel stencil --tile 64 --sweeps 3 --policy dam-c
passes "${small[@]}" --kernel sort --tile 4096 --policy dam-c
passes "${small[@]}" --policy all --table paper --timing leader --criticality chain --local row --steal richest --direct --unpinned --fast 0,

# files
passes "${small[@]}" --policy rws,dam-c --html "$work/report.html" --trace "$work/trace.json" --json "$work/bench.json"
says "$work/report.html"
for file in report.html trace.json bench.json; do [ -s "$work/$file" ] || fail "no $file"; done
cp "$work/trace.json" "$work/out"
json 'len(d["traceEvents"]) > 400'
cp "$work/bench.json" "$work/out"
json 'd["environment"]["json"].endswith("bench.json")'
passes "${small[@]}" --policy rws --html "$work/report.html"  # a report of ours may be replaced

# a disk that is full at the end
if [ -e /dev/full ]; then
  "$kilter" "${small[@]}" --policy rws --json /dev/full >"$work/out" 2>"$work/err"
  status=$?
  [ "$status" -eq 1 ] || fail "full disk: exit status $status"
  [ "$(wc -l <"$work/err")" -eq 1 ] || fail "full disk: not one line: $(cat "$work/err")"
fi

# Virtual time: the same bytes every time but under `environment`, other ones with another seed; a change of platform is a change of places.
simulate() { passes sim layered --on sim:jetson-tx2 --table paper --tasks 2000 --parallelism 2 --policy rws,dam-c --disturb cpu@0 --repeat 2 --json - "$@"; }
simulate
json 'd["config"]["on"] == "sim:jetson-tx2" and len(d["machine"]["cores"]) == 6 and len(d["runs"]) == 8 and len(d["details"]) == 4'
json 'all(r["ratio_to_bound"] < 1.03 for r in d["summary"])'
json '{s["policy"]: s["ratio_to_rws_median"] for s in d["summary"] if s["disturb"] == "cpu@0"}["dam-c"] > 1.5'
if command -v python3 >/dev/null; then
  numbers() { python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); del d["environment"]; print(json.dumps(d))' "$work/out"; }
  numbers >"$work/first"
  simulate
  numbers >"$work/second"
  cmp -s "$work/first" "$work/second" || fail "sim: the same arguments gave other bytes"
  simulate --seed 2
  numbers >"$work/second"
  cmp -s "$work/first" "$work/second" && fail "sim: another seed gave the same bytes"
fi
passes sim layered --on sim:jetson-tx2 --tasks 500 --repeat 1 --save-table "$work/table"
passes sim layered --on sim:jetson-tx2 --tasks 500 --repeat 1 --load-table "$work/table" --json -
json 'd["config"]["learned_rows"] == 1'
passes sim layered --on sim:jetson-tx2 --cores 2 --tasks 500 --policy rws --json -
json 'len(d["machine"]["cores"]) == 2'
# one graph under each of its names, and a workload, wherever it is run in virtual time
passes sim cholesky:n=4 --on sim:jetson-tx2 --repeat 1 --policy rws --json "$work/by_sim.json" --quiet
passes bench cholesky:n=4 --on sim:jetson-tx2 --repeat 1 --policy rws --json "$work/by_bench.json" --quiet
"$kilter" graph make cholesky:n=4 | "$kilter" sim - --on sim:jetson-tx2 --repeat 1 --policy rws --json "$work/by_input.json" --quiet || fail "sim -"
passes compare cholesky:n=4 layered --on sim:jetson-tx2 --repeat 1 --json "$work/by_compare.json" --policy rws --criticality user --quiet
passes sim layered --on sim:jetson-tx2 --repeat 1 --json "$work/layered.json" --policy rws --quiet
python3 - "$work" <<'PY' || fail "one graph has other results under other names"
import json, sys
read = lambda name: json.load(open(f"{sys.argv[1]}/{name}.json"))
runs = [read(name)["runs"] for name in ("by_sim", "by_bench", "by_input")]
rows = {r["graph"]: r["makespan_s"] for r in read("by_compare")["rows"]}
same = runs[0] == runs[1] == runs[2] and read("by_sim")["config"] == read("by_bench")["config"]
sys.exit(not (same and rows == {"cholesky:n=4": runs[0][0]["seconds"], "layered": read("layered")["runs"][0]["seconds"]}))
PY
passes demo --on sim:jetson-tx2 --quick --html "$work/demo.html" --json -
json 'd["config"]["on"] == "sim:jetson-tx2" and len(d["machine"]["cores"]) == 6 and all(0.05 < r["seconds"] < 1.5 for r in d["runs"] if r["policy"] == "auto")'
passes calibrate --kernels matmul --tile matmul=16 --repeats 1 --out "$work/mine.toml"
says "matmul"
passes sim layered --on "sim:$work/mine.toml" --tile 16 --tasks 200 --policy rws,dam-c --repeat 1
passes bench layered --on emulate:jetson-tx2 --tasks 40 --table paper --disturb cpu@0 --policy rws,dam-p --repeat 1 --json -
json 'd["config"]["on"] == "emulate:jetson-tx2" and len(d["machine"]["cores"]) == 6 and len(d["runs"]) == 4 and len(d["details"]) == 4'
json 'd["environment"]["emulation"]["scale"] == 4 and d["environment"]["emulation"]["late_s"] >= 0 and all(r["tasks"] == 40 for r in d["runs"])'
passes bench layered --on sim:grid:2x2 --tasks 500 --disturb freq@0-1:50%,0.02 --policy rws,dam-p

passes reproduce --list S0
says "S0-11"
passes reproduce S0-6 S2-14 --json -
json 'd["schema"] == "kilter.reproduce/1" and [c["id"] for c in d["claims"]] == ["S0-6", "S2-14"]'
json 'all(c["verdict"] == "reproduced" and c["command"] == "kilter reproduce " + c["id"] for c in d["claims"])'
passes reproduce S0-27 S0-6 --html "$work/verdicts.html" --quiet
says "2 claims"
for word in '"id":"S0-27"' '"id":"S0-6"' '"id":"S0-Fig.6"' "<title>Kilter report</title>"; do
  grep -qF "$word" "$work/verdicts.html" || fail "reproduce --html: no $word in the report"
done
grep -qF '"id":"S0-Fig.4"' "$work/verdicts.html" && fail "reproduce --html: draws a figure whose claims were not asked for"
passes reproduce S0-6 --html -
[ "$(head -c 15 "$work/out")" = "<!DOCTYPE html>" ] || fail "reproduce --html -: not the report alone"
passes reproduce S3-5 S3-6 --json -
json '[c["verdict"] for c in d["claims"]] == ["reproduced", "direction"]'
passes reproduce S4-9 --with sides=fast
says "sides=fast"

# graphs: as executed on their own processors, and the same bytes again
data=$(cd "$(dirname "$0")/../data" && pwd)
passes compare "$data/canonical.json" --policy heft,cpop --json -
json '{r["policy"]: r["makespan_s"] for r in d["rows"] if r["policy"] != "rws"} == {"heft": 80, "cpop": 86}'
json 'd["schema"] == "kilter.compare/1" and all(r["plan_s"] is None for r in d["rows"]) and {p["policy"] for p in d["environment"]["plans"]} >= {"heft", "cpop"}'
json 'd["conclusion"]["best"] == ["heft"] and d["conclusion"]["cells"] == 1 and len(d["conclusion"]["policies"]) == 3'
grep -q "^heft is best: " "$work/err" || fail "compare: no conclusion"
passes compare layered:tasks=200,p=4 --on sim:jetson-tx2 --policy dam-c --disturb cpu@0 --json "$work/one.json" --html "$work/compare.html"
passes compare layered:tasks=200,p=4 --on sim:jetson-tx2 --policy dam-c --disturb cpu@0 --json "$work/two.json" --quiet
python3 - "$work/one.json" "$work/two.json" <<'PY' || fail "compare: two equal runs differ outside the environment"
import json, sys
one, two = (json.load(open(f)) for f in sys.argv[1:])
one.pop("environment"), two.pop("environment")
sys.exit(one != two)
PY
grep -qF '"schema":"kilter.compare/1"' "$work/compare.html" || fail "compare --html: no document in the report"
# recorded programs run on one core each unless the user says otherwise, and the output says which it was
recorded=$data/dags/montage-chameleon-2mass-005d-001.json.gz
for widths in 1 all; do
  given=()
  [ $widths = all ] && given=(--widths all)
  passes sim "$recorded" --on sim:haswell-16 --policy auto --repeat 1 --json "$work/graph.json" "${given[@]}"
  [ $widths = 1 ] && says "tasks run on one core each; --widths all lets them run on several"
  cp "$work/graph.json" "$work/out"
  json "d['config']['widths'] == '$widths' and ({p['width'] for p in d['runs'][0]['places'] if p['critical'] + p['other']} == {1}) == ('$widths' == '1')"
  passes compare "$recorded" --on sim:haswell-16 --policy auto --repeat 1 "${given[@]}" --json -
  grep -q "tasks run on" "$work/err" || fail "compare does not say on how many cores tasks run"
  json "{r['widths'] for r in d['rows']} == {'$widths'}"
done
passes reproduce matrix --graphs layered-4,tree --on sim:jetson-tx2 --disturb none,cpu --policy dam-c,heft --tasks 200 --seeds 1 --json -
json 'd["schema"] == "kilter.matrix/1" and len(d["cells"]) == 4 and all(max(r for p, r in c["ratios"].items() if p[:4] != "heft") == 1 for c in d["cells"])'
passes reproduce topcuoglu --every 5000 --json -
json 'd["rows"][0]["graphs"] == 12 and d["rows"][0]["as_planned_heft"] == 12'

passes disturb cpu@0@0..0.2
passes disturb share@0:50%@0..0.2 --json -
grep -q "not a clock change" "$work/err" || fail "disturb does not say that a time share is not a clock change"
json 'len(d) > 0'

# Ctrl-C: at an end within a second, 130, with what was measured, and no child left
stop() {  # stop SECONDS ARGS...
  local wait_s=$1 began ended status
  shift
  "$kilter" "$@" >"$work/out" 2>"$work/err" </dev/null &
  local pid=$!
  sleep "$wait_s"
  began=$(date +%s%N)
  kill -INT $pid
  wait $pid
  status=$?
  ended=$(date +%s%N)
  [ $status -eq 130 ] || fail "Ctrl-C, kilter $*: exit status $status: $(head -c 300 "$work/err")"
  [ $(((ended - began) / 1000000)) -lt 1500 ] || fail "Ctrl-C, kilter $*: took $(((ended - began) / 1000000)) ms"
  ps -e -o ppid=,comm= | grep -q "^ *$pid " && fail "Ctrl-C, kilter $*: left a child"
}
# A shell without job control starts background processes with SIGINT ignored; the program must end all the same.
stop 6 bench layered --tasks 2000 --repeat 10000 --policy rws,dam-c --no-details --yes
grep -q "takes at least about .*: 20000 runs" "$work/err" || fail "bench does not say how long it takes: $(cat "$work/err")"
says "tasks/s"
stop 2 bench layered --kernel matmul --tile 4096 --tasks 100 --parallelism 1 --yes
stop 1 disturb session@0
# graphs
mkdir -p "$work/my graphs"
passes graph make cholesky:n=6 -o "$work/my graphs/c.json"
[ -s "$work/out" ] && fail "graph make -o wrote to standard output"
passes graph info "$work/my graphs/c.json" --json -
json 'd["schema"] == "kilter.graph-info/1" and d["tasks"] == 56 and d["path_tasks"] == 16 and sum(d["widths"]) == 56 and d["parallelism"] == 3.5'
passes graph info "$work/my graphs/c.json"
says "56, 1 without predecessors"
passes graph make cholesky:n=6
cmp -s "$work/out" "$work/my graphs/c.json" || fail "graph make: a file and standard output differ"
for format in json dot stg wfcommons; do
  passes graph convert "$work/my graphs/c.json" --to $format -o "$work/c.$format"
  passes graph info "$work/c.$format" --json -
  json 'd["tasks"] in (56, 58) and abs(d["work_s"] - 0.0360) < 1e-9'
done
cmp -s "$work/c.json" "$work/my graphs/c.json" || fail "graph convert --to json changed a graph"
passes graph convert layered:tasks=9 --to stg
grep -q 'no place for priorities, widths' "$work/err" || fail "graph convert does not say what is lost"
passes graph draw cholesky:n=6 -o "$work/c.svg"
grep -q '</svg>' "$work/c.svg" || fail "graph draw: no picture"
passes graph draw cholesky:n=20 -o "$work/c.PNG"
[ "$(head -c 4 "$work/c.PNG" | od -An -tx1)" = " 89 50 4e 47" ] || fail "graph draw -o c.PNG wrote no PNG"
passes graph draw cholesky:n=3 --to pdf
[ "$(head -c 4 "$work/out")" = %PDF ] || fail "graph draw --to pdf wrote no PDF"
passes graph info "$(dirname "$0")/../data/dags/sarek-dirt02-001.json.gz"
says "15 tasks take no time"
# other people's formats, packed or not, from a file or from standard input, wherever a graph is taken
samples=$(dirname "$0")/../data/graphs
for file in diamond.dax diamond.yml stencil.graphml stencil.graphml.gz tasks.rec costs.stg simgrid.dot; do
  "$kilter" graph convert "$samples/$file" --to json --quiet | sed '1s/"name":"[^"]*"//' >"$work/file.json" || fail "graph convert $file"
  gzip -c "$samples/$file" | "$kilter" graph convert - --to json --quiet | sed '1s/"name":"[^"]*"//' >"$work/input.json"
  cmp -s "$work/file.json" "$work/input.json" || fail "graph convert: $file is another graph when it is packed and comes by standard input"
  grep -q '"id":' "$work/file.json" || fail "graph convert $file: no task"
done
for command in "graph info -" "graph draw -" "compare - --on sim:jetson-tx2 --repeat 1" "sim - --on sim:jetson-tx2 --repeat 1" "bench - --scale 1e-4 --repeat 1"; do
  timeout 100 "$kilter" $command <"$samples/simgrid.dot" >"$work/out" 2>"$work/err" || fail "kilter $command <simgrid.dot: $(head -c 300 "$work/err")"
  cat "$work/out" "$work/err" | grep -q "taken for flops" || fail "kilter $command does not say what it made of SimGrid's sizes"
done
printf 'digraph { a [seconds=0] }' >"$work/timeless.dot"
passes graph info "$work/timeless.dot"
says "no task has a time"
grep -qE '\b(nan|inf)\b' "$work/out" && fail "graph info of a graph without times: $(cat "$work/out")"

passes sim layered --on sim:grid:2x1 --tasks 1000 --policy auto,rws --disturb share@1:50% --repeat 1 --json "$work/result.json"
passes explain "$work/result.json" --policy auto --disturb share@1:50%
says "core 1, from"
says "critical tasks went elsewhere"
grep -q "core 0, from" "$work/out" && fail "explain: core 0 was not disturbed"
passes explain "$work/result.json" --policy rws
says "nothing was learned"
passes explain --disturb share@1:50% --json - "$work/result.json"
json 'd["schema"] == "kilter.explain/1" and [r["policy"] for r in d["runs"]] == ["auto", "rws"]'
json '[f["core"] for f in d["runs"][0]["findings"] if f["kind"] == "slowed_core"] == [1] and d["runs"][0]["findings"][0]["samples"]'

finish
