#!/bin/bash
# Whatever cannot be done is refused with exit status 2 and one line that names the value, before
# anything has run.
. "$(dirname "$0")/checks.sh"

many=99999
small=(compare layered)

# no command, unknown commands and options
refuses "--help"
refuses "'bnech'" bnech
refuses "--json needs a value; see kilter topo --help" topo --json
refuses "did you mean 'compare'" comapre
refuses "layered" compare
refuses "did you mean 'sim:jetson-tx2'" compare --on jetson-tx2
refuses "'layred'" compare layred
refuses "--paralelism" "${small[@]}" --paralelism 2
refuses "did you mean '--parallelism'" "${small[@]}" --paralelism 2
refuses "--tasks" "${small[@]}" --tasks
refuses "extra" lab policies extra

# policies, kernels, disturbances, modes
refuses "did you mean 'dam-c'" "${small[@]}" --policy damc
refuses "did you mean 'rws'?" "${small[@]}" --policy rsw
refuses "'nonsense'" "${small[@]}" --policy rws,nonsense
refuses "did you mean 'matmul'" "${small[@]}" --kernel matmull
refuses "'gpu" "${small[@]}" --disturb gpu@0
refuses "cpu" "${small[@]}" --disturb cpu
refuses "0%" "${small[@]}" --disturb share@0:0%
refuses "simulated" "${small[@]}" --disturb offline@0
refuses "cannot be read" "${small[@]}" --load-table /nowhere/table
refuses "not JSON, at byte" "${small[@]}" --load-table "$0"
refuses "give one" "${small[@]}" --policy rws,dam-c --save-table table
refuses "slowest" "${small[@]}" --timing fastest
refuses "paper, robust" "${small[@]}" --table none
refuses "chain-closed" "${small[@]}" --criticality all
refuses "outside" "${small[@]}" --root inside
refuses "cluster-first" "${small[@]}" --steal poorest
refuses "containing" "${small[@]}" --local both
refuses "leader" "${small[@]}" --timing exact
refuses "own, cost, time, energy, edp" "${small[@]}" --objective watts
refuses "--on sim:PLATFORM" "${small[@]}" --objective energy
refuses "platform grid:2x4 has no power figures" "${small[@]}" --on sim:grid:2x4 --objective edp

# policies in libraries
refuses "no such file" "${small[@]}" --policy ./libnone.so
printf 'not a library' >"$work/libtext.so"
refuses "cannot be loaded" "${small[@]}" --policy "$work/libtext.so"
if command -v g++ >/dev/null; then
  printf 'int nothing() { return 0; }' | g++ -shared -fPIC -x c++ -o "$work/libempty.so" -
  refuses "no function kilter_policy_abi" "${small[@]}" --policy "$work/libempty.so"
  printf 'extern "C" unsigned long kilter_policy_abi() { return 1; }' | g++ -shared -fPIC -x c++ \
    -o "$work/libold.so" -
  refuses "its stamp is 0000000000000001, this one's 0003" "${small[@]}" --policy "$work/libold.so"
  # policies of which the command may not believe a word
  headers=$(dirname "$0")/../../library/include
  plugin() { # NAME MEMBERS: a library whose policy has these members
    printf '#include <kilter/policy_plugin.hpp>\n#include <stdexcept>\nclass %s final : public kilter::policy {\npublic:\nstd::string_view name() const noexcept override { return "%s"; }\n%s\n};\nKILTER_POLICY_PLUGIN(%s)\n' \
      "$1" "$1" "$2" "$1" | g++ -std=c++20 -shared -fPIC -I"$headers" -x c++ -o "$work/lib$1.so" -
  }
  nothing='kilter::discipline queues(const kilter::machine&) const override { return {}; }'
  plugin foreign 'kilter::discipline queues(const kilter::machine&) const override { kilter::discipline d; d.queues = {{kilter::no_core, kilter::queue_order::fifo, {99}}}; return d; }'
  refuses "queue 0 may be taken from by core 99" "${small[@]}" --on sim:jetson-tx2 \
    --policy "$work/libforeign.so"
  plugin unmade "$nothing"' unmade() { throw std::runtime_error("no table found"); }'
  refuses "could not be made: no table found" "${small[@]}" --policy "$work/libunmade.so"
  plugin astray 'kilter::discipline queues(const kilter::machine&) const override { kilter::discipline d; d.asks_ready_low = d.asks_ready_high = true; return d; }
    kilter::ready_decision on_ready(kilter::task_ref, kilter::task_ref, kilter::core_id, kilter::view&) const override { return kilter::ready_decision::bind_to(1234); }'
  for on in native sim:jetson-tx2 emulate:jetson-tx2; do
    wrong=$(timeout 60 "$kilter" compare layered --tasks 100 --on $on --policy "$work/libastray.so" 2>&1 >/dev/null); status=$?
    [ $status -eq 1 ] && [[ $wrong == *"policy 'astray' breaks the contract at question 2, on_ready"*"place 1234 does not exist"* ]] || fail "a wrong answer on $on: status $status, '$wrong'"
  done
