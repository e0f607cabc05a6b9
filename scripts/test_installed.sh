#!/usr/bin/env bash
# Installs a build into an empty prefix and uses it as a user would: the examples and the guide's
# programs through find_package(kilter), nothing else; some through pkg-config; each public header
# alone; and the command with the prefix moved and the tree that it was built from out of reach. The
# Debian packages are made, unpacked and used likewise. Also holds the README's example against
# examples/smallest, so that the text is the code that was tested.
set -euo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
# Else whatever cmake takes by itself, as for a user.
command -v make >/dev/null || export CMAKE_GENERATOR=Ninja

fail() { printf 'test_installed: %s\n' "$*" >&2; exit 1; }
quiet() { "$@" >"$work/log" 2>&1 || { tail -n 40 "$work/log" >&2; fail "failed: $*"; }; }
# does TEXT COMMAND...: it succeeds and says TEXT.
does() {
  local text=$1
  shift
  quiet "$@"
  grep -qF -- "$text" "$work/log" || {
    tail -n 40 "$work/log" >&2
    fail "does not say '$text': $*"
  }
  passed=$((passed + 1))
}

# As the README says, and nothing more: no tests, and nothing that only tests need.
quiet cmake -S "$source" -B "$work/plain"
! grep -q GTest "$work/plain/CMakeCache.txt" || fail "a plain build asks for GoogleTest"
! cmake --install "$work/plain" --prefix "$work/nothing" >"$work/log" 2>&1 ||
  fail "what was not built is installed"
grep -qF "  cmake --build '$work/plain'" "$work/log" ||
  fail "cmake --install does not say that it must be built first: $(cat "$work/log")"
passed=$((passed + 2))

# The library alone looks for nothing that only the command needs, and builds nothing else.
quiet cmake -S "$source" -B "$work/alone" -DKILTER_TOOLS=OFF
! grep -qE 'CLI11_DIR|fmt_DIR|EXPAT_|YAML_CPP_|PNG_|GVC_|ydis_DIR' "$work/alone/CMakeCache.txt" ||
  fail "without tools a build asks for what only they need"
quiet cmake --build "$work/alone" --target help
! grep -qE 'kilter_(sim|balance|preload|lab)' "$work/log" ||
  fail "without tools more than the library is built: $(cat "$work/log")"
grep -q kilter_runtime "$work/log" || fail "without tools there is no library: $(cat "$work/log")"
passed=$((passed + 2))

quiet cmake --install "$build" --prefix "$work/first prefix"
mv "$work/first prefix" "$work/prefix with space"
prefix="$work/prefix with space" kilter="$work/prefix with space/bin/kilter"

for example in smallest first_graph own_policy; do
  cp -r "examples/$example" "$work/$example"
  quiet cmake -S "$work/$example" -B "$work/$example/build" -DCMAKE_BUILD_TYPE=None \
    -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "-DCMAKE_PREFIX_PATH=$prefix"
  quiet cmake --build "$work/$example/build"
  quiet "$work/$example/build/$example"
  # Neither macros nor warnings nor paths of others reach who links kilter::kilter.
  extra=$(grep '"command"' "$work/$example/build/compile_commands.json" |
      grep -oE ' -(D|W|f|m|O|I ?)[^ ]*' || true)
  [ -z "$extra" ] || fail "$example is compiled with foreign options:$extra"
  passed=$((passed + 1))
done

