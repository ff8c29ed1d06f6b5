// SPDX-License-Identifier: MIT
//
// The helper functions, written once per type that needs them. In the templates $T is the type, $U
// its unsigned sister, $N its name in vyre, $L and $H the float below which and from which a
// conversion saturates, $R a float without fraction bits,
// $Q the bits of NaN, $A its smallest and $B its largest value, $F the float type, $M the memory.
#include "backend/opencl/emit_state.h"

#include <stdio.h>
#include <string.h>

typedef struct template_row {
  const char *is_signed, *is_unsigned; // the same text for both when the second is NULL
} template_row;

#define ATOMIC(name, expression)                                                                   \
  "static inline $T vyre_atomic_" name "_$N$X(volatile $M $T *p, $T y) {\n"                        \
  "  $T x = *p, seen;\n"                                                                           \
  "  while ((seen = atom_cmpxchg(p, x, (" expression "))) != x) x = seen;\n"                       \
  "  return x;\n}\n"

#define GUARDED(name)                                                                              \
  "// The driver's own has no defined result for NaN.\n"                                           \
  "static inline $T vyre_" name "_$N($T x) {\n  return x != x ? x : " name "(x);\n}\n"

static const template_row templates[HELPER_COUNT] = {
    [HELPER_DIV] = {"// x / 0 is 0, MIN / -1 is MIN\n"
                    "static inline $T vyre_div_$N($T x, $T y) {\n"
                    "  $T d = y == 0 || y == -1 ? ($T)1 : y;\n"
                    "  return y == 0 ? ($T)0 : y == -1 ? ($T)(($U)0 - ($U)x) : ($T)(x / d);\n}\n",
                    "// x / 0 is 0\n"
                    "static inline $T vyre_div_$N($T x, $T y) {\n"
                    "  return y == 0 ? ($T)0 : ($T)(x / (y == 0 ? ($T)1 : y));\n}\n"},
    [HELPER_REM] = {"// x % 0 is x, MIN % -1 is 0\n"
                    "static inline $T vyre_rem_$N($T x, $T y) {\n"
                    "  $T d = y == 0 || y == -1 ? ($T)1 : y;\n"
                    "  return y == 0 ? x : ($T)(x % d);\n}\n",
                    "// x % 0 is x\n"
                    "static inline $T vyre_rem_$N($T x, $T y) {\n"
                    "  return y == 0 ? x : ($T)(x % (y == 0 ? ($T)1 : y));\n}\n"},
    [HELPER_ABS] = {"// The abs of some drivers leaves that of the lowest number open.\n"
                    "static inline $T vyre_abs_$N($T x) {\n"
                    "  return x < 0 ? ($T)(($U)0 - ($U)x) : x;\n}\n",
                    NULL},
    [HELPER_MIN] = {"static inline $T vyre_min_$N($T x, $T y) {\n  return x < y ? x : y;\n}\n",
                    NULL},
    [HELPER_MAX] = {"static inline $T vyre_max_$N($T x, $T y) {\n  return x > y ? x : y;\n}\n",
                    NULL},
    [HELPER_BITS] = {"// Every NaN has the same bits.\n"
                     "static inline $U vyre_bits_$N($T x) {\n"
                     "  return x != x ? $Q : as_$U(x);\n}\n",
                     NULL},
    [HELPER_RINT] = {"// Adding what has no fraction bits left rounds to even.\n"
                     "static inline $T vyre_rint_$N($T x) {\n"
                     "  return fabs(x) < $R ? copysign((fabs(x) + $R) - $R, x) : x;\n}\n",
                     NULL},
    [HELPER_FLOOR] = {GUARDED("floor"), NULL},
    [HELPER_CEIL] = {GUARDED("ceil"), NULL},
    [HELPER_TRUNC] = {GUARDED("trunc"), NULL},
    [HELPER_ROUND] = {GUARDED("round"), NULL},
    [HELPER_SQRT] = {"// Correctly rounded by way of double.\n"
                     "static inline float vyre_sqrt_f32(float x) {\n"
                     "  return (float)sqrt((double)x);\n}\n",
                     NULL},
    [HELPER_FROM_F32] = {"// Saturates; NaN gives 0.\n"
                         "static inline $T vyre_f32_to_$N(float x) {\n"
                         "  return x != x ? ($T)0 : x < $L ? $A : x >= $H ? $B : ($T)x;\n}\n",
                         NULL},
    [HELPER_FROM_F64] = {"// Saturates; NaN gives 0.\n"
                         "static inline $T vyre_f64_to_$N(double x) {\n"
                         "  return x != x ? ($T)0 : x < $L ? $A : x >= $H ? $B : ($T)x;\n}\n",
                         NULL},
    [HELPER_ATOMIC_MIN] = {ATOMIC("min", "y < x ? y : x"), NULL},
    [HELPER_ATOMIC_MAX] = {ATOMIC("max", "y > x ? y : x"), NULL},
    [HELPER_ATOMIC_AND] = {ATOMIC("and", "x & y"), NULL},
    [HELPER_ATOMIC_OR] = {ATOMIC("or", "x | y"), NULL},
    [HELPER_ATOMIC_XOR] = {ATOMIC("xor", "x ^ y"), NULL},
};

