// SPDX-License-Identifier: MIT
//
// Images: memory with a format and extents.
#ifndef VYRE_ICD_IMAGE_H
#define VYRE_ICD_IMAGE_H

#include "icd/memory.h"

// How the frontend names the format of an image: "rgba_unorm8". NULL when there is none.
const char *image_text(cl_mem image);
// Width, height, and depth or layers, as programs have them.
uint32_t image_extent(cl_mem image, uint32_t axis);
// Extents of the image as a box: pixels of a row, rows, planes; layers of a 1D array are rows.
void image_box(cl_mem image, size_t box[3]);

#endif
