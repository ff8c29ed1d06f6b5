// SPDX-License-Identifier: MIT
//
// Scalars of every type at the edges (tests/scalars.txt) through clSetKernelArg: each arrives with
// its bits, alone and as a part of a vector, whatever stands beside it; a size that is not the
// type's is refused, and leaves what was set before.
#include "../icd.h"
#include "../scalars.h"

// OpenCL C has neither bool nor, here, half as an argument.
static const struct {
  vyre_type type;
  const char *name;
} kinds[] = {{VYRE_F64, "double"}, {VYRE_I8, "char"},  {VYRE_U64, "ulong"}, {VYRE_U16, "ushort"},
             {VYRE_I64, "long"},   {VYRE_U8, "uchar"}, {VYRE_F32, "float"}, {VYRE_I16, "short"},
             {VYRE_U32, "uint"},   {VYRE_I32, "int"}};
enum { KINDS = sizeof kinds / sizeof *kinds, WIDEST = 16, VECTOR = 4 };

// One kernel with all of them, and for each type one with a vector between two scalars.
static char *source_of(void) {
  static char text[1 << 13];
  size_t size = (size_t)snprintf(text, sizeof text, "kernel void all(");
  for (int k = 0; k < KINDS; k++)
    size += (size_t)snprintf(text + size, sizeof text - size, "%s p%d, global %s *o%d%s",
                             kinds[k].name, k, kinds[k].name, k, k + 1 < KINDS ? ", " : ") {\n");
  for (int k = 0; k < KINDS; k++)
    size += (size_t)snprintf(text + size, sizeof text - size, "  o%d[0] = p%d;\n", k, k);
  size += (size_t)snprintf(text + size, sizeof text - size, "}\n");
  for (int k = 0; k < KINDS; k++)
    size += (size_t)snprintf(text + size, sizeof text - size,
                             "kernel void v%d(char before, %s4 p, uchar behind, global %s4 *o,\n"
                             "                global int *beside) {\n"
                             "  o[0] = p;\n"
                             "  beside[0] = before * 1000 + behind;\n"
                             "}\n",
                             k, kinds[k].name, kinds[k].name);
  assert_true(size < sizeof text);
  return text;
}

static void all_at_once(const icd *i, const scalar_rows *all) {
  cl_kernel k = icd_kernel(i, "all");
  cl_mem o[KINDS];
  for (cl_uint n = 0; n < KINDS; n++) {
    o[n] = icd_buffer(i, vyre_type_size(kinds[n].type), NULL);
    OK(clSetKernelArg(k, 2 * n + 1, sizeof o[n], &o[n]));
  }
  for (uint32_t step = 0; step < all->steps; step++) {
    for (cl_uint n = 0; n < KINDS; n++) {
      uint64_t bits = scalars_bits(scalars_at(all, kinds[n].type, step)), other = ~bits;
      size_t size = vyre_type_size(kinds[n].type);
      OK(clSetKernelArg(k, 2 * n, size, &bits));
      FAILS(CL_INVALID_ARG_SIZE, clSetKernelArg(k, 2 * n, size - 1, &other));
      FAILS(CL_INVALID_ARG_SIZE, clSetKernelArg(k, 2 * n, size + 1, &other));
      FAILS(CL_INVALID_ARG_SIZE, clSetKernelArg(k, 2 * n, 0, &other));
      FAILS(CL_INVALID_ARG_VALUE, clSetKernelArg(k, 2 * n, size, NULL));
    }
    icd_run(i, k, 1);
    for (cl_uint n = 0; n < KINDS; n++) {
      uint64_t got = 0;
      const scalar_row *r = scalars_at(all, kinds[n].type, step);
      icd_read(i, o[n], vyre_type_size(r->type), &got);
      if (!scalars_match(r, &got)) fail_msg("%s %s", kinds[n].name, r->text);
    }
  }
  for (int n = 0; n < KINDS; n++) OK(clReleaseMemObject(o[n]));
  OK(clReleaseKernel(k));
}

static void as_parts(const icd *i, const scalar_rows *all, int kind) {
  char name[8];
  snprintf(name, sizeof name, "v%d", kind);
  cl_kernel k = icd_kernel(i, name);
  size_t size = vyre_type_size(kinds[kind].type);
  cl_mem o = icd_buffer(i, VECTOR * size, NULL), beside = icd_buffer(i, 4, NULL);
  cl_char before = -128;
  cl_uchar behind = 255;
  OK(clSetKernelArg(k, 0, 1, &before));
  OK(clSetKernelArg(k, 2, 1, &behind));
  OK(clSetKernelArg(k, 3, sizeof o, &o));
  OK(clSetKernelArg(k, 4, sizeof beside, &beside));
  for (uint32_t step = 0; step < all->steps; step += VECTOR) {
    unsigned char parts[VECTOR * 8], got[VECTOR * 8];
    for (uint32_t n = 0; n < VECTOR; n++) {
      uint64_t bits = scalars_bits(scalars_at(all, kinds[kind].type, step + n));
      memcpy(parts + n * size, &bits, size);
    }
    OK(clSetKernelArg(k, 1, VECTOR * size, parts));
    FAILS(CL_INVALID_ARG_SIZE, clSetKernelArg(k, 1, 3 * size, parts));
    icd_run(i, k, 1);
    icd_read(i, o, VECTOR * size, got);
    for (uint32_t n = 0; n < VECTOR; n++) {
      const scalar_row *r = scalars_at(all, kinds[kind].type, step + n);
      if (!scalars_match(r, got + n * size))
        fail_msg("part %u of a %s4: %s", n, kinds[kind].name, r->text);
    }
    cl_int sum = 0;
    icd_read(i, beside, 4, &sum);
    assert_int_equal(sum, -128 * 1000 + 255);
  }
  OK(clReleaseMemObject(o));
  OK(clReleaseMemObject(beside));
  OK(clReleaseKernel(k));
}

static void scalars_arrive(void **state) {
  (void)state;
  static scalar_rows all;
  scalars_read(&all);
  icd i = icd_begin(source_of(), 0);
  all_at_once(&i, &all);
  for (int kind = 0; kind < KINDS; kind++) as_parts(&i, &all, kind);
  icd_end(&i);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(scalars_arrive)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
