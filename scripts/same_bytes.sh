#!/usr/bin/env bash
# Builds `kilter` with gcc and clang at -O0 and -O3, and for aarch64, and compares what the
# simulator and a few verdicts give, byte for byte outside `environment` (tests/golden/check.py
# names the runs). About half an hour on two cores, minutes when little has changed. Exit status 0
# if all are the same. Installs what is missing (clang, a cross compiler, qemu-user, arm64
# libraries) unless --no-install is given; `--only gcc-O0,clang-O3` chooses builds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/setup.sh
. scripts/aarch64.sh
allowed=yes
builds=(gcc-O0 gcc-O3 clang-O0 clang-O3 aarch64)
while [ $# -gt 0 ]; do
  case $1 in
    --no-install) allowed=no ;;
    --only) shift; IFS=, read -ra builds <<<"${1-}" ;;
    *) say "kilter: unknown argument '$1'; use --no-install or --only LIST"; exit 2 ;;
  esac
  shift
done
install_packages "$allowed" "${kilter_packages[@]}" python3
for b in "${builds[@]}"; do
  case $b in
    gcc-O0|gcc-O3) ;;
    clang-O0|clang-O3) install_packages "$allowed" clang ;;
    aarch64) set_up_aarch64 "$allowed" ;;
    *)
      say "kilter: unknown build '$b'; there are gcc-O0, gcc-O3, clang-O0, clang-O3, aarch64"
      exit 2 ;;
  esac
done

out=build/same_bytes
mkdir -p "$out"
for b in "${builds[@]}"; do
  options=(-DCMAKE_BUILD_TYPE=None) runner=""
  case $b in
    gcc-*) options+=(-DCMAKE_CXX_COMPILER=g++ "-DCMAKE_CXX_FLAGS=-${b#*-}") ;;
    clang-*) options+=(-DCMAKE_CXX_COMPILER=clang++ "-DCMAKE_CXX_FLAGS=-${b#*-}") ;;
    aarch64)
      options+=("-DCMAKE_TOOLCHAIN_FILE=$aarch64_toolchain" -DCMAKE_CXX_FLAGS_NONE=-O2
        -DKILTER_DRAW=OFF)
      runner=$aarch64_runner ;;
  esac
  say "kilter: $b"
  (
    if [ "$b" = aarch64 ]; then aarch64_environment; fi
    build "$out/$b" "${options[@]}" -- kilter
  )
  rm -rf "$out/$b.results"
  KILTER_PLATFORMS=$PWD/data/platforms KILTER_EXPERIMENTS=$PWD/lab/experiments \
    python3 tests/golden/check.py "$out/$b/cli/kilter" --dump "$out/$b.results" --runner "$runner"
done

first=${builds[0]} different=0
printf '%-22s' "against $first"
for b in "${builds[@]:1}"; do printf ' %-10s' "$b"; done
printf '\n'
for file in "$out/$first.results"/*; do
  printf '%-22s' "$(basename "$file")"
  for b in "${builds[@]:1}"; do
    if cmp -s "$file" "$out/$b.results/$(basename "$file")"; then
      printf ' %-10s' same
    else
      printf ' %-10s' DIFFERENT
      different=1
    fi
  done
  printf '\n'
done
exit $different