# builds_by_pkg_config PREFIX: from an empty directory, and as a makefile would, whose shell takes
# off what pkg-config puts before blanks.
builds_by_pkg_config() {
  local flags found
  found=$(find "$1" -name kilter.pc)
  rm -rf "$work/by pkg-config"
  mkdir "$work/by pkg-config"
  cp examples/smallest/main.cpp "$work/by pkg-config"
  flags=$(PKG_CONFIG_PATH=${found%/*} pkg-config --cflags --libs kilter) ||
    fail "pkg-config does not find kilter in $1"
  ! grep -qF "$build" <<<"$flags" || fail "pkg-config leads into the build: $flags"
  (cd "$work/by pkg-config" && quiet sh -c "g++ -std=c++20 main.cpp $flags" && quiet ./a.out) ||
    exit 1
  passed=$((passed + 1))
}
builds_by_pkg_config "$prefix"

# Programs that are not C++: the archives through cc, and the shared library through cc, CMake
# without C++, and Python; each from what is installed alone.
shared=$(find "$prefix" -name libkilter.so)
[ -n "$shared" ] || fail "libkilter.so is not installed"
flags=$(PKG_CONFIG_PATH=$(dirname "$shared")/pkgconfig pkg-config --cflags --libs kilter)
for program in c_loop c_threads; do
  strict="cc -std=c99 -Wall -Wextra -Wpedantic -Werror -pthread"
  quiet sh -c "$strict examples/guide/$program.c $flags -o '$work/from_c'"
  quiet "$work/from_c"
  ! ldd "$work/from_c" | grep -q libkilter ||
    fail "pkg-config links libkilter.so, which is then needed where the program runs"
  quiet cc -std=c99 -pthread -I "$prefix/include" "examples/guide/$program.c" "$shared" \
    -o "$work/from_c"
  LD_LIBRARY_PATH=${shared%/*} quiet "$work/from_c"
  passed=$((passed + 2))
done
mkdir "$work/c alone"
cp examples/guide/c_loop.c "$work/c alone"
cat >"$work/c alone/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(c_alone LANGUAGES C)
find_package(kilter REQUIRED)
add_executable(c_loop c_loop.c)
target_link_libraries(c_loop PRIVATE kilter::shared)
END
quiet cmake -S "$work/c alone" -B "$work/c alone/build" "-DCMAKE_PREFIX_PATH=$prefix"
quiet cmake --build "$work/c alone/build"
quiet "$work/c alone/build/c_loop"
LD_LIBRARY_PATH=${shared%/*} quiet python3 examples/guide/python_threads.py
extra=$(nm -D --defined-only "$shared" | awk '{ print $3 }' | grep -v '^kilter_' || true)
[ -z "$extra" ] || fail "libkilter.so offers more than kilter/kilter.h: $extra"
passed=$((passed + 3))

# The programs of docs/library.md, in a folder of their own.
cp -r examples/guide "$work/guide"
quiet cmake -S "$work/guide" -B "$work/guide/build" "-DCMAKE_PREFIX_PATH=$prefix"
quiet cmake --build "$work/guide/build" --parallel 2
for program in "$work"/guide/*.cpp "$work"/guide/*.c; do
  program=$(basename "${program%.*}")
  (cd "$work/guide" && quiet "build/$program")
  passed=$((passed + 1))
done

# Each public header alone, as strictly as users compile their own code, in C++ and where it says so
# in C; and no macro of it but ours.
header_compiles() {
  local header=$1 compiler=$2 language=$3 standard=$4
  printf '#include "%s"\n' "$header" >"$work/header.$language"
  quiet "$compiler" "-std=$standard" -fsyntax-only -Wall -Wextra -Wpedantic -Werror -Wshadow \
    -Wconversion -I "$prefix/include" "$work/header.$language"
}
macros() {
  g++ -std=c++20 -dM -E -I "$prefix/include" -x c++ - | awk '{ sub(/\(.*/, "", $2); print $2 }' |
    sort -u
}
standard_headers=$(grep -hoE "^#include <[^>]*>" "$prefix"/include/kilter/*.hpp \
  "$prefix"/include/kilter/*.h | sort -u)
foreign=$(grep -vE '^#include <[a-z_]+(\.h)?>$' <<<"$standard_headers" || true)
[ -z "$foreign" ] || fail "public headers include what is not of the language: $foreign"
macros <<<"$standard_headers" >"$work/macros-of-standard"
for path in "$prefix"/include/kilter/*; do
  header=kilter/${path##*/}
  for compiler in g++ clang++; do
    command -v "$compiler" >/dev/null || continue
    header_compiles "$header" "$compiler" cpp c++20
  done
  case $header in *.h) header_compiles "$header" gcc c c99 ;; esac
  extra=$(printf '#include "%s"\n' "$header" | macros | comm -23 - "$work/macros-of-standard" |
      grep -v '^KILTER_' || true)
  [ -z "$extra" ] || fail "$header defines macros that are not ours: $extra"
  passed=$((passed + 1))
