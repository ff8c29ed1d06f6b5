// SPDX-License-Identifier: MIT
#include "base/fpenv.h"

#if defined(__x86_64__) && __has_include(<fpu_control.h>)

#include <fpu_control.h>
#include <xmmintrin.h>

// Computing is done in SSE, whose state is one register: control bits, and the exception flags in
// the low six. The x87 unit is left for long double. It has a control word of its own, which is
// seldom changed without the other; then the slow way saves and restores all there is.
enum { MXCSR_FLAGS = 0x3f, MXCSR_KNOWN = 0x1f80 };

void fpenv_enter(fpenv *kept) {
  fpu_control_t x87;
  _FPU_GETCW(x87);
  kept->mxcsr = _mm_getcsr();
  kept->has_all = x87 != _FPU_DEFAULT;
  if (kept->has_all) {
    (void)fegetenv(&kept->all);
    (void)fesetenv(FE_DFL_ENV);
  }
  if ((kept->mxcsr & ~MXCSR_FLAGS) != MXCSR_KNOWN) _mm_setcsr(MXCSR_KNOWN);
}

void fpenv_leave(const fpenv *kept) {
  if (kept->has_all)
    (void)fesetenv(&kept->all);
  else
    _mm_setcsr(kept->mxcsr); // measured: to read it first, to see whether, takes ten times as long
}

#else

void fpenv_enter(fpenv *kept) {
  kept->mxcsr = 0;
  kept->has_all = true;
  (void)fegetenv(&kept->all);
  (void)fesetenv(FE_DFL_ENV);
}

void fpenv_leave(const fpenv *kept) {
  (void)fesetenv(&kept->all);
}

#endif

void fpenv_set(void) {
  fpenv ignored;
  fpenv_enter(&ignored);
}
