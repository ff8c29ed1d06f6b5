// SPDX-License-Identifier: MIT
//
// Every format of images: pixels read, and pixels written with the specified rounding and
// saturation, beside conversions that are written out one by one. Bit for bit, sRGB aside, whose
// powers are compared with those of double precision.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../image_run.h"

#include <math.h>

enum { WIDTH = 260, AROUND = 3, GRID = WIDTH + 2 * AROUND };

typedef union lane {
  float f;
  int32_t i;
  uint32_t u;
} lane;

// ---- the reference ------------------------------------------------------------------------------

// lanes: for each of r, g, b, a the word that it is read from, z for 0, o for 1, b for 1 that is 0
// outside of the image. words: for each word the lane that it is written from, - for none.
typedef struct order {
  const char *name, *lanes, *words;
} order;

static const order orders[] = {
    {"r", "0zzo", "0"},         {"a", "zzz0", "3"},         {"rg", "01zo", "01"},
    {"ra", "0zz1", "03"},       {"rgb", "012o", "012"},     {"rgba", "0123", "0123"},
    {"bgra", "2103", "2103"},   {"argb", "1230", "3012"},   {"abgr", "3210", "3210"},
    {"intensity", "0000", "0"}, {"luminance", "000o", "0"}, {"rx", "0zzb", "0-"},
    {"rgx", "01zb", "01-"},     {"rgbx", "012b", "012-"},
};
enum { ORDERS = sizeof orders / sizeof *orders };

typedef struct channel {
  const char *name;
  char kind; // of the functions: f, i, u
  char how;  // n normalized, s signed and normalized, h half, p packed, = as it is
  int bytes;
  int bits[3]; // packed
} channel;

static const channel channels[] = {
    {"unorm8", 'f', 'n', 1, {0}},
    {"unorm16", 'f', 'n', 2, {0}},
    {"snorm8", 'f', 's', 1, {0}},
    {"snorm16", 'f', 's', 2, {0}},
    {"f16", 'f', 'h', 2, {0}},
    {"f32", 'f', '=', 4, {0}},
    {"i8", 'i', '=', 1, {0}},
    {"i16", 'i', '=', 2, {0}},
    {"i32", 'i', '=', 4, {0}},
    {"u8", 'u', '=', 1, {0}},
    {"u16", 'u', '=', 2, {0}},
    {"u32", 'u', '=', 4, {0}},
    {"unorm565", 'f', 'p', 2, {5, 6, 5}},
    {"unorm555", 'f', 'p', 2, {5, 5, 5}},
    {"unorm101010", 'f', 'p', 4, {10, 10, 10}},
};
enum { CHANNELS = sizeof channels / sizeof *channels };

static bool is_defined(const order *o, const channel *c) {
  return c->how != 'p' || !strcmp(o->name, "rgb") || !strcmp(o->name, "rgbx");
}

static int word_count(const order *o, const channel *c) {
  return c->how == 'p' ? 1 : (int)strlen(o->words);
}

static uint32_t load_bits(const unsigned char *at, int bytes) {
  uint32_t bits = 0;
  memcpy(&bits, at, (size_t)bytes);
  return bits;
}

static int32_t signed_bits(uint32_t bits, int bytes) {
  return bytes == 1 ? (int8_t)bits : bytes == 2 ? (int16_t)bits : (int32_t)bits;
}

static float half_value(uint32_t h) {
  int exponent = (int)(h >> 10 & 31), fraction = (int)(h & 1023);
  float size = exponent == 31  ? fraction ? NAN : INFINITY
               : exponent == 0 ? ldexpf((float)fraction, -24)
                               : ldexpf((float)(fraction + 1024), exponent - 25);
  return h & 0x8000 ? -size : size;
}

// The nearest of all halves, of two the even one.
static uint32_t nearest_half(float x) {
  uint32_t sign = signbit(x) ? 0x8000 : 0, best = 0;
  if (isnan(x)) return 0x7e00;
  double size = fabs((double)x), least = INFINITY;
  if (size >= 65520) return sign | 0x7c00;
  for (uint32_t h = 0; h < 0x7c00; h++) {
    double off = fabs((double)half_value(h) - size);
    if (off < least || (off == least && !(h & 1))) best = h;
    if (off < least) least = off;
  }
  return sign | best;
}

