/* SPDX-License-Identifier: MIT */
#include "buffer.h"

#include "dlpack.h"
#include "errors.h"
#include "runtime.h"

#include <stdlib.h>

typedef struct buffer_object {
  PyObject ob_base;
  runtime_object *runtime; // owned
  vyre_buffer *handle;
  unsigned epoch; // of the runtime
  vyre_type type;
  int ndim;
  Py_ssize_t shape[MEMORY_AXES];
  size_t count;
} buffer_object;

static PyTypeObject *buffer_type;

static bool is_alive(const buffer_object *b) {
  if (b->handle && runtime_has(b->runtime, b->epoch)) return true;
  errors_set(VYRE_ERROR_ARGUMENT, "the buffer's runtime was closed, or the process was forked. "
                                  "Fix: make the buffer in a runtime that is open here");
  return false;
}

int buffer_describe(PyObject *object, memory *m) {
  if (!PyObject_TypeCheck(object, buffer_type)) return 0;
  const buffer_object *b = (const buffer_object *)object;
  if (!is_alive(b)) return -1;
  m->handle = b->handle;
  m->count = b->count;
  m->type = b->type;
  m->is_contiguous = true;
  m->ndim = b->ndim;
  for (int i = 0; i < b->ndim; i++) m->shape[i] = b->shape[i];
  return 1;
}

static bool read_shape(buffer_object *b, PyObject *shape) {
  b->ndim = (int)PyTuple_Size(shape);
  b->count = 1;
  if (b->ndim < 1 || b->ndim > MEMORY_AXES) {
    errors_set(VYRE_ERROR_ARGUMENT, "a buffer has 1 to 3 axes. Fix: pass shape=(n,) or so");
    return false;
  }
  for (int i = 0; i < b->ndim; i++) {
    b->shape[i] = PyLong_AsSsize_t(PyTuple_GetItem(shape, i));
    if (PyErr_Occurred()) return false;
    if (b->shape[i] < 0 || __builtin_mul_overflow(b->count, (size_t)b->shape[i], &b->count) ||
        b->count > UINT32_MAX) {
      errors_set(VYRE_ERROR_LIMIT, "a buffer has 0 to 2^32 - 1 elements. Fix: pass such a shape");
      return false;
    }
  }
  return true;
}

static PyObject *buffer_new(PyTypeObject *type, PyObject *args, PyObject *named) {
  static char *names[] = {"runtime", "shape", "type", NULL};
  PyObject *runtime, *shape;
  const char *element;
  if (!PyArg_ParseTupleAndKeywords(args, named, "O!O!s", names, runtime_type, &runtime,
                                   &PyTuple_Type, &shape, &element))
    return NULL;
  allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  buffer_object *b = (buffer_object *)alloc(type, 0);
  if (!b) return NULL;
  Py_INCREF(runtime);
  b->runtime = (runtime_object *)runtime;
  b->type = vyre_type_from_name(element);
  vyre_runtime *rt = read_shape(b, shape) ? runtime_open(b->runtime) : NULL;
  vyre_error error;
  if (rt && b->type == VYRE_VOID)
    errors_set(VYRE_ERROR_ARGUMENT, "`%s` is no type. Fix: use f32, f64, i8 to u64 or bool",
               element);
  else if (rt &&
           vyre_buffer_new(rt, b->count * vyre_type_size(b->type), &b->handle, &error) != VYRE_OK)
    errors_raise(&error);
  b->epoch = b->runtime->epoch;
  if (b->handle) return (PyObject *)b;
  Py_DECREF(b);
  return NULL;
}

