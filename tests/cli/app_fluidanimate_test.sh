#!/bin/bash
# kilter lab app fluidanimate: right under every model, as many tasks as S1 counts, a point cloud, and refusals.
. "$(dirname "$0")/checks.sh"
cd "$work" || exit 1

passes lab app fluidanimate --model all --repeat 2 --json - --quiet
json 'len({r["fingerprint"] for r in d["runs"]}) == 1 and len(d["runs"]) == 2 * 8 and d["environment"]["complete"]'
json 'all(r["tasks"] == 20 * (257 if r["model"].split()[0] in ("kilter", "task") else 256) for r in d["runs"])'
passes lab app fluidanimate --model kilter,static --joins phase --cut tasks --frames 3 --repeat 1 --json - --quiet
json 'all(r["tasks"] == 3 * 256 for r in d["runs"]) and d["config"]["joins"] == "phase"'

passes lab app fluidanimate --particles 500 --frames 10 --divisions 4 --output "a b.ply"
says "500 particles in 2 x 2 blocks, 10 frames"
says "mean density"
[ "$(head -c 3 "a b.ply")" = ply ] && [ "$(tail -c +"$(($(grep -abo end_header "a b.ply" | cut -d: -f1) + 12))" "a b.ply" | wc -c)" = $((500 * 28)) ] || fail "a b.ply is no point cloud of 500"

# 8 phases of 4 blocks and the end of the frame, twice
passes lab app fluidanimate --particles 500 --frames 2 --divisions 4 --repeat 1 --record-graph water.json
says "graph: water.json, 66 tasks and "
passes graph info water.json
says "accelerations 8 tasks"

refuses "write a power of two" lab app fluidanimate --divisions 12 --output never
refuses "so write 32 or less" lab app fluidanimate --particles 1500 --divisions 64 --output never
refuses "write a number from 100" lab app fluidanimate --particles 99 --output never
refuses "did you mean 'phase'?" lab app fluidanimate --joins phases --output never
refuses "there are loop, tasks" lab app fluidanimate --cut rows --output never
refuses "there are small, medium, large, native" lab app fluidanimate --size tiny --output never
refuses "add --cut tasks" lab app fluidanimate --joins phase --record-graph never
refuses "--particles" lab app fluidanimate --particles 99999999999 --output never
[ -e never ] && fail "something was written although the input was refused"

finish