static float most_of(const channel *c) { // what 1.0 is stored as
  return c->how == 's' ? (c->bytes == 1 ? 127 : 32767) : (c->bytes == 1 ? 255 : 65535);
}

static lane read_word(const channel *c, const unsigned char *at) {
  uint32_t bits = load_bits(at, c->bytes);
  lane made = {.u = bits};
  if (c->kind == 'i') made.i = signed_bits(bits, c->bytes);
  if (c->how == 'n') made.f = (float)bits / most_of(c);
  if (c->how == 's') made.f = fmaxf(-1.0f, (float)signed_bits(bits, c->bytes) / most_of(c));
  if (c->how == 'h') made.f = half_value(bits);
  return made;
}

static lane read_packed(const channel *c, const unsigned char *at, int k) {
  int shift = k == 0 ? c->bits[1] + c->bits[2] : k == 1 ? c->bits[2] : 0;
  uint32_t most = (1u << c->bits[k]) - 1;
  return (lane){.f = (float)(load_bits(at, c->bytes) >> shift & most) / (float)most};
}

static lane read_lane(const order *o, const channel *c, const unsigned char *pixel, bool is_inside,
                      int number) {
  char from = o->lanes[number];
  lane one = {.u = 1}, zero = {.u = 0};
  if (c->kind == 'f') one.f = 1;
  if (from == 'z' || (from == 'b' && !is_inside)) return zero;
  if (from == 'o' || from == 'b') return one;
  if (!is_inside) return zero;
  int k = from - '0';
  return c->how == 'p' ? read_packed(c, pixel, k) : read_word(c, pixel + k * c->bytes);
}

static float rounded(float x, float scale, float lo, float hi) {
  volatile float product = x * scale;
  float r = rintf(product);
  return isnan(r) ? 0 : r < lo ? lo : r > hi ? hi : r;
}

static uint32_t written_word(const channel *c, lane x) {
  uint32_t most = c->bytes == 4 ? UINT32_MAX : (1u << 8 * c->bytes) - 1;
  int32_t top = (int32_t)(most >> 1);
  switch (c->how) {
  case 'n': return (uint32_t)rounded(x.f, most_of(c), 0, most_of(c));
  case 's': return (uint32_t)(int32_t)rounded(x.f, most_of(c), -most_of(c) - 1, most_of(c));
  case 'h': return nearest_half(x.f);
  default:
    if (c->kind == 'u') return x.u > most ? most : x.u;
    if (c->kind == 'i') return (uint32_t)(x.i > top ? top : x.i < -top - 1 ? -top - 1 : x.i);
    return x.u;
  }
}

static void write_pixel(const order *o, const channel *c, unsigned char *pixel, const lane *v) {
  uint32_t word = 0;
  for (int k = 0; c->how == 'p' && k < 3; k++) {
    float most = (float)((1u << c->bits[k]) - 1);
    word = word << c->bits[k] | (uint32_t)rounded(v[k].f, most, 0, most);
  }
  if (c->how == 'p') memcpy(pixel, &word, (size_t)c->bytes);
  for (int k = 0; c->how != 'p' && o->words[k]; k++) {
    if (o->words[k] == '-') continue;
    word = written_word(c, v[o->words[k] - '0']);
    memcpy(pixel + k * c->bytes, &word, (size_t)c->bytes);
  }
}

// ---- the kernels --------------------------------------------------------------------------------

static uint64_t state_bits = 1;

static uint32_t random_number(void) {
  state_bits = state_bits * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state_bits >> 32);
}

static lane random_lane(const channel *c) {
  static const float special[] = {NAN,    INFINITY, -INFINITY,  -0.0f,      0,      1,
                                  -1,     2,        1e30f,      65504,      65519,  65520,
                                  1e-8f,  0x1p-25f, 3e-8f,      6e-5f,      -1e30f, 0.5f,
                                  1e-40f, -0.25f,   1.0000001f, 0.99999994f};
  lane made = {.u = random_number()};
  uint32_t kind = random_number() % 8;
  if (c->kind != 'f') {
    if (kind < 4) made.i = (int32_t)(made.u % 1024) - 512;
    return made;
  }
  float scale = c->how == 'p' ? 31 : c->how == 'h' || c->how == '=' ? 100 : most_of(c);
  if (kind == 0) return (lane){.f = special[random_number() % (sizeof special / sizeof *special)]};
  if (kind < 3) return (lane){.f = ((float)(made.u % 70000) + 0.5f) / scale};
  if (c->how == '=' && isnan(made.f)) made.f = 1;
  if (kind < 5 && (c->how == 'h' || c->how == '=')) return made;
  return (lane){.f = (float)(made.u % 100000) / 33333.0f - 1.5f};
}

