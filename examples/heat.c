// SPDX-License-Identifier: MIT
//
// The heat equation through the runtime: two buffers that the runtime owns change places with each
// step, and stay on whichever device was chosen until they are read.
//   cc heat.c $(pkg-config --cflags --libs vyre) && ./a.out
#include <vyre/vyre.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 128, HEIGHT = 96, STEPS = 200 };

static const char source[] =
    "program heat_step(width: u32, height: u32, rate: f32)\n"
    "buffer now: f32[width * height] read\n"
    "buffer next: f32[width * height] write\n"
    "region step grid(width, height) {\n"
    "  let x = global_id.x\n"
    "  let y = global_id.y\n"
    "  let i = y * width + x\n"
    "  let is_rim = x == 0 || y == 0 || x == width - 1 || y == height - 1\n"
    "  if is_rim {\n"
    "    next[i] = now[i]\n" // the rim keeps its temperature
    "  } else {\n"
    "    let flow = now[i - 1] + now[i + 1] + now[i - width] + now[i + width] - 4.0 * now[i]\n"
    "    next[i] = now[i] + rate * flow\n"
    "  }\n"
    "}\n";

static vyre_error error;

static void must(vyre_status status) {
  if (status == VYRE_OK) return;
  fprintf(stderr, "heat: %s\n%s\n", error.message, error.excerpt);
  exit(1);
}

// The same in C, to compare with: bit for bit, because nothing is contracted or reordered.
static void step(const float *now, float *next, float rate) {
  memcpy(next, now, sizeof(float) * WIDTH * HEIGHT);
  for (int y = 1; y < HEIGHT - 1; y++)
    for (int x = 1; x < WIDTH - 1; x++) {
      int i = y * WIDTH + x;
      float flow = now[i - 1] + now[i + 1];
      flow = flow + now[i - WIDTH];
      flow = flow + now[i + WIDTH];
      flow = flow - 4.0f * now[i];
      next[i] = now[i] + rate * flow;
    }
}

int main(void) {
  static float plate[WIDTH * HEIGHT], other[WIDTH * HEIGHT], result[WIDTH * HEIGHT];
  const float rate = 0.2f;
  for (int x = 0; x < WIDTH; x++) plate[x] = 100; // the upper rim is hot

  vyre_runtime *runtime;
  vyre_program *program;
  vyre_kernel *kernel;
  must(vyre_runtime_new(NULL, &runtime, &error));
  must(vyre_program_parse(source, sizeof source - 1, "heat", &program, &error));
  must(vyre_runtime_load(runtime, program, &kernel, &error));

  vyre_buffer *buffers[2];
  for (int k = 0; k < 2; k++) must(vyre_buffer_new(runtime, sizeof plate, &buffers[k], &error));
  must(vyre_buffer_write(buffers[0], 0, plate, sizeof plate, &error));

  vyre_scalar params[] = {vyre_scalar_u32(WIDTH), vyre_scalar_u32(HEIGHT), vyre_scalar_f32(rate)};
  for (int n = 0; n < STEPS; n++) {
    vyre_buffer *handles[] = {buffers[n % 2], buffers[(n + 1) % 2]};
    vyre_dispatch_args args = {
        .params = params, .param_count = 3, .handles = handles, .buffer_count = 2};
    must(vyre_kernel_dispatch(kernel, &args, NULL, &error));
  }
  must(vyre_buffer_read(buffers[STEPS % 2], 0, result, sizeof result, &error));

  for (int n = 0; n < STEPS; n++) {
    step(plate, other, rate);
    memcpy(plate, other, sizeof plate);
  }
  int wrong = 0;
  for (int i = 0; i < WIDTH * HEIGHT; i++) wrong += memcmp(&plate[i], &result[i], 4) != 0;
  printf("after %d steps: %.4f in the middle of the second row, %d wrong\n", STEPS,
         result[WIDTH + WIDTH / 2], wrong);

  for (int k = 0; k < 2; k++) vyre_buffer_free(buffers[k]);
  vyre_kernel_free(kernel);
  vyre_program_release(program);
  vyre_runtime_free(runtime);
  return wrong != 0;
}
