#!/bin/bash
# The commands do what their help says on this machine: examples run, JSON parses and has the keys
# that others rely on, streams are kept apart.
. "$(dirname "$0")/checks.sh"

passes --version
says "kilter "
for command in "" topo compare "compare layered" "compare random" "compare kmeans" "compare heat" "compare vgg" "lab explain" "lab reproduce" "lab demo" disturb run "lab policies" "lab platforms" "lab calibrate" \
    graph "graph make" "graph info" "graph convert" "graph draw"; do
  # shellcheck disable=SC2086
  passes $command --help
  says "Examples:"
done

passes lab policies
says "rws "

passes lab platforms
for platform in jetson-tx2 haswell-16 haswell-20 haswell-cluster odroid-xu3 xeon-e5320 dike-xeon grid:CxN; do
  says "$platform"
done
[ "$(wc -l <"$work/out")" -eq "$(grep -c . "$work/out")" ] || fail "platforms: not one line a name"
passes lab platforms jetson-tx2
says "FITTED to B1 Copy rows"
says "matmul 256, denver"
passes lab platforms jetson-tx2 --json -
json 'len(d["kernels"]) == 8 and all(k["source"] for k in d["kernels"]) and len(d["clusters"]) == 2'
json '[b["fitted_to"] for b in d["bandwidth"] if b["of"] == "chip"] == [["B1 Copy rows"]]'
passes lab platforms grid:2x4 --json -
json 'len(d["clusters"]) == 2 and d["kernels"][0]["seconds"][0] == 1e-3'
passes lab platforms --json -
json '{"jetson-tx2", "server-2x32"} <= {p["name"] for p in d["platforms"]}'

passes topo
# The address space may be limited (ulimit -v) to little more than a small program takes; no library
# may keep asking for more.
(
  ulimit -v 250000
  passes --version
  passes topo
  passes run -- true
  passes lab platforms
  passes top --once
  exit "$failures"
) || failures=$((failures + 1))
# What one command alone needs, others do not load. OpenBLAS takes 128 MiB of addresses a CPU.
for program in kilter kilter-commands; do
  readelf -d "$(dirname "$kilter")/$program" | grep 'NEEDED' >"$work/needs"
  grep -q libhwloc "$work/needs" || fail "readelf does not tell what $program is linked with"
  grep -E 'blas|gvc|cgraph|mpi' "$work/needs" &&
    fail "$program is linked with what one of its commands alone needs"
  [ $program = kilter ] && grep -vE 'lib(hwloc|fmt|stdc\+\+|m|gcc_s|c)\.so' "$work/needs" &&
    fail "kilter run and kilter --version load more than hwloc and fmt"
done
passes topo --on sim:jetson-tx2 --json -
json 'len(d["places"]) == 10 and {"cores", "clusters", "places"} <= set(d) and
  all({"leader", "width"} == set(p) for p in d["places"])'
passes topo --synthetic 'pack:2 l3:1 core:4 pu:1' --json -
json 'len(d["cores"]) == 8 and len(d["clusters"]) == 2'
passes topo --synthetic 'pack:1 l3:1 core:1 pu:1' --json -
json 'd["places"] == [{"leader": 0, "width": 1}]'
passes topo --synthetic 'l3:1 core:9 pu:1' --json -
json 'sorted({p["width"] for p in d["places"]}) == [1, 3, 9]'

small=(compare layered --tasks 400 --repeat 2)
passes "${small[@]}" --policy rws,dam-c --disturb cpu@0 --json -
json 'd["schema"] == "kilter.compare/2" and
  {"rows", "columns", "environment", "findings"} <= set(d) and
  {"machine", "config", "runs"} <= set(e)'
