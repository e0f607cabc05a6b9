#!/bin/bash
# Usage: openmp_test.sh LIBKILTER_OPENMP OWN_DATA PROGRAMS...
#
# PROGRAMS are the same ones, each with other options of the compiler.
#
# Programs with OpenMP give the same with and without the library: with what it takes over (1), and
# with everything on its threads, also what it would leave to libgomp or libomp (all). PROGRAMS and
# OWN_DATA are of one compiler.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/preloaded.sh"
has_library "$1"
own_data=$2
shift 2
first=$1
needs_two_cpus

# run COMMAND: what it prints, and its status. On a busy computer libomp 15 to 19 may end a program
# with this assertion, with and without Kilter (llvm-project, issues 86995 and 132164).
run() {
  local said
  for _ in 1 2 3; do
    said=$(timeout -s KILL 60 "$@" 2>&1; echo "status $?")
    [[ $said == *"vnew.p.ub * (UT)chunk <= trip"* ]] || break
  done
  echo "$said"
}

# with MODE PROGRAM WORD
with() {
  local mode=$1
  shift
  run env LD_PRELOAD="$library" KILTER_OPENMP="$mode" KILTER_EXPLAIN="$scratch/explained" "$@"
}

# Each call of the compiler's library is carried out here, or one that stays its own: locks, memory,
# accelerators, teams, places, and what compilers of this century do not make. Of ours all may be
# made in a folded team, but for some of libomp's.
names() {  # --defined-only or --undefined-only, and files
  nm -D "$@" | sed -nE 's/.* [TWUi] ((GOMP|__kmpc|omp)_[A-Za-z0-9_]*).*/\1/p' | sort -u
}
its_own='error$|warning$|atomic_|offload_|PLUGIN_|target|teams'
its_own+='|parallel_(end|reductions|start)$'
its_own+='|parallel_(loop_[a-z]*|sections)_start$|workshare_task_reduction_unregister$'
its_own+='|begin$|end$|calloc$|realloc$|(init|destroy|get_default|set_default)_allocator$'
its_own+='|(init|destroy|set|unset|test)_(nest_)?lock'
its_own+='|dist_|team_static_init_|(end_)?barrier_master|(end_)?scope$'
its_own+='|flush$|get_|global_|invoke_task_func$|ok_to_fork$'
its_own+='|pause_resource$|pop_num_threads$|push_num_teams|threadprivate_register'
# New in libomp 19; clang 19 makes them for none of these programs.
its_own+='|calc_original_ivs_|copyprivate_light$|(end|next)_section|sections_init$|fork_call_if$'
its_own+='|for_collapsed_init$|omp_has_task_team$|omp_get_target_async_|process_loop_nest_'
its_own+='|push_num_threads_(list|strict)|set_thread_limit$|task_get_(depnode|successors)$'
of_compiler=$(ldd "$first" | sed -n 's/.*=> \(.*libg*omp\.so[^ ]*\).*/\1/p')
its_own="^((GOMP|__kmpc)_($its_own)|GOMP_((add_|is_)?alloc|free|critical_.*)$|omp_.*("
its_own+='alloc|free_?$|lock|display_|device|affinity|cancellation|active_levels|nested|priority'
its_own+='|num_teams|max_teams|team_num|teams_thread|place|num_procs|proc_bind|thread_limit|get_wti'
its_own+='|target_|mapped_ptr|memspace|pause_resource|interop|control_tool))'
all_ours=$(names --defined-only "$library")
expect "calls of $of_compiler that nobody has thought of" "" \
  "$(comm -23 <(names --defined-only "$of_compiler") <(echo "$all_ours") | grep -vE "$its_own")"
expect "calls that stay its own and are carried out here" "" "$(grep -E "$its_own" <<< "$all_ours")"
regions=$(dirname "$0")/../../prefix/regions
expect "calls that libgomp.hpp does not know" "" \
  "$(grep ^GOMP_ <<< "$all_ours" | grep -vxFf <(grep -o 'GOMP_[a-z_0-9]*' "$regions/libgomp.hpp"))"