typedef struct bench {
  char text[8192];
  vyre_source_format formats[2 * ORDERS];
  bound_size sizes[2 * ORDERS + 2];
  bound_data data[2 * ORDERS + 3];
  char names[2 * ORDERS][3][40]; // of the image, its width, its format
  uint32_t format_count;
  unsigned char *wanted[ORDERS];
} bench;

static unsigned char *random_bytes(size_t size, const channel *c) {
  unsigned char *bytes = malloc(size);
  for (size_t i = 0; i < size; i++) bytes[i] = (unsigned char)random_number();
  if (!strcmp(c->name, "f32"))
    for (size_t i = 0; i < size; i += 4) {
      lane x = random_lane(c);
      memcpy(bytes + i, &x, 4);
    }
  return bytes;
}

static void add_image(bench *b, const char *kind, int i, const channel *c) {
  uint32_t n = b->format_count++;
  snprintf(b->names[n][0], 40, "%s%d", kind, i);
  snprintf(b->names[n][1], 40, "%s%d.width", kind, i);
  snprintf(b->names[n][2], 40, "%s_%s", orders[i].name, c->name);
  size_t size = (size_t)(WIDTH * word_count(&orders[i], c) * c->bytes);
  b->formats[n] = (vyre_source_format){b->names[n][0], b->names[n][2]};
  b->sizes[n] = (bound_size){b->names[n][1], WIDTH};
  b->data[n] = (bound_data){b->names[n][0], random_bytes(size, c), size};
}

static const char *vector_name(const channel *c) {
  return c->kind == 'f' ? "float4" : c->kind == 'i' ? "int4" : "uint4";
}

// One kernel reads and writes an image of each order.
static void make_text(bench *b, const channel *c) {
  const char *suffix = c->kind == 'f' ? "f" : c->kind == 'i' ? "i" : "ui";
  char *at = b->text, *end = b->text + sizeof b->text;
  at += snprintf(at, (size_t)(end - at), "kernel void k(global const %s *v, global %s *o",
                 vector_name(c), vector_name(c));
  for (int i = 0; i < ORDERS; i++)
    if (is_defined(&orders[i], c))
      at += snprintf(at, (size_t)(end - at),
                     ", read_only image1d_t in%d, write_only image1d_t "
                     "out%d",
                     i, i);
  at += snprintf(at, (size_t)(end - at), ") {\n  int x = (int)get_global_id(0) - %d;\n", AROUND);
  for (int i = 0; i < ORDERS; i++)
    if (is_defined(&orders[i], c))
      at += snprintf(at, (size_t)(end - at),
                     "  o[%d * (x + %d) + %d] = read_image%s(in%d, x);\n"
                     "  write_image%s(out%d, x, v[x + %d]);\n",
                     ORDERS, AROUND, i, suffix, i, suffix, i, AROUND);
  snprintf(at, (size_t)(end - at), "}\n");
}

static unsigned char *data_of(bench *b, const char *kind, int i) {
  char name[40];
  snprintf(name, sizeof name, "%s%d", kind, i);
  return find_data(b->data, name)->data;
}

static bool is_same(const channel *c, lane a, lane b) {
  return a.u == b.u || (c->kind == 'f' && isnan(a.f) && isnan(b.f));
}

static void check_reads(bench *b, const channel *c, lane (*o)[ORDERS][4]) {
  for (int i = 0; i < ORDERS; i++)
    for (int x = 0; x < GRID && is_defined(&orders[i], c); x++)
      for (int k = 0; k < 4; k++) {
        bool is_inside = x >= AROUND && x < WIDTH + AROUND;
        const unsigned char *pixel = data_of(b, "in", i);
        if (is_inside) pixel += (x - AROUND) * word_count(&orders[i], c) * c->bytes;
        lane wanted = read_lane(&orders[i], c, pixel, is_inside, k);
        if (!is_same(c, o[x][i][k], wanted))
          fail_msg("%s_%s, pixel %d, lane %d: %08x, not %08x", orders[i].name, c->name, x - AROUND,
                   k, o[x][i][k].u, wanted.u);
      }
}