static const char f32_division[] = "// Correctly rounded by way of double.\n"
                                   "static inline float vyre_div_f32(float x, float y) {\n"
                                   "  return (float)((double)x / (double)y);\n}\n";

static void put_limit(strbuf *out, vyre_type t, char which, bool is_f32) {
  unsigned bits = type_bits(t);
  bool is_signed = type_is_signed(t);
  const char *suffix = is_f32 ? "f" : "";
  if (which == 'H') { // 2^bits or 2^(bits-1)
    strbuf_printf(out, "0x1p%u%s", bits - is_signed, suffix);
  } else if (which == 'L') {
    if (is_signed)
      strbuf_printf(out, "-0x1p%u%s", bits - 1, suffix);
    else
      strbuf_printf(out, "0.0%s", suffix);
  } else {
    static const char *const names[][3] = {{"CHAR", "SCHAR", "UCHAR"},
                                           {"SHRT", "SHRT", "USHRT"},
                                           {"INT", "INT", "UINT"},
                                           {"LONG", "LONG", "ULONG"}};
    const char *name = names[bits == 8    ? 0
                             : bits == 16 ? 1
                             : bits == 32 ? 2
                                          : 3][is_signed ? 1 : 2];
    if (which == 'B' || is_signed)
      strbuf_printf(out, "(%s)%s_%s", emit_type(t), name, which == 'A' ? "MIN" : "MAX");
    else
      strbuf_printf(out, "(%s)0", emit_type(t));
  }
}

static void expand(strbuf *out, const char *text, vyre_type t, helper h, bool is_local) {
  vyre_type sister = t == VYRE_F32   ? VYRE_U32
                     : t == VYRE_F64 ? VYRE_U64
                                     : (vyre_type)(t + type_is_signed(t));
  for (; *text; text++) {
    if (*text != '$') {
      strbuf_putc(out, *text);
      continue;
    }
    switch (*++text) {
    case 'T': strbuf_puts(out, emit_type(t)); break;
    case 'U': strbuf_puts(out, emit_type(sister)); break;
    case 'N': strbuf_puts(out, vyre_type_name(t)); break;
    case 'M': strbuf_puts(out, is_local ? "__local" : "__global"); break;
    case 'X': strbuf_puts(out, is_local ? "_local" : ""); break;
    case 'Q': strbuf_puts(out, t == VYRE_F32 ? "0x7fc00000u" : "0x7ff8000000000000UL"); break;
    case 'R': strbuf_puts(out, t == VYRE_F32 ? "0x1p23f" : "0x1p52"); break;
    default: put_limit(out, t, *text, h == HELPER_FROM_F32); break;
    }
  }
  strbuf_putc(out, '\n');
}

void emit_prelude(const emitter *e, strbuf *out) {
  for (int h = 0; h < HELPER_COUNT; h++)
    for (int t = VYRE_BOOL; t < VYRE_TYPE_COUNT; t++) {
      const template_row *row = &templates[h];
      bool is_signed = type_is_signed((unsigned)t) || !row->is_unsigned;
      if (e->uses[h][t] && h == HELPER_DIV && t == VYRE_F32)
        expand(out, f32_division, VYRE_F32, HELPER_DIV, false);
      else if (e->uses[h][t])
        expand(out, is_signed ? row->is_signed : row->is_unsigned, (vyre_type)t, (helper)h, false);
      if (e->uses_local[h][t]) expand(out, row->is_signed, (vyre_type)t, (helper)h, true);
    }
}
