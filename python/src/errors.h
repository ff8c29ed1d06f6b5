/* SPDX-License-Identifier: MIT
 *
 * Errors of the library as Python exceptions. The classes are made by the Python layer
 * (vyre/_errors.py), which registers the function that makes one. With the GIL.
 */
#ifndef VYRE_PYTHON_ERRORS_H
#define VYRE_PYTHON_ERRORS_H

#include "limited.h"

#include <vyre/vyre.h>

/* Raises what the library returned. Always NULL. */
PyObject *errors_raise(const vyre_error *error);
/* Raises one of the binding's own: the message ends with a sentence that starts with Fix:. */
PyObject *errors_set(vyre_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* set_error_maker(callable): called with status, code, message, file, line, column, excerpt. */
PyObject *errors_set_maker(PyObject *module, PyObject *maker);

#endif
