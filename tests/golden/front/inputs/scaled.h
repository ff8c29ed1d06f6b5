// SPDX-License-Identifier: MIT
#ifndef FACTOR
#define FACTOR 2
#endif
inline float scaled(float x) { return x * FACTOR + OFFSET; }
