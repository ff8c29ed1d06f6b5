// SPDX-License-Identifier: MIT
//
// How fast programs are read, written and checked: text parse and print, wire decode and encode,
// verification and fingerprint at 10^3 to 10^6 operations, beside memcpy of the same bytes; and the
// reference interpreter. Every round runs all measures in turn, so that a disturbance hits them
// all; the median of the rounds counts. Bars: wire decode at least 5 times faster per operation
// than text parse, and no measure's time per operation more than doubles from 10^3 to 10^6
// operations.
//
//   bench_ir [--json] [--rounds N] [--most OPERATIONS]
#include "base/clock.h"
#include "ir/verify.h"
#include "ir/wire.h"

#include <jansson.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void stop(const char *what, const vyre_error *error) {
  fprintf(stderr, "bench_ir: %s: %s %s\n", what, error->code, error->message);
  exit(3);
}

// ---- the program --------------------------------------------------------------------------------

typedef struct maker {
  vyre_builder *b;
  uint64_t random;
  vyre_mem x, y;
  vyre_value i, n, scale, limit;
} maker;

static uint32_t below(maker *m, uint32_t limit) {
  m->random = m->random * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((m->random >> 33) % limit);
}

static vyre_value named(maker *m, vyre_value v, const char *name) {
  vyre_build_name(m->b, v, name);
  return v;
}

static vyre_value binary(maker *m, vyre_op op, vyre_value x, vyre_value y) {
  return vyre_build_binary(m->b, op, x, y);
}

// 25 operations in the manner of a hand-written kernel: addresses, loads, a loop with a variable
// and a condition, a store; a third of them named, constants repeated and new ones.
static void make_unit(maker *m) {
  vyre_builder *b = m->b;
  vyre_value row = binary(m, VYRE_OP_ADD, binary(m, VYRE_OP_MUL, m->i, m->n),
                          vyre_build_u32(b, below(m, 20000)));
  named(m, row, "row");
  vyre_value left = named(m, vyre_build_load(b, m->x, row), "left");
  vyre_value next = binary(m, VYRE_OP_ADD, row, vyre_build_u32(b, 1));
  vyre_value right = named(m, vyre_build_load(b, m->y, next), "right");
  vyre_var acc = vyre_build_var(b, "acc", binary(m, VYRE_OP_MUL, left, m->scale));
  vyre_value k = vyre_build_for(b, vyre_build_u32(b, 0), vyre_build_u32(b, 4 + below(m, 60)), 0);
  named(m, k, "k");
  vyre_value half = vyre_build_f32(b, (float)below(m, 5000) / 256.0f);
  vyre_value w = binary(m, VYRE_OP_MUL, vyre_build_convert(b, VYRE_F32, k), half);
  named(m, w, "weight");
  vyre_build_set(b, acc, vyre_build_fma(b, w, right, vyre_build_get(b, acc)));
  vyre_build_if(b, binary(m, VYRE_OP_GT, vyre_build_get(b, acc), m->limit));
  vyre_build_set(b, acc, binary(m, VYRE_OP_SUB, vyre_build_get(b, acc), left));
  vyre_build_end(b);
  vyre_build_end(b);
  vyre_value size = vyre_build_unary(b, VYRE_OP_ABS, vyre_build_get(b, acc));
  vyre_value out = named(m, vyre_build_unary(b, VYRE_OP_SQRT, size), "result");
  vyre_build_store(b, m->y, row, out);
}

enum { UNIT = 25, UNITS_PER_REGION = 20 };

static void make_region(maker *m, uint32_t number, uint32_t units) {
  char name[32];
  snprintf(name, sizeof name, "stage_%u", number);
  vyre_build_region_begin(m->b, name);
  vyre_build_grid(m->b, 1, (vyre_value[]){vyre_build_len(m->b, m->x)}, (uint32_t[]){64, 1, 1});
  m->i = named(m, vyre_build_id(m->b, VYRE_OP_GLOBAL_ID, 0), "i");
  m->n = vyre_build_param_value(m->b, 0);
  m->scale = vyre_build_param_value(m->b, 1);
  m->limit = named(m, binary(m, VYRE_OP_MUL, m->scale, vyre_build_f32(m->b, 100.0f)), "limit");
  for (uint32_t u = 0; u < units; u++) make_unit(m);
  vyre_build_region_end(m->b);
}

