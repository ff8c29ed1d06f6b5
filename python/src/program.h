/* SPDX-License-Identifier: MIT
 *
 * _vyre.Program: an immutable program, made from a source. With the GIL.
 */
#ifndef VYRE_PYTHON_PROGRAM_H
#define VYRE_PYTHON_PROGRAM_H

#include "limited.h"

#include <vyre/vyre.h>

typedef struct program_object {
  PyObject ob_base;
  vyre_program *program;
} program_object;

extern PyTypeObject *program_type;
bool program_add_type(PyObject *module);

/* entries(source, language, name, options): [(name, line, workgroup, [(name, type, space)])] */
PyObject *program_entries(PyObject *module, PyObject *args);

#endif
