// SPDX-License-Identifier: MIT
//
// From coordinates to pixels: chapter 8.2 of the specification, each formula as it is written
// there, in f32 and from left to right. `w` below is the size of the axis.
//
//   u                 the coordinate s in pixels
//     not normalized  s
//     repeat          (s - floor(s)) * w
//     mirror          fabs(s - 2.0f * rint(0.5f * s)) * w
//     else            s * w
//   nearest           pixel floor(u)
//   linear            pixels floor(u - 0.5f) and the next, the second with the weight
//                     a = (u - 0.5f) - floor(u - 0.5f), the first with 1 - a
//
// The sum over pixels goes over x first, then y, then z; a product of weights is formed in that
// order before the pixel is multiplied. What the specification leaves open: no address mode is as
// the border, integer coordinates are always pixels and nearest, and pixels repeat too.
#include "front/clang/image.h"

#include "front/clang/formula.h"

ref image_extent(lowering *l, const image *i, uint32_t axis) {
  return vyre_build_param_value(l->b, i->sizes[axis]);
}

static ref whole(lowering *l, int32_t value) {
  return e_int(l, VYRE_I32, value);
}

static ref most(lowering *l, ref x, ref y) {
  return e_binary(l, VYRE_OP_MIN, x, y);
}

static ref least(lowering *l, ref x, ref y) {
  return e_binary(l, VYRE_OP_MAX, x, y);
}

static tap certain(lowering *l, ref i) {
  return (tap){e_convert(l, VYRE_U32, i), 0};
}

// A negative number is a large one without its sign.
static tap checked(lowering *l, ref i, ref size) {
  ref at = e_convert(l, VYRE_U32, i);
  return (tap){at, lt(l, at, size)};
}

// ---- one axis -----------------------------------------------------------------------------------

typedef struct axis {
  uint32_t mode;
  bool is_normalized;
  ref size;        // u32
  ref width, last; // i32: the size, and the number of the last pixel
} axis;

static axis axis_of(lowering *l, const image *i, uint32_t number, uint32_t sampler) {
  axis a = {.mode = sampler & SAMPLER_ADDRESS, .is_normalized = sampler & SAMPLER_NORMALIZED};
  a.size = image_extent(l, i, number);
  a.width = e_convert(l, VYRE_I32, a.size);
  a.last = sub(l, a.width, whole(l, 1));
  return a;
}

static ref modulo(lowering *l, ref i, ref n) {
  ref rest = e_binary(l, VYRE_OP_REM, i, n);
  return e_select(l, lt(l, rest, whole(l, 0)), add(l, rest, n), rest);
}

// The pixel of any whole number.
static tap wrap(lowering *l, const axis *a, ref i) {
  switch (a->mode) {
  case SAMPLER_EDGE: return certain(l, most(l, least(l, i, whole(l, 0)), a->last));
  case SAMPLER_REPEAT: return certain(l, modulo(l, i, a->width));
  case SAMPLER_MIRROR: {
    ref twice = add(l, a->width, a->width), at = modulo(l, i, twice);
    ref back = sub(l, sub(l, twice, whole(l, 1)), at);
    return certain(l, e_select(l, lt(l, a->last, at), back, at));
  }
  default: return checked(l, i, a->size);
  }
}

static bool is_folded(const axis *a) {
  return a->is_normalized && (a->mode == SAMPLER_REPEAT || a->mode == SAMPLER_MIRROR);
}

static ref in_pixels(lowering *l, const axis *a, ref s) {
  if (!a->is_normalized) return s;
  ref w = e_convert(l, VYRE_F32, a->size);
  if (a->mode == SAMPLER_REPEAT) {
    s = sub(l, s, e_unary(l, VYRE_OP_FLOOR, s));
  } else if (a->mode == SAMPLER_MIRROR) {
    ref half = mul(l, e_float(l, VYRE_F32, 0.5), s);
    ref even = mul(l, e_float(l, VYRE_F32, 2), e_unary(l, VYRE_OP_RINT, half));
    s = e_unary(l, VYRE_OP_ABS, sub(l, s, even));
  }
  return mul(l, s, w);
}

// What is past the end by one, of a coordinate that was folded.
static ref from_start(lowering *l, const axis *a, ref i) {
  return e_select(l, lt(l, a->last, i), sub(l, i, a->width), i);
}

static tap nearest(lowering *l, const axis *a, ref s) {
  if (e_type(l, s) != VYRE_F32) return wrap(l, a, s);
  ref i = e_convert(l, VYRE_I32, e_unary(l, VYRE_OP_FLOOR, in_pixels(l, a, s)));
  if (!is_folded(a)) return wrap(l, a, i);
  return certain(l, a->mode == SAMPLER_REPEAT ? from_start(l, a, i) : most(l, i, a->last));
}