done

if [ -x "$kilter" ]; then
  # A policy in a library of its own.
  cp -r examples/own_policy_plugin "$work/plugin"
  quiet cmake -S "$work/plugin" -B "$work/plugin/build" -DCMAKE_BUILD_TYPE=Release \
    "-DCMAKE_PREFIX_PATH=$prefix"
  quiet cmake --build "$work/plugin/build"
  for on in native sim:jetson-tx2; do
    does "mine" "$kilter" compare layered --on "$on" --policy "rws,$work/plugin/build/libmine.so" \
      --tasks 500 --repeat 1 --quiet
  done

  # take_tree_away PREFIX: as after `rm -r` of the tree. Every path into it that the installed files
  # hold is made one that does not exist, of the same length.
  nowhere=/$(printf '%*s' $((${#source} - 1)) '' | tr ' ' _)
  nowhere_built=/$(printf '%*s' $((${#build} - 1)) '' | tr ' ' _)
  take_tree_away() {
    local file
    grep -qF "$source" "$1/bin/kilter" ||
      fail "the installed command holds no path into the tree; take the tree away in another way"
    for file in "$1/bin/kilter" "$1"/libexec/kilter/* "$1"/lib*/libkilter_*.so \
      "$1"/lib/*/libkilter_*.so; do
      [ ! -f "$file" ] || LC_ALL=C sed -i "s|$build|$nowhere_built|g; s|$source|$nowhere|g" "$file"
    done
  }
  take_tree_away "$prefix"
  mkdir "$work/empty"
  cd "$work/empty"
  does "jetson-tx2" "$kilter" lab platforms
  does "jetson-tx2" "$kilter" topo --on sim:jetson-tx2
  does "rws" "$kilter" compare layered --on sim:jetson-tx2 --policy rws --tasks 500 --repeat 1 \
    --quiet
  does "S0-1" "$kilter" lab reproduce --list
  does "S0-6" "$kilter" lab reproduce S0-6 --quiet
  does "sarek" "$kilter" lab reproduce matrix --graphs sarek --on sim:jetson-tx2 --policy rws \
    --disturb none --seeds 1 --quiet
  does "SymInst" "$kilter" lab sym -- true
  quiet "$kilter" lab balance --quiet -- true
  quiet "$kilter" run -- true
  quiet "$kilter" lab balance --quiet --policy ljfpf --fast 0, -- true
  quiet "$kilter" compare layered --policy rws --tasks 200 --repeat 1 --html report.html --quiet
  grep -qF '<title>Kilter report</title>' report.html || fail "the report is no report"
  does '"tasks"' "$kilter" graph make cholesky:n=4
  does "</svg>" "$kilter" graph draw cholesky:n=4
  graphviz=$(find "$prefix" -name libkilter_graphviz.so)
  mv "$graphviz" "$work"
  ! "$kilter" graph draw cholesky:n=4 >"$work/log" 2>&1 || fail "graphs are drawn without Graphviz"
  grep -qF "libkilter_graphviz.so is neither in ${graphviz%/*} nor" "$work/log" ||
    fail "what is missing is not said: $(cat "$work/log")"
  mv "$work/libkilter_graphviz.so" "$graphviz"
  # loads OpenBLAS
  does "VGG-16" "$kilter" lab app vgg16 --pictures 1 --repeat 1 --output classes.csv --quiet
  mv "$prefix/libexec/kilter" "$work/elsewhere"
  quiet "$kilter" run -- true
  quiet "$kilter" --version
  ! "$kilter" lab platforms >"$work/log" 2>&1 || fail "kilter does without kilter-commands"
  grep -qF "kilter-commands is neither in $prefix/libexec/kilter nor" "$work/log" ||
    fail "what is missing is not said: $(cat "$work/log")"
  mv "$work/elsewhere" "$prefix/libexec/kilter"
  cd "$source"
  for file in man/man1/kilter.1 man/man1/kilter-compare-layered.1 bash-completion/completions/kilter \
    zsh/site-functions/_kilter fish/vendor_completions.d/kilter.fish; do
    [ -s "$prefix/share/$file" ] || fail "share/$file is not installed"
  done
  bash -c 'source "$1" && complete -p kilter' - "$prefix/share/bash-completion/completions/kilter" \
    >/dev/null || fail "bash does not take its completion"
  passed=$((passed + 9))

  if command -v dpkg-shlibdeps >/dev/null && command -v file >/dev/null; then
    (cd "$build" && quiet cpack -G DEB -B "$work/packages") || exit 1
    for package in kilter libkilter-dev; do
      deb=$(echo "$work/packages/${package}"_*.deb)
      quiet dpkg-deb -x "$deb" "$work/$package"
      [ -s "$work/$package/usr/share/doc/$package/copyright" ] || fail "$package has no copyright"
      does "libhwloc" dpkg-deb -f "$deb" Depends
      dpkg-deb -f "$deb" Maintainer | grep -qE '^.+ <.+@.+>$' ||
        fail "$package names no maintainer as Debian does: $(dpkg-deb -f "$deb" Maintainer)"
      [ -n "$(dpkg-deb -f "$deb" Description)" ] || fail "$package has no description"
    done
    does "libgvc" dpkg-deb -f "$work"/packages/kilter_*.deb Depends
    does "libopenblas0-openmp" dpkg-deb -f "$work"/packages/kilter_*.deb Depends
    dpkg-deb -f "$work"/packages/kilter_*.deb Depends | grep -q openmpi &&
      fail "package kilter needs MPI"
    if command -v mpicc >/dev/null; then
      does "libopenmpi" dpkg-deb -f "$work"/packages/kilter-mpi_*.deb Depends
    fi
    [ -z "$(find "$work/kilter" "$work/libkilter-dev" -type f -printf '%P\n' | sort | uniq -d)" ] ||
      fail "both packages have a file"
    [ -z "$(find "$work/kilter" -path '*/include/*')" ] || fail "package kilter has headers"
    builds_by_pkg_config "$work/libkilter-dev/usr"
    take_tree_away "$work/kilter/usr"
    cd "$work/empty"
    packaged=$work/kilter/usr/bin/kilter
    does "dam-c" "$packaged" lab policies
    does "jetson-tx2" "$packaged" lab platforms
    does "</svg>" "$packaged" graph draw cholesky:n=4
    does "sarek" "$packaged" lab reproduce matrix --graphs sarek --on sim:jetson-tx2 --policy rws \
      --disturb none --seeds 1 --quiet
    quiet "$packaged" lab balance --quiet --policy ljfpf --fast 0, -- true
    if command -v man >/dev/null; then
      does "rws,dam-c" man -P cat -M "$work/kilter/usr/share/man" kilter-compare
    fi
    cd "$source"
    passed=$((passed + 4))
  else
    echo "no dpkg-dev or file here: the Debian packages were not made"
  fi
fi

awk '/^```cpp/{on=1;next} /^```/{on=0} on' README.md >"$work/readme.cpp"
diff -u examples/smallest/main.cpp "$work/readme.cpp" >&2 ||
  fail "README.md's example differs from examples/smallest/main.cpp"
passed=$((passed + 1))
printf '100%% tests passed, 0 tests failed out of %d (installed library)\n' "$passed"
