// SPDX-License-Identifier: MIT
//
// Reading images with every sampler, beside a slow reference that follows chapter 8.2 of the
// specification of OpenCL one pixel at a time. All results are compared bit for bit.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../image_run.h"

#include <math.h>

enum { NONE, EDGE, CLAMP, REPEAT, MIRROR, MODES, SAMPLERS = 4 * MODES, PLACES = 3000 };

// ---- the reference ------------------------------------------------------------------------------

typedef struct picture {
  const float *data; // four channels
  int axes;
  bool is_layered;
  int size[3]; // what an image does not have is 1
} picture;

typedef struct sampling {
  int mode;
  bool is_linear, is_normalized;
} sampling;

static int saturated(float x) {
  return isnan(x) ? 0 : x >= 0x1p31f ? INT32_MAX : x <= -0x1p31f ? INT32_MIN : (int)x;
}

static float fetch(const picture *p, const int64_t at[3], int channel) {
  for (int k = 0; k < 3; k++)
    if (at[k] < 0 || at[k] >= p->size[k]) return 0;
  return p->data[((at[2] * p->size[1] + at[1]) * p->size[0] + at[0]) * 4 + channel];
}

// A whole number of pixels, by the address mode.
static int64_t address(int64_t i, int mode, int w) {
  int64_t rest;
  switch (mode) {
  case EDGE: return i < 0 ? 0 : i > w - 1 ? w - 1 : i;
  case REPEAT: rest = i % w; return rest < 0 ? rest + w : rest;
  case MIRROR:
    rest = i % (2 * w);
    if (rest < 0) rest += 2 * w;
    return rest < w ? rest : 2 * w - 1 - rest;
  default: return i;
  }
}

static float unfolded(float s, const sampling *how, int w) {
  if (!how->is_normalized) return s;
  if (how->mode == REPEAT) return (s - floorf(s)) * (float)w;
  if (how->mode == MIRROR) return fabsf(s - 2.0f * rintf(0.5f * s)) * (float)w;
  return s * (float)w;
}

static int64_t nearest_pixel(float s, const sampling *how, int w) {
  int i = saturated(floorf(unfolded(s, how, w)));
  if (!how->is_normalized || how->mode < REPEAT) return address(i, how->mode, w);
  if (how->mode == REPEAT) return i > w - 1 ? i - w : i;
  return i > w - 1 ? w - 1 : i;
}

static float linear_pixels(float s, const sampling *how, int w, int64_t pixels[2]) {
  float u = unfolded(s, how, w) - 0.5f;
  int64_t i = saturated(floorf(u));
  pixels[0] = address(i, how->mode, w);
  pixels[1] = address(i + 1, how->mode, w);
  if (how->is_normalized && how->mode == REPEAT) {
    pixels[0] = i < 0 ? w + i : i;
    pixels[1] = i + 1 > w - 1 ? i + 1 - w : i + 1;
  }
  if (how->is_normalized && how->mode == MIRROR) {
    pixels[0] = i < 0 ? 0 : i;
    pixels[1] = i + 1 > w - 1 ? w - 1 : i + 1;
  }
  return u - floorf(u);
}

static int64_t layer_of(const picture *p, float s) {
  return address(saturated(rintf(s)), EDGE, p->size[p->axes]);
}

static float sample(const picture *p, const sampling *how, const float *s, int channel) {
  int64_t pixels[3][2] = {{0}}, at[3] = {0};
  float weight[3], sum = 0;
  if (p->is_layered) pixels[p->axes][0] = layer_of(p, s[p->axes]);
  for (int k = 0; k < p->axes; k++) {
    if (how->is_linear)
      weight[k] = linear_pixels(s[k], how, p->size[k], pixels[k]);
    else
      pixels[k][0] = nearest_pixel(s[k], how, p->size[k]);
  }
  for (int k = 0; k < 3; k++) at[k] = pixels[k][0];
  if (!how->is_linear) return fetch(p, at, channel);
  for (int corner = 0; corner < 1 << p->axes; corner++) {
    float product = 1;
    for (int k = 0; k < p->axes; k++) {
      bool is_second = corner >> k & 1;
      at[k] = pixels[k][is_second];
      product *= is_second ? weight[k] : 1.0f - weight[k];
    }
    sum = corner ? sum + product * fetch(p, at, channel) : product * fetch(p, at, channel);
  }
  return sum;
}

