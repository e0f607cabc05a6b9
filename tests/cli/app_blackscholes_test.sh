#!/bin/bash
# kilter lab app blackscholes: right under every model, tables in and out, and bad ones refused by line.
. "$(dirname "$0")/checks.sh"
cd "$work" || exit 1

passes lab app blackscholes --model all --repeat 1 --json - --quiet
json 'len(d["runs"]) >= 7 and all(r["tasks"] == 20 * 64 and r["iterations"] == 20 for r in d["runs"]) and len({r["fingerprint"] for r in d["runs"]}) == 1'
passes lab app blackscholes --cut tasks --block-size 1024 --runs 2 --repeat 1 --json - --quiet
json 'all(r["tasks"] == 2 * 9 for r in d["runs"]) and d["config"]["block_size"] == 1024'
passes lab app blackscholes --cut tasks --runs 3 --tasks 8 --repeat 1 --record-graph graph.json --quiet
passes graph info graph.json
says "price 24 tasks"

printf 'spot,strike,rate,volatility,years,type\n100,100,.05,.2,1,C\n100,100,.05,.2,1,P\n' >two.csv
passes lab app blackscholes --input two.csv --runs 1 --output prices.csv --quiet
[ "$(cut -c1-28 prices.csv | sed -n 2p)" = "100,100,0.05,0.2,1,C,10.4505" ] && [ "$(wc -l <prices.csv)" = 3 ] || fail "prices.csv: $(cat prices.csv)"

printf '100,100,.05,.2,1,C\n100,100,5,.2,1,C\n' >percent.csv
printf '100,100,.05,.2,1\n' >short.csv
: >empty.csv
refuses "'percent.csv', line 2: rate '5'" lab app blackscholes --input percent.csv --output never
refuses "'short.csv', line 1: it has 5 fields" lab app blackscholes --input short.csv --output never
refuses "'empty.csv' has none" lab app blackscholes --input empty.csv --output never
refuses "'missing.csv'" lab app blackscholes --input missing.csv --output never
refuses "--block-size 3: there are 2 options" lab app blackscholes --input two.csv --block-size 3 --output never
refuses "--tasks" lab app blackscholes --tasks 0 --output never
refuses "there are loop, tasks" lab app blackscholes --cut rows --output never
refuses "there are small, medium, large, native" lab app blackscholes --size tiny --output never
refuses "add --cut tasks" lab app blackscholes --record-graph never
[ -e never ] && fail "something was written although the input was refused"

finish
