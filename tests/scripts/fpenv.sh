# SPDX-License-Identifier: MIT
#
# Every public function that can fail, and so may compute, opens a floating-point scope
# (src/base/fpenv.h) with its first statement, and so do those that end what computes.
set -euo pipefail
names=$(cat include/vyre/vyre.h include/vyre/extend.h | tr '\n' ' ' | grep -oE 'VYRE_API vyre_status +vyre_[a-z0-9_]+\(' |
  grep -oE 'vyre_[a-z0-9_]+\(' | tr -d '(')
[ "$(wc -w <<<"$names")" -ge 20 ] || { echo "found too few functions: $names"; exit 1; }
names+=" vyre_executable_release vyre_runtime_free vyre_runtime_settle vyre_kernel_free"
names+=" vyre_buffer_free"
bad=0
for name in $names; do
  grep -rqPzo "\n[a-z_]+ \*?$name\([^;{}]*\) \{\n  FPENV_SCOPE;\n" src --include='*.c' && continue
  echo "$name does not begin with FPENV_SCOPE"
  bad=1
done
exit $bad