unfolded='bound_|doacross_|fork_teams$|in_parallel$|omp_target_task_alloc$'
unfolded+='|proxy_|push_proc_bind$|threadprivate'
expect "calls that openmp_calls.cpp does not know" "" \
  "$(grep ^__kmpc_ <<< "$all_ours" | grep -vE "^__kmpc_($unfolded)" |
    grep -vE "^($(grep -o '"__kmpc_[a-z0-9_]*"' "$regions/openmp_calls.cpp" |
      tr -d '"' | sed 's/_$/_[48]u*/' | paste -sd'|'))$")"
# Each is made by a program of these tests, but for Fortran's and what gcc 12 and clang 14 do not
# make, or another version does not.
unmade='GOMP_(loop_(ull_)?(ordered_)?start|.*doacross_.*|(parallel_)?loop_static(_start)?'
unmade+='|loop_ull_static_.*|scope_start|sections2_start|taskwait_depend_nowait)|omp_.*_'
unmade+='|omp_in_explicit_task|__kmpc_(aligned_alloc|bound_.*|dispatch_deinit|(end_)?masked'
unmade+='|for_static_init_8|in_parallel|omp_target_task_alloc|omp_task_parts|omp_taskwait_deps_51'
unmade+='|omp_wait_deps|proxy_.*|task_reduction_.*init|taskred_.*init|taskloop(_5)?'
unmade+='|threadprivate.*)'
case $of_compiler in *libgomp*) others=__kmpc_ ;; *) others=GOMP_ ;; esac
expect "calls that no program of these tests makes" "" \
  "$(comm -23 <(echo "$all_ours") <(names --undefined-only "${first%programs_*}"*_[03]) |
    grep -v "^$others" | grep -vxE "$unmade")"

for program in "$@"; do
  for word in $("$program"); do
    plain=$(run "$program" "$word")
    for mode in 0 1; do
      expect "$(basename "$program") $word, mode $mode" "$plain" "$(with $mode "$program" "$word")"
    done
    expect "$(basename "$program") $word, as beside a neighbour" "$plain" \
      "$(KILTER_SAME_TEAM=1 KILTER_BESIDE=1 with 1 "$program" "$word")"
    expect "$(basename "$program") $word, passive" "$plain" \
      "$(OMP_WAIT_POLICY=passive with 1 "$program" "$word")"
    # More members than threads may wait for one another by means of their own; these do not.
    expect "$(basename "$program") $word, everything on threads of ours" "$plain" \
      "$(with all "$program" "$word")"
    expect "$(basename "$program") $word, four members on two CPUs" \
      "$(OMP_NUM_THREADS=4 run "$program" "$word")" \
      "$(OMP_NUM_THREADS=4 with all "$program" "$word")"
  done
done
expect "data of threads" "0
status 0" "$(with 1 "$own_data")"

# What is told.
explained() {  # VARIABLES... -- PROGRAM WORD: the lines
  : > "$scratch/explained"
  local variables=()
  while [ "$1" != -- ]; do variables+=("$1"); shift; done
  shift
  env LD_PRELOAD="$library" KILTER_OPENMP=1 KILTER_EXPLAIN="$scratch/explained" "${variables[@]}" \
    "$@" > "$scratch/out"
  python3 - "$scratch/explained" <<'P'
import json, sys
head, *regions = [json.loads(line) for line in open(sys.argv[1])]
assert head["schema"] == "kilter.regions/1", head
told = (f'{r["calls"]} {r["on_pool"]} {r["left_for"] or "-"}' for r in regions)
print(repr(head["passed_on_for"]), *told)
P
}
expect "a loop runs on threads of ours from its third execution" \
  "'' 50 48 -" "$(explained OMP_NUM_THREADS=2 -- "$1" stencil)"
expect "iterations that wait for others are left to the OpenMP library" "'' 12 0 doacross" \
  "$(explained OMP_WAIT_POLICY=passive OMP_NUM_THREADS=2 -- "$1" wavefront |
    sed -E 's/(GOMP_loop|__kmpc)_doacross[a-z_]*$/doacross/')"
