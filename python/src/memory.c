/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include "buffer.h"
#include "dlpack.h"
#include "errors.h"

#include <string.h>

// ---- types --------------------------------------------------------------------------------------

static vyre_type integer_type(size_t size, bool is_signed) {
  switch (size) {
  case 1: return is_signed ? VYRE_I8 : VYRE_U8;
  case 2: return is_signed ? VYRE_I16 : VYRE_U16;
  case 4: return is_signed ? VYRE_I32 : VYRE_U32;
  case 8: return is_signed ? VYRE_I64 : VYRE_U64;
  default: return VYRE_VOID;
  }
}

static vyre_type float_type(size_t size) {
  return size == 4 ? VYRE_F32 : size == 8 ? VYRE_F64 : vyre_type_from_name(size == 2 ? "f16" : "");
}

// A format of the struct module: one letter behind a native or little-endian mark.
static vyre_type format_type(const char *format, Py_ssize_t itemsize) {
  if (!format) return itemsize == 1 ? VYRE_U8 : VYRE_VOID;
  bool is_native = !strchr("<>!=", format[0]) || format[0] == '=' ||
                   format[0] == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>');
  const char *letter = strchr("@=<>!", format[0]) && format[0] ? format + 1 : format;
  if ((!is_native && itemsize > 1) || !letter[0] || letter[1]) return VYRE_VOID;
  if (*letter == '?') return VYRE_BOOL;
  if (strchr("bhilqn", *letter)) return integer_type((size_t)itemsize, true);
  if (strchr("BcHILQN", *letter)) return integer_type((size_t)itemsize, false);
  return strchr("efd", *letter) ? float_type((size_t)itemsize) : VYRE_VOID;
}

// A type string of __array_interface__: "<f4", "|b1".
static vyre_type typestr_type(const char *text) {
  bool is_native = text[0] == '|' || text[0] == '=' ||
                   text[0] == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>');
  if (!text[0] || !text[1] || text[2] < '1' || text[2] > '8' || text[3]) return VYRE_VOID;
  size_t size = (size_t)(text[2] - '0');
  if (!is_native && size > 1) return VYRE_VOID;
  switch (text[1]) {
  case 'b': return size == 1 ? VYRE_BOOL : VYRE_VOID;
  case 'i': return integer_type(size, true);
  case 'u': return integer_type(size, false);
  case 'f': return float_type(size);
  default: return VYRE_VOID;
  }
}

// ---- shapes -------------------------------------------------------------------------------------

// An axis of one element, or an array of none, may have any stride.
static bool is_contiguous(int ndim, const Py_ssize_t *shape, const Py_ssize_t *strides,
                          Py_ssize_t itemsize) {
  Py_ssize_t step = itemsize;
  if (!strides) return true;
  for (int i = 0; i < ndim; i++)
    if (!shape[i]) return true;
  for (int i = ndim - 1; i >= 0; i--) {
    if (shape[i] != 1 && strides[i] != step) return false;
    step *= shape[i];
  }
  return true;
}

static void set_shape(memory *m, int ndim, const Py_ssize_t *shape) {
  m->ndim = ndim;
  m->count = 1;
  for (int i = 0; i < ndim; i++) {
    if (i < MEMORY_AXES) m->shape[i] = shape[i];
    m->count *= (size_t)shape[i];
  }
}

// ---- the buffer protocol ------------------------------------------------------------------------

// 1: it is there; 0: the object has no such thing; -1: an exception.
static int get_view(PyObject *object, memory *m) {
  if (PyObject_GetBuffer(object, &m->view, VIEW_FORMAT | VIEW_STRIDES)) {
    bool is_other = PyErr_ExceptionMatches(PyExc_TypeError) ||
                    PyErr_ExceptionMatches(PyExc_BufferError) ||
                    PyErr_ExceptionMatches(PyExc_ValueError);
    if (!is_other) return -1;
    PyErr_Clear();
    return 0;
  }
  py_view *v = &m->view;
  m->has_view = true;
  m->data = v->buf;
  m->type = format_type(v->format, v->itemsize);
  m->is_readonly = v->readonly;
  m->is_contiguous = is_contiguous(v->ndim, v->shape, v->strides, v->itemsize);
  set_shape(m, v->ndim, v->shape);
  return 1;
}

// ---- __array_interface__ ------------------------------------------------------------------------

static bool read_sizes(PyObject *tuple, int ndim, Py_ssize_t *out) {
  for (int i = 0; i < ndim; i++) {
    PyObject *item = PyTuple_GetItem(tuple, i); // borrowed
    out[i] = item ? PyLong_AsSsize_t(item) : -1;
    if (PyErr_Occurred()) return false;
  }
  return true;
}

enum { MOST_AXES = 64 };

static int read_interface(PyObject *dict, memory *m) {
  PyObject *data = PyDict_GetItemString(dict, "data"); // all borrowed
  PyObject *shape = PyDict_GetItemString(dict, "shape");
  PyObject *typestr = PyDict_GetItemString(dict, "typestr");
  PyObject *strides = PyDict_GetItemString(dict, "strides");
  Py_ssize_t sizes[MOST_AXES], steps[MOST_AXES];
  if (!data || !PyTuple_Check(data) || PyTuple_Size(data) != 2 || !shape || !PyTuple_Check(shape) ||
      !typestr || !PyUnicode_Check(typestr))
    return 0;
  Py_ssize_t ndim = PyTuple_Size(shape);
  if (ndim > MOST_AXES || !read_sizes(shape, (int)ndim, sizes)) return ndim > MOST_AXES ? 0 : -1;
  bool has_strides = strides && PyTuple_Check(strides) && PyTuple_Size(strides) == ndim;
  if (has_strides && !read_sizes(strides, (int)ndim, steps)) return -1;
  PyObject *text = PyUnicode_AsUTF8String(typestr);
  if (!text) return -1;
  m->type = typestr_type(PyBytes_AsString(text));
  Py_DECREF(text);
  m->data = PyLong_AsVoidPtr(PyTuple_GetItem(data, 0));
  int is_readonly = PyObject_IsTrue(PyTuple_GetItem(data, 1));
  if (PyErr_Occurred() || is_readonly < 0) return -1;
  m->is_readonly = is_readonly;
  m->is_contiguous = is_contiguous((int)ndim, sizes, has_strides ? steps : NULL,
                                   (Py_ssize_t)vyre_type_size(m->type));
  set_shape(m, (int)ndim, sizes);
  return 1;
}

