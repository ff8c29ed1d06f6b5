// SPDX-License-Identifier: MIT
//
// What may be tuned: parameters with their values, and the configurations (one value of each) that
// satisfy the constraints. Values are kept as they are written; those of a parameter that are all
// numbers are ordered. A value that its holder owns; readers on any thread.
#ifndef VYRE_POLICY_SPACE_H
#define VYRE_POLICY_SPACE_H

#include <vyre/vyre.h>

#include "base/strbuf.h"
#include "policy/space_where.h"

enum { SPACE_PARAMS = 32, SPACE_VALUES = 4096, SPACE_MOST = 1 << 20, SPACE_NONE = -1 };

typedef struct space_param {
  char *name;
  char **values; // as written
  double *numbers;
  uint32_t count;
  bool is_numeric;
} space_param;

typedef struct space {
  space_param params[SPACE_PARAMS];
  uint32_t param_count;
  uint16_t *rows; // of the indices of values, one row per configuration
  uint32_t count;
  uint32_t *order; // configurations, sorted by their rows
} space;

void space_fini(space *s);

// A parameter, by its name and length; fails when there are too many, or one of that name.
vyre_status space_add_param(space *s, const char *name, size_t size, vyre_error *error);
// A value of the last parameter; one that is there already is not added again. *index is its
// number.
vyre_status space_add_value(space *s, uint32_t param, const char *text, size_t size,
                            uint32_t *index, vyre_error *error);

// Either all combinations for which each of the constraints holds, and which `fits` (may be NULL)
// accepts, ...
typedef bool (*space_fits)(void *context, const uint16_t *row);
vyre_status space_enumerate(space *s, const space_where *wheres, uint32_t where_count,
                            space_fits fits, void *context, vyre_error *error);
// ... or a list of rows, of which each may be given once; space_finish ends it.
vyre_status space_add_row(space *s, const uint16_t *row, vyre_error *error);
vyre_status space_finish(space *s, vyre_error *error);

static inline const uint16_t *space_row(const space *s, uint32_t config) {
  return s->rows + (size_t)config * s->param_count;
}
// The configuration with that row, or SPACE_NONE.
int64_t space_find(const space *s, const uint16_t *row);
int space_find_param(const space *s, const char *name, size_t size); // SPACE_NONE: there is none

// A configuration as people read it and files keep it: "TILE=8 UNROLL=2"; and the inverse,
// SPACE_NONE when it is none of this space.
void space_config_print(const space *s, uint32_t config, strbuf *out);
int64_t space_config_read(const space *s, const char *text);
// A constraint over its parameters: see space_where_parse.
vyre_status space_read_where(const space *s, const char *text, size_t size, space_where *out,
                             vyre_error *error);

// Features for a model, one row of `count` numbers from 0 to 1 per feature: of a numeric parameter
// its logarithm where values differ by factors, and by how much two it can be divided, where that
// differs from the size; of others one feature per value. Returns how many, at most `most`; the
// caller frees. `configs` picks some. `of` says which parameter a feature is of.
uint32_t space_features(const space *s, const uint32_t *configs, uint32_t count, uint32_t most,
                        float **out, uint32_t *of);

#endif
