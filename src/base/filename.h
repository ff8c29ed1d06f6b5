// SPDX-License-Identifier: MIT
//
// Names from elsewhere (drivers, devices, users) as the name of a file. Pure function: any thread.
#ifndef VYRE_BASE_FILENAME_H
#define VYRE_BASE_FILENAME_H

#include <stdbool.h>
#include <stddef.h>

enum { FILENAME_SAFE = 160 };

// Letters, digits, - _ + and dots that do not come first stay; everything else becomes _. A name
// that had to be changed, or cut, gets a hash of the original behind it, so that two names never
// become one.
void filename_make_safe(const char *name, char out[FILENAME_SAFE]);

// Whether a name can be used as it is, in files and on a command line: 1 to `most` lower-case
// letters, digits, - and _, a letter first.
bool filename_is_plain(const char *name, size_t most);

#endif
