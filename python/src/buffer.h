/* SPDX-License-Identifier: MIT
 *
 * _vyre.Buffer: memory of a runtime, which may stay on a device. With the GIL.
 */
#ifndef VYRE_PYTHON_BUFFER_H
#define VYRE_PYTHON_BUFFER_H

#include "limited.h"
#include "memory.h"

#include <vyre/vyre.h>

bool buffer_add_type(PyObject *module);

/* 1: it is a buffer, and this is where; 0: it is none; -1: an exception. */
int buffer_describe(PyObject *object, memory *out);

#endif
