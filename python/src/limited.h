/* SPDX-License-Identifier: MIT
 *
 * Python.h with the limited API of 3.9, and three things that joined the stable ABI later but are
 * the same in every interpreter from 3.9 on: the buffer protocol (stable from 3.11), METH_FASTCALL
 * (3.10) and vectorcall (3.12). 3.9 to 3.11 are finished and cannot change any more, so one binary
 * is right for all of them; `make python` runs the tests in each interpreter that is there.
 */
#ifndef VYRE_PYTHON_LIMITED_H
#define VYRE_PYTHON_LIMITED_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>
#include <structmember.h>

#include <stdbool.h>
#include <stdint.h>

/* Py_buffer as it is since 3.3. */
typedef struct py_view {
  void *buf;
  PyObject *obj;
  Py_ssize_t len, itemsize;
  int readonly, ndim;
  char *format;
  Py_ssize_t *shape, *strides, *suboffsets;
  void *internal;
} py_view;

enum { VIEW_WRITABLE = 0x1, VIEW_FORMAT = 0x4, VIEW_STRIDES = 0x18 };
PyAPI_FUNC(int) PyObject_GetBuffer(PyObject *object, py_view *view, int flags);
PyAPI_FUNC(void) PyBuffer_Release(py_view *view);

#define TYPE_HAS_VECTORCALL    (1UL << 11)
#define VECTORCALL_OFFSET_FLAG ((size_t)1 << (8 * sizeof(size_t) - 1))
#ifndef METH_FASTCALL
#define METH_FASTCALL 0x0080
#endif

typedef PyObject *(*vector_call)(PyObject *self, PyObject *const *args, size_t count,
                                 PyObject *names);

#endif