static vyre_program *make_program(uint32_t operations) {
  maker m = {.b = vyre_builder_new("bench"), .random = 1};
  vyre_build_param(m.b, "n", VYRE_U32);
  vyre_build_param(m.b, "scale", VYRE_F32);
  m.x = vyre_build_buffer(m.b, "x", VYRE_F32, VYRE_READ, 0);
  m.y = vyre_build_buffer(m.b, "y", VYRE_F32, VYRE_READWRITE, 0);
  uint32_t units = operations / UNIT;
  for (uint32_t r = 0; units > 0; r++) {
    uint32_t now = units < 2 * UNITS_PER_REGION ? units : UNITS_PER_REGION;
    make_region(&m, r, now);
    units -= now;
  }
  vyre_program *p = NULL;
  vyre_error error;
  if (vyre_builder_finish(m.b, &p, &error) != VYRE_OK) stop("the program", &error);
  vyre_builder_free(m.b);
  return p;
}

// ---- measures -----------------------------------------------------------------------------------

typedef struct subject {
  vyre_program *program;
  char *text;
  void *wire;
  size_t text_size, wire_size, memory_size;
  uint32_t operations;
} subject;

static void run_parse(subject *s) {
  vyre_program *p = NULL;
  vyre_error error;
  if (vyre_program_parse(s->text, s->text_size, "bench", &p, &error) != VYRE_OK)
    stop("parse", &error);
  vyre_program_release(p);
}

static void run_print(subject *s) {
  char *text = NULL;
  size_t size = 0;
  vyre_error error;
  if (vyre_program_print(s->program, &text, &size, &error) != VYRE_OK) stop("print", &error);
  vyre_free(text);
}

static void run_decode(subject *s) {
  vyre_program *p = NULL;
  vyre_error error;
  if (vyre_program_decode(s->wire, s->wire_size, &p, &error) != VYRE_OK) stop("decode", &error);
  vyre_program_release(p);
}

static void run_encode(subject *s) {
  void *wire = NULL;
  size_t size = 0;
  vyre_error error;
  if (vyre_program_encode(s->program, &wire, &size, &error) != VYRE_OK) stop("encode", &error);
  vyre_free(wire);
}

// Linking writes the links that are there already.
static void run_verify(subject *s) {
  uint32_t fault;
  vyre_error error;
  if (verify_link(s->program, &fault, &error) != VYRE_OK ||
      verify_program(s->program, &fault, &error) != VYRE_OK)
    stop("verify", &error);
}

static void run_fingerprint(subject *s) {
  uint8_t hash[HASH_BYTES];
  wire_fingerprint(s->program, hash);
  if (memcmp(hash, program_fingerprint(s->program), HASH_BYTES) != 0) {
    fprintf(stderr, "bench_ir: the fingerprint is not the same twice\n");
    exit(3);
  }
}

typedef enum bytes_of { OF_TEXT, OF_WIRE, OF_MEMORY } bytes_of;

static const struct measure {
  const char *name;
  void (*run)(subject *);
  bytes_of bytes;
} measures[] = {
    {"text parse", run_parse, OF_TEXT},   {"text print", run_print, OF_TEXT},
    {"wire decode", run_decode, OF_WIRE}, {"wire encode", run_encode, OF_WIRE},
    {"verify", run_verify, OF_MEMORY},    {"fingerprint", run_fingerprint, OF_WIRE},
};
enum {
  PARSE = 0,
  DECODE = 2,
  MEASURES = sizeof measures / sizeof *measures,
  SIZES = 4,
  ROUNDS = 99
};

