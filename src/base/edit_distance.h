// SPDX-License-Identifier: MIT
//
// How unlike two words are, for "did you mean". Pure function: any thread.
#ifndef VYRE_BASE_EDIT_DISTANCE_H
#define VYRE_BASE_EDIT_DISTANCE_H

#include <stddef.h>

enum { EDIT_LONGEST = 64 }; // longer words are not compared, and are this far from all others

// Letters to insert, remove, change or swap with a neighbour to turn one word into the other.
size_t edit_distance(const char *a, size_t a_size, const char *b, size_t b_size);

#endif
