#!/bin/bash
# kilter app: programs verify themselves under every model, and refuse what they cannot read before anything is written.
. "$(dirname "$0")/checks.sh"
cd "$work" || exit 1

passes lab app kmeans --model all --policy auto,dam-c --repeat 2 --disturb share@0:50% --json - --quiet
json 'd["schema"] == "kilter.app/1" and len(d["runs"]) == 2 * 2 * 9 and d["environment"]["complete"]'
json 'len({r["iterations"] for r in d["runs"]}) == 1 and all(r["tasks"] == 80 * r["iterations"] and r["seconds"] > 0 for r in d["runs"])'
json '{s["model"] for s in d["summary"]} == {"serial", "static", "loop-static", "loop-dynamic", "omp-task", "tbb-loop", "task", "kilter auto", "kilter dam-c"}'
passes lab app kmeans --cut tasks --json tasks.json
says "kilter auto"
python3 -c 'import json; d = json.load(open("tasks.json")); assert d["config"]["cut"] == "tasks" and len(d["runs"][0]["fingerprint"]) == 16' || fail "tasks.json"

# the graph of its tasks: read, simulated, and made again
passes lab app kmeans --cut tasks --iterations 3 --changed 0 --repeat 1 --record-graph kmeans.json --json recorded.json
says "graph: kmeans.json, 248 tasks and 484 edges, recorded on one core"
python3 -c 'import json; d = json.load(open("recorded.json")); assert d["recorded_graph"] == {"file": "kmeans.json", "tasks": 248, "edges": 484}' || fail "recorded.json"
python3 -c 'import json; d = json.load(open("kmeans.json")); assert d["schema"] == "kilter.graph/1" and [t["name"] for t in d["types"]] == ["iterate", "assign"]' || fail "kmeans.json"
passes graph info kmeans.json
says "assign 240 tasks"
passes compare kmeans.json --on sim:haswell-16 --policy rws,auto --repeat 1 --json - --quiet
json 'e["config"]["tasks"] == 248 and len(e["runs"]) == 2'
passes compare kmeans.json --on sim:haswell-16 --policy rws,heft --repeat 1

# a picture: two colours come back as two colours
printf 'P6\n2 2\n255\n\x00\x00\x00\x0a\x0a\x0a\xc8\x00\x00\xdc\x00\x00' >two.ppm
passes lab app kmeans --input two.ppm --clusters 2 --seed 2 --output "a b.png" --quiet
passes lab app kmeans --input "a b.png" --clusters 2 --seed 2 --output again.png --quiet
cmp -s "a b.png" again.png || fail "a picture of two colours is not the same again"

# a table: centres, then the cluster of each row
printf 'x,y\n0,0\n0,2\n50,50\n50,52\n' >table.csv
passes lab app kmeans --input table.csv --clusters 2 --output clusters.csv --quiet
[ "$(grep -c centre clusters.csv)" = 2 ] && [ "$(wc -l <clusters.csv)" = 6 ] || fail "clusters.csv: $(cat clusters.csv)"

# numbers of any size, with all their digits
printf '%s\n' 1e-20,0 3e-20,0 -20e-20,1e-20 -24e-20,1e-20 >tiny.csv
passes lab app kmeans --input tiny.csv --clusters 2 --seed 3 --changed 0 --output tiny.out --quiet
awk -F, '/centre/ { x = $2 * 1e20; if ((x - 2) ^ 2 < 1e-6 || (x + 22) ^ 2 < 1e-6) found++ } END { exit found != 2 }' tiny.out || fail "centres of tiny numbers: $(head -2 tiny.out)"

# One output that is lost does not cost the others.
timeout 60 "$kilter" lab app kmeans --cut tasks --repeat 1 --json /dev/full --output kept.csv --record-graph kept.json --quiet >out 2>err </dev/null
[ $? = 1 ] && [ "$(cat err)" = "kilter: cannot write /dev/full: No space left on device" ] || fail "a full disk: $(cat err)"
[ -s kept.csv ] && [ -s kept.json ] || fail "the JSON was lost, and with it the result or the graph"

# A run that takes long says so while it goes on. Ctrl-C then ends it, and what was there before is as it was.
printf 'old and whole\n' >old.csv
python3 - "$kilter" <<'EOF' || fail "progress and Ctrl-C on a terminal"
import os, pty, signal, subprocess, sys, time
ours, theirs = pty.openpty()
run = subprocess.Popen([sys.argv[1], "app", "kmeans", "--size", "medium", "--iterations", "1000000", "--changed", "0", "--clusters", "200", "--repeat", "1",
                        "--output", "old.csv"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs)
os.close(theirs)
said = b""
while b"kilter auto, undisturbed, repeat 1" not in said:
    said += os.read(ours, 1000)
assert run.poll() is None, "the line came when the run was over"
run.send_signal(signal.SIGINT)
out = run.communicate(timeout=60)[0]
assert run.returncode == 130, run.returncode
assert b"No run was finished" in out, out
EOF
[ "$(cat old.csv)" = "old and whole" ] || fail "Ctrl-C cost an older result: $(head -c 100 old.csv)"

head -c 20 two.ppm >cut.ppm
head -c 30 "a b.png" >cut.png
printf '1,2\n3\n' >ragged.csv
printf '1,nan\n' >nan.csv
printf 'nan\n1\n2\n3\n4\n5\n' >first.csv
printf '1,,3\n4,5,\n,7,8\n' >holes.csv
printf 'P5\n2 2\n255\n0000' >grey.pgm
printf '\xff\xd8\xff\xe0\x00\x10JFIF' >photo.jpg
: >empty.csv
for file in cut.ppm cut.png ragged.csv nan.csv first.csv holes.csv grey.pgm photo.jpg empty.csv missing.csv .; do refuses "'$file'" lab app kmeans --input "$file" --output never; done
refuses "there are 4 points" lab app kmeans --input table.csv --clusters 5 --output never
refuses "from 0 to 1" lab app kmeans --changed nan --output never
refuses "did you mean 'kilter'?" lab app kmeans --model kiltr --output never
refuses "there are small, medium, large, native" lab app kmeans --size tiny --output never
refuses "there are loop, tasks" lab app kmeans --cut rows --output never
refuses "unknown policy 'dam'" lab app kmeans --policy dam --output never
refuses "there is no directory" lab app kmeans --output no/such/folder
refuses "--json writes there already" lab app kmeans --json same --output same
refuses "--json writes there already" lab app kmeans --cut tasks --json same --record-graph same
refuses "--json writes there already" lab app kmeans --json same --output ./same
refuses "name a file" lab app kmeans --output -
refuses "--output writes there already" lab app kmeans --cut tasks --output same --record-graph same
refuses "add --cut tasks" lab app kmeans --record-graph never
refuses "name a file" lab app kmeans --cut tasks --record-graph -
refuses "there is no directory" lab app kmeans --cut tasks --record-graph no/such/folder
refuses "one of kmeans" lab app
[ -e never ] && fail "something was written although the input was refused"

finish
