/* SPDX-License-Identifier: MIT
 *
 * _vyre: the part of the package `vyre` that is in C. Everything for people is in Python.
 */
#include "buffer.h"
#include "completion.h"
#include "errors.h"
#include "kernel.h"
#include "limited.h"
#include "program.h"
#include "runtime.h"

#include <string.h>

static PyObject *device_row(const char *backend, const vyre_device *d) {
  return Py_BuildValue(
      "{sssssssKsIsIsNsNsNss}", "backend", backend, "adapter", d->adapter, "description",
      d->description, "memory_bytes", (unsigned long long)d->memory_bytes, "compute_units",
      (unsigned)d->compute_units, "max_workgroup", (unsigned)d->max_workgroup, "has_f64",
      PyBool_FromLong(d->has_f64), "has_i64", PyBool_FromLong(d->has_i64), "has_i64_atomics",
      PyBool_FromLong(d->has_i64_atomics), "unusable", d->unusable);
}

enum { MOST_DEVICES = 64 };

static PyObject *devices(PyObject *module, PyObject *argument) {
  vyre_device found[MOST_DEVICES];
  uint32_t count = 0;
  vyre_error error;
  vyre_status status;
  (void)module;
  PyObject *bytes = PyUnicode_AsUTF8String(argument);
  if (!bytes) return NULL;
  const char *backend = PyBytes_AsString(bytes);
  Py_BEGIN_ALLOW_THREADS status =
      vyre_backend_devices(backend, found, MOST_DEVICES, &count, &error);
  Py_END_ALLOW_THREADS PyObject *list = status == VYRE_OK ? PyList_New(0) : errors_raise(&error);
  for (uint32_t i = 0; list && i < count && i < MOST_DEVICES; i++) {
    PyObject *row = device_row(backend, &found[i]);
    if (!row || PyList_Append(list, row)) Py_CLEAR(list);
    Py_XDECREF(row);
  }
  Py_DECREF(bytes);
  return list;
}

static PyObject *backends(PyObject *module, PyObject *unused) {
  PyObject *list = PyList_New(0);
  (void)module, (void)unused;
  for (uint32_t i = 0; list && i < vyre_backend_count(); i++) {
    PyObject *name = PyUnicode_FromString(vyre_backend_name(i));
    if (!name || PyList_Append(list, name)) Py_CLEAR(list);
    Py_XDECREF(name);
  }
  return list;
}

static PyObject *guess_language(PyObject *module, PyObject *args) {
  const char *name, *data;
  Py_ssize_t size;
  (void)module;
  if (!PyArg_ParseTuple(args, "zy#", &name, &data, &size)) return NULL;
  return PyUnicode_FromString(vyre_language_guess(name, data, (size_t)size));
}

static PyObject *version(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  return PyUnicode_FromString(vyre_version());
}

// What was printed by a kernel's printf into its buffer of that name.
static PyObject *printed(PyObject *module, PyObject *array) {
  memory m;
  char *text;
  uint64_t lost;
  vyre_error error;
  (void)module;
  if (!memory_get_any(array, &m)) return NULL;
  vyre_status status =
      vyre_print_text(m.data, m.count * vyre_type_size(m.type), &text, &lost, &error);
  memory_release(&m);
  if (status != VYRE_OK) return errors_raise(&error);
  PyObject *made = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
  vyre_free(text);
  return made;
}

// (type, shape) of an array, however it is given.
static PyObject *describe(PyObject *module, PyObject *array) {
  memory m;
  (void)module;
  if (!memory_get_any(array, &m)) return NULL;
  PyObject *shape = m.ndim <= MEMORY_AXES ? PyTuple_New(m.ndim) : NULL;
  for (int i = 0; shape && i < m.ndim; i++)
    PyTuple_SetItem(shape, i, PyLong_FromSsize_t(m.shape[i]));
  PyObject *made = shape ? Py_BuildValue("(sN)", vyre_type_name(m.type), shape) : NULL;
  if (!made && !PyErr_Occurred())
    errors_set(VYRE_ERROR_BINDING, "an array has at most 3 axes here. Fix: reshape it");
  memory_release(&m);
  return made;
}

static PyMethodDef functions[] = {
    {"set_error_maker", errors_set_maker, METH_O, NULL},
    {"devices", devices, METH_O, "devices(backend): [dict]"},
    {"backends", backends, METH_NOARGS, "The names of all backends."},
    {"guess_language", guess_language, METH_VARARGS, "guess_language(name, source)"},
    {"entries", program_entries, METH_VARARGS, "entries(source, language, name, options)"},
    {"printed", printed, METH_O, "printed(array): what printf wrote."},
    {"describe", describe, METH_O, "describe(array): (type, shape)"},
    {"version", version, METH_NOARGS, "The library's version."},
    {0},
};

static int fill(PyObject *module) {
  // Types and the state of signals are the process's.
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
    PyErr_SetString(PyExc_ImportError,
                    "vyre works in the main interpreter only, not in subinterpreters. Fix: import "
                    "it there, and use threads or processes");
    return -1;
  }
  bool ok = program_add_type(module) && runtime_add_type(module) && buffer_add_type(module) &&
            completion_add_type(module) && kernel_add_type(module);
  return ok ? 0 : -1;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, fill}, {0, NULL}};

static PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_vyre",
    .m_doc = "The part of vyre that is in C.",
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__vyre(void) {
  return PyModuleDef_Init(&definition);
}