static void buffer_dealloc(PyObject *self) {
  buffer_object *b = (buffer_object *)self;
  PyTypeObject *type = Py_TYPE(self);
  if (PyType_GetFlags(type) & Py_TPFLAGS_HAVE_GC) PyObject_GC_UnTrack(self);
  if (b->handle && b->runtime && runtime_has(b->runtime, b->epoch)) vyre_buffer_free(b->handle);
  Py_XDECREF((PyObject *)b->runtime);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

// ---- copies -------------------------------------------------------------------------------------

typedef struct copy {
  buffer_object *buffer;
  memory other;
  size_t offset_bytes, size_bytes;
} copy;

// The other side of a copy: an array of the same type, from `offset` elements of the buffer on.
static bool begin_copy(PyObject *self, PyObject *args, bool is_write, copy *c) {
  PyObject *object;
  Py_ssize_t offset = 0;
  c->buffer = (buffer_object *)self;
  if (!PyArg_ParseTuple(args, "O|n", &object, &offset) || !is_alive(c->buffer)) return false;
  memory_want want = {.kernel = "Buffer",
                      .name = is_write ? "source" : "target",
                      .type = c->buffer->type,
                      .access = is_write ? VYRE_READ : VYRE_WRITE};
  if (!memory_get(object, &want, &c->other)) return false;
  size_t size = vyre_type_size(c->buffer->type);
  bool is_inside = offset >= 0 && (size_t)offset <= c->buffer->count &&
                   c->other.count <= c->buffer->count - (size_t)offset && !c->other.handle;
  if (!is_inside) {
    errors_set(VYRE_ERROR_ARGUMENT,
               "%zu elements at %zd are not inside of this buffer's %zu. Fix: copy fewer, from an "
               "array",
               c->other.count, offset, c->buffer->count);
    memory_release(&c->other);
    return false;
  }
  c->offset_bytes = (size_t)offset * size;
  c->size_bytes = c->other.count * size;
  return true;
}

static PyObject *end_copy(copy *c, vyre_status status, const vyre_error *error) {
  memory_release(&c->other);
  if (status != VYRE_OK) return errors_raise(error);
  Py_RETURN_NONE;
}

static PyObject *buffer_write(PyObject *self, PyObject *args) {
  copy c;
  vyre_error error;
  vyre_status status;
  if (!begin_copy(self, args, true, &c)) return NULL;
  c.buffer->runtime->in_flight++;
  Py_BEGIN_ALLOW_THREADS status =
      vyre_buffer_write(c.buffer->handle, c.offset_bytes, c.other.data, c.size_bytes, &error);
  Py_END_ALLOW_THREADS c.buffer->runtime->in_flight--;
  return end_copy(&c, status, &error);
}

static PyObject *buffer_read(PyObject *self, PyObject *args) {
  copy c;
  vyre_error error;
  vyre_status status;
  if (!begin_copy(self, args, false, &c)) return NULL;
  c.buffer->runtime->in_flight++;
  Py_BEGIN_ALLOW_THREADS status =
      vyre_buffer_read(c.buffer->handle, c.offset_bytes, c.other.data, c.size_bytes, &error);
  Py_END_ALLOW_THREADS c.buffer->runtime->in_flight--;
  return end_copy(&c, status, &error);
}

static PyObject *buffer_tobytes(PyObject *self, PyObject *unused) {
  buffer_object *b = (buffer_object *)self;
  (void)unused;
  if (!is_alive(b)) return NULL;
  size_t size = b->count * vyre_type_size(b->type);
  PyObject *made = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)size);
  vyre_error error;
  if (!made) return NULL;
  if (vyre_buffer_read(b->handle, 0, PyByteArray_AsString(made), size, &error) == VYRE_OK)
    return made;
  Py_DECREF(made);
  return errors_raise(&error);
}

// DLPack wants an address that stays: what is handed out is the content as it is now.
static PyObject *buffer_dlpack(PyObject *self, PyObject *args, PyObject *named) {
  buffer_object *b = (buffer_object *)self;
  (void)args, (void)named; // stream, max_version, copy: this is always a fresh copy
  PyObject *bytes = buffer_tobytes(self, NULL);
  if (!bytes) return NULL;
  PyObject *capsule = dlpack_export(PyByteArray_AsString(bytes), b->shape, b->ndim, b->type, bytes);
  Py_DECREF(bytes);
  return capsule;
}

static PyObject *buffer_dlpack_device(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  return Py_BuildValue("(ii)", DLPACK_CPU, 0);
}

static PyObject *get_shape(PyObject *self, void *unused) {
  const buffer_object *b = (const buffer_object *)self;
  (void)unused;
  PyObject *shape = PyTuple_New(b->ndim);
  for (int i = 0; shape && i < b->ndim; i++)
    PyTuple_SetItem(shape, i, PyLong_FromSsize_t(b->shape[i]));
  return shape;
}

static PyObject *get_type(PyObject *self, void *unused) {
  (void)unused;
  return PyUnicode_FromString(vyre_type_name(((buffer_object *)self)->type));
}

static PyObject *get_runtime(PyObject *self, void *unused) {
  (void)unused;
  PyObject *runtime = (PyObject *)((buffer_object *)self)->runtime;
  Py_INCREF(runtime);
  return runtime;
}

static PyMethodDef methods[] = {
    {"_write", buffer_write, METH_VARARGS, "_write(array, offset=0)"},
    {"_read", buffer_read, METH_VARARGS, "_read(array, offset=0)"},
    {"tobytes", buffer_tobytes, METH_NOARGS, "The content, copied to a bytearray."},
    {"__dlpack__", (PyCFunction)(void (*)(void))buffer_dlpack, METH_VARARGS | METH_KEYWORDS,
     "A DLPack capsule with a copy of the content in memory of the CPU."},
    {"__dlpack_device__", buffer_dlpack_device, METH_NOARGS, "The CPU."},
    {0},
};
static PyGetSetDef getters[] = {
    {"shape", get_shape, NULL, "Its extents.", NULL},
    {"type", get_type, NULL, "The name of its elements' type, such as f32.", NULL},
    {"runtime", get_runtime, NULL, "The runtime that owns it.", NULL},
    {0},
};
static PyType_Slot slots[] = {
    {Py_tp_new, buffer_new},
    {Py_tp_dealloc, buffer_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, getters},
    {Py_tp_doc, "Memory of a runtime: see vyre.Buffer."},
    {0, NULL},
};
static PyType_Spec spec = {"vyre._vyre.Buffer", sizeof(buffer_object), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

bool buffer_add_type(PyObject *module) {
  buffer_type = (PyTypeObject *)PyType_FromSpec(&spec);
  if (!buffer_type) return false;
  Py_INCREF(buffer_type);
  return !PyModule_AddObject(module, "Buffer", (PyObject *)buffer_type);
}
