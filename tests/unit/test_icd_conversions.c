// SPDX-License-Identifier: MIT
//
// convert_ of every pair of types, with every rounding and with saturation, beside a model that
// computes with long double, which has every number of every type exactly. A kernel for each type
// of source makes all of its conversions; what the specification leaves open is not looked at.
#include "../icd.h"

#include <math.h>

enum {
  TYPES = 11,
  INTEGERS = 8,
  FLOAT = 8,
  DOUBLE,
  HALF,
  MODES = 5,
  ROWS = 96,
  MOST_COLUMNS = 128
};

static const struct {
  const char *name, *bits;
  unsigned bytes, digits; // of a float: of its significand
  int least, most;        // of a float: exponents of normal numbers
} types[TYPES] = {
    {"char", "uchar", 1, 0, 0, 0},       {"uchar", "uchar", 1, 0, 0, 0},
    {"short", "ushort", 2, 0, 0, 0},     {"ushort", "ushort", 2, 0, 0, 0},
    {"int", "uint", 4, 0, 0, 0},         {"uint", "uint", 4, 0, 0, 0},
    {"long", "ulong", 8, 0, 0, 0},       {"ulong", "ulong", 8, 0, 0, 0},
    {"float", "uint", 4, 24, -126, 127}, {"double", "ulong", 8, 53, -1022, 1023},
    {"half", "ushort", 2, 11, -14, 15},
};

static const char *const modes[MODES] = {"", "_rte", "_rtz", "_rtp", "_rtn"};

typedef struct column {
  int to, mode;
  bool is_saturated;
} column;

static column columns[MOST_COLUMNS];
static int column_count;

static void list_columns(void) {
  for (int to = 0; to < TYPES; to++)
    for (int sat = 0; sat < (to < INTEGERS ? 2 : 1); sat++)
      for (int mode = 0; mode < MODES; mode++) columns[column_count++] = (column){to, mode, sat};
}

// ---- the model ----------------------------------------------------------------------------------

static bool is_signed(int type) {
  return type % 2 == 0;
}

static long double least_of(int type) {
  return is_signed(type) ? -ldexpl(1, (int)types[type].bytes * 8 - 1) : 0;
}

static long double most_of(int type) {
  return ldexpl(1, (int)types[type].bytes * 8 - is_signed(type)) - 1;
}

static long double float_of(int type, uint64_t bits) {
  int digits = (int)types[type].digits - 1;
  uint64_t fraction = bits & (((uint64_t)1 << digits) - 1);
  int size = (int)types[type].bytes * 8;
  int exponent = (int)(bits >> digits & (((uint64_t)1 << (size - 1 - digits)) - 1));
  long double made;
  if (exponent == types[type].most * 2 + 1)
    made = fraction ? NAN : INFINITY;
  else if (exponent)
    made = ldexpl((long double)(fraction | (uint64_t)1 << digits),
                  exponent - types[type].most - digits);
  else
    made = ldexpl((long double)fraction, types[type].least - digits);
  return bits >> (size - 1) & 1 ? -made : made;
}

static long double number_of(int type, uint64_t bits) {
  switch (type) {
  case 0: return (int8_t)bits;
  case 1: return (uint8_t)bits;
  case 2: return (int16_t)bits;
  case 3: return (uint16_t)bits;
  case 4: return (int32_t)bits;
  case 5: return (uint32_t)bits;
  case 6: return (int64_t)bits;
  case 7: return bits;
  default: return float_of(type, bits);
  }
}

static long double round_whole(long double x, int mode) {
  switch (mode) {
  case 2: return truncl(x);
  case 3: return ceill(x);
  case 4: return floorl(x);
  default: return rintl(x);
  }
}

static long double round_float(long double x, int type, int mode) {
  if (isnan(x) || isinf(x) || x == 0) return x;
  int exponent = ilogbl(x), digits = (int)types[type].digits;
  if (exponent < types[type].least) exponent = types[type].least;
  long double unit = ldexpl(1, exponent - digits + 1);
  long double made = round_whole(x / unit, mode) * unit;
  long double most = ldexpl(2 - ldexpl(1, 1 - digits), types[type].most);
  if (fabsl(made) <= most) return copysignl(made, x);
  bool to_infinity = mode < 2 || (mode == 3 && x > 0) || (mode == 4 && x < 0);
  return copysignl(to_infinity ? INFINITY : most, x);
}

// False where the specification leaves the result open.
static bool expected_of(int from, long double x, column c, long double *out) {
  if (c.to >= INTEGERS) {
    *out = round_float(x, c.to, c.mode);
    return true;
  }
  if (isnan(x)) {
    *out = 0;
    return c.is_saturated;
  }
  long double made = round_whole(x, c.mode ? c.mode : 2), low = least_of(c.to),
              high = most_of(c.to);
  if (made >= low && made <= high)
    *out = made;
  else if (c.is_saturated)
    *out = made < low ? low : high;
  else if (from < INTEGERS) // the low bits
    *out = number_of(c.to, x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x);
  else
    return false;
  return true;
}

// ---- what goes in -------------------------------------------------------------------------------

