/* SPDX-License-Identifier: MIT
 *
 * _vyre.Runtime: a runtime that is opened when it is first needed, and anew in a child of fork().
 * What belongs to it (kernels, buffers) remembers its epoch: when that is another one, the runtime
 * was closed or forked, and what it owned is gone. With the GIL, which also guards the counts.
 */
#ifndef VYRE_PYTHON_RUNTIME_H
#define VYRE_PYTHON_RUNTIME_H

#include "limited.h"

#include <vyre/vyre.h>

typedef struct runtime_object {
  PyObject ob_base;
  vyre_runtime *runtime; // NULL until it is needed
  vyre_runtime_options options;
  char *backend;       // of the options, owned
  unsigned epoch;      // of what it owns
  unsigned generation; // of forks, when it was opened
  unsigned in_flight;  // calls that use it without the GIL
  bool is_closed;
  PyObject *pending;   // completions that nobody waited for yet: a list, which keeps their memory
  struct notes *notes; // what the library told, from any thread
} runtime_object;

extern PyTypeObject *runtime_type;
bool runtime_add_type(PyObject *module);

extern unsigned runtime_forks; // that made this process

static inline unsigned runtime_generation(void) {
  return runtime_forks;
}
/* Opens it when that is needed. NULL with an exception. */
vyre_runtime *runtime_open(runtime_object *r);
/* Whether what was made in this epoch is still there. */
static inline bool runtime_has(const runtime_object *r, unsigned epoch) {
  return r->runtime && r->epoch == epoch && r->generation == runtime_generation();
}

#endif
