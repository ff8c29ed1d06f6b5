// SPDX-License-Identifier: MIT
//
// Formats: an order of channels and a type of each. Reading divides, writing multiplies, rounds to
// the nearest (even) and saturates, as the specification's rules of conversion have it.
#include "front/clang/image.h"

#include "front/clang/formula.h"

#include <string.h>

static const image_order orders[] = {
    {"r", "r", 0x10b0, false},         {"a", "a", 0x10b1, false},
    {"rg", "rg", 0x10b2, false},       {"ra", "ra", 0x10b3, false},
    {"rgb", "rgb", 0x10b4, false},     {"rgba", "rgba", 0x10b5, false},
    {"bgra", "bgra", 0x10b6, false},   {"argb", "argb", 0x10b7, false},
    {"intensity", "i", 0x10b8, false}, {"luminance", "l", 0x10b9, false},
    {"rx", "rx", 0x10ba, false},       {"rgx", "rgx", 0x10bb, false},
    {"rgbx", "rgbx", 0x10bc, false},   {"depth", "d", 0x10bd, false},
    {"srgb", "rgb", 0x10bf, true},     {"srgbx", "rgbx", 0x10c0, true},
    {"srgba", "rgba", 0x10c1, true},   {"sbgra", "bgra", 0x10c2, true},
    {"abgr", "abgr", 0x10c3, false},
};

static const image_channel channels[] = {
    {"snorm8", 0x10d0, VYRE_I8, VYRE_F32, 127, {0}},
    {"snorm16", 0x10d1, VYRE_I16, VYRE_F32, 32767, {0}},
    {"unorm8", 0x10d2, VYRE_U8, VYRE_F32, 255, {0}},
    {"unorm16", 0x10d3, VYRE_U16, VYRE_F32, 65535, {0}},
    {"unorm565", 0x10d4, VYRE_U16, VYRE_F32, 0, {5, 6, 5}},
    {"unorm555", 0x10d5, VYRE_U16, VYRE_F32, 0, {5, 5, 5}},
    {"unorm101010", 0x10d6, VYRE_U32, VYRE_F32, 0, {10, 10, 10}},
    {"i8", 0x10d7, VYRE_I8, VYRE_I32, 0, {0}},
    {"i16", 0x10d8, VYRE_I16, VYRE_I32, 0, {0}},
    {"i32", 0x10d9, VYRE_I32, VYRE_I32, 0, {0}},
    {"u8", 0x10da, VYRE_U8, VYRE_U32, 0, {0}},
    {"u16", 0x10db, VYRE_U16, VYRE_U32, 0, {0}},
    {"u32", 0x10dc, VYRE_U32, VYRE_U32, 0, {0}},
    {"f16", 0x10dd, VYRE_U16, VYRE_F32, 0, {0}},
    {"f32", 0x10de, VYRE_F32, VYRE_F32, 0, {0}},
};

static const char rgba[] = "rgba"; // the lanes of a result

static bool is_half(const image_channel *c) {
  return c->word == VYRE_U16 && c->pixel == VYRE_F32 && !c->scale && !c->bits[0];
}

// ---- names --------------------------------------------------------------------------------------

static const image_order *find_order(const char *name, size_t size) {
  for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
    if (strlen(orders[i].name) == size && !memcmp(orders[i].name, name, size)) return &orders[i];
  return NULL;
}

static const image_channel *find_channel(const char *name) {
  for (size_t i = 0; i < sizeof channels / sizeof *channels; i++)
    if (!strcmp(channels[i].name, name)) return &channels[i];
  return NULL;
}

const char *image_format_name(unit *u, image_format f) {
  return unit_printf(u, "%s_%s", f.order->name, f.channel->name);
}

image_format image_format_default(const ctype *type, vyre_type pixel) {
  const char *order = type->is_depth ? "depth" : "rgba";
  const char *channel = pixel == VYRE_I32 ? "i32" : pixel == VYRE_U32 ? "u32" : "f32";
  return (image_format){find_order(order, strlen(order)), find_channel(channel)};
}

