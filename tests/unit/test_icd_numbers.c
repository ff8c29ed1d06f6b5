// SPDX-License-Identifier: MIT
//
// What built-in functions answer at the ends of their ranges, as the specification of OpenCL C says
// it, number for number. Each row is an expression of x and y, which are arguments.
#include "../icd.h"

#include <math.h>

typedef struct number_row {
  const char *type, *made; // of x and y; an expression
  double x, y, expected;
} number_row;

// remquo and lgamma_r through a pointer; the sign and the lower bits of a quotient are of interest.
static const char helpers[] = "int quotient(double x, double y) {\n"
                              "  int q;\n"
                              "  remquo(x, y, &q);\n"
                              "  return q;\n"
                              "}\n"
                              "int gamma_sign(double x) {\n"
                              "  int s;\n"
                              "  lgamma_r(x, &s);\n"
                              "  return s;\n"
                              "}\n"
                              "int gamma_sign_f(float x) {\n"
                              "  int s;\n"
                              "  lgamma_r(x, &s);\n"
                              "  return s;\n"
                              "}\n";

static const number_row rows[] = {
    // the nearest float does not fit the integers' type
    {"int", "convert_float_rtz(x)", 2147483647, 0, 2147483520},
    {"int", "convert_float_rtn(x)", 2147483647, 0, 2147483520},
    {"int", "convert_float_rtp(x)", 2147483647, 0, 2147483648},
    {"int", "convert_float_rtz(-x)", 2147483647, 0, -2147483520},
    {"uint", "convert_float_rtz(x)", 4294967295, 0, 4294967040},
    {"uint", "convert_float_rtn(x)", 4294967295, 0, 4294967040},
    {"uint", "convert_float_rte(x)", 4294967295, 0, 4294967296},
    // quotients whose dividend is near the end of the range
    {"double", "quotient(x, y)", 0x1.fffffffffffffp1023, 0x1p1023, 2},
    {"double", "quotient(x, y)", -0x1.fffffffffffffp1023, 0x1p1023, -2},
    {"double", "quotient(x, y)", 0x1.fffffffffffffp1023, 0x1.fffffffffffffp1023, 1},
    {"double", "quotient(x, y)", 0x1.fffffffffffffp1023, 3, 43},
    {"double", "quotient(x, y)", 0x3p-1074, 0x1p-1074, 3},
    {"double", "quotient(x, y)", 0x1p-1074, 2, 0},
    // lengths whose squares leave the range
    {"float", "length((float2)(x, y))", 0x1.8p126, 0x1p127, 0x1.4p127},
    {"float", "length((float4)(x, y, 0, 0))", 0x3p-149, 0x1p-147, 0x5p-149},
    {"float", "length((float3)(x, 0, INFINITY))", 1, 0, INFINITY},
    {"float", "distance((float2)(x, 0), (float2)(0, y))", -0x3p70, 0x1p72, 0x5p70},
    {"float", "normalize((float2)(x, y)).x", 0x3p-100, 0x1p-98, 0x1.333334p-1},
    {"float", "normalize((float3)(x, y, 0)).y", 0x3p100, 0x1p102, 0x1.99999ap-1},
    {"float", "normalize((float4)(x, y, 0, 0)).y", 0, 0, 0},
    {"double", "length((double2)(x, y))", 0x1.8p1022, 0x1p1023, 0x1.4p1023},
    {"double", "length((double3)(x, 0, y))", 0x3p-1074, 0x1p-1072, 0x5p-1074},
    {"double", "normalize((double2)(x, y)).x", 0x3p-600, 0x1p-598, 0x1.3333333333333p-1},
    // at its poles gamma has no sign
    {"double", "gamma_sign(x)", -2, 0, 0},
    {"double", "gamma_sign(x)", -3, 0, 0},
    {"double", "gamma_sign(x)", 0, 0, 0},
    {"double", "gamma_sign(x)", -0.0, 0, 0},
    {"double", "gamma_sign(x)", -0.5, 0, -1},
    {"double", "gamma_sign(x)", -1.5, 0, 1},
    {"double", "gamma_sign(x)", 2.5, 0, 1},
    {"double", "gamma_sign(x)", -INFINITY, 0, 1},
    // where gamma of the positive number is infinite, its reflection is small, and not yet zero
    {"double", "tgamma(x) * 0x1p1000 > 0x1p-32 && tgamma(x) * 0x1p1000 < 0x1p-30",
     -0x1.5773ea2a2d8dep+7, 0, 1},
    {"double", "tgamma(x)", -185.5, 0, 0},
    {"float", "gamma_sign_f(x)", -7, 0, 0},
    {"float", "gamma_sign_f(x)", -7.5f, 0, 1},
};
enum { ROWS = sizeof rows / sizeof *rows };

static void ends_of_ranges(void **state) {
  (void)state;
  static char source[1 << 15];
  size_t size = (size_t)snprintf(source, sizeof source, "%s", helpers);
  for (int r = 0; r < ROWS; r++)
    size += (size_t)snprintf(source + size, sizeof source - size,
                             "kernel void row%d(double a, double b, global double *o) {\n"
                             "  %s x = a, y = b;\n"
                             "  o[get_global_id(0)] = %s + 0 * y;\n"
                             "}\n",
                             r, rows[r].type, rows[r].made);
  assert_true(size < sizeof source);
  icd i = icd_begin(source, 0);
  cl_mem o = icd_buffer(&i, 8, NULL);
  for (int r = 0; r < ROWS; r++) {
    char name[16];
    snprintf(name, sizeof name, "row%d", r);
    cl_kernel k = icd_kernel(&i, name);
    OK(clSetKernelArg(k, 0, 8, &rows[r].x));
    OK(clSetKernelArg(k, 1, 8, &rows[r].y));
    OK(clSetKernelArg(k, 2, sizeof o, &o));
    icd_run(&i, k, 1);
    double got = -99;
    icd_read(&i, o, 8, &got);
    if (got != rows[r].expected)
      fail_msg("%s of %a and %a is %.17g", rows[r].made, rows[r].x, rows[r].y, got);
    OK(clReleaseKernel(k));
  }
  OK(clReleaseMemObject(o));
  icd_end(&i);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(ends_of_ranges)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