fi

# cores
refuses "$many" "${small[@]}" --cores 0-$many
refuses "$many" "${small[@]}" --cores $many
refuses "0" "${small[@]}" --cores 0
refuses "x" "${small[@]}" --cores x
refuses "$many" "${small[@]}" --fast $many,
refuses "$many" "${small[@]}" --disturb cpu@$many
refuses "$many" lab demo --cores $many
refuses "$many" disturb cpu@$many
if [ "$(nproc)" -gt 1 ]; then  # a core that exists and is not allowed
  kilter_all=$kilter
  kilter=$work/on_first_cpu
  first=$(taskset -pc $$ | sed 's/.*: *\([0-9]*\).*/\1/')
  printf '#!/bin/bash\nexec taskset -c %s %q "$@"\n' "$first" "$kilter_all" >"$kilter"
  chmod +x "$kilter"
  refuses "1" "${small[@]}" --cores 1,
  refuses "1" "${small[@]}" --disturb cpu@1
  kilter=$kilter_all
fi

# counts
for option in --tasks --repeat --parallelism --tile --graphs --sweeps; do
  for value in 0 -1 -999999999999999999999 1e3 2.5 many 99999999999999999999; do
    refuses "$value" "${small[@]}" $option $value
    refuses "$option" "${small[@]}" $option $value
  done
done
refuses "from 1 to 100000000" "${small[@]}" --tasks 100000001
refuses "from 1 to 10000" "${small[@]}" --repeat 10001
refuses "from 1 to 8192" "${small[@]}" --tile 8193
refuses "10 tasks" "${small[@]}" --tasks 10 --parallelism 11
refuses "-1" "${small[@]}" --seed -1
refuses "0" lab demo --repeat 0
refuses "multiple of 4" "${small[@]}" --kernel sort --tile 10
refuses "3 or more" "${small[@]}" --kernel stencil --tile 2

# names are shown, not obeyed: neither from the command line nor from a file
refuses 'a\x1b[31mb' "${small[@]}" --policy $'a\e[31mb'
printf '{"schema":"kilter.graph/1","tasks":[{"id":"x\\u001b[2Jy","seconds":-1}]}' >"$work/evil.json"
refuses 'evil.json:1' graph info "$work/evil.json"
printf '1\n0 0 0\n1 \033[2J 1 0\n' >"$work/evil.stg"
refuses '\x1b[2J' graph info "$work/evil.stg"
refuses 'no\x1bwhere' graph info $'no\ewhere'
refuses 'no\x1bwhere' lab explain $'no\ewhere'

# what takes longer than a minute is not begun without --yes
recorded=$(dirname "$0")/../data/dags/montage-chameleon-2mass-005d-001.json.gz
refuses "--yes" compare "$recorded" --policy auto
refuses "this takes at least about" compare "$recorded" --policy auto --quiet
refuses "h: 3 runs" compare fork-join:seconds=60,width=20,stages=10 --cores 1 --policy dam-c
refuses "18 min: 3 runs" compare fork-join:seconds=300,width=1,stages=1 --cores 1 --scale 1 \
  --policy dam-c
refuses "days: 30000 runs" compare fork-join:seconds=60 --policy rws,dam-c,da --repeat 10000 \
  --no-details
refuses "--yes" "${small[@]}" --tasks 1000000 --repeat 1000
refuses "--yes" "${small[@]}" --on emulate:jetson-tx2,1000 --tasks 1000
refuses "--yes" compare fork-join:seconds=60,width=20,stages=10 --on sim:grid:1x2 --on native

