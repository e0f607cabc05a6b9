#!/bin/bash
# kilter graph, and graphs wherever a command takes one.
. "$(dirname "$0")/checks.sh"

mkdir -p "$work/my graphs"
passes graph make cholesky:n=6 -o "$work/my graphs/c.json"
[ -s "$work/out" ] && fail "graph make -o wrote to standard output"
passes graph info "$work/my graphs/c.json" --json -
json 'd["schema"] == "kilter.graph-info/1" and d["tasks"] == 56 and d["path_tasks"] == 16 and
  sum(d["widths"]) == 56 and d["parallelism"] == 3.5'
passes graph info "$work/my graphs/c.json"
says "56, 1 without predecessors"
passes graph make cholesky:n=6
cmp -s "$work/out" "$work/my graphs/c.json" || fail "graph make: a file and standard output differ"
for format in $("$kilter" completion words -- graph convert x --to "" | cut -f1); do
  passes graph convert "$work/my graphs/c.json" --to $format -o "$work/c.$format"
  passes graph info "$work/c.$format" --json -
  json 'd["tasks"] in (56, 58) and abs(d["work_s"] - 0.0360) < 1e-9'
done
cmp -s "$work/c.json" "$work/my graphs/c.json" || fail "graph convert --to json changed a graph"
passes graph convert layered:tasks=9 --to stg
grep -q 'no place for priorities, widths' "$work/err" ||
  fail "graph convert does not say what is lost"
passes graph draw cholesky:n=6 -o "$work/c.svg"
grep -q '</svg>' "$work/c.svg" || fail "graph draw: no picture"
passes graph draw cholesky:n=20 -o "$work/c.PNG"
[ "$(head -c 4 "$work/c.PNG" | od -An -tx1)" = " 89 50 4e 47" ] ||
  fail "graph draw -o c.PNG wrote no PNG"
passes graph draw cholesky:n=3 --to pdf
[ "$(head -c 4 "$work/out")" = %PDF ] || fail "graph draw --to pdf wrote no PDF"
passes graph info "$(dirname "$0")/../data/dags/sarek-dirt02-001.json.gz"
says "15 tasks take no time"
# other people's formats, packed or not, from a file or from standard input, wherever a graph is
# taken
samples=$(dirname "$0")/../data/graphs
for file in diamond.dax diamond.yml stencil.graphml stencil.graphml.gz stencil.gml stencil.json \
  tasks.rec costs.stg simgrid.dot snakemake.dot nextflow.dot; do
  "$kilter" graph convert "$samples/$file" --to json --quiet | sed '1s/"name":"[^"]*"//' \
    >"$work/file.json" || fail "graph convert $file"
  gzip -c "$samples/$file" | "$kilter" graph convert - --to json \
    --quiet | sed '1s/"name":"[^"]*"//' >"$work/input.json"
  cmp -s "$work/file.json" "$work/input.json" ||
    fail "graph convert: $file is another graph when it is packed and comes by standard input"
  grep -q '"id":' "$work/file.json" || fail "graph convert $file: no task"
done
for command in "graph info -" "graph draw -" "compare - --on sim:jetson-tx2 --repeat 1" "compare - --scale 1e-4 --repeat 1"; do
  timeout 100 "$kilter" $command <"$samples/simgrid.dot" >"$work/out" 2>"$work/err" ||
    fail "kilter $command <simgrid.dot: $(head -c 300 "$work/err")"
  cat "$work/out" "$work/err" | grep -q "taken for flops" ||
    fail "kilter $command does not say what it made of SimGrid's sizes"
done
# a graph without times says so where it is summarised, and shows none
passes graph info "$samples/snakemake.dot"
says "note         no times in the file: 1 ms each"
says "work         not told"
grep -v 'note ' "$work/out" | grep -qE '[0-9] m?s\b' &&
  fail "graph info shows times that the file does not have: $(cat "$work/out")"
passes graph info "$samples/snakemake.dot" --json -
json 'd["without_time"] == 6 and d["notes"] == ["no times in the file: 1 ms each"]'
json 'd["work_s"] is None and d["path_s"] is None and d["speedup_limit"] is None'
json 'all(t["seconds"] is None for t in d["types"])'
passes compare "$samples/snakemake.dot" --on sim:jetson-tx2 --policy rws --repeat 1
says "snakemake.dot: no times in the file: 1 ms each"
passes compare "$samples/snakemake.dot" --on sim:jetson-tx2 --policy rws --repeat 1 --json -
json 'any(n.endswith("no times in the file: 1 ms each") for n in d["environment"]["notes"])'
# a build: the times are in the log in the folder of the graph's name, or in the one that is named
build=$samples/hello.dot log=$samples/hello/.ninja_log
passes graph info "$build" --json -
json 'abs(d["work_s"] - 1.436) < 1e-9'
json '"CXX_COMPILER" in [t["name"] for t in d["types"]]'
"$kilter" graph info - --quiet <"$build" >"$work/out" || fail "graph info - of a build"
says "name it: GRAPH:times=build/.ninja_log"
"$kilter" graph info --quiet -- "-:times=$log" <"$build" >"$work/out" ||
  fail "graph info -:times= of a build"
says "times of 4 tasks are from"
passes compare "$build:times=$log" --on sim:jetson-tx2 --policy rws --repeat 1
says "1 of 6 tasks have no time in"
refuses "name a log of Ninja behind ':times='" compare "$build:times="
refuses "cannot be read" compare "none.dot:times=$log"
refuses "takes no times from" compare "$samples/simgrid.dot:times=$log"
refuses "write the graph of the build with ninja" graph info "$log"
printf 'digraph { a [seconds=0] }' >"$work/timeless.dot"
passes graph info "$work/timeless.dot"
says "no task has a time"
grep -qE '\b(nan|inf)\b' "$work/out" &&
  fail "graph info of a graph without times: $(cat "$work/out")"

finish
