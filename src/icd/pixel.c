// SPDX-License-Identifier: MIT
//
// The same conversions as the frontend's (docs/OPENCL.md): saturated, rounded to nearest even.
#include "icd/pixel.h"

#include <CL/cl_half.h>

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// Which of red, green, blue, alpha the channels of a pixel are, in their order in memory.
static const char *channels_of(cl_channel_order order) {
  switch (order) {
  case CL_R:
  case CL_INTENSITY:
  case CL_LUMINANCE:
  case CL_DEPTH: return "r";
  case CL_A: return "a";
  case CL_RG: return "rg";
  case CL_RA: return "ra";
  case CL_RGB:
  case CL_RGBx: return "rgb";
  case CL_BGRA:
  case CL_sBGRA: return "bgra";
  case CL_ARGB: return "argb";
  case CL_ABGR: return "abgr";
  default: return "rgba";
  }
}

static int32_t to_unit(float x, float scale, int32_t least) {
  if (isnan(x)) return 0;
  float y = rintf(x * scale);
  return y < (float)least ? least : y > scale ? (int32_t)scale : (int32_t)y;
}

static float to_srgb(float x) {
  if (isnan(x) || x < 0) return 0;
  if (x > 1) return 1;
  return x < 0.0031308f ? 12.92f * x : 1.055f * powf(x, 1.0f / 2.4f) - 0.055f;
}

static int32_t clamp(int64_t x, int64_t least, int64_t most) {
  return (int32_t)(x < least ? least : x > most ? most : x);
}

// The bytes of one channel; their number.
static size_t put(cl_channel_type type, const void *from, char *out) {
  float f;
  int32_t i;
  uint32_t u;
  memcpy(&f, from, 4);
  memcpy(&i, from, 4);
  memcpy(&u, from, 4);
  size_t size = 4;
  switch (type) {
  case CL_UNORM_INT8: i = to_unit(f, 255, 0), size = 1; break;
  case CL_UNORM_INT16: i = to_unit(f, 65535, 0), size = 2; break;
  case CL_SNORM_INT8: i = to_unit(f, 127, -128), size = 1; break;
  case CL_SNORM_INT16: i = to_unit(f, 32767, -32768), size = 2; break;
  case CL_SIGNED_INT8: i = clamp(i, INT8_MIN, INT8_MAX), size = 1; break;
  case CL_SIGNED_INT16: i = clamp(i, INT16_MIN, INT16_MAX), size = 2; break;
  case CL_UNSIGNED_INT8: i = clamp(u, 0, UINT8_MAX), size = 1; break;
  case CL_UNSIGNED_INT16: i = clamp(u, 0, UINT16_MAX), size = 2; break;
  case CL_HALF_FLOAT: i = cl_half_from_float(f, CL_HALF_RTE), size = 2; break;
  default: break; // 32 bits as they are
  }
  memcpy(out, &i, size);
  return size;
}

static bool put_packed(cl_channel_type type, const float *color, char *out) {
  uint32_t bits;
  switch (type) {
  case CL_UNORM_SHORT_565:
    bits = (uint32_t)to_unit(color[0], 31, 0) << 11 | (uint32_t)to_unit(color[1], 63, 0) << 5 |
           (uint32_t)to_unit(color[2], 31, 0);
    memcpy(out, &bits, 2);
    return true;
  case CL_UNORM_SHORT_555:
    bits = (uint32_t)to_unit(color[0], 31, 0) << 10 | (uint32_t)to_unit(color[1], 31, 0) << 5 |
           (uint32_t)to_unit(color[2], 31, 0);
    memcpy(out, &bits, 2);
    return true;
  case CL_UNORM_INT_101010:
    bits = (uint32_t)to_unit(color[0], 1023, 0) << 20 | (uint32_t)to_unit(color[1], 1023, 0) << 10 |
           (uint32_t)to_unit(color[2], 1023, 0);
    memcpy(out, &bits, 4);
    return true;
  default: return false;
  }
}

void pixel_pack(const cl_image_format *format, const void *color, char *out) {
  float numbers[4];
  memcpy(numbers, color, sizeof numbers);
  if (put_packed(format->image_channel_data_type, numbers, out)) return;
  bool is_srgb = format->image_channel_order == CL_sRGBA || format->image_channel_order == CL_sBGRA;
  for (const char *c = channels_of(format->image_channel_order); *c; c++) {
    int at = *c == 'r' ? 0 : *c == 'g' ? 1 : *c == 'b' ? 2 : 3;
    float light = at < 3 && is_srgb ? to_srgb(numbers[at]) : 0;
    const char *from = is_srgb && at < 3 ? (const char *)&light : (const char *)color + 4 * at;
    out += put(format->image_channel_data_type, from, out);
  }
}