json 'len(e["runs"]) == 8 and len(d["rows"]) == 4 and len(e["details"]) == 4'
json '{"policy", "disturb", "repeat", "root_core", "tasks", "seconds", "throughput", "bound_s", "explored", "places", "cores", "achieved_share", "disturber_progress"} <= set(e["runs"][0])'
json '{"policy", "disturb", "throughput", "ratio_to_rws", "ratio_to_rws_min", "ratio_to_rws_max", "ratio_to_bound"} <= set(d["rows"][0])'
json 'all(r["tasks"] == 400 and sum(p["critical"] + p["other"] for p in r["places"]) == 400 and r["bound_s"] > 0 for r in e["runs"])'
json 'all(r["ratio_to_rws"] == 1 for r in d["rows"] if r["policy"] == "rws")'
json 'sorted(r["root_core"] for r in e["runs"] if r["policy"] == "rws" and r["disturb"] == "none") == sorted(i % len(e["machine"]["cores"]) for i in range(2))'
grep -q 'undisturbed' "$work/err" ||
  fail "the table does not go to standard error when JSON takes standard output"

passes "${small[@]}" --policy dam-c --quiet --json -
[ -s "$work/err" ] && fail "--quiet --json - wrote to standard error: $(head -c 200 "$work/err")"
json 'd["rows"][0]["ratio_to_rws"] is None'

passes "${small[@]}" --policy rws --root outside --graphs 3 --json -
json 'all(r["root_core"] is None for r in e["runs"]) and
  sorted(r["graph"] for r in e["runs"]) == [0, 0, 1, 1, 2, 2]'
json '[s["warm"] for s in d["rows"]] == [False, True]'

passes "${small[@]}" --policy dam-c
[ -s "$work/err" ] && fail "a run without a terminal wrote to standard error"
says "add it to --policy"
grep -q "$(printf '\033')" "$work/out" && fail "colour without a terminal"

# every kernel, and the options of the policies
passes "${small[@]}" --kernel copy --tile 64 --policy dam-p
passes "${small[@]}" --kernel stencil --tile 64 --sweeps 3 --policy dam-c
passes "${small[@]}" --kernel sort --tile 4096 --policy dam-c
passes "${small[@]}" --policy all --table paper --timing leader --criticality chain --local row \
  --steal richest --direct --unpinned --fast 0,

# files
passes "${small[@]}" --policy rws,dam-c --html "$work/report.html" --trace "$work/trace.json" \
  --json "$work/bench.json"
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

# a machine that was measured here, and one that this one plays
passes lab calibrate --kernels matmul --tile matmul=16 --repeats 1 --out "$work/mine.toml"
says "matmul"
passes compare layered --on "sim:$work/mine.toml" --tile 16 --tasks 200 --policy rws,dam-c \
  --repeat 1
passes compare layered --on emulate:jetson-tx2 --tasks 40 --table paper --disturb cpu@0 \
  --policy rws,dam-p --repeat 1 --json -
json 'e["config"]["on"] == "emulate:jetson-tx2" and len(e["machine"]["cores"]) == 6 and
  len(e["runs"]) == 4 and len(e["details"]) == 4'
json 'e["emulation"]["scale"] == 4 and e["emulation"]["late_s"] >= 0 and
  all(r["tasks"] == 40 for r in e["runs"])'

passes disturb cpu@0@0..0.2
passes disturb share@0:50%@0..0.2 --json -
grep -q "not a clock change" "$work/err" ||
  fail "disturb does not say that a time share is not a clock change"
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
  [ $(((ended - began) / 1000000)) -lt 1500 ] ||
    fail "Ctrl-C, kilter $*: took $(((ended - began) / 1000000)) ms"
  ps -e -o ppid=,comm= | grep -q "^ *$pid " && fail "Ctrl-C, kilter $*: left a child"
}
# A shell without job control starts background processes with SIGINT ignored; the program must end
# all the same.
stop 6 compare layered --tasks 2000 --repeat 10000 --policy rws,dam-c --no-details --yes
grep -q "takes at least about .*: 20000 runs" "$work/err" ||
  fail "bench does not say how long it takes: $(cat "$work/err")"
says "tasks/s"
stop 2 compare layered --kernel matmul --tile 4096 --tasks 100 --parallelism 1 --yes
stop 1 disturb session@0

finish