static float sample_whole(const picture *p, const sampling *how, const int *s, int channel) {
  int64_t at[3] = {0};
  for (int k = 0; k < p->axes; k++) at[k] = address(s[k], how->mode, p->size[k]);
  if (p->is_layered) at[p->axes] = address(s[p->axes], EDGE, p->size[p->axes]);
  return fetch(p, at, channel);
}

// ---- the kernels --------------------------------------------------------------------------------

typedef struct shape {
  const char *type, *coordinate; // "image2d_t", "2"
  picture p;
} shape;

static const shape shapes[] = {
    {"image1d_t", "", {NULL, 1, false, {7, 1, 1}}},
    {"image1d_buffer_t", "", {NULL, 1, false, {7, 1, 1}}},
    {"image1d_array_t", "2", {NULL, 1, true, {6, 5, 1}}},
    {"image2d_t", "2", {NULL, 2, false, {7, 4, 1}}},
    {"image2d_array_t", "4", {NULL, 2, true, {5, 6, 3}}},
    {"image3d_t", "4", {NULL, 3, false, {5, 3, 4}}},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static sampling sampling_of(int number) {
  return (sampling){number % MODES, number / MODES % 2, number / MODES / 2};
}

static bool has_samplers(const shape *s) {
  return !strstr(s->type, "buffer");
}

// Reads every place with every sampler, and without.
static char *kernel_text(const shape *s, const char *scalar) {
  static const char *const modes[] = {"NONE", "CLAMP_TO_EDGE", "CLAMP", "REPEAT",
                                      "MIRRORED_REPEAT"};
  static char text[16384];
  int n = snprintf(text, sizeof text,
                   "kernel void k(read_only %s im, global const %s *at, global float4 *o) {\n"
                   "  size_t i = get_global_id(0);\n"
                   "  %s%s c = %s%s;\n",
                   s->type, scalar, scalar, s->coordinate, *s->coordinate ? "vload" : "at[4 * i]",
                   s->coordinate);
  if (*s->coordinate) {
    n -= 2;
    n += snprintf(text + n, sizeof text - (size_t)n, "(0, at + 4 * i);\n");
  }
  for (int k = 0; k < SAMPLERS && has_samplers(s); k++) {
    sampling how = sampling_of(k);
    n += snprintf(text + n, sizeof text - (size_t)n,
                  "  o[i * %d + %d] = read_imagef(im, CLK_ADDRESS_%s | CLK_FILTER_%s | "
                  "CLK_NORMALIZED_COORDS_%s, c);\n",
                  SAMPLERS + 1, k, modes[how.mode], how.is_linear ? "LINEAR" : "NEAREST",
                  how.is_normalized ? "TRUE" : "FALSE");
  }
  snprintf(text + n, sizeof text - (size_t)n, "  o[i * %d + %d] = read_imagef(im, %s%s(c));\n}\n",
           SAMPLERS + 1, SAMPLERS, *s->coordinate ? "convert_int" : "(int)", s->coordinate);
  return text;
}

static uint64_t state_bits = 1;

static uint32_t random_number(void) {
  state_bits = state_bits * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state_bits >> 33);
}