// Two pixels, and the weight of the second.
static ref linear(lowering *l, const axis *a, ref s, tap taps[2]) {
  ref u = sub(l, in_pixels(l, a, s), e_float(l, VYRE_F32, 0.5)), zero = whole(l, 0);
  ref down = e_unary(l, VYRE_OP_FLOOR, u), i = e_convert(l, VYRE_I32, down), one = whole(l, 1);
  if (is_folded(a) && a->mode == SAMPLER_REPEAT) {
    taps[0] = certain(l, e_select(l, lt(l, i, zero), add(l, a->width, i), i));
    taps[1] = certain(l, from_start(l, a, add(l, i, one)));
  } else if (is_folded(a) || a->mode == SAMPLER_EDGE) {
    // Limited before the next one is counted: the largest number has none.
    i = most(l, least(l, i, whole(l, -1)), a->last);
    taps[0] = certain(l, least(l, i, zero));
    taps[1] = certain(l, most(l, add(l, i, one), a->last));
  } else {
    taps[0] = wrap(l, a, i);
    taps[1] = wrap(l, a, add(l, i, one));
  }
  return sub(l, u, down);
}

// ---- pixels -------------------------------------------------------------------------------------

static ref first_word(lowering *l, const image *i, const tap *taps, ref *inside) {
  ref at = 0;
  *inside = 0;
  for (uint32_t k = i->size_count; k > 0; k--) {
    const tap *t = &taps[k - 1];
    at = at ? add(l, mul(l, at, image_extent(l, i, k - 1)), t->at) : t->at;
    if (t->inside) *inside = *inside ? e_and(l, t->inside, *inside) : t->inside;
  }
  uint32_t words = image_words(i->format);
  return words > 1 ? mul(l, at, e_const(l, VYRE_U32, words)) : at;
}

static pixel load_pixel(lowering *l, const image *i, const tap *taps) {
  ref inside, at = first_word(l, i, taps, &inside);
  return pixel_load(l, i, at, inside);
}

// The sum over the pixels around a place; the layer is the same for all.
static pixel blend(lowering *l, const image *i, tap taps[MOST_AXES][2], const ref *weights) {
  uint32_t axes = i->type->axes;
  pixel sum = {.count = 0};
  for (uint32_t corner = 0; corner < 1u << axes; corner++) {
    tap picked[MOST_AXES];
    ref weight = 0, one = e_float(l, VYRE_F32, 1);
    for (uint32_t k = 0; k < i->size_count; k++) {
      bool is_second = k < axes && (corner >> k & 1);
      picked[k] = taps[k][is_second];
      if (k >= axes) continue;
      ref w = is_second ? weights[k] : sub(l, one, weights[k]);
      weight = weight ? mul(l, weight, w) : w;
    }
    pixel p = load_pixel(l, i, picked);
    for (uint32_t c = 0; c < p.count; c++) {
      ref part = mul(l, weight, p.at[c]);
      sum.at[c] = corner ? add(l, sum.at[c], part) : part;
    }
    sum.count = p.count;
  }
  return sum;
}

// A layer is never out of range.
static tap layer(lowering *l, const image *i, uint32_t number, ref s) {
  axis a = axis_of(l, i, number, SAMPLER_EDGE);
  if (e_type(l, s) == VYRE_F32) s = e_convert(l, VYRE_I32, e_unary(l, VYRE_OP_RINT, s));
  return wrap(l, &a, s);
}

pixel image_sample(lowering *l, const image *i, uint32_t sampler, const ref *at) {
  tap taps[MOST_AXES][2];
  ref weights[MOST_AXES] = {0};
  bool is_linear = (sampler & SAMPLER_LINEAR) && e_type(l, at[0]) == VYRE_F32 &&
                   i->format.channel->pixel == VYRE_F32;
  for (uint32_t k = 0; k < i->type->axes; k++) {
    axis a = axis_of(l, i, k, sampler);
    if (is_linear)
      weights[k] = linear(l, &a, at[k], taps[k]);
    else
      taps[k][0] = nearest(l, &a, at[k]);
  }
  if (i->type->is_layered) taps[i->type->axes][0] = layer(l, i, i->type->axes, at[i->type->axes]);
  if (is_linear) return blend(l, i, taps, weights);
  tap picked[MOST_AXES];
  for (uint32_t k = 0; k < i->size_count; k++) picked[k] = taps[k][0];
  return load_pixel(l, i, picked);
}

ref image_place(lowering *l, const image *i, const ref *at, ref *inside) {
  tap taps[MOST_AXES];
  for (uint32_t k = 0; k < i->size_count; k++) taps[k] = checked(l, at[k], image_extent(l, i, k));
  return first_word(l, i, taps, inside);
}
