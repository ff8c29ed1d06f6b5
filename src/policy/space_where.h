// SPDX-License-Identifier: MIT
//
// A constraint between parameters: an expression as in C or Python over their values, with + - * /
// // % **, comparisons (also chained), and or not && || !, `in [...]`, min, max and parentheses. It
// holds when it is not zero; what a division by zero gives compares with nothing. Checked when it
// is read: using it cannot fail. A value that its holder owns; evaluating is a pure function.
#ifndef VYRE_POLICY_SPACE_WHERE_H
#define VYRE_POLICY_SPACE_WHERE_H

#include <vyre/vyre.h>

enum { WHERE_NODES = 512 };

typedef struct space_where {
  struct where_node *nodes; // operands before what uses them; the last is the whole
  uint32_t count;
} space_where;

// Finds a parameter: its number, or a negative one when there is none of that name.
typedef int (*where_find)(const void *context, const char *name, size_t size);

vyre_status space_where_parse(const char *text, size_t size, where_find find, const void *context,
                              space_where *out, vyre_error *error);
void space_where_fini(space_where *w);
// `values` holds one number per parameter.
double space_where_value(const space_where *w, const double *values);
bool space_where_holds(const space_where *w, const double *values);

#endif
