#!/bin/bash
# kilter app streamcluster: the same under every model; tables in, centres out; what cannot be is refused.
. "$(dirname "$0")/checks.sh"
cd "$work" || exit 1

passes app streamcluster --model all --repeat 1 --json - --quiet
json 'len(d["runs"]) >= 7 and len({r["fingerprint"] for r in d["runs"]}) == 1 and len({r["tasks"] for r in d["runs"]}) == 1'
passes app streamcluster --points 60 --blocks 2 --dimensions 3 --centres 3..5 --cut tasks --repeat 1 --record-graph graph.json --quiet
passes graph info graph.json
says "gain"

# four places, of which each row is nearest to one
for i in $(seq 40); do printf '%d,%d\n' $((i % 4 / 2 * 100)) $((i % 2 * 100)); done >rows.csv
passes app streamcluster --input rows.csv --points 20 --centres 4..4 --output centres.csv --repeat 1 --quiet
[ "$(grep -c '^centre' centres.csv)" = 4 ] && [ "$(grep -vc '^centre' centres.csv)" = 40 ] || fail "centres.csv: $(head -6 centres.csv)"

printf '1,2\n3\n' >ragged.csv
for file in ragged.csv missing.csv; do refuses "'$file'" app streamcluster --input "$file" --output never; done
refuses "there are 40 points" app streamcluster --input rows.csv --centres 40..50 --output never
refuses "LEAST..MOST" app streamcluster --centres 7..5 --output never
refuses "LEAST..MOST" app streamcluster --centres many --output never
refuses "more points than the 20 centres" app streamcluster --points 20 --output never
refuses "add --cut tasks" app streamcluster --record-graph never
[ -e never ] && fail "something was written"

finish
