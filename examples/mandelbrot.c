// SPDX-License-Identifier: MIT
//
// Runs mandelbrot.vyre and draws what it counted: colours on a terminal, two points in each
// character cell, or plain characters anywhere else.
//   mandelbrot FILE [WIDTH [HEIGHT]]
#include <vyre/vyre.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 200 };

typedef struct image {
  uint32_t width, height;
  uint32_t *counts;
} image;

static int fail(const vyre_error *error) {
  fprintf(stderr, "mandelbrot: %s\n%s\n", error->message, error->excerpt);
  return 1;
}

static int compute(const char *text, size_t size, const char *name, image *m) {
  vyre_error error;
  vyre_program *program;
  vyre_executable *executable;
  vyre_report report = {0};
  if (vyre_program_parse(text, size, name, &program, &error)) return fail(&error);
  vyre_status status = vyre_compile(program, "cpu", NULL, &executable, &error);
  vyre_program_release(program); // the executable keeps it
  if (status) return fail(&error);
  vyre_scalar params[] = {vyre_scalar_u32(m->width), vyre_scalar_u32(m->height),
                          vyre_scalar_u32(STEPS)};
  vyre_span span = {m->counts, (size_t)m->width * m->height * sizeof *m->counts};
  vyre_dispatch_args args = {
      .params = params, .param_count = 3, .buffers = &span, .buffer_count = 1};
  status = vyre_dispatch(executable, &args, &report, &error);
  vyre_executable_release(executable);
  if (status) return fail(&error);
  printf("%u x %u points, up to %d steps each: %.1f million operations in %.0f ms\n", m->width,
         m->height, STEPS, (double)report.operations / 1e6, (double)report.wall_ns / 1e6);
  return 0;
}

// From black through blue and gold to white: the 6 x 6 x 6 colours that every terminal has.
static int color_of(uint32_t count) {
  static const unsigned char ramp[] = {17,  18,  19,  20,  26,  32,  38,  44,  80,  116,
                                       152, 188, 224, 223, 222, 221, 220, 214, 208, 202};
  return count >= STEPS ? 16 : ramp[count % sizeof ramp];
}

static void draw_colors(const image *m) {
  for (uint32_t y = 0; y + 1 < m->height; y += 2) {
    for (uint32_t x = 0; x < m->width; x++)
      printf("\033[38;5;%dm\033[48;5;%dm\u2580", color_of(m->counts[y * m->width + x]),
             color_of(m->counts[(y + 1) * m->width + x]));
    puts("\033[0m");
  }
}

static void draw_characters(const image *m) {
  static const char ramp[] = " .,:;-=+*oxO%#&@";
  for (uint32_t y = 0; y + 1 < m->height; y += 2) {
    for (uint32_t x = 0; x < m->width; x++) {
      uint32_t count = m->counts[y * m->width + x];
      putchar(count >= STEPS ? ' ' : ramp[1 + count % (sizeof ramp - 2)]);
    }
    putchar('\n');
  }
}

int main(int argc, char **argv) {
  static char text[1 << 16];
  image m = {argc > 2 ? (uint32_t)atoi(argv[2]) : 100, argc > 3 ? (uint32_t)atoi(argv[3]) : 64,
             NULL};
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
  if (!file || m.width < 1 || m.width > 1000 || m.height < 1 || m.height > 1000) {
    fprintf(stderr, "usage: mandelbrot mandelbrot.vyre [WIDTH [HEIGHT]], each up to 1000\n");
    return 2;
  }
  size_t size = fread(text, 1, sizeof text, file);
  fclose(file);
  m.counts = calloc((size_t)m.width * m.height, sizeof *m.counts);
  int status = m.counts ? compute(text, size, argv[1], &m) : 1;
  const char *no_color = getenv("NO_COLOR");
  if (!status && isatty(STDOUT_FILENO) && !(no_color && *no_color))
    draw_colors(&m);
  else if (!status)
    draw_characters(&m);
  free(m.counts);
  return status;
}