image_format image_format_read(lowering *l, const ctype *type, const char *text, uint32_t offset) {
  const char *line = strchr(text, '_');
  image_format f = {line ? find_order(text, (size_t)(line - text)) : NULL,
                    line ? find_channel(line + 1) : NULL};
  if (!f.order || !f.channel)
    unit_fail(l->u, VYRE_ERROR_BINDING, offset,
              "`%.40s` is no format of an image. Fix: write an order and a type of docs/OPENCL.md, "
              "as in rgba_f32, r_u16 or bgra_unorm8",
              text);
  bool is_packed = f.channel->bits[0] != 0, is_rgb = !strncmp(f.order->stored, "rgb", 3);
  if (is_packed && (!is_rgb || strchr(f.order->stored, 'a') || f.order->is_srgb))
    unit_fail(l->u, VYRE_ERROR_BINDING, offset,
              "`%s` has its channels in one word. Fix: use the order rgb or rgbx, or another type",
              text);
  if (f.order->is_srgb && strcmp(f.channel->name, "unorm8") != 0)
    unit_fail(l->u, VYRE_ERROR_BINDING, offset, "`%s` is not defined. Fix: use %s_unorm8", text,
              f.order->name);
  if (type->is_depth != (*f.order->stored == 'd'))
    unit_fail(l->u, VYRE_ERROR_BINDING, offset, "`%s` does not fit to a `%s`. Fix: use %s", text,
              type->spelling, type->is_depth ? "depth_f32 or depth_unorm16" : "another order");
  return f;
}

uint32_t image_words(image_format f) {
  return f.channel->bits[0] ? 1 : (uint32_t)strlen(f.order->stored);
}

// ---- reading ------------------------------------------------------------------------------------

static ref number(lowering *l, double value) {
  return e_float(l, VYRE_F32, value);
}

// Channels in one word are numbered from its highest bits down.
static uint32_t packed_shift(const image_channel *c, uint32_t k) {
  uint32_t shift = 0;
  for (uint32_t i = k + 1; i < 3; i++) shift += c->bits[i];
  return shift;
}

static ref unpack(lowering *l, const image_channel *c, ref word, uint32_t k) {
  uint32_t most = (1u << c->bits[k]) - 1;
  ref wide_word = e_convert(l, VYRE_U32, word);
  ref bits = e_binary(l, VYRE_OP_SHR, wide_word, e_const(l, VYRE_U32, packed_shift(c, k)));
  bits = e_binary(l, VYRE_OP_AND, bits, e_const(l, VYRE_U32, most));
  return divide(l, e_convert(l, VYRE_F32, bits), number(l, most));
}

static ref from_word(lowering *l, const image_channel *c, ref word) {
  if (is_half(c)) return e_convert(l, VYRE_F32, e_bits(l, VYRE_F16, word));
  ref x = e_convert(l, c->pixel, word);
  if (!c->scale) return x;
  x = divide(l, x, number(l, c->scale));
  return type_is_signed(c->word) ? e_binary(l, VYRE_OP_MAX, x, number(l, -1)) : x;
}

static ref from_srgb(lowering *l, ref x) {
  ref low = divide(l, x, number(l, 12.92));
  ref base = divide(l, add(l, x, number(l, 0.055)), number(l, 1.055));
  ref high = e_binary(l, VYRE_OP_POW, base, number(l, 2.4));
  return e_select(l, e_binary(l, VYRE_OP_LE, x, number(l, 0.04045)), low, high);
}

static ref load_word(lowering *l, const image *i, ref index, uint32_t k, ref inside) {
  ref word = vyre_build_load(l->b, i->base->mem, e_add_const(l, index, k));
  return inside ? e_select(l, inside, word, e_zero(l, i->format.channel->word)) : word;
}

// Outside every stored channel is zero.
pixel pixel_load(lowering *l, const image *i, ref index, ref inside) {
  const image_channel *c = i->format.channel;
  const image_order *order = i->format.order;
  pixel made = {.count = 0};
  ref first = c->bits[0] ? load_word(l, i, index, 0, inside) : 0;
  uint32_t k = 0;
  for (; order->stored[k] && order->stored[k] != 'x'; k++) {
    ref x = first ? unpack(l, c, first, k) : from_word(l, c, load_word(l, i, index, k, inside));
    if (order->is_srgb && order->stored[k] != 'a') x = from_srgb(l, x);
    made.at[made.count++] = x;
  }
  if (order->stored[k] != 'x') return made;
  ref one = e_int(l, c->pixel, 1);
  made.at[made.count++] = inside ? e_select(l, inside, one, e_zero(l, c->pixel)) : one;
  return made;
}

