/* SPDX-License-Identifier: MIT */
#include "dlpack.h"

#include "errors.h"

#include <stdlib.h>

// As the standard lays them out (version 0, which every library understands).
typedef struct dl_tensor {
  void *data;
  int32_t device_type, device_id;
  int32_t ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} dl_tensor;

typedef struct dl_managed {
  dl_tensor tensor;
  void *context;
  void (*deleter)(struct dl_managed *self);
} dl_managed;

static const char fresh_name[] = "dltensor";

static int check_device(PyObject *object) {
  if (!PyObject_HasAttrString(object, "__dlpack_device__")) return 1;
  PyObject *device = PyObject_CallMethod(object, "__dlpack_device__", NULL);
  if (!device) return -1;
  long type = -1;
  if (PyTuple_Check(device) && PyTuple_Size(device) == 2)
    type = PyLong_AsLong(PyTuple_GetItem(device, 0));
  Py_DECREF(device);
  if (PyErr_Occurred()) return -1;
  if (type == DLPACK_CPU) return 1;
  errors_set(VYRE_ERROR_UNSUPPORTED,
             "this array lies on a device of DLPack's kind %ld, and only memory of the CPU can be "
             "used. Fix: copy it there first, as with .cpu()",
             type);
  return -1;
}

int dlpack_import(PyObject *object, dlpack_tensor *out) {
  if (!PyObject_HasAttrString(object, "__dlpack__")) return 0;
  if (check_device(object) < 0) return -1;
  PyObject *capsule = PyObject_CallMethod(object, "__dlpack__", NULL);
  if (!capsule) return -1;
  dl_managed *managed = PyCapsule_GetPointer(capsule, fresh_name);
  if (!managed || managed->tensor.lanes != 1) {
    Py_DECREF(capsule);
    if (!managed) return -1;
    return 0;
  }
  const dl_tensor *t = &managed->tensor;
  *out = (dlpack_tensor){.data = (char *)t->data + t->byte_offset,
                         .ndim = t->ndim,
                         .kind = t->code,
                         .itemsize = t->bits / 8u,
                         .shape = t->shape,
                         .strides = t->strides,
                         .capsule = capsule};
  bool is_known = t->code <= DLPACK_FLOAT || t->code == DLPACK_BOOL;
  if (is_known && t->bits % 8 == 0) return 1;
  out->itemsize = 0;
  return 1;
}

// ---- export -------------------------------------------------------------------------------------

typedef struct exported {
  dl_managed managed;
  int64_t shape[3], strides[3];
} exported;

// The consumer may be any thread, with or without the GIL, and come after the interpreter's end.
static void delete_exported(dl_managed *self) {
  if (Py_IsInitialized()) {
    PyGILState_STATE state = PyGILState_Ensure();
    Py_XDECREF((PyObject *)self->context);
    PyGILState_Release(state);
  }
  free(self);
}

// A capsule that nobody took.
static void drop_capsule(PyObject *capsule) {
  if (!PyCapsule_IsValid(capsule, fresh_name)) return;
  dl_managed *managed = PyCapsule_GetPointer(capsule, fresh_name);
  if (managed) managed->deleter(managed);
}

static uint8_t code_of(vyre_type type) {
  switch (vyre_type_name(type)[0]) {
  case 'b': return DLPACK_BOOL;
  case 'f': return DLPACK_FLOAT;
  case 'u': return DLPACK_UINT;
  default: return DLPACK_INT;
  }
}

PyObject *dlpack_export(void *data, const Py_ssize_t *shape, int ndim, vyre_type type,
                        PyObject *owner) {
  exported *e = calloc(1, sizeof *e);
  if (!e) return PyErr_NoMemory();
  int64_t step = 1;
  for (int i = ndim - 1; i >= 0; i--) {
    e->shape[i] = shape[i];
    e->strides[i] = step;
    step *= shape[i];
  }
  e->managed.tensor = (dl_tensor){.data = data,
                                  .device_type = DLPACK_CPU,
                                  .ndim = ndim,
                                  .code = code_of(type),
                                  .bits = (uint8_t)(8 * vyre_type_size(type)),
                                  .lanes = 1,
                                  .shape = e->shape,
                                  .strides = e->strides};
  e->managed.context = owner;
  e->managed.deleter = delete_exported;
  PyObject *capsule = PyCapsule_New(&e->managed, fresh_name, drop_capsule);
  if (!capsule) {
    free(e);
    return NULL;
  }
  Py_XINCREF(owner);
  return capsule;
}
