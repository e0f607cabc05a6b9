#!/usr/bin/env bash
# Cross-builds the libraries and unit tests for aarch64 and runs them under qemu-user. A test of
# function: qemu says nothing about time. Installs the cross compiler, qemu-user and the arm64
# libraries unless --no-install is given.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/setup.sh
. scripts/aarch64.sh
allowed=yes
[ "${1-}" = --no-install ] && allowed=no
set_up_aarch64 "$allowed"
aarch64_environment
build build/aarch64 -DCMAKE_TOOLCHAIN_FILE="$aarch64_toolchain" -DCMAKE_BUILD_TYPE=Release \
  -DKILTER_TOOLS=OFF -- \
  unit_base unit_machine unit_graph unit_trace unit_model unit_policy unit_runtime \
  conformance_contract
failed=0
for t in base machine graph trace model policy runtime; do
  [ -x "build/aarch64/tests/unit_$t" ] || continue
  say "unit_$t"
  $aarch64_runner "build/aarch64/tests/unit_$t" --gtest_brief=1 || failed=1
done
exit $failed
