// SPDX-License-Identifier: MIT
//
// Kernels with images for unit tests: makes a program of a source, binds what it has by name, and
// runs it on the interpreter and on the CPU, which must agree. Include it behind cmocka.h.
#ifndef VYRE_TESTS_IMAGE_RUN_H
#define VYRE_TESTS_IMAGE_RUN_H

#include <vyre/vyre.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct bound_size { // a parameter of the program; grid_x is the only one of its own
  const char *name;
  uint32_t value;
} bound_size;

typedef struct bound_data { // a buffer; what it holds after the run on the CPU is left in it
  const char *name;
  void *data;
  size_t size;
} bound_data;

static vyre_program *make_image_program(const char *text, const vyre_source_format *formats,
                                        uint32_t format_count) {
  vyre_source_options options = {.formats = formats, .format_count = format_count};
  vyre_program *program = NULL;
  vyre_error error = {0};
  vyre_program_from("opencl", text, strlen(text), "test.cl", &options, &program, &error);
  if (strstr(error.message, "libvyre-clang")) {
    print_message("%s\n", error.message);
    skip();
  }
  if (!program) fail_msg("%u:%u: %s", error.line, error.column, error.message);
  return program;
}

static vyre_scalar find_size(const bound_size *sizes, const char *name) {
  while (sizes->name && strcmp(sizes->name, name)) sizes++;
  if (!sizes->name) fail_msg("no value for %s", name);
  return (vyre_scalar){VYRE_U32, sizes->value};
}

static bound_data *find_data(bound_data *all, const char *name) {
  while (all->name && strcmp(all->name, name)) all++;
  if (!all->name) fail_msg("no data for %s", name);
  return all;
}

// The tables end with a row without a name.
static void run_image_program(vyre_program *program, const char *backend, const bound_size *sizes,
                              bound_data *data) {
  enum { MOST = 128 };
  vyre_scalar params[MOST];
  vyre_span spans[MOST];
  uint32_t param_count = vyre_program_param_count(program);
  uint32_t buffer_count = vyre_program_buffer_count(program);
  assert_true(param_count <= MOST && buffer_count <= MOST);
  for (uint32_t i = 0; i < param_count; i++)
    params[i] = find_size(sizes, vyre_program_param(program, i).name);
  for (uint32_t i = 0; i < buffer_count; i++) {
    const bound_data *one = find_data(data, vyre_program_buffer(program, i).name);
    spans[i] = (vyre_span){one->data, one->size};
  }
  vyre_executable *executable = NULL;
  vyre_error error = {0};
  vyre_dispatch_args args = {
      .params = params, .param_count = param_count, .buffers = spans, .buffer_count = buffer_count};
  if (vyre_compile(program, backend, NULL, &executable, &error) ||
      vyre_dispatch(executable, &args, NULL, &error))
    fail_msg("%s: %s", backend, error.message);
  vyre_executable_release(executable);
}

// Two NaNs are the same.
static bool is_same_data(const bound_data *a, const bound_data *b, vyre_type type) {
  const float *x = a->data, *y = b->data;
  if (type != VYRE_F32) return !memcmp(x, y, a->size);
  for (size_t i = 0; i < a->size / sizeof *x; i++)
    if (memcmp(&x[i], &y[i], sizeof *x) && (x[i] == x[i] || y[i] == y[i])) return false;
  return true;
}

static void run_image_kernel(const char *text, const vyre_source_format *formats,
                             uint32_t format_count, const bound_size *sizes, bound_data *data) {
  vyre_program *program = make_image_program(text, formats, format_count);
  bound_data copy[128] = {{0}};
  uint32_t count = 0;
  for (; data[count].name; count++) {
    copy[count] = data[count];
    copy[count].data = malloc(data[count].size + 1);
    memcpy(copy[count].data, data[count].data, data[count].size);
  }
  run_image_program(program, "ref", sizes, copy);
  run_image_program(program, "cpu", sizes, data);
  for (uint32_t i = 0; i < vyre_program_buffer_count(program); i++) {
    vyre_buffer_info info = vyre_program_buffer(program, i);
    if (!is_same_data(find_data(copy, info.name), find_data(data, info.name), info.type))
      fail_msg("cpu differs: %s", info.name);
  }
  for (uint32_t i = 0; i < count; i++) free(copy[i].data);
  vyre_program_release(program);
}

#endif