# the simulator's workloads
refuses "did you mean 'kmeans'" compare kmean --on sim:haswell-16
refuses "no network" compare heat --on sim:jetson-tx2
refuses "from 1 to 1024" compare heat --on sim:haswell-cluster --ranks 0
refuses "--edge-rate '5'" compare random --on sim:jetson-tx2 --edge-rate 5
refuses "did you mean 'mix'" compare random --on sim:jetson-tx2 --kernel mixx
refuses "only 10 tasks" compare random --on sim:jetson-tx2 --tasks 10 --parallelism 11
refuses "--critical-factor '0'" compare kmeans --on sim:haswell-16 --critical-factor 0
refuses "multiple of 32" compare vgg --on sim:haswell-20 --input 500
refuses "--parallelism" compare kmeans --on sim:haswell-16 --parallelism 2

# files to write
mkdir "$work/folder"
refuses "directory" "${small[@]}" --json "$work/folder"
refuses "$work/none" "${small[@]}" --json "$work/none/x.json"
refuses "$work/none" "${small[@]}" --html "$work/none/x.html"
refuses "$work/none" "${small[@]}" --trace "$work/none/x.json"
refuses "$work/none" topo --json "$work/none/x.json"
refuses "$work/none" lab demo --html "$work/none/x.html"
refuses "/proc/kilter" "${small[@]}" --json /proc/kilter.json
refuses "writes there already" "${small[@]}" --json "$work/x" --html "$work/x"
echo 'mine' >"$work/mine.html"
refuses "not a report of kilter" lab demo --html "$work/mine.html"
refuses "not a report of kilter" "${small[@]}" --html "$work/mine.html"
[ "$(cat "$work/mine.html")" = mine ] || fail "a file that was to be kept was changed"
refuses "'nonsense'" "${small[@]}" --policy nonsense --json "$work/never.json"
[ -e "$work/never.json" ] && fail "a refused command left an output file behind"

# machines to read
refuses "$work/none.xml" topo --xml "$work/none.xml"
echo '<?xml version="1.0"?><topology version="2.0"><object type="Machine"' >"$work/cut.xml"
refuses "$work/cut.xml" topo --xml "$work/cut.xml"
echo '<html><body>no machine</body></html>' >"$work/foreign.xml"
refuses "$work/foreign.xml" topo --xml "$work/foreign.xml"
: >"$work/empty.xml"
refuses "$work/empty.xml" topo --xml "$work/empty.xml"
printf 'schema = "kilter.platform/1"\nname = \n' >"$work/broken.toml"
refuses "$work/broken.toml:2" topo --on "sim:$work/broken.toml"
refuses "jetson-tx3" topo --on sim:jetson-tx3
refuses "jetson-tx2" topo --on sim:jetson-tx3
refuses "nonsense" topo --synthetic nonsense
refuses "--xml" topo --xml a --on sim:b
refuses "jetson-tx2" lab platforms jetson-tx3
refuses "$work/broken.toml:2" lab platforms "$work/broken.toml"
refuses "grid:CxN" lab platforms grid:0x4
refuses "'extra'" lab platforms jetson-tx2 extra
sed 's/^bytes_per_s = 14e9/bytes_per_s = -14e9/' "$(dirname "$0")/../../data/platforms/jetson-tx2.toml" >"$work/negative.toml"
refuses "bytes_per_s" lab platforms "$work/negative.toml"
refuses "-1.4e+10" lab platforms "$work/negative.toml"
refuses "$work/nowhere" lab platforms --json "$work/nowhere/x.json"

# in virtual time
refuses "jetson-tx3" compare layered --on sim:jetson-tx3
refuses "'simulated'" compare layered --on simulated

# where a run takes place: what was perhaps meant, and the old spellings
told() {  # told MESSAGE ARGS...: exactly that, after "kilter: "
  local message=$1
  shift
  refuses "$message" "$@"
  [ "$(cat "$work/err")" = "kilter: $message" ] ||
    fail "kilter $*: says '$(cat "$work/err")', not '$message'"
}
: >"$work/mine.toml"
ways="use native, sim:PLATFORM or emulate:PLATFORM[,SCALE], as emulate:jetson-tx2, or ideal for the processors of a graph"
for command in "compare layered" "compare cholesky:n=3" topo "lab demo" "lab reproduce matrix"; do
  for meant in jetson-tx2=sim:jetson-tx2 jetson-tx3=sim:jetson-tx2 "$work/mine.toml=sim:$work/mine.toml" grid:2x4=sim:grid:2x4 simm:odroid-xu3=sim:odroid-xu3 \
      emulat:odroid-xu3=emulate:odroid-xu3 nativ=native; do
    # shellcheck disable=SC2086
    told "--on '${meant%%=*}': did you mean '${meant#*=}'? $ways" $command --on "${meant%%=*}"
  done
  # shellcheck disable=SC2086
  told "--on './none.toml': there is no file ./none.toml; a platform file is named sim:FILE" \
    $command --on ./none.toml
  # shellcheck disable=SC2086
  told "--on 'elsewhere': $ways" $command --on elsewhere
  # shellcheck disable=SC2086
  refuses "unknown platform 'jetson-tx3': did you mean 'jetson-tx2'?" $command --on sim:jetson-tx3
