// SPDX-License-Identifier: MIT
#define TWICE(x) ((x) + (x))
inline float shown(float x) {
  return TWICE(x) + TWICE(x) + *(private float *)(size_t)x;
}
