#!/bin/bash
# kilter lab app streamcluster: the same under every model; centres of a table; what it refuses.
. "$(dirname "$0")/checks.sh"
cd "$work" || exit 1

passes lab app streamcluster --points 200 --blocks 2 --dimensions 4 --centres 2..4 --divisions 3 --model all --repeat 1 --json - --quiet
json 'd["schema"] == "kilter.app/1" and len({r["fingerprint"] for r in d["runs"]}) == 1 and len({r["iterations"] for r in d["runs"]}) == 1'
json 'd["config"]["points"] == 200 and d["config"]["rows"] == 400 and all(r["tasks"] % 3 == 0 for r in d["runs"])'
passes lab app streamcluster --points 200 --blocks 2 --dimensions 4 --centres 2..4 --cut tasks --repeat 1
says "centres: "

# two groups, each of three rows
printf 'x,y\n0,0\n50,50\n0,1\n50,51\n0,2\n50,52\n' >table.csv
passes lab app streamcluster --input table.csv --centres 2..2 --repeat 1 --output centres.csv --quiet
[ "$(grep -c '^centre,3,' centres.csv)" = 2 ] && [ "$(wc -l <centres.csv)" = 8 ] || fail "centres.csv: $(cat centres.csv)"
[ "$(tail -6 centres.csv | sort | uniq -c | awk '{ print $1 }' | tr '\n' ' ')" = "3 3 " ] || fail "rows of centres.csv: $(tail -6 centres.csv)"

printf '1,2\n3\n' >ragged.csv
refuses "'ragged.csv', line 2" lab app streamcluster --input ragged.csv --output never
refuses "'missing.csv'" lab app streamcluster --input missing.csv --output never
refuses "there are 6 points" lab app streamcluster --input table.csv --output never
refuses "leave it out" lab app streamcluster --input table.csv --blocks 2 --output never
refuses "leave it out" lab app streamcluster --input table.csv --dimensions 2 --output never
refuses "write LEAST..MOST" lab app streamcluster --centres 20..10 --output never
refuses "write LEAST..MOST" lab app streamcluster --centres 12 --output never
refuses "a block needs more points than the 20 centres" lab app streamcluster --points 20 --output never
refuses "make one of them smaller" lab app streamcluster --points 100000000 --blocks 1000000 --output never
refuses "there are small, medium, large, native" lab app streamcluster --size tiny --output never
refuses "there are loop, tasks" lab app streamcluster --cut rows --output never
refuses "add --cut tasks" lab app streamcluster --record-graph never
[ -e never ] && fail "something was written although the input was refused"

finish
