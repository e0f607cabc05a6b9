#!/usr/bin/env bash
# Installs a build into an empty prefix and builds the examples against it, as a user would: find_package(kilter), nothing else.
# Also holds the README's example against examples/first_graph, so that the text is the code that was tested.
set -euo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { printf 'test_installed: %s\n' "$*" >&2; exit 1; }
quiet() { "$@" >"$work/log" 2>&1 || { tail -n 40 "$work/log" >&2; fail "failed: $*"; }; }

quiet cmake --install "$build" --prefix "$work/prefix with space"
for example in first_graph own_policy; do
  cp -r "examples/$example" "$work/$example"
  quiet cmake -S "$work/$example" -B "$work/$example/build" -G Ninja -DCMAKE_BUILD_TYPE=Release "-DCMAKE_PREFIX_PATH=$work/prefix with space"
  quiet cmake --build "$work/$example/build"
  quiet "$work/$example/build/$example"
done
# A policy in a library of its own, and what the command says to files that are none.
if [ -x "$work/prefix with space/bin/kilter" ]; then
  cp -r examples/own_policy_plugin "$work/plugin"
  quiet cmake -S "$work/plugin" -B "$work/plugin/build" -G Ninja -DCMAKE_BUILD_TYPE=Release "-DCMAKE_PREFIX_PATH=$work/prefix with space"
  quiet cmake --build "$work/plugin/build"
  for on in native sim:jetson-tx2; do
    quiet "$work/prefix with space/bin/kilter" bench layered --on "$on" --policy "rws,$work/plugin/build/libmine.so" --tasks 500 --repeat 1 --quiet
  done
fi
if [ -x "$work/prefix with space/bin/kilter" ]; then
  quiet "$work/prefix with space/bin/kilter" topo --platform jetson-tx2
fi

awk '/^```cpp/{on=1;next} /^```/{on=0} on' README.md >"$work/readme.cpp"
diff -u examples/first_graph/main.cpp "$work/readme.cpp" >&2 || fail "README.md's example differs from examples/first_graph/main.cpp"
printf '100%% tests passed, 0 tests failed out of %d (installed library)\n' 5
