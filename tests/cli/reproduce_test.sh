#!/bin/bash
# kilter lab reproduce and compare, in virtual time: verdicts, comparisons, the matrix.
. "$(dirname "$0")/checks.sh"

passes lab reproduce --list S0
says "S0-11"
passes lab reproduce S0-6 S2-14 --json -
json 'd["schema"] == "kilter.reproduce/1" and [c["id"] for c in d["claims"]] == ["S0-6", "S2-14"]'
json 'all(c["verdict"] == "arithmetic" and c["command"] == "kilter lab reproduce " + c["id"] for c in d["claims"])'
passes lab reproduce S0-27 S0-6 --html "$work/verdicts.html" --quiet
says "2 claims"
for word in '"id":"S0-27"' '"id":"S0-6"' '"id":"S0-Fig.6"' "<title>Kilter report</title>"; do
  grep -qF "$word" "$work/verdicts.html" || fail "reproduce --html: no $word in the report"
done
grep -qF '"id":"S0-Fig.4"' "$work/verdicts.html" &&
  fail "reproduce --html: draws a figure whose claims were not asked for"
passes lab reproduce S0-6 --html -
[ "$(head -c 15 "$work/out")" = "<!DOCTYPE html>" ] ||
  fail "reproduce --html -: not the report alone"
passes lab reproduce S3-5 S3-6 --json -
json '[c["verdict"] for c in d["claims"]] == ["reproduced", "input"]'

# another reading of all, and single ones
passes lab reproduce S2-10 --json -
json 'd["as"] == "published" and d["claims"][0]["verdict"] == "differs"'
passes lab reproduce S2-10 --as coded --json -
json 'd["as"] == "coded" and all(c["obtained"] < .5 for c in d["claims"])'
passes lab reproduce S2-10 --with block_length=8
says "reproduced"
refuses "reading 'old'" lab reproduce S2-10 --as old
refuses "leave out --with, --as and --native" lab reproduce S2-10 --flips --as coded
refuses "choice 'tabel'" lab reproduce S2-10 --with tabel=robust
passes lab reproduce S4-9 --with sides=fast
says "sides=fast"

# natively: a second verdict, with where it was made; kept beside the experiment files it is shown
# without being measured again
mkdir "$work/own"
cat >"$work/own/E.toml" <<'TOML'
schema = "kilter.experiment/1"
name = "E"
title = "one of each"
source = "none"

[[native]]
name = "here"
program = "graph"
graph = "random:tasks=60,width=4,seconds=0.0001"
policies = ["rws", "dam-c"]
repeats = 3

[[claim]]
id = "S0-6"
source = "none"
statement = "a claim"

[[claim.case]]
of = { measure = "throughput" }
relation = "gt"
reference = 1.0
margin = 0.01
reason = "an order"

[[claim.native]]
of = { measure = "iteration_disturbed", policy = "rws" }
relation = "lt"
reference = 0.5
margin = 0.01
reason = "nobody disturbs it"

[[scenario]]
name = "there"
on = "sim:grid:1x2"
workload = "layered"
kernel = "matmul"
tile = 64
tasks = 40
parallelism = 2
policies = "rws"
TOML
export KILTER_EXPERIMENTS=$work/own
passes lab reproduce S0-6 --json -
json '"native" not in d["claims"][0] and "environment" not in d'
passes lab reproduce S0-6 --native --json -
json 'd["claims"][0]["verdict"] == "direction" and
  d["claims"][0]["native"]["verdict"] == "direction" and d["claims"][0]["native"]["repeats"] == 3'
json 'd["environment"]["complete"] and len(d["environment"]["machine"]["cores"]) >= 1 and
  d["environment"]["command_line"].endswith("--native --json -")'
cp "$work/out" "$work/own/native.json"
passes lab reproduce S0-6
says "claim  simulated      native"
says "1 of 1 cases hold natively, 3 repeats ("
passes lab reproduce S0-6 --json -
json 'd["claims"][0] == json.load(open("'"$work"'/own/native.json"))["claims"][0] and "environment" not in d'
unset KILTER_EXPERIMENTS

# graphs: as executed on their own processors, and the same bytes again
data=$(cd "$(dirname "$0")/../data" && pwd)
passes compare "$data/canonical.json" --policy heft,cpop --json -
json '{r["policy"]: r["makespan_s"] for r in d["rows"] if r["policy"] != "rws"} == {"heft": 80, "cpop": 86}'
json 'd["schema"] == "kilter.compare/2" and all(r["plan_s"] is None for r in d["rows"]) and
  {p["policy"] for p in d["environment"]["plans"]} >= {"heft", "cpop"}'
json 'd["conclusion"]["best"] == ["heft"] and d["conclusion"]["cells"] == 1 and
  len(d["conclusion"]["policies"]) == 3'
grep -q "^- heft is best: " "$work/err" || fail "compare: no conclusion"
passes compare layered:tasks=200,p=4 --on sim:jetson-tx2 --policy dam-c --disturb cpu@0 \
  --json "$work/one.json" --html "$work/compare.html"
passes compare layered:tasks=200,p=4 --on sim:jetson-tx2 --policy dam-c --disturb cpu@0 \
  --json "$work/two.json" --quiet
python3 - "$work/one.json" "$work/two.json" <<'PY' || fail "compare: two equal runs differ outside the environment"
import json, sys
one, two = (json.load(open(f)) for f in sys.argv[1:])
one.pop("environment"), two.pop("environment")
sys.exit(one != two)
PY
grep -qF '"schema":"kilter.compare/2"' "$work/compare.html" ||
  fail "compare --html: no document in the report"
# recorded programs run on one core each unless the user says otherwise, and the output says which
# it was
recorded=$data/dags/montage-chameleon-2mass-005d-001.json.gz
for widths in 1 all; do
  given=()
  [ $widths = all ] && given=(--widths all)
  passes compare "$recorded" --on sim:haswell-16 --policy auto --repeat 1 \
    --json "$work/graph.json" "${given[@]}"
  [ $widths = 1 ] && says "tasks run on one core each; --widths all lets them run on several"
  cp "$work/graph.json" "$work/out"
  json "e['config']['widths'] == '$widths' and ({p['width'] for p in e['runs'][0]['places'] if p['critical'] + p['other']} == {1}) == ('$widths' == '1')"
  passes compare "$recorded" --on sim:haswell-16 --policy auto --repeat 1 "${given[@]}" --json -
  grep -q "tasks run on" "$work/err" || fail "compare does not say on how many cores tasks run"
  json "{r['widths'] for r in d['rows']} == {'$widths'}"
done
passes lab reproduce matrix --graphs layered-4,tree --on sim:jetson-tx2 --disturb none,cpu \
  --policy dam-c,heft --tasks 200 --seeds 1 --json -
json 'd["schema"] == "kilter.matrix/1" and len(d["cells"]) == 4 and
  all(max(r for p, r in c["ratios"].items() if p[:4] != "heft") == 1 for c in d["cells"])'
passes lab reproduce topcuoglu --every 5000 --json -
json 'd["rows"][0]["graphs"] == 12 and d["rows"][0]["as_planned_heft"] == 12'

finish