static float random_place(int w) {
  static const float special[] = {
      0,      -0.0f,   0.5f,       -0.5f, 1,        -1,        1.5f,           2,         0.25f,
      0.999f, -1e-20f, 1e-20f,     -1.5f, 0x1p23f,  1e30f,     -1e30,          0x1p31f,   -0x1p31f,
      3e9f,   -3e9f,   123456.75f, NAN,   INFINITY, -INFINITY, 0x1.fffffep-1f, -0x1p-126f};
  uint32_t kind = random_number() % 8;
  if (kind == 0) return special[random_number() % (sizeof special / sizeof *special)];
  if (kind == 1) return (float)w + special[random_number() % 8];
  float part = (float)(random_number() % 4096) / 1024.0f - 1.5f; // -1.5 to 2.5
  if (kind < 5) return part;
  return kind == 5 ? floorf(part * (float)w) : part * (float)w;
}

static int random_whole(int w) {
  static const int special[] = {INT32_MIN, INT32_MAX, -1, 0, 1, INT32_MIN + 1, INT32_MAX - 1};
  uint32_t kind = random_number() % 8;
  if (kind == 0) return special[random_number() % 7];
  if (kind == 1) return w - 1 + (int)(random_number() % 3);
  return (int)(random_number() % (uint32_t)(5 * w)) - 2 * w;
}

static bool is_same(float a, float b) {
  return (isnan(a) && isnan(b)) || !memcmp(&a, &b, sizeof a);
}

static float *random_pixels(const shape *s, size_t *count) {
  *count = (size_t)(s->p.size[0] * s->p.size[1] * s->p.size[2]) * 4;
  float *data = malloc(*count * sizeof *data);
  for (size_t i = 0; i < *count; i++) data[i] = (float)(random_number() % 2001) / 250.0f - 4.0f;
  return data;
}

static void run_shape(const shape *s, const char *scalar, void *places, float *results,
                      const float *pixels, size_t count) {
  const bound_size sizes[] = {{"grid_x", PLACES},
                              {"im.width", (uint32_t)s->p.size[0]},
                              {s->p.axes > 1 ? "im.height" : "im.layers", (uint32_t)s->p.size[1]},
                              {s->p.axes > 2 ? "im.depth" : "im.layers", (uint32_t)s->p.size[2]},
                              {NULL, 0}};
  bound_data data[] = {{"im", (void *)(uintptr_t)pixels, count * sizeof *pixels},
                       {"at", places, (size_t)PLACES * 4 * 4},
                       {"o", results, (size_t)PLACES * (SAMPLERS + 1) * 4 * sizeof(float)},
                       {NULL, NULL, 0}};
  run_image_kernel(kernel_text(s, scalar), NULL, 0, sizes, data);
}

static void expect(const shape *s, const sampling *how, float got, float wanted, int number,
                   const char *kind) {
  if (is_same(got, wanted)) return;
  fail_msg("%s, mode %d%s%s, place %d (%s): %a, not %a", s->type, how->mode,
           how->is_linear ? ", linear" : "", how->is_normalized ? ", normalized" : "", number, kind,
           (double)got, (double)wanted);
}

static void check_shape(const shape *s) {
  size_t count;
  float *pixels = random_pixels(s, &count), (*places)[4] = malloc(sizeof(float[PLACES][4]));
  float(*results)[SAMPLERS + 1][4] = calloc(PLACES, sizeof *results);
  int(*wholes)[4] = malloc(sizeof(int[PLACES][4]));
  picture p = s->p;
  p.data = pixels;
  for (int i = 0; i < PLACES; i++)
    for (int k = 0; k < 4; k++) {
      places[i][k] = random_place(k < 3 ? p.size[k] : 1);
      wholes[i][k] = random_whole(k < 3 ? p.size[k] : 1);
    }
  run_shape(s, "float", places, &results[0][0][0], pixels, count);
  for (int i = 0; i < PLACES; i++)
    for (int k = 0; k < SAMPLERS && has_samplers(s); k++)
      for (int c = 0; c < 4; c++) {
        sampling how = sampling_of(k);
        expect(s, &how, results[i][k][c], sample(&p, &how, places[i], c), i, "float");
      }
  run_shape(s, "int", wholes, &results[0][0][0], pixels, count);
  for (int i = 0; i < PLACES; i++)
    for (int k = has_samplers(s) ? 0 : SAMPLERS; k <= SAMPLERS; k++)
      for (int c = 0; c < 4; c++) {
        sampling how = sampling_of(k % SAMPLERS);
        int64_t at[3] = {0};
        for (int a = 0; a < p.axes + p.is_layered; a++) at[a] = wholes[i][a];
        float wanted = k == SAMPLERS ? fetch(&p, at, c) : sample_whole(&p, &how, wholes[i], c);
        expect(s, &how, results[i][k][c], wanted, i, "int");
      }
  free(pixels);
  free(places);
  free(results);
  free(wholes);
}

