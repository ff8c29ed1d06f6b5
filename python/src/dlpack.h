/* SPDX-License-Identifier: MIT
 *
 * DLPack, the exchange of arrays between libraries by a capsule with a pointer. Only memory of this
 * CPU. With the GIL.
 */
#ifndef VYRE_PYTHON_DLPACK_H
#define VYRE_PYTHON_DLPACK_H

#include "limited.h"

#include <vyre/vyre.h>

enum { DLPACK_INT = 0, DLPACK_UINT = 1, DLPACK_FLOAT = 2, DLPACK_BOOL = 6, DLPACK_CPU = 1 };

typedef struct dlpack_tensor {
  void *data;
  int ndim, kind; // DLPACK_INT and so on
  size_t itemsize;
  const int64_t *shape, *strides; // strides in elements; NULL: contiguous
  PyObject *capsule;              // owned: keeps all of it
} dlpack_tensor;

/* 1: found; 0: the object has no DLPack; -1: an exception, as for memory of another device. */
int dlpack_import(PyObject *object, dlpack_tensor *out);
/* A capsule with `count` elements at `data`, which `owner` keeps alive. */
PyObject *dlpack_export(void *data, const Py_ssize_t *shape, int ndim, vyre_type type,
                        PyObject *owner);

#endif