static size_t bytes_of_measure(const subject *s, int measure) {
  bytes_of of = measures[measure].bytes;
  return of == OF_TEXT ? s->text_size : of == OF_WIRE ? s->wire_size : s->memory_size;
}

static subject make_subject(uint32_t operations) {
  subject s = {.program = make_program(operations)};
  vyre_error error;
  s.operations = s.program->code_count - 1;
  s.memory_size = s.program->code_count * sizeof(inst) + s.program->const_count * sizeof(constant);
  if (vyre_program_print(s.program, &s.text, &s.text_size, &error) != VYRE_OK)
    stop("print", &error);
  if (vyre_program_encode(s.program, &s.wire, &s.wire_size, &error) != VYRE_OK)
    stop("encode", &error);
  return s;
}

static void free_subject(subject *s) {
  vyre_program_release(s->program);
  vyre_free(s->text);
  vyre_free(s->wire);
}

// ---- timing -------------------------------------------------------------------------------------

enum { SLICE_NS = 4000000 }; // a measure of a round takes at least this long, or one run

static double time_run(void (*run)(subject *), subject *s) {
  uint64_t begin = clock_thread_cpu_ns(), now = begin, count = 0;
  while (count == 0 || now - begin < SLICE_NS) {
    run(s);
    count++;
    now = clock_thread_cpu_ns();
  }
  return (double)(now - begin) / (double)count;
}

// Copies about 4 MiB between two looks at the clock, which takes longer than a small copy.
static double time_memcpy(const subject *s, int measure, char *to, const char *from) {
  size_t size = bytes_of_measure(s, measure);
  uint64_t begin = clock_thread_cpu_ns(), now = begin, count = 0,
           batch = 1 + ((size_t)4 << 20) / size;
  while (count == 0 || now - begin < SLICE_NS / 8) {
    for (uint64_t i = 0; i < batch; i++) {
      memcpy(to, from, size);
      __asm__ volatile("" : : "r"(to) : "memory");
    }
    count += batch;
    now = clock_thread_cpu_ns();
  }
  return (double)(now - begin) / (double)count;
}

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *times, int count) {
  qsort(times, (size_t)count, sizeof *times, compare_doubles);
  return times[count / 2];
}

typedef struct figures { // of one measure at one size
  uint32_t operations;
  double ns_per_op, bytes_per_op, memcpy_ratio;
} figures;

static void measure_size(uint32_t operations, int rounds, figures out[MEASURES]) {
  subject s = make_subject(operations);
  double times[MEASURES][ROUNDS], copies[MEASURES][ROUNDS];
  size_t most = s.text_size > s.memory_size ? s.text_size : s.memory_size;
  char *from = calloc(most, 1), *to = calloc(most, 1);
  if (!from || !to) exit(3);
  memset(from, 1, most);
  memset(to, 1, most);
  for (int r = 0; r < rounds; r++)
    for (int m = 0; m < MEASURES; m++) {
      times[m][r] = time_run(measures[m].run, &s);
      copies[m][r] = time_memcpy(&s, m, to, from);
    }
  for (int m = 0; m < MEASURES; m++) {
    double ns = median(times[m], rounds);
    out[m] =
        (figures){s.operations, ns / s.operations, (double)bytes_of_measure(&s, m) / s.operations,
                  ns / median(copies[m], rounds)};
  }
  free(from);
  free(to);
  free_subject(&s);
}

// ---- the interpreter ----------------------------------------------------------------------------