explained OMP_NUM_THREADS=2 -- "$1" stencil > "$scratch/told"
if grep -q '"library":"libomp"' "$scratch/explained"; then
  tasks() {
    explained OMP_WAIT_POLICY=passive OMP_NUM_THREADS=2 -- "$first" "$1" |
      sed -E 's/__kmpc_[a-z_]*task[a-z_0-9]*$/task/'
  }
  expect "what makes tasks is left to libomp" "'' 12 0 task" "$(tasks tasks)"
  expect "what turns out to make some is, too" "'' 12 5 task" "$(tasks late_task)"
  expect "what waits is left to libomp" "'' 12 0 __kmpc_barrier" \
    "$(explained OMP_NUM_THREADS=2 -- "$1" barriers | sed 's/__kmpc_[a-z_0-9]*$/__kmpc_barrier/')"
  expect "what turns out to wait is, too" "'' 12 5 __kmpc_barrier" \
    "$(explained OMP_NUM_THREADS=2 -- "$1" late_barrier)"
  expect "where its threads sleep, regions of both kinds take turns" \
    "'' 30 28 - 30 0 __kmpc_barrier" \
    "$(explained OMP_NUM_THREADS=2 KMP_BLOCKTIME=0 -- "$1" alternating)"
  expect "where libomp's threads spin, they do not" \
    "'' 30 9 threads that spin after other regions 30 0 __kmpc_barrier" \
    "$(explained OMP_NUM_THREADS=2 -- "$1" alternating)"
  expect "what the user says to libomp alone" "'KMP_AFFINITY'" \
    "$(explained KMP_AFFINITY=none -- "$1" stencil)"
else
  comes_to "beside a neighbour members that wait for one another run on threads of ours" \
    "'' 12 10 -" explained OMP_WAIT_POLICY=passive OMP_NUM_THREADS=2 -- "$1" barriers
  comes_to "so do tasks" "'' 12 10 -" explained OMP_WAIT_POLICY=passive \
    OMP_NUM_THREADS=2 -- "$1" tasks
  comes_to "and what turns out to make some" "'' 12 10 -" explained OMP_WAIT_POLICY=passive \
    OMP_NUM_THREADS=2 -- "$1" late_task
  comes_to "also if they begin to only later" "'' 12 10 -" explained OMP_WAIT_POLICY=passive \
    OMP_NUM_THREADS=2 -- "$1" late_barrier
  comes_to "regions with and without take turns" "'' 30 28 - 30 28 -" explained \
    OMP_WAIT_POLICY=passive OMP_NUM_THREADS=2 -- "$1" alternating
  expect "ordered loops are libgomp's" "12 0 GOMP_ordered" \
    "$(explained OMP_WAIT_POLICY=passive OMP_NUM_THREADS=2 -- "$1" ordered |
      sed -E "s/^'' //; s/GOMP_(loop_)?(ull_)?ordered[a-z_]*/GOMP_ordered/" | cut -d' ' -f1-3)"
  expect "alone what waits is left to libgomp" "'' 12 0 GOMP_barrier" \
    "$(explained OMP_NUM_THREADS=2 -- "$1" barriers | sed 's/GOMP_[a-z_]*$/GOMP_barrier/')"
  expect "what turns out to wait is, too" "'' 12 5 GOMP_barrier" \
    "$(explained OMP_NUM_THREADS=2 -- "$1" late_barrier)"
fi
expect "where the user has bound threads, nothing is taken over" "'OMP_PROC_BIND'" \
  "$(explained OMP_PROC_BIND=true -- "$1" stencil)"
expect "threads that spin are not joined by ours" "'OMP_WAIT_POLICY=active'" \
  "$(explained OMP_WAIT_POLICY=ACTIVE -- "$1" stencil)"
expect "data of threads are told" "'' 20 0 thread-local data 1 0 thread-local data" \
  "$(explained OMP_NUM_THREADS=2 -- "$own_data")"
exit $failed
