#!/bin/sh
# Usage: check_archives.sh POLICY_ARCHIVE MODEL_ARCHIVE RUNTIME_ARCHIVE ALLOWED_SYMBOLS
#
# A policy has no hidden state and no hidden input. What the archives refer to and hold proves it:
#   - undefined symbols of policy and model, Kilter's own aside, are in the allow-list: no thread,
#     clock, futex, yield or randomness
#   - neither reads the cycle counter
#   - the policy archive has no writable data
#   - the decision functions of policies are defined in the policy archive and not in an engine's
# Tools of a cross build: NM and OBJDUMP from the environment. RUNTIME_ARCHIVE may be '-' where
# there is none.
set -eu

policy=$1 model=$2 runtime=$3 allowed=$4
nm=${NM:-nm} objdump=${OBJDUMP:-objdump}
failed=0
fail() { printf '%s\n' "$1" "$2" >&2; failed=1; }

for file in "$policy" "$model" "$runtime" "$allowed"; do
  [ "$file" = - ] || [ -s "$file" ] || {
    echo "an archive or the allow-list is missing: $file" >&2
    exit 2
  }
done

# Demangled, without the address column; what Kilter defines itself is what other targets of it
# provide. Sanitizers and coverage add calls of their own; strings are in the C++ library, atomics
# of aarch64 in the compiler's.
undefined() {
  "$nm" -u -C "$1" | sed -n 's/^ *[Uwv] //p' |
    grep -v -e '^kilter::' -e '^\(vtable\|typeinfo\|typeinfo name\|guard variable\) for kilter::' \
    -e '^DW\.ref\.' -e '^__[atu]*san_' -e '^__ubsan_' -e '^__gcov' \
    -e '^__aarch64_\(cas\|swp\|ld\)' -e '^std::__cxx11::basic_string<' -e '^std::allocator<' |
    sort -u
}
for archive in "$policy" "$model"; do
  extra=$(undefined "$archive" | grep -v -x -F -f "$allowed" || true)
  [ -z "$extra" ] || fail "$archive refers to symbols that are not in $allowed:" "$extra"
  counter=$("$objdump" -d "$archive" | grep -E '\b(rdtsc|rdtscp|rdpmc)\b|cntvct|cntpct' |
      head -n 3 || true)
  [ -z "$counter" ] || fail "$archive reads the cycle counter:" "$counter"
done

# Sections that stay writable. Constant data that only needs relocation (.data.rel.ro) is read-only
# once loaded; DW.ref is the compiler's pointer to the unwinder.
writable=$("$objdump" -h "$policy" |
    awk '$1 ~ /^[0-9]+$/ && $3 !~ /^0+$/ && $2 ~ /^\.(data|bss|tbss|tdata)/ &&
  $2 !~ /^\.data\.rel\.ro/ && $2 !~ /DW\.ref/ { print $2, "0x" $3 }')
[ -z "$writable" ] || fail "$policy has writable data (section, bytes):" "$writable"

decisions() {
  "$nm" -C --defined-only "$1" | sed -n 's/^[0-9a-f]* [TtWV] //p' |
    grep -E '::(on_submit|on_ready|next|on_take|on_done|on_machine)\(.*kilter::v[0-9]+::view&\) const$' |
    sort -u || true
}
count=$(decisions "$policy" | wc -l)
[ "$count" -ge 10 ] ||
  fail "$policy defines too few decision functions; is the pattern still right? Found:" "$count"
if [ "$runtime" != - ]; then
  elsewhere=$(decisions "$runtime" | grep -v '^kilter::v[0-9]*::policy::' || true)
  [ -z "$elsewhere" ] || fail "$runtime defines decisions of a policy:" "$elsewhere"
fi
exit $failed
