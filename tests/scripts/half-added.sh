#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# In a scratch copy, an operation that is only a row of ops.def does not compile: every file that has
# to decide about it is named. And a pass that is one file and one line does.
set -uo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -r include src "$scratch"
cd "$scratch" || exit 1
bad=0
llvm=$(sed -n 's/^LLVM_ROOT:[A-Z]*=//p' "$VYRE_BUILD/CMakeCache.txt")
check() { # FILE...: what the compiler says
  cc -std=c11 -D_GNU_SOURCE -Iinclude -Isrc -isystem "$llvm/include" -Wall -Wextra -Werror \
    -Wmissing-prototypes -fsyntax-only "$@" 2>&1
}

cat >src/opt/nothing.c <<'END'
// SPDX-License-Identifier: MIT
#include "opt/passes.h"

static vyre_status run(const pass_run *r, vyre_program **out, vyre_error *error) {
  (void)r, (void)out, (void)error;
  return VYRE_OK;
}

const pass pass_nothing = {
    .info = {.name = "nothing", .family = PASS_FAMILY_SCALAR},
    .summary = "nothing",
    .never = "do anything",
    .run = run,
};
END
sed -i 's/^PASS(dce)$/PASS(dce)\nPASS(nothing)/' src/opt/passes.def
check src/opt/nothing.c src/opt/table.c || { echo "a pass takes more than a file and a line" && bad=1; }

sed -i 's/^OP(FMA, /OP(TWICE, "twice", "", "v", FLOAT, PURE, "x + x")\n&/' include/vyre/ops.def
grep -q TWICE include/vyre/ops.def || { echo "ops.def has no FMA to add a row before" && bad=1; }
for file in src/ir/eval.c src/analysis/uniformity.c src/analysis/phases.c src/analysis/shape.c \
  src/opt/dce.c src/front/clang/tidy.c; do
  said=$(check "$file")
  [[ $said == *VYRE_OP_TWICE* ]] && continue
  echo "$file compiles without deciding about an operation that was added"
  bad=1
done
exit $bad
