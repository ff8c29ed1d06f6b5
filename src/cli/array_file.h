// SPDX-License-Identifier: MIT
//
// Arrays in files, in the form that their first bytes or the end of their name say:
//
//   .npy   NumPy's (npy.h)
//   .png   images of 8 bits a channel: rows, columns and, when there are several, channels.
//   Elements
//          are u8, or f32 and f64 from 0 to 1
//   .csv   (also .txt and .tsv) numbers separated by commas, semicolons or blanks, a line for each
//          row; a first line without numbers is a heading. `-` is standard input or output, as CSV
//
// The caller frees an array with npy_free. Any thread.
#ifndef VYRE_CLI_ARRAY_FILE_H
#define VYRE_CLI_ARRAY_FILE_H

#include "cli/npy.h"

// `type` is what elements are to be where the file does not say it.
vyre_status array_read(const char *path, vyre_type type, npy_array *out, vyre_error *error);
vyre_status array_write(const char *path, vyre_type type, uint32_t rank, const uint64_t *shape,
                        const void *data, vyre_error *error);
// Whether the text ends like the name of such a file.
bool array_is_named(const char *text);

#endif