static void check_writes(bench *b, const channel *c, lane (*v)[4]) {
  for (int i = 0; i < ORDERS; i++) {
    if (!is_defined(&orders[i], c)) continue;
    int size = word_count(&orders[i], c) * c->bytes;
    const unsigned char *got = data_of(b, "out", i);
    for (int x = 0; x < WIDTH; x++) {
      write_pixel(&orders[i], c, b->wanted[i] + x * size, v[x + AROUND]);
      for (int k = 0; k < size; k += c->bytes) {
        lane a = {.u = load_bits(got + x * size + k, c->bytes)};
        lane w = {.u = load_bits(b->wanted[i] + x * size + k, c->bytes)};
        bool is_float = !strcmp(c->name, "f32");
        if (a.u != w.u && !(is_float && isnan(a.f) && isnan(w.f)))
          fail_msg("%s_%s, pixel %d, byte %d: %x, not %x", orders[i].name, c->name, x, k, a.u, w.u);
      }
    }
  }
}

static void check_channel(const channel *c) {
  bench *b = calloc(1, sizeof *b);
  lane(*v)[4] = malloc(sizeof(lane[GRID][4])), (*o)[ORDERS][4] = calloc(GRID, sizeof *o);
  for (int x = 0; x < GRID; x++)
    for (int k = 0; k < 4; k++) v[x][k] = random_lane(c);
  for (int i = 0; i < ORDERS; i++) {
    if (!is_defined(&orders[i], c)) continue;
    add_image(b, "in", i, c);
    add_image(b, "out", i, c);
    const bound_data *out = &b->data[b->format_count - 1];
    b->wanted[i] = malloc(out->size);
    memcpy(b->wanted[i], out->data, out->size);
  }
  b->sizes[b->format_count] = (bound_size){"grid_x", GRID};
  b->data[b->format_count] = (bound_data){"v", v, sizeof(lane[GRID][4])};
  b->data[b->format_count + 1] = (bound_data){"o", o, GRID * sizeof *o};
  make_text(b, c);
  run_image_kernel(b->text, b->formats, b->format_count, b->sizes, b->data);
  check_reads(b, c, o);
  check_writes(b, c, v);
  for (uint32_t i = 0; i < b->format_count + 2; i++) free(b->data[i].data);
  for (int i = 0; i < ORDERS; i++) free(b->wanted[i]);
  free(b);
}

static void every_format_is_read_and_written(void **state) {
  (void)state;
  for (int i = 0; i < CHANNELS; i++) check_channel(&channels[i]);
}

// ---- sRGB ---------------------------------------------------------------------------------------

// Each of the 256 values is linear light on reading, and itself when that is written.
static void srgb_is_linear_between(void **state) {
  (void)state;
  static const char text[] =
      "kernel void k(read_only image1d_t in, write_only image1d_t out, global float4 *o) {\n"
      "  int x = get_global_id(0);\n"
      "  float4 v = read_imagef(in, x);\n"
      "  o[x] = v;\n"
      "  write_imagef(out, x, x == 256 ? (float4)(NAN, -1, 2, 0.5f) : v);\n"
      "}\n";
  unsigned char in[257][4], out[257][4];
  float o[257][4];
  for (int i = 0; i < 257; i++)
    for (int k = 0; k < 4; k++) in[i][k] = (unsigned char)i;
  const vyre_source_format formats[] = {{"in", "srgba_unorm8"}, {"out", "sbgra_unorm8"}};
  const bound_size sizes[] = {{"grid_x", 257}, {"in.width", 257}, {"out.width", 257}, {NULL, 0}};
  bound_data data[] = {
      {"in", in, sizeof in}, {"out", out, sizeof out}, {"o", o, sizeof o}, {NULL, NULL, 0}};
  run_image_kernel(text, formats, 2, sizes, data);
  for (int i = 0; i < 256; i++) {
    double c = i / 255.0, linear = c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
    for (int k = 0; k < 3; k++) assert_true(fabs((double)o[i][k] - linear) <= 1e-6 * linear);
    assert_true(o[i][3] == (float)i / 255.0f);
    assert_memory_equal(in[i], out[i], 4);
  }
  const unsigned char last[] = {255, 0, 0, 128};
  assert_memory_equal(out[256], last, 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_format_is_read_and_written),
      cmocka_unit_test(srgb_is_linear_between),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