done
for moved in bench=compare sim=compare demo="lab demo" balance="lab balance" reproduce="lab reproduce"; do
  told "kilter ${moved%%=*} is now kilter ${moved#*=}; see kilter ${moved#*=} --help" \
    "${moved%%=*}" layered --on native
done
refuses "the matrix has native and sim:PLATFORM" lab reproduce matrix --on emulate:jetson-tx2
refuses "the demo runs on native or sim:PLATFORM" lab demo --on emulate:jetson-tx2
refuses "only a graph brings such processors" topo --on ideal

# workloads and graphs
refuses "did you mean 'layered'" compare layred --on sim:jetson-tx2
refuses "did you mean 'kmeans'" compare kmean
refuses "did you mean 'cholesky'" compare cholesk:n=3
refuses "'$work/none.json' is no workload, file or generator of graphs" compare "$work/none.json"
refuses "--trace: 2 experiments would write one file" compare lu:n=3 qr:n=3 --trace "$work/two.json"
refuses "--save-table: 2 experiments would write one file" compare lu:n=3 qr:n=3 --policy rws \
  --save-table "$work/two.table"
refuses "--scale '2' is for graphs, and 'vgg' is a workload" compare vgg --on sim:jetson-tx2 \
  --scale 2
refuses "workload kmeans: only layered, random and graphs run natively" compare kmeans
refuses "did you mean 'matmul'" lab calibrate --kernels matmull
refuses "'64'" lab calibrate --kernels matmul --tile 64
refuses "copy is not among the kernels" lab calibrate --kernels matmul --tile copy=64
refuses "--out" lab calibrate --out "$work/missing/mine.toml"
refuses "emulate:PLATFORM" compare layered --on emulate:
refuses "jetson-tx3" compare layered --on emulate:jetson-tx3
refuses "SCALE '0'" compare layered --on emulate:jetson-tx2,0
refuses "SCALE '-2'" compare layered --on emulate:jetson-tx2,-2
refuses "quota" compare layered --on emulate:jetson-tx2 --disturb quota@all:50%
refuses "only layered, random and graphs run natively" compare kmeans
refuses "not simulated" compare layered --on sim:jetson-tx2 --disturb session@0
refuses "no core is left" compare layered --on sim:jetson-tx2 --disturb offline@all
refuses "core 6" compare layered --on sim:jetson-tx2 --disturb cpu@6
refuses "core 7" compare layered --on sim:jetson-tx2 --cores 7,
refuses "'half'" compare layered --on sim:jetson-tx2 --co-runner half
refuses "'2'" compare layered --on sim:jetson-tx2 --weight 2
refuses "--unpinned" compare layered --on sim:jetson-tx2 --unpinned
refuses "freq" compare layered --disturb freq@0:50%
refuses "'S0-99'" lab reproduce S0-99
KILTER_EXPERIMENTS=$work/nowhere refuses "KILTER_EXPERIMENTS '$work/nowhere'" lab reproduce --list
refuses "$work/nowhere" lab reproduce S0-6 --json "$work/nowhere/x.json"
refuses "$work/nowhere" lab reproduce all --html "$work/nowhere/x.html"
refuses "--json writes there already" lab reproduce all --json "$work/same" --html "$work/same"
refuses "leave out --with" lab reproduce S0-6 --with children=forward --html "$work/x.html"
refuses "leave out --with" lab reproduce S0-6 --native --with children=forward
refuses "--native: S3-5, S3-6 have no native cases; there are some of S0-20, S0-22, S2-8" lab reproduce S3-5 S3-6 --native
mkdir "$work/own" && cp "$(dirname "$0")"/../../lab/experiments/other.toml "$work/own" &&
  echo '{"schema": "kilter.reproduce/1"}' >"$work/own/native.json"