static uint64_t any_bits(void) {
  static uint64_t state = 88172645463325252u;
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

// Ends of ranges, and what lies half way between two numbers of another type.
static uint64_t input_of(int type, int row) {
  static const int64_t whole[] = {0,
                                  1,
                                  -1,
                                  127,
                                  128,
                                  255,
                                  256,
                                  32767,
                                  32768,
                                  65535,
                                  65504,
                                  65520,
                                  INT32_MAX,
                                  0x80000000,
                                  UINT32_MAX,
                                  INT64_MAX,
                                  INT64_MIN,
                                  16777217,
                                  16777219,
                                  33554435,
                                  -129,
                                  -32769,
                                  -2147483649,
                                  0x7fffff80,
                                  0x7fffffbf,
                                  0x7fffffc0,
                                  0x7ffffffffffffdff,
                                  0x7ffffffffffffe00,
                                  -0x401,
                                  2049,
                                  2051,
                                  4098};
  static const double parts[] = {0.0,
                                 -0.0,
                                 0.5,
                                 -0.5,
                                 1.5,
                                 2.5,
                                 -1.5,
                                 -2.5,
                                 127.5,
                                 -128.5,
                                 255.5,
                                 254.5,
                                 32767.5,
                                 65535.5,
                                 65504,
                                 65519.9,
                                 2147483647.5,
                                 4294967295.5,
                                 -2147483648.5,
                                 0x1p63,
                                 0x1.fffffffffffffp62,
                                 -0x1p63,
                                 0x1p64,
                                 0x1.fffffffffffffp63,
                                 INFINITY,
                                 -INFINITY,
                                 NAN,
                                 0x1p-150,
                                 0x1.8p-150,
                                 0x1p-25,
                                 0x1.8p-25,
                                 0x1p-1074,
                                 0x1.ffffffp127,
                                 0x1.fffffefp127,
                                 1e300,
                                 0x1.fffffcp-127,
                                 0x1.ffep15,
                                 -0.1};
  enum { WHOLE = sizeof whole / sizeof *whole, PARTS = sizeof parts / sizeof *parts };
  uint64_t bits = any_bits();
  if (type < INTEGERS) return row < WHOLE ? (uint64_t)whole[row] : bits >> row % 61;
  double x = row < PARTS ? parts[row] : (double)(int64_t)bits * ldexp(1, -row);
  float f = (float)x;
  cl_uint word;
  memcpy(&word, &f, sizeof word);
  if (type == DOUBLE) memcpy(&bits, &x, sizeof bits);
  if (type == FLOAT && row % 3) bits = word;
  return bits; // of half: any
}

// ---- the kernels --------------------------------------------------------------------------------

static void write_source(int from, char *out, size_t room) {
  size_t size = (size_t)snprintf(out, room,
                                 "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
                                 "kernel void k(global const %s *x, global ulong *o) {\n"
                                 "  size_t i = get_global_id(0);\n",
                                 types[from].name);
  for (int c = 0; c < column_count; c++)
    size += (size_t)snprintf(out + size, room - size,
                             "  o[i * %d + %d] = as_%s(convert_%s%s%s(x[i]));\n", column_count, c,
                             types[columns[c].to].bits, types[columns[c].to].name,
                             columns[c].is_saturated ? "_sat" : "", modes[columns[c].mode]);
  assert_true(size + 2 < room);
  strcpy(out + size, "}\n");
}

static bool is_same(int to, long double a, long double b) {
  if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
  return a == b && (to < INTEGERS || a != 0 || signbit(a) == signbit(b));
}

static void compare(int from, const char *in, const uint64_t *out) {
  for (int row = 0; row < ROWS; row++) {
    uint64_t bits = 0;
    memcpy(&bits, in + (size_t)row * types[from].bytes, types[from].bytes);
    long double x = number_of(from, bits), expected;
    for (int c = 0; c < column_count; c++) {
      if (!expected_of(from, x, columns[c], &expected)) continue;
      long double got = number_of(columns[c].to, out[row * column_count + c]);
      if (!is_same(columns[c].to, got, expected))
        fail_msg("convert_%s%s%s of %s %La is %La, not %La", types[columns[c].to].name,
                 columns[c].is_saturated ? "_sat" : "", modes[columns[c].mode], types[from].name, x,
                 got, expected);
    }
  }
}

static void every_pair_is_exact(void **state) {
  (void)state;
  static char source[1 << 14], in[ROWS * 8];
  static uint64_t out[ROWS * MOST_COLUMNS];
  icd i = icd_begin(NULL, 0);
  list_columns();
  for (int from = 0; from < TYPES; from++) {
    for (int row = 0; row < ROWS; row++) {
      uint64_t bits = input_of(from, row);
      memcpy(in + (size_t)row * types[from].bytes, &bits, types[from].bytes);
    }
    write_source(from, source, sizeof source);
    i.program = icd_build(&i, source, NULL);
    cl_kernel kernel = icd_kernel(&i, "k");
    cl_mem x = icd_buffer(&i, ROWS * types[from].bytes, in), o = icd_buffer(&i, sizeof out, NULL);
    OK(clSetKernelArg(kernel, 0, sizeof x, &x));
    OK(clSetKernelArg(kernel, 1, sizeof o, &o));
    icd_run(&i, kernel, ROWS);
    icd_read(&i, o, sizeof out, out);
    compare(from, in, out);
    OK(clReleaseKernel(kernel));
    OK(clReleaseMemObject(x));
    OK(clReleaseMemObject(o));
    OK(clReleaseProgram(i.program));
    i.program = NULL;
  }
  icd_end(&i);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_pair_is_exact)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