// Mandelbrot: escape counts of 64 x 64 points, at most 200 steps each.
static vyre_program *make_mandelbrot(void) {
  vyre_builder *b = vyre_builder_new("mandelbrot");
  vyre_mem out = vyre_build_buffer(b, "out", VYRE_U32, VYRE_WRITE, 0);
  vyre_build_region_begin(b, "main");
  vyre_value side = vyre_build_u32(b, 64), zero = vyre_build_f32(b, 0.0f);
  vyre_build_grid(b, 2, (vyre_value[]){side, side}, (uint32_t[]){8, 8, 1});
  vyre_value gx = vyre_build_id(b, VYRE_OP_GLOBAL_ID, 0),
             gy = vyre_build_id(b, VYRE_OP_GLOBAL_ID, 1);
  maker m = {.b = b};
  vyre_value step = vyre_build_f32(b, 3.0f / 64);
  vyre_value fx = vyre_build_convert(b, VYRE_F32, gx), fy = vyre_build_convert(b, VYRE_F32, gy);
  vyre_value cx = binary(&m, VYRE_OP_SUB, binary(&m, VYRE_OP_MUL, fx, step), vyre_build_f32(b, 2));
  vyre_value cy =
      binary(&m, VYRE_OP_SUB, binary(&m, VYRE_OP_MUL, fy, step), vyre_build_f32(b, 1.5f));
  vyre_var x = vyre_build_var(b, "x", zero), y = vyre_build_var(b, "y", zero);
  vyre_var count = vyre_build_var(b, "count", vyre_build_u32(b, 0));
  vyre_build_for(b, vyre_build_u32(b, 0), vyre_build_u32(b, 200), 0);
  vyre_value vx = vyre_build_get(b, x), vy = vyre_build_get(b, y);
  vyre_value xx = binary(&m, VYRE_OP_MUL, vx, vx), yy = binary(&m, VYRE_OP_MUL, vy, vy);
  vyre_build_if(b, binary(&m, VYRE_OP_GT, binary(&m, VYRE_OP_ADD, xx, yy), vyre_build_f32(b, 4)));
  vyre_build_break(b);
  vyre_build_end(b);
  vyre_value xy = binary(&m, VYRE_OP_MUL, vx, vy);
  vyre_build_set(b, y, binary(&m, VYRE_OP_ADD, binary(&m, VYRE_OP_ADD, xy, xy), cy));
  vyre_build_set(b, x, binary(&m, VYRE_OP_ADD, binary(&m, VYRE_OP_SUB, xx, yy), cx));
  vyre_value one = vyre_build_u32(b, 1);
  vyre_build_set(b, count, binary(&m, VYRE_OP_ADD, vyre_build_get(b, count), one));
  vyre_build_end(b);
  vyre_value at = binary(&m, VYRE_OP_ADD, binary(&m, VYRE_OP_MUL, gy, side), gx);
  vyre_build_store(b, out, at, vyre_build_get(b, count));
  vyre_build_region_end(b);
  vyre_program *p = NULL;
  vyre_error error;
  if (vyre_builder_finish(b, &p, &error) != VYRE_OK) stop("mandelbrot", &error);
  vyre_builder_free(b);
  return p;
}

static double interpreter_ns_per_op(int rounds) {
  vyre_program *p = make_mandelbrot();
  vyre_executable *e = NULL;
  vyre_error error;
  if (vyre_compile(p, "ref", NULL, &e, &error) != VYRE_OK) stop("compile", &error);
  uint32_t *out = calloc(64 * 64, sizeof *out);
  vyre_span span = {out, 64 * 64 * sizeof *out};
  double times[ROUNDS];
  for (int r = 0; r < rounds; r++) {
    vyre_dispatch_args args = {.buffer_count = 1, .buffers = &span};
    vyre_report report = {0};
    uint64_t begin = clock_thread_cpu_ns();
    if (vyre_dispatch(e, &args, &report, &error) != VYRE_OK) stop("dispatch", &error);
    times[r] = (double)(clock_thread_cpu_ns() - begin) / (double)report.operations;
  }
  free(out);
  vyre_executable_release(e);
  vyre_program_release(p);
  return median(times, rounds);
}

// ---- report -------------------------------------------------------------------------------------

static double growth(figures f[SIZES][MEASURES], int sizes, int measure) {
  double least = f[0][measure].ns_per_op, most = least;
  for (int s = 1; s < sizes; s++) {
    double ns = f[s][measure].ns_per_op;
    if (ns < least) least = ns;
    if (ns > most) most = ns;
  }
  return most / least;
}

