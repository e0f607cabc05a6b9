#!/bin/bash
# kilter lab app swaptions: right under every model, prices as a table, and bad numbers refused.
. "$(dirname "$0")/checks.sh"
cd "$work" || exit 1

passes lab app swaptions --model all --repeat 1 --json - --quiet
json 'len(d["runs"]) >= 7 and all(r["tasks"] == 128 and r["iterations"] == 1 for r in d["runs"]) and len({r["fingerprint"] for r in d["runs"]}) == 1'
passes lab app swaptions --cut tasks --swaptions 7 --simulations 100 --expiry 1 --tenor 2 --repeat 1 --record-graph graph.json --output prices.csv --json - --quiet
json 'd["config"]["swaptions"] == 7 and d["config"]["simulations"] == 100 and all(r["tasks"] == 7 for r in d["runs"])'
[ "$(head -1 prices.csv)" = "side,strike,expiry,tenor,price,standard error" ] && [ "$(grep -c ',1,2,' prices.csv)" = 7 ] || fail "prices.csv: $(cat prices.csv)"
passes graph info graph.json
says "simulate 7 tasks"

refuses "--simulations 1" lab app swaptions --simulations 1 --output never
refuses "--expiry" lab app swaptions --expiry 0 --output never
refuses "--tenor" lab app swaptions --tenor 31 --output never
refuses "--swaptions" lab app swaptions --swaptions -1 --output never
refuses "there are loop, tasks" lab app swaptions --cut rows --output never
refuses "add --cut tasks" lab app swaptions --record-graph never
[ -e never ] && fail "something was written although the input was refused"

finish
