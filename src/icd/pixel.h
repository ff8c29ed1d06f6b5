// SPDX-License-Identifier: MIT
//
// One pixel of an image from a colour, as clEnqueueFillImage gives it: four f32, i32 or u32.
#ifndef VYRE_ICD_PIXEL_H
#define VYRE_ICD_PIXEL_H

#include "icd/icd.h"

// `out` has room for 16 bytes.
void pixel_pack(const cl_image_format *format, const void *color, char *out);

#endif
