#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# In a scratch copy: an operation that is only a row of ops.def compiles nowhere where somebody has to
# decide about it; one that is in a group too still needs its meaning (ref) and a spelling for each
# backend (cpu, opencl, c, vulkan), each of which refuses alone; and with those everything compiles. A pass is
# one file and one line.
set -uo pipefail
root=$PWD
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
refuses() { # FILE WHY...: it does not compile, because of the operation
  local said
  said=$(check "$1")
  [[ $said == *TWICE* ]] && return
  echo "$1 compiles: ${*:2}"
  bad=1
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

# A row alone.
sed -i 's/^OP(FMA, /OP(TWICE, "twice", "", "v", FLOAT, PURE, "x + x")\n&/' include/vyre/ops.def
grep -q TWICE include/vyre/ops.def || { echo "ops.def has no FMA to add a row before" && bad=1; }
deciding=$(grep -rlE 'ir/op_groups.h|<vyre/ops.def>' src --include='*.c')
for file in $(grep -rl 'ir/op_groups.h' src --include='*.c') src/backend/spell/value.c \
  src/backend/vulkan/value.c; do
  refuses "$file" "an operation that was added is not decided about"
done

# And in its group.
sed -i 's/^  VYRE_OP_FMA: case/  VYRE_OP_TWICE: case VYRE_OP_FMA: case/' src/ir/op_groups.h
refuses src/ir/eval.c "ref has an operation without a meaning"
refuses src/backend/llvm/arithmetic.c "cpu has an operation without a spelling"
refuses src/backend/spell/value.c "opencl and c have an operation without a spelling"
refuses src/backend/vulkan/value.c "vulkan has an operation without a spelling"

# And with a meaning and spellings.
sed -i 's|^    case VYRE_OP_FMA: return FROM(FMA.*|    case VYRE_OP_TWICE: return FROM(x + x); \\\n&|' src/ir/eval.c
sed -i 's|^  case VYRE_OP_FMA: return call|  case VYRE_OP_TWICE: return LLVMBuildFAdd(b, x, x, "");\n&|' \
  src/backend/llvm/arithmetic.c
sed -i 's|^#define SPELL_FMA .*|&\n#define SPELL_TWICE put_call, "twice"|' src/backend/spell/value.c
sed -i 's|^#define EMIT_FMA .*|&\n#define EMIT_TWICE put_call, 0, 0, 0, 0|' src/backend/vulkan/value.c
for file in $deciding; do
  said=$(check "$file") || { echo "$file needs to know of an operation that is complete: $said" && bad=1; }
done

# A `default` about operations says why whatever comes is left alone.
cd "$root" || exit 1
for file in $(grep -rlE '^ *case (VYRE_OP_|OPS_|RULE_)' src --include='*.c' | grep -v ^src/front/); do
  awk -v file="$file" '/^ *switch/ { about = 0 } /^ *case (VYRE_OP_|OPS_|RULE_)/ { about = 1 }
    about && /^ *default:/ && !/\/\// { print file ":" NR ": a default without a reason"; bad = 1 }
    END { exit bad }' "$file" || bad=1
done
exit $bad
