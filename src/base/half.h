// SPDX-License-Identifier: MIT
//
// 16-bit floats (IEEE-754 binary16) by their bits. Pure functions: any thread.
#ifndef VYRE_BASE_HALF_H
#define VYRE_BASE_HALF_H

#include <stdint.h>
#include <string.h>

// Exact.
static inline double half_read(uint16_t bits) {
  double sign = bits >> 15 ? -1 : 1;
  unsigned exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
  if (exponent == 31) return fraction ? __builtin_nan("") : sign * __builtin_inf();
  if (!exponent) return sign * fraction * 0x1p-24;
  uint64_t wide =
      (uint64_t)(bits >> 15) << 63 | (uint64_t)(exponent + 1008) << 52 | (uint64_t)fraction << 42;
  double value;
  memcpy(&value, &wide, sizeof value);
  return value;
}

// Rounded to nearest even. A NaN becomes the quiet one.
static inline uint16_t half_round(double value) {
  uint64_t wide;
  memcpy(&wide, &value, sizeof wide);
  unsigned sign = (unsigned)(wide >> 63) << 15;
  wide &= ~(uint64_t)0 >> 1;
  if (wide > (uint64_t)0x7ff << 52) return 0x7e00;
  int exponent = (int)(wide >> 52) - 1008;
  if (exponent > 30) return (uint16_t)(sign | 0x7c00);
  if (exponent < -10) return (uint16_t)sign; // below half of the smallest
  uint64_t fraction = (wide & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
  // Of the 53 bits 11 stay, fewer of a subnormal one. A carry goes into the exponent, also the
  // largest one's, which makes infinity.
  unsigned lost = exponent > 0 ? 42 : (unsigned)(43 - exponent);
  uint64_t kept = fraction >> lost, rest = fraction & (((uint64_t)1 << lost) - 1);
  uint64_t middle = (uint64_t)1 << (lost - 1);
  kept += rest > middle || (rest == middle && (kept & 1));
  return (uint16_t)(sign | (exponent > 0 ? (unsigned)(exponent - 1) * 1024 + kept : kept));
}

#endif
