/* SPDX-License-Identifier: MIT */
#include "errors.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static PyObject *maker; // owned; NULL until the Python layer has registered one

PyObject *errors_set_maker(PyObject *module, PyObject *callable) {
  (void)module;
  PyObject *old = maker;
  Py_INCREF(callable);
  maker = callable;
  Py_XDECREF(old);
  Py_RETURN_NONE;
}

// What the library says may have been cut in the middle of a letter.
static PyObject *text_of(const char *text) {
  return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

PyObject *errors_raise(const vyre_error *e) {
  if (!maker) {
    PyErr_SetString(PyExc_RuntimeError, e->message);
    return NULL;
  }
  PyObject *message = text_of(e->message), *file = text_of(e->file), *excerpt = text_of(e->excerpt);
  PyObject *made = NULL;
  if (message && file && excerpt)
    made = PyObject_CallFunction(maker, "ssOOIIO", vyre_status_name(e->status), e->code, message,
                                 file, (unsigned)e->line, (unsigned)e->column, excerpt);
  Py_XDECREF(message);
  Py_XDECREF(file);
  Py_XDECREF(excerpt);
  if (!made) return NULL;
  PyErr_SetObject((PyObject *)Py_TYPE(made), made);
  Py_DECREF(made);
  return NULL;
}

PyObject *errors_set(vyre_status status, const char *format, ...) {
  vyre_error e;
  memset(&e, 0, sizeof e);
  e.status = status;
  va_list args;
  va_start(args, format);
  vsnprintf(e.message, sizeof e.message, format, args);
  va_end(args);
  return errors_raise(&e);
}
