// SPDX-License-Identifier: MIT
//
// Images and samplers. An image is a buffer of its pixels, row after row without gaps, and one
// parameter per extent; how a pixel is stored is told to the frontend (image_find), and a sampler
// is a constant, so that every access is ordinary arithmetic with one result everywhere. Formats
// are constant data; all else lives as long as the unit.
//
//   image_format.c   formats, and pixels from and to words of the buffer
//   image_address.c  coordinates to pixels, by the formulas of the specification
//   image.c          the interface of the kernel, and the built-in functions
#ifndef VYRE_FRONT_CLANG_IMAGE_H
#define VYRE_FRONT_CLANG_IMAGE_H

#include "front/clang/lower.h"

enum { MOST_AXES = 3, MOST_CHANNELS = 4 };

typedef struct image_order {
  const char *name;
  const char *stored; // its channels: r, g, b, a; x is skipped, i and l are for several, d is depth
  uint16_t number;    // CLK_RGBA
  bool is_srgb;
} image_order;

typedef struct image_channel { // the type of the channels
  const char *name;
  uint16_t number; // CLK_UNORM_INT8
  vyre_type word;  // of the buffer
  vyre_type pixel; // VYRE_F32, VYRE_I32 or VYRE_U32: which functions read and write it
  float scale;     // what 1.0 is stored as; 0: numbers as they are
  uint8_t bits[3]; // of channels that share one word, the first highest; zeros: they do not
} image_channel;

typedef struct image_format {
  const image_order *order;
  const image_channel *channel;
} image_format;

typedef struct image { // an argument
  const ctype *type;
  image_format format;
  base *base; // its buffer
  uint32_t sizes[MOST_AXES];
  uint32_t size_count; // parameters: width, height, and depth or the number of layers
} image;

// The number of a pixel on one axis; `inside` is 0 where it is certain.
typedef struct tap {
  ref at;     // u32
  ref inside; // bool
} tap;

// What a function makes of one pixel: its stored channels as f32, i32 or u32, and, where skipped
// channels stand for an alpha that is 0 outside, that alpha.
typedef struct pixel {
  ref at[MOST_CHANNELS + 1];
  uint32_t count;
} pixel;

// ---- image_format.c -----------------------------------------------------------------------------

image_format image_format_default(const ctype *type, vyre_type pixel);
image_format image_format_read(lowering *l, const ctype *type, const char *text, uint32_t offset);
uint32_t image_words(image_format format); // of one pixel
// `inside` is 0 where it is certain.
pixel pixel_load(lowering *l, const image *i, ref index, ref inside);
void pixel_store(lowering *l, const image *i, ref index, const ref *lanes);
// The four lanes of a result, red first.
void pixel_lanes(lowering *l, const image *i, const pixel *p, ref lanes[4]);
const char *image_format_name(unit *u, image_format format);

// ---- image_address.c ----------------------------------------------------------------------------

enum { // of a sampler, as OpenCL C numbers them
  SAMPLER_NORMALIZED = 1,
  SAMPLER_ADDRESS = 0xe,
  SAMPLER_EDGE = 2,
  SAMPLER_BORDER = 4,
  SAMPLER_REPEAT = 6,
  SAMPLER_MIRROR = 8,
  SAMPLER_NEAREST = 0x10,
  SAMPLER_LINEAR = 0x20,
};
ref image_extent(lowering *l, const image *i, uint32_t axis); // u32
// `at` holds as many coordinates as the image has sizes, i32 or f32.
pixel image_sample(lowering *l, const image *i, uint32_t sampler, const ref *at);
// The first word of the pixel, and whether it is inside of the image.
ref image_place(lowering *l, const image *i, const ref *at, ref *inside);

// ---- image.c ------------------------------------------------------------------------------------

void image_declare(lowering *l, decl *d, const char *name);
ref image_extent_named(lowering *l, const char *name, size_t size); // in.width; 0: there is none
value sampler_argument(lowering *l, const decl *d, const char *name);

#endif