static void every_sampler_reads_what_the_specification_says(void **state) {
  (void)state;
  for (int i = 0; i < SHAPES; i++) check_shape(&shapes[i]);
}

// ---- samplers as arguments ----------------------------------------------------------------------

static void samplers_are_told(void **state) {
  (void)state;
  static const char text[] =
      "float4 get(read_only image1d_t im, sampler_t s, float x) { return read_imagef(im, s, x); }\n"
      "kernel void k(read_only image1d_t im, sampler_t s, global float4 *o) {\n"
      "  o[0] = get(im, s, 0.9375f);\n"
      "}\n";
  static const struct {
    const char *format;
    float wanted;
  } cases[] = {{NULL, 10},
               {"nearest", 10},
               {"normalized", 20},
               {"linear", 14.375f},
               {"linear:normalized", 20},
               {"clamp:linear:normalized", 12.5f},
               {"normalized:repeat:linear", 16.25f},
               {"mirrored_repeat:linear:unnormalized", 14.375f},
               {"none", 10},
               {"clamp_to_edge:nearest:unnormalized", 10}};
  float pixels[] = {10, 0, 0, 1, 20, 0, 0, 1}, out[4];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    vyre_source_format format = {"s", cases[i].format};
    const bound_size sizes[] = {{"im.width", 2}, {"grid_x", 1}, {NULL, 0}};
    bound_data data[] = {{"im", pixels, sizeof pixels}, {"o", out, sizeof out}, {NULL, NULL, 0}};
    run_image_kernel(text, &format, cases[i].format != NULL, sizes, data);
    if (out[0] != cases[i].wanted) fail_msg("%s: %g", cases[i].format, (double)out[0]);
  }
}

// ---- what a library sees ------------------------------------------------------------------------

static void images_and_samplers_are_listed(void **state) {
  (void)state;
  static const char text[] = "kernel void k(read_only image2d_array_t a, write_only image3d_t b,\n"
                             "              sampler_t c) {}\n";
  static const struct {
    const char *name, *type;
    vyre_source_space space;
  } wanted[] = {{"a", "image2d_array_t", VYRE_SPACE_IMAGE},
                {"b", "image3d_t", VYRE_SPACE_IMAGE},
                {"c", "sampler_t", VYRE_SPACE_SAMPLER}};
  vyre_source_entry *kernels = NULL;
  uint32_t count = 0;
  vyre_error error = {0};
  vyre_source_entries("opencl", text, strlen(text), "l.cl", NULL, &kernels, &count, &error);
  if (strstr(error.message, "libvyre-clang")) skip();
  assert_int_equal(count, 1);
  assert_int_equal(kernels[0].arg_count, 3);
  for (int i = 0; i < 3; i++) {
    assert_string_equal(kernels[0].args[i].name, wanted[i].name);
    assert_string_equal(kernels[0].args[i].type, wanted[i].type);
    assert_int_equal(kernels[0].args[i].space, wanted[i].space);
  }
  vyre_free(kernels);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_sampler_reads_what_the_specification_says),
      cmocka_unit_test(samplers_are_told),
      cmocka_unit_test(images_and_samplers_are_listed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