static double least_gain(figures f[SIZES][MEASURES], int sizes) {
  double least = 0;
  for (int s = 0; s < sizes; s++) {
    double gain = f[s][PARSE].ns_per_op / f[s][DECODE].ns_per_op;
    if (s == 0 || gain < least) least = gain;
  }
  return least;
}

static bool print_table(figures f[SIZES][MEASURES], int sizes, double interpreter) {
  printf("%-12s %10s %10s %12s %10s %12s\n", "", "operations", "ns/op", "ops/s", "bytes/op",
         "x memcpy");
  for (int m = 0; m < MEASURES; m++)
    for (int s = 0; s < sizes; s++)
      printf("%-12s %10u %10.2f %12.3g %10.2f %12.1f\n", s ? "" : measures[m].name,
             f[s][m].operations, f[s][m].ns_per_op, 1e9 / f[s][m].ns_per_op, f[s][m].bytes_per_op,
             f[s][m].memcpy_ratio);
  printf("%-12s %10s %10.2f %12.3g\n\n", "interpreter", "", interpreter, 1e9 / interpreter);
  bool ok = true;
  for (int m = 0; m < MEASURES; m++) {
    double grown = growth(f, sizes, m);
    printf("%-12s most over least time per operation  %5.2f  at most  2  %s\n", measures[m].name,
           grown, grown <= 2 ? "ok" : "MISSED");
    ok &= grown <= 2;
  }
  double gain = least_gain(f, sizes);
  printf("wire decode  times faster than text parse         %5.2f  at least 5  %s\n", gain,
         gain >= 5 ? "ok" : "MISSED");
  return ok && gain >= 5;
}

static bool print_json(figures f[SIZES][MEASURES], int sizes, double interpreter) {
  json_t *rows = json_array(), *grown = json_object();
  bool ok = least_gain(f, sizes) >= 5;
  for (int m = 0; m < MEASURES; m++) {
    for (int s = 0; s < sizes; s++)
      json_array_append_new(
          rows,
          json_pack("{s:s, s:I, s:f, s:f, s:f, s:f}", "measure", measures[m].name, "operations",
                    (json_int_t)f[s][m].operations, "ns_per_operation", f[s][m].ns_per_op,
                    "operations_per_second", 1e9 / f[s][m].ns_per_op, "bytes_per_operation",
                    f[s][m].bytes_per_op, "times_memcpy", f[s][m].memcpy_ratio));
    json_object_set_new(grown, measures[m].name, json_real(growth(f, sizes, m)));
    ok &= growth(f, sizes, m) <= 2;
  }
  json_t *all = json_pack("{s:o, s:o, s:f, s:f, s:b}", "rows", rows, "growth", grown,
                          "decode_gain_over_parse", least_gain(f, sizes),
                          "interpreter_operations_per_second", 1e9 / interpreter, "ok", (int)ok);
  if (!all || json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) != 0) exit(3);
  putchar('\n');
  json_decref(all);
  return ok;
}

int main(int argc, char **argv) {
  static const uint32_t sizes[SIZES] = {1000, 10000, 100000, 1000000};
  bool json = false;
  int rounds = 9;
  uint32_t most = 1000000;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--json"))
      json = true;
    else if (!strcmp(argv[i], "--rounds") && i + 1 < argc)
      rounds = atoi(argv[++i]);
    else if (!strcmp(argv[i], "--most") && i + 1 < argc)
      most = (uint32_t)atoi(argv[++i]);
    else
      rounds = 0;
  }
  if (rounds < 1 || rounds > ROUNDS || most < sizes[0]) {
    fprintf(stderr, "usage: bench_ir [--json] [--rounds 1..%d] [--most OPERATIONS]\n", ROUNDS);
    return 2;
  }
  figures f[SIZES][MEASURES];
  int count = 0;
  for (; count < SIZES && sizes[count] <= most; count++)
    measure_size(sizes[count], rounds, f[count]);
  double interpreter = interpreter_ns_per_op(rounds);
  bool ok = json ? print_json(f, count, interpreter) : print_table(f, count, interpreter);
  return ok ? 0 : 1;
}
