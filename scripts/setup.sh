# Sourced by ./run and ./test: installs what is missing and builds. Everything it says goes to standard error.
# Debian 12's versions: g++ 12.2, cmake 3.25, hwloc 2.9, toml++ 3.3, fmt 9.1, nlohmann-json 3.11, CLI11 2.1, Graphviz 2.42, Zydis 4.0, expat 2.5, yaml-cpp 0.7,
# zlib 1.2.13, libpng 1.6.39, OpenBLAS 0.3.21, Open MPI 4.1.4, GoogleTest 1.12, musl 1.2, Relacy of 2019-10-25, oneTBB 2021.8, clang and libomp 14.

kilter_packages=(g++ cmake ninja-build pkg-config libhwloc-dev libtomlplusplus-dev libfmt-dev nlohmann-json3-dev libcli11-dev libgraphviz-dev
  libzydis-dev libexpat1-dev libyaml-cpp-dev zlib1g-dev libpng-dev libopenblas-openmp-dev)
kilter_test_packages=(libgtest-dev libgmock-dev binutils python3 musl-tools relacy-dev dpkg-dev file groff-base libtbb-dev libopenmpi-dev openmpi-bin
  python3-venv clang libomp-dev)
kilter_bundle_packages=(libtbb-dev patchelf binutils xz-utils)
kilter_reference_packages=(numpy==2.4.6 onnx==1.23.2 onnxruntime==1.32.0 scikit-learn==1.9.1)  # from PyPI

say() { printf '%s\n' "$*" >&2; }

missing_packages() {
  local p
  for p in "$@"; do
    dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' || printf '%s\n' "$p"
  done
}

# install_packages ALLOWED PACKAGE...: installs what is missing; with ALLOWED=no it refuses and says what to do.
install_packages() {
  local allowed=$1 sudo=""
  shift
  command -v dpkg-query >/dev/null || return 0  # not Debian: cmake will name what it cannot find
  local missing
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -eq 0 ] && return 0
  if [ "$allowed" = no ]; then
    say "kilter: these Debian packages are missing: ${missing[*]}"
    say "kilter: install them (apt-get install ${missing[*]}) or run without --no-install"
    return 2
  fi
  if [ "$(id -u)" -ne 0 ]; then
    sudo=$(command -v sudo) || { say "kilter: not root and no sudo; as root run: apt-get install ${missing[*]}"; return 2; }
  fi
  say "kilter: installing Debian packages: ${missing[*]}"
  local log
  log=$(mktemp)
  if ! { $sudo apt-get update && DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y --no-install-recommends "${missing[@]}"; } \
      </dev/null >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    say "kilter: apt-get failed; its whole output is in $log"
    return 2
  fi
  rm -f "$log"
}

# set_up_reference ALLOWED: scikit-learn and ONNX Runtime in build/reference, which programs are compared with. Where they cannot be had, those tests are skipped.
set_up_reference() {
  local dir=build/reference log why="--no-install does not install it"
  [ "$(cat "$dir/holds" 2>/dev/null)" = "${kilter_reference_packages[*]}" ] && return 0
  if [ "$1" != no ]; then
    say "kilter: installing scikit-learn and ONNX Runtime in $dir"
    rm -rf "$dir"
    log=$(mktemp)
    if python3 -m venv "$dir" >"$log" 2>&1 && "$dir/bin/pip" install --quiet --retries 1 "${kilter_reference_packages[@]}" >>"$log" 2>&1; then
      printf '%s\n' "${kilter_reference_packages[*]}" >"$dir/holds"
      rm -f "$log"
      return 0
    fi
    rm -rf "$dir"
    why="pip cannot install it; its whole output is in $log"
  fi
  say "kilter: the tests reference:kmeans and reference:vgg16 are skipped, as scikit-learn and ONNX Runtime are missing: $why"
}

# quietly WHAT COMMAND...: the command's output is shown only if it fails.
quietly() {
  local what=$1 log
  shift
  log=$(mktemp)
  if ! "$@" </dev/null >"$log" 2>&1; then
    tail -n 60 "$log" >&2
    say "kilter: $what failed; its whole output is in $log"
    return 1
  fi
  rm -f "$log"
}

# build DIRECTORY CMAKE_OPTION... -- TARGET...: configures if needed or if other options are wanted, and builds; silent if there is nothing to do.
build() {
  local dir=$1 options=() targets=()
  shift
  while [ $# -gt 0 ] && [ "$1" != -- ]; do options+=("$1"); shift; done
  shift || true
  targets=("$@")
  if [ ! -f "$dir/build.ninja" ] || [ "$(cat "$dir/configured-with" 2>/dev/null)" != "${options[*]}" ]; then
    say "kilter: configuring $dir"
    quietly "configuring" cmake -S . -B "$dir" -G Ninja -DKILTER_IN_BATCHES=ON "${options[@]}" || return 1
    printf '%s\n' "${options[*]}" >"$dir/configured-with"
  fi
  # A build with nothing to do is over at once and must not say anything.
  (sleep 2 </dev/null >/dev/null 2>&1; say "kilter: building in $dir (the first time ten minutes on two cores)") >/dev/null &
  local notice=$! status=0
  quietly "the build" ninja -C "$dir" "${targets[@]}" || status=$?
  { kill "$notice" && wait "$notice"; } 2>/dev/null || true
  return $status
}

# build_tests test|thread|address [with-tools]: what ./test looks at, in build/ under that name; the last two under a sanitizer. These
# have the tools only if asked for them: they take several minutes.
build_tests() {
  local tools=OFF
  if [ "${2:-}" = with-tools ]; then tools=ON; fi
  case $1 in
    test) build build/test -DCMAKE_BUILD_TYPE=Release -DCMAKE_COMPILE_WARNING_AS_ERROR=ON -DKILTER_TESTS=ON -DKILTER_BENCH=ON -- all ;;
    thread) build build/thread -DCMAKE_BUILD_TYPE=RelWithDebInfo -DKILTER_SANITIZE=thread -DKILTER_TOOLS=$tools -DKILTER_DRAW=OFF -DKILTER_TESTS=ON -- all ;;
    address) build build/address -DCMAKE_BUILD_TYPE=RelWithDebInfo -DKILTER_SANITIZE=address,undefined -DKILTER_TOOLS=$tools -DKILTER_DRAW=OFF -DKILTER_TESTS=ON -- all ;;
  esac
}
