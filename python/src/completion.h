/* SPDX-License-Identifier: MIT
 *
 * _vyre.Completion: a dispatch that is under way. It keeps the arguments' memory, and the runtime
 * keeps it until it is done, so that it can be forgotten. With the GIL.
 */
#ifndef VYRE_PYTHON_COMPLETION_H
#define VYRE_PYTHON_COMPLETION_H

#include "bind.h"
#include "limited.h"
#include "runtime.h"

#include <vyre/vyre.h>

bool completion_add_type(PyObject *module);

/* Starts a dispatch with what was bound in `b`, which the completion takes over (heap memory). The
 * objects are kept. */
PyObject *completion_submit(PyObject *kernel_object, vyre_kernel *kernel, runtime_object *runtime,
                            bound *b, PyObject *kept);
/* Waits for those of a list, and empties it. false with an exception, such as Ctrl-C. */
bool completion_wait_all(PyObject *list);

#endif
