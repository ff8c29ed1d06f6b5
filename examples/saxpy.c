// SPDX-License-Identifier: MIT
//
// The whole life of a program: parse, compile, dispatch, look at the result, release.
//   cc saxpy.c $(pkg-config --cflags --libs vyre)
#include <vyre/vyre.h>

#include <stdio.h>
#include <string.h>

static const char source[] = "program saxpy(a: f32)\n"
                             "buffer x: f32[] read\n"
                             "buffer y: f32[len(x)] readwrite\n"
                             "region main grid(len(x)) {\n"
                             "  let i = global_id.x\n"
                             "  y[i] = a * x[i] + y[i]\n"
                             "}\n";

static int fail(const vyre_error *error) {
  fprintf(stderr, "saxpy: %s\n%s\n", error->message, error->excerpt);
  return 1;
}

int main(void) {
  enum { N = 1000 };
  float x[N], y[N];
  for (int i = 0; i < N; i++) x[i] = (float)i, y[i] = 1;

  vyre_error error;
  vyre_program *program;
  if (vyre_program_parse(source, strlen(source), "saxpy", &program, &error)) return fail(&error);

  vyre_executable *executable;
  if (vyre_compile(program, "cpu", NULL, &executable, &error)) return fail(&error);

  vyre_scalar params[] = {vyre_scalar_f32(2)};
  vyre_span buffers[] = {{x, sizeof x}, {y, sizeof y}}; // borrowed, nothing is copied
  vyre_dispatch_args args = {
      .params = params, .param_count = 1, .buffers = buffers, .buffer_count = 2};
  vyre_report report = {0};
  if (vyre_dispatch(executable, &args, &report, &error)) return fail(&error);

  int wrong = 0;
  for (int i = 0; i < N; i++) wrong += y[i] != 2 * (float)i + 1;
  printf("2 * x + 1 = %g %g %g ... %g: %d elements in %.1f us, %d wrong\n", y[0], y[1], y[2],
         y[N - 1], N, (double)report.wall_ns / 1e3, wrong);

  vyre_executable_release(executable);
  vyre_program_release(program);
  return wrong != 0;
}
