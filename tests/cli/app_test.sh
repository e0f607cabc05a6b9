#!/bin/bash
# kilter app: programs verify themselves under every model, and refuse what they cannot read before anything is written.
. "$(dirname "$0")/checks.sh"
cd "$work" || exit 1

passes app kmeans --model all --policy auto,dam-c --repeat 2 --disturb share@0:50% --json - --quiet
json 'd["schema"] == "kilter.app/1" and len(d["runs"]) == 2 * 2 * 9 and d["environment"]["complete"]'
json 'len({r["iterations"] for r in d["runs"]}) == 1 and all(r["tasks"] == 80 * r["iterations"] and r["seconds"] > 0 for r in d["runs"])'
json '{s["model"] for s in d["summary"]} == {"serial", "static", "loop-static", "loop-dynamic", "omp-task", "tbb-loop", "task", "kilter auto", "kilter dam-c"}'
passes app kmeans --cut tasks --json tasks.json
says "kilter auto"
python3 -c 'import json; d = json.load(open("tasks.json")); assert d["config"]["cut"] == "tasks" and len(d["runs"][0]["fingerprint"]) == 16' || fail "tasks.json"

# the graph of its tasks: read, simulated, and made again
passes app kmeans --cut tasks --iterations 3 --changed 0 --repeat 1 --record-graph kmeans.json --json recorded.json
says "graph: kmeans.json, 248 tasks and 484 edges, recorded on one core"
python3 -c 'import json; d = json.load(open("recorded.json")); assert d["recorded_graph"] == {"file": "kmeans.json", "tasks": 248, "edges": 484}' || fail "recorded.json"
python3 -c 'import json; d = json.load(open("kmeans.json")); assert d["schema"] == "kilter.graph/1" and [t["name"] for t in d["types"]] == ["iterate", "assign"]' || fail "kmeans.json"
passes graph info kmeans.json
says "assign 240 tasks"
passes sim kmeans.json --on sim:haswell-16 --policy rws,auto --repeat 1 --json - --quiet
json 'd["config"]["tasks"] == 248 and len(d["runs"]) == 2'
passes compare kmeans.json --on sim:haswell-16 --policy rws,heft --repeat 1

# a picture: two colours come back as two colours
printf 'P6\n2 2\n255\n\x00\x00\x00\x0a\x0a\x0a\xc8\x00\x00\xdc\x00\x00' >two.ppm
passes app kmeans --input two.ppm --clusters 2 --seed 2 --output "a b.png" --quiet
passes app kmeans --input "a b.png" --clusters 2 --seed 2 --output again.png --quiet
cmp -s "a b.png" again.png || fail "a picture of two colours is not the same again"

# a table: centres, then the cluster of each row
printf 'x,y\n0,0\n0,2\n50,50\n50,52\n' >table.csv
passes app kmeans --input table.csv --clusters 2 --output clusters.csv --quiet
[ "$(grep -c centre clusters.csv)" = 2 ] && [ "$(wc -l <clusters.csv)" = 6 ] || fail "clusters.csv: $(cat clusters.csv)"

head -c 20 two.ppm >cut.ppm
head -c 30 "a b.png" >cut.png
printf '1,2\n3\n' >ragged.csv
printf '1,nan\n' >nan.csv
: >empty.csv
for file in cut.ppm cut.png ragged.csv nan.csv empty.csv missing.csv .; do refuses "'$file'" app kmeans --input "$file" --output never; done
refuses "there are 4 points" app kmeans --input table.csv --clusters 5 --output never
refuses "did you mean 'kilter'?" app kmeans --model kiltr --output never
refuses "there are small, medium, large, native" app kmeans --size tiny --output never
refuses "there are loop, tasks" app kmeans --cut rows --output never
refuses "unknown policy 'dam'" app kmeans --policy dam --output never
refuses "there is no directory" app kmeans --output no/such/folder
refuses "--json writes there already" app kmeans --json same --output same
refuses "--json writes there already" app kmeans --cut tasks --json same --record-graph same
refuses "--output writes there already" app kmeans --cut tasks --output same --record-graph same
refuses "add --cut tasks" app kmeans --record-graph never
refuses "name a file" app kmeans --cut tasks --record-graph -
refuses "there is no directory" app kmeans --cut tasks --record-graph no/such/folder
refuses "one of kmeans" app
[ -e never ] && fail "something was written although the input was refused"

finish
