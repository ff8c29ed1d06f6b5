/* SPDX-License-Identifier: MIT
 *
 * Where the elements of a Python object are: numpy arrays, the buffer protocol, DLPack on this
 * CPU, __array_interface__, and vyre.Buffer. Nothing is copied; what is borrowed is given back by
 * memory_release. With the GIL.
 */
#ifndef VYRE_PYTHON_MEMORY_H
#define VYRE_PYTHON_MEMORY_H

#include "limited.h"
#include "numpy.h"

#include <vyre/vyre.h>

enum { MEMORY_AXES = 3 };

typedef struct memory {
  void *data;
  size_t count; // elements
  vyre_type type;
  bool is_readonly, is_contiguous, has_view;
  int ndim;
  Py_ssize_t shape[MEMORY_AXES]; // of the first axes
  py_view view;                  // has_view
  PyObject *owner;               // of what a view does not keep, or NULL
  vyre_buffer *handle;           // vyre.Buffer: there is no `data`
} memory;

/* What a kernel wants an argument to be. */
typedef struct memory_want {
  const char *kernel, *name;
  vyre_type type;
  vyre_access access;
  int ndim; // 0: any
} memory_want;

/* false with an exception that names the argument. */
bool memory_get(PyObject *object, const memory_want *want, memory *out);
/* The same without wishes: for buffers that are made from arrays. */
bool memory_get_any(PyObject *object, memory *out);
void memory_release(memory *m);

/* The memory of an array of numpy, when that is what it is and it fits; false otherwise, without
 * an exception: memory_get tells why, or finds another way. Nothing has to be given back. */
static inline bool memory_get_fast(PyObject *object, const memory_want *want, memory *m) {
  const numpy_array *a = numpy_get(object);
  if (!a || numpy_type(a) != want->type || (want->ndim && a->nd != want->ndim)) return false;
  int needed = NUMPY_CONTIGUOUS | NUMPY_ALIGNED | (want->access & VYRE_WRITE ? NUMPY_WRITEABLE : 0);
  if ((a->flags & needed) != needed) return false;
  m->data = a->data;
  m->handle = NULL;
  m->ndim = a->nd;
  m->count = 1;
  for (int i = 0; i < a->nd; i++) {
    m->count *= (size_t)a->dimensions[i];
    if (i < MEMORY_AXES) m->shape[i] = a->dimensions[i];
  }
  return true;
}

#endif