static int get_interface(PyObject *object, memory *m) {
  if (!PyObject_HasAttrString(object, "__array_interface__")) return 0;
  PyObject *dict = PyObject_GetAttrString(object, "__array_interface__");
  if (!dict) return -1;
  int found = PyDict_Check(dict) ? read_interface(dict, m) : 0;
  if (found == 1)
    m->owner = dict; // it may hold what it tells of
  else
    Py_DECREF(dict);
  return found;
}

// ---- all of them --------------------------------------------------------------------------------

static int get_dlpack(PyObject *object, memory *m) {
  dlpack_tensor t;
  int found = dlpack_import(object, &t);
  if (found != 1) return found;
  m->owner = t.capsule;
  m->data = t.data;
  m->type = t.kind == DLPACK_BOOL    ? VYRE_BOOL
            : t.kind == DLPACK_FLOAT ? float_type(t.itemsize)
                                     : integer_type(t.itemsize, t.kind == DLPACK_INT);
  m->is_readonly = false;
  Py_ssize_t shape[MOST_AXES] = {0}, strides[MOST_AXES] = {0};
  if (t.ndim > MOST_AXES) return 0;
  for (int i = 0; i < t.ndim; i++) {
    shape[i] = (Py_ssize_t)t.shape[i];
    strides[i] = t.strides ? (Py_ssize_t)t.strides[i] * (Py_ssize_t)t.itemsize : 0;
  }
  m->is_contiguous =
      is_contiguous(t.ndim, shape, t.strides ? strides : NULL, (Py_ssize_t)t.itemsize);
  set_shape(m, t.ndim, shape);
  return 1;
}

static int find(PyObject *object, memory *m) {
  memset(m, 0, sizeof *m);
  int found = buffer_describe(object, m);
  if (!found) found = get_view(object, m);
  if (!found) found = get_dlpack(object, m);
  if (!found) found = get_interface(object, m);
  return found;
}

static const char *type_words(vyre_type type) {
  return type == VYRE_VOID ? "another type" : vyre_type_name(type);
}

static bool fits(PyObject *object, const memory_want *w, memory *m) {
  (void)object;
  if (m->type != w->type)
    errors_set(VYRE_ERROR_BINDING,
               "%s: argument `%s` takes elements of %s, but this array has %s. Fix: pass "
               "%s.astype(numpy.%s), or make the array with that dtype",
               w->kernel, w->name, vyre_type_name(w->type), type_words(m->type), w->name,
               numpy_dtype_name(w->type));
  else if (w->ndim && m->ndim != w->ndim)
    errors_set(VYRE_ERROR_BINDING,
               "%s: argument `%s` has %d axes, but %d were declared. Fix: reshape it, or declare "
               "it with %d",
               w->kernel, w->name, m->ndim, w->ndim, m->ndim);
  else if (!m->is_contiguous)
    errors_set(VYRE_ERROR_BINDING,
               "%s: argument `%s` is not contiguous in C order, and nothing is copied without "
               "being asked. Fix: pass numpy.ascontiguousarray(%s)",
               w->kernel, w->name, w->name);
  else if ((w->access & VYRE_WRITE) && m->is_readonly)
    errors_set(VYRE_ERROR_BINDING,
               "%s: argument `%s` is written, but this memory is read-only. Fix: pass a copy of "
               "it, or a bytearray in place of bytes",
               w->kernel, w->name);
  else
    return true;
  return false;
}

bool memory_get(PyObject *object, const memory_want *w, memory *m) {
  int found = find(object, m);
  if (found == 1) {
    if (fits(object, w, m)) return true;
    memory_release(m);
    return false;
  }
  if (!found) {
    PyObject *kind = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__name__");
    PyObject *bytes = kind ? PyUnicode_AsUTF8String(kind) : NULL;
    errors_set(VYRE_ERROR_BINDING,
               "%s: argument `%s` takes an array of %s, not %s. Fix: pass a numpy array, a "
               "vyre.Buffer, or anything with the buffer protocol, DLPack or __array_interface__",
               w->kernel, w->name, vyre_type_name(w->type), bytes ? PyBytes_AsString(bytes) : "?");
    Py_XDECREF(bytes);
    Py_XDECREF(kind);
  }
  memory_release(m);
  return false;
}

bool memory_get_any(PyObject *object, memory *m) {
  int found = find(object, m);
  if (found == 1 && m->type != VYRE_VOID && m->is_contiguous) return true;
  if (found >= 0)
    errors_set(VYRE_ERROR_BINDING,
               "this is no contiguous array of numbers. Fix: pass a numpy array, or anything with "
               "the buffer protocol, DLPack or __array_interface__, in C order");
  memory_release(m);
  return false;
}

void memory_release(memory *m) {
  if (m->has_view) PyBuffer_Release(&m->view);
  m->has_view = false;
  Py_CLEAR(m->owner);
}
