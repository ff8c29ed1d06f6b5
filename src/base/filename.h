// SPDX-License-Identifier: MIT
//
// Names from elsewhere (drivers, devices, users) as the name of a file. Pure function: any thread.
#ifndef VYRE_BASE_FILENAME_H
#define VYRE_BASE_FILENAME_H

enum { FILENAME_SAFE = 160 };

// Letters, digits, - _ + and dots that do not come first stay; everything else becomes _. A name
// that had to be changed, or cut, gets a hash of the original behind it, so that two names never
// become one.
void filename_make_safe(const char *name, char out[FILENAME_SAFE]);

#endif