void pixel_lanes(lowering *l, const image *i, const pixel *p, ref lanes[4]) {
  vyre_type type = i->format.channel->pixel;
  const char *stored = i->format.order->stored;
  for (uint32_t lane = 0; lane < 4; lane++) {
    const char *at = strchr(stored, rgba[lane]);
    if (!at && lane == 3) at = strchr(stored, 'x'); // the last of `p`
    if (*stored == 'i' || (*stored == 'l' && lane < 3) || (*stored == 'd' && lane == 0))
      at = stored;
    lanes[lane] = at ? p->at[at - stored] : e_int(l, type, lane == 3);
  }
}

// ---- writing ------------------------------------------------------------------------------------

// Numbers outside of the type's range become its ends, NaN becomes 0.
static ref to_word(lowering *l, const image_channel *c, ref x) {
  if (is_half(c)) return e_bits(l, VYRE_U16, e_convert(l, VYRE_F16, x));
  if (c->scale) x = e_unary(l, VYRE_OP_RINT, mul(l, x, number(l, c->scale)));
  if (c->pixel == VYRE_F32 || c->word == c->pixel) return e_convert(l, c->word, x);
  uint32_t bits = type_bits(c->word);
  bool is_signed = type_is_signed(c->word);
  int64_t most = ((int64_t)1 << (is_signed ? bits - 1 : bits)) - 1;
  if (is_signed) x = e_binary(l, VYRE_OP_MAX, x, e_int(l, c->pixel, -most - 1));
  return e_convert(l, c->word, e_binary(l, VYRE_OP_MIN, x, e_int(l, c->pixel, most)));
}

static ref to_srgb(lowering *l, ref x) {
  ref zero = number(l, 0), one = number(l, 1);
  ref low = mul(l, x, number(l, 12.92));
  ref power = e_binary(l, VYRE_OP_POW, x, divide(l, one, number(l, 2.4)));
  ref high = sub(l, mul(l, number(l, 1.055), power), number(l, 0.055));
  ref made = e_select(l, lt(l, x, number(l, 0.0031308)), low, high);
  made = e_select(l, lt(l, one, x), one, made);
  return e_select(l, lt(l, zero, x), made, zero); // of NaN too
}

static ref pack(lowering *l, const image_channel *c, const ref *lanes) {
  ref word = 0;
  for (uint32_t k = 0; k < 3; k++) {
    uint32_t most = (1u << c->bits[k]) - 1;
    ref x = e_unary(l, VYRE_OP_RINT, mul(l, lanes[k], number(l, most)));
    x = e_binary(l, VYRE_OP_MIN, e_convert(l, VYRE_U32, x), e_const(l, VYRE_U32, most));
    x = e_binary(l, VYRE_OP_SHL, x, e_const(l, VYRE_U32, packed_shift(c, k)));
    word = word ? e_binary(l, VYRE_OP_OR, word, x) : x;
  }
  return e_convert(l, c->word, word);
}

void pixel_store(lowering *l, const image *i, ref index, const ref *lanes) {
  const image_channel *c = i->format.channel;
  const image_order *order = i->format.order;
  if (c->bits[0]) {
    vyre_build_store(l->b, i->base->mem, index, pack(l, c, lanes));
    return;
  }
  for (uint32_t k = 0; order->stored[k]; k++) {
    if (order->stored[k] == 'x') continue;
    const char *lane = strchr(rgba, order->stored[k]); // i, l and d are the first
    ref x = lanes[lane ? lane - rgba : 0];
    if (order->is_srgb && order->stored[k] != 'a') x = to_srgb(l, x);
    vyre_build_store(l->b, i->base->mem, e_add_const(l, index, k), to_word(l, c, x));
  }
}