KILTER_EXPERIMENTS=$work/own refuses \
  "$work/own/native.json: not a document of verdicts" lab reproduce S0-6
echo '{"schema": ' >"$work/own/native.json"
KILTER_EXPERIMENTS=$work/own refuses "$work/own/native.json: not JSON" lab reproduce S0-6

# disturb
refuses "SPEC" disturb
refuses "none" disturb none
refuses "seconds" disturb cpu@0@25%..75%

# graphs
refuses "make, info, convert, draw" graph
refuses "cholesky, lu" graph make choleski
refuses "'m'; there are n, tasks" graph make cholesky:m=3
refuses "4294967296" graph make layered:tasks=4294967296
refuses "neither a file nor a generator" graph info "$work/none.json"
refuses "$work/folder: is a directory" graph info "$work/folder"
refuses "there are json, dot" graph convert lu --to xml
refuses "--to" graph convert lu
refuses "$work/nowhere" graph draw lu -o "$work/nowhere/x.svg"
refuses "'$work/x.jpg': pictures are svg, png or pdf" graph draw lu -o "$work/x.jpg"
refuses "kilter graph convert writes dot" graph draw lu -o x.dot
refuses "did you mean 'png'" graph draw lu --to pmg
refuses "ends with another format than --to 'svg'" graph draw lu --to svg -o "$work/x.png"
[ -e "$work/x.jpg" ] || [ -e "$work/x.png" ] && fail "graph draw wrote a picture that it refused"
printf '{"tasks":[{"id":"a"},{"id":"b"}],\n"edges":[["a","b"],["b","c"]]}' >"$work/missing.json"
refuses "$work/missing.json:2: there is no task with the id 'c'" graph info "$work/missing.json"
printf 'digraph { a -> b -> c -> a }' >"$work/cycle.dot"
refuses "'a' -> 'b' -> 'c' -> 'a'" graph convert "$work/cycle.dot" --to json
printf '\377\376{\0' >"$work/utf16.json"
refuses "UTF-16" graph info "$work/utf16.json"
refuses "/dev/zero:1: a NUL byte" graph info /dev/zero
printf 'hello' >"$work/hello"
refuses "is no graph file that Kilter reads; it reads kilter.graph/1, W" graph draw "$work/hello"
refuses "standard input: is empty" graph info -
refuses "standard input: is empty" compare -
printf '\037\213\010' >"$work/cut.gz"
refuses "$work/cut.gz: its compressed data is cut off" graph info "$work/cut.gz"
printf '<svg/>' >"$work/svg"
refuses "is XML of <svg>" graph info "$work/svg"
printf '{"tasks":[{"id":"a","seconds":1e308},\n{"id":"b","seconds":1e308}]}' >"$work/large.json"
refuses "$work/large.json:1: the seconds of a task must be a number of at most 1e+18" graph info \
  "$work/large.json"
{ printf '<adag>'; head -c 400000 /dev/zero | sed 's/\x00/<a>/g'; } >"$work/deep.dax"
refuses "$work/deep.dax:1: elements are nested more than 100 deep" graph info "$work/deep.dax"
refuses "nowhere.json" compare nowhere.json
refuses "brings no processors" compare cholesky:tasks=100 --on ideal
refuses "--scale 'x'" compare cholesky:tasks=100 --scale x
refuses "did you mean 'cholesky'" lab reproduce matrix --graphs choleski
refuses "--every" lab reproduce topcuoglu --every 0

# explain
refuses "RESULT" lab explain
refuses "result '$work/none.json' cannot be read" lab explain "$work/none.json"
refuses "$work/folder" lab explain "$work/folder"
refuses "not JSON, at byte 1" lab explain "$work/hello"
printf '{"schema":"kilter.matrix/1"}' >"$work/other.json"
refuses "'kilter.matrix/1'; expected kilter.compare/2" lab explain "$work/other.json"
printf '{"schema":"kilter.compare/2","experiments":[{"details":[]}]}' >"$work/empty.json"
refuses "no traced runs" lab explain "$work/empty.json"
printf '{"schema":"kilter.compare/2","experiments":[{"details":[{"policy":"auto","disturb":"none"}]}]}' >"$work/short.json"
refuses "'dam-c'" lab explain "$work/short.json" --policy dam-c
refuses "$work/short.json: the result is not as kilter.compare/2" lab explain "$work/short.json"

finish
