/* SPDX-License-Identifier: MIT */
#include "numpy.h"

#include <string.h>

PyTypeObject *numpy_array_type;
static bool is_given_up; // the fields were not what they are said to be

vyre_type numpy_types[32] = {
    [0] = VYRE_BOOL,
    [1] = VYRE_I8,
    [2] = VYRE_U8,
    [3] = VYRE_I16,
    [4] = VYRE_U16,
    [5] = VYRE_I32,
    [6] = VYRE_U32,
    [7] = sizeof(long) == 8 ? VYRE_I64 : VYRE_I32,
    [8] = sizeof(long) == 8 ? VYRE_U64 : VYRE_U32,
    [9] = VYRE_I64,
    [10] = VYRE_U64,
    [11] = VYRE_F32,
    [12] = VYRE_F64,
};

const char *numpy_dtype_name(vyre_type type) {
  switch (type) {
  case VYRE_BOOL: return "bool_";
  case VYRE_I8: return "int8";
  case VYRE_U8: return "uint8";
  case VYRE_I16: return "int16";
  case VYRE_U16: return "uint16";
  case VYRE_I32: return "int32";
  case VYRE_U32: return "uint32";
  case VYRE_I64: return "int64";
  case VYRE_U64: return "uint64";
  case VYRE_F32: return "float32";
  case VYRE_F64: return "float64";
  default: return "float16";
  }
}

static bool has_text(PyObject *object, const char *attribute, const char *text) {
  PyObject *value = PyObject_GetAttrString(object, attribute);
  bool is_same = value && PyUnicode_Check(value) && !PyUnicode_CompareWithASCIIString(value, text);
  Py_XDECREF(value);
  PyErr_Clear();
  return is_same;
}

static bool has_flag(PyObject *flags, const char *name, bool expected) {
  PyObject *value = PyObject_GetAttrString(flags, name);
  bool is_same = value && PyObject_IsTrue(value) == expected;
  Py_XDECREF(value);
  return is_same;
}

static bool shape_is(const numpy_array *a, PyObject *shape) {
  if (!shape || !PyTuple_Check(shape) || PyTuple_Size(shape) != a->nd) return false;
  for (int i = 0; i < a->nd; i++)
    if (PyLong_AsSsize_t(PyTuple_GetItem(shape, i)) != a->dimensions[i]) return false;
  return true;
}

static bool fields_are_right(const numpy_array *a) {
  PyObject *object = (PyObject *)a;
  PyObject *dict = PyObject_GetAttrString(object, "__array_interface__");
  PyObject *flags = PyObject_GetAttrString(object, "flags");
  PyObject *dtype = PyObject_GetAttrString(object, "dtype");
  PyObject *number = dtype ? PyObject_GetAttrString(dtype, "num") : NULL;
  PyObject *order = dtype ? PyObject_GetAttrString(dtype, "byteorder") : NULL;
  PyObject *data = dict && PyDict_Check(dict) ? PyDict_GetItemString(dict, "data") : NULL;
  PyObject *shape = data ? PyDict_GetItemString(dict, "shape") : NULL;
  bool ok = flags && number && order && data && PyTuple_Check(data) &&
            PyLong_AsVoidPtr(PyTuple_GetItem(data, 0)) == a->data && shape_is(a, shape) &&
            (PyObject *)a->dtype == dtype && PyLong_AsLong(number) == a->dtype->number &&
            PyUnicode_ReadChar(order, 0) == (Py_UCS4)a->dtype->byteorder &&
            has_flag(flags, "c_contiguous", a->flags & NUMPY_CONTIGUOUS) &&
            has_flag(flags, "aligned", a->flags & NUMPY_ALIGNED) &&
            has_flag(flags, "writeable", a->flags & NUMPY_WRITEABLE);
  Py_XDECREF(order);
  Py_XDECREF(number);
  Py_XDECREF(dtype);
  Py_XDECREF(flags);
  Py_XDECREF(dict);
  PyErr_Clear();
  return ok;
}

const numpy_array *numpy_meet(PyObject *object) {
  PyObject *type = (PyObject *)Py_TYPE(object);
  if (is_given_up || !has_text(type, "__name__", "ndarray") ||
      !has_text(type, "__module__", "numpy"))
    return NULL;
  if (!fields_are_right((const numpy_array *)object)) {
    is_given_up = true;
    return NULL;
  }
  numpy_types[23] = vyre_type_from_name("f16");
  Py_INCREF(type);
  numpy_array_type = (PyTypeObject *)type;
  return (const numpy_array *)object;
}
