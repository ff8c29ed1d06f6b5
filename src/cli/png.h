// SPDX-License-Identifier: MIT
//
// PNG images of 8 bits a channel, through libpng. no_png/png.c stands in where that is missing. Any
// thread.
#ifndef VYRE_CLI_PNG_H
#define VYRE_CLI_PNG_H

#include "base/strbuf.h"
#include "cli/npy.h"

// Rows, columns and, when there are several, channels (grey and alpha, red green blue, and alpha).
// Elements are u8, or for `type` f32 and f64 from 0 to 1. `name` is for messages.
vyre_status png_decode(const void *bytes, size_t size, const char *name, vyre_type type,
                       npy_array *out, vyre_error *error);
// The caller frees *out. Floats below 0 or above 1, and NaN, become 0 and 255, and 0.
vyre_status png_encode(const char *name, vyre_type type, uint32_t rank, const uint64_t *shape,
                       const void *data, char **out, size_t *size, vyre_error *error);

#endif
