#!/bin/bash
# kilter lab app facesim: the same face under every model, whose surface is written.
. "$(dirname "$0")/checks.sh"
cd "$work" || exit 1

passes lab app facesim --model all --frames 2 --tetrahedra 600 --repeat 1 --json - --quiet
json 'len({r["fingerprint"] for r in d["runs"]}) == 1 and all(r["tasks"] % 8 == 0 and r["seconds"] > 0 for r in d["runs"])'
json 'd["config"]["tetrahedra"] == 600 and d["config"]["frames"] == 2 and d["config"]["partitions"] == 8'
passes lab app facesim --repeat 1 --output "a b.obj"
says "3000 tetrahedra"
says "Newton steps"
grep -q '^v ' "a b.obj" && grep -q '^f ' "a b.obj" || fail "no surface: $(head -3 "a b.obj")"
passes lab app facesim --tetrahedra 600 --frames 1 --partitions 3 --cut tasks --repeat 1 --record-graph facesim.json --quiet
passes graph info facesim.json
says "product"

refuses "there are small, medium, large, native" lab app facesim --size tiny --output never
refuses "--tetrahedra" lab app facesim --tetrahedra 100 --output never
refuses "--frames" lab app facesim --frames 0 --output never
refuses "--partitions 4000: write 1 to" lab app facesim --partitions 4000 --output never
refuses "there are loop, tasks" lab app facesim --cut rows --output never
refuses "add --cut tasks" lab app facesim --record-graph never
[ -e never ] && fail "something was written although the input was refused"

finish
