/* SPDX-License-Identifier: MIT
 *
 * Arrays of numpy without its headers: the first fields of an array and of its dtype, which are the
 * same from numpy 1 to 2. They are believed once they were compared with what
 * __array_interface__ says of the first array that comes; where they differ the buffer protocol is
 * used. Reading them takes 10 ns, the buffer protocol 150. With the GIL.
 */
#ifndef VYRE_PYTHON_NUMPY_H
#define VYRE_PYTHON_NUMPY_H

#include "limited.h"

#include <vyre/vyre.h>

enum { NUMPY_CONTIGUOUS = 0x1, NUMPY_ALIGNED = 0x100, NUMPY_WRITEABLE = 0x400 };

typedef struct numpy_dtype {
  PyObject head;
  PyTypeObject *scalar;
  char kind, letter, byteorder, unused;
  int number;
} numpy_dtype;

typedef struct numpy_array {
  PyObject head;
  char *data;
  int nd;
  Py_ssize_t *dimensions, *strides;
  PyObject *base;
  numpy_dtype *dtype;
  int flags;
} numpy_array;

extern PyTypeObject *numpy_array_type; // NULL until an array was seen and its fields were right

/* Looks at a type that is not known yet. */
const numpy_array *numpy_meet(PyObject *object);

static inline const numpy_array *numpy_get(PyObject *object) {
  if (Py_TYPE(object) == numpy_array_type) return (const numpy_array *)object;
  return numpy_array_type ? NULL : numpy_meet(object);
}

extern vyre_type numpy_types[32]; // by the number of a dtype

static inline vyre_type numpy_type(const numpy_array *a) {
  const numpy_dtype *d = a->dtype;
  bool is_native = d->byteorder == '=' || d->byteorder == '|';
  return is_native && (unsigned)d->number < 32 ? numpy_types[d->number] : VYRE_VOID;
}

const char *numpy_dtype_name(vyre_type type); // "float32"

#endif
