/* SPDX-License-Identifier: MIT */
#include "program.h"

#include "errors.h"

#include <stdlib.h>
#include <string.h>

PyTypeObject *program_type;

static program_object *wrap(vyre_program *program) {
  allocfunc alloc = (allocfunc)PyType_GetSlot(program_type, Py_tp_alloc);
  program_object *made = (program_object *)alloc(program_type, 0);
  if (made)
    made->program = program;
  else
    vyre_program_release(program);
  return made;
}

static void program_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  vyre_program_release(((program_object *)self)->program);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

// ---- making -------------------------------------------------------------------------------------

enum { MOST_NAMED = 64 };

typedef struct named { // what is said of arguments by their names
  vyre_source_local locals[MOST_NAMED];
  vyre_source_format formats[MOST_NAMED];
  uint32_t local_count, format_count;
  PyObject *kept; // a list of the bytes that they point to
} named;

static const char *keep_text(named *n, PyObject *text) {
  PyObject *bytes = PyUnicode_AsUTF8String(text);
  if (!bytes) return NULL;
  const char *at = PyList_Append(n->kept, bytes) ? NULL : PyBytes_AsString(bytes);
  Py_DECREF(bytes);
  return at;
}

static bool read_named(named *n, PyObject *locals, PyObject *formats) {
  PyObject *key, *value;
  Py_ssize_t at = 0;
  if (!(n->kept = PyList_New(0))) return false;
  while (locals != Py_None && PyDict_Next(locals, &at, &key, &value)) {
    if (n->local_count == MOST_NAMED) break;
    vyre_source_local *l = &n->locals[n->local_count++];
    l->name = keep_text(n, key);
    l->size_bytes = PyLong_AsUnsignedLongLong(value);
    if (!l->name || PyErr_Occurred()) return false;
  }
  at = 0;
  while (formats != Py_None && PyDict_Next(formats, &at, &key, &value)) {
    if (n->format_count == MOST_NAMED) break;
    vyre_source_format *f = &n->formats[n->format_count++];
    f->name = keep_text(n, key);
    f->format = keep_text(n, value);
    if (!f->name || !f->format) return false;
  }
  return true;
}

static PyObject *program_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  static char *names[] = {"source",    "language", "name",   "entry",   "options",
                          "workgroup", "rank",     "locals", "formats", NULL};
  const char *source, *language, *name, *entry, *options;
  Py_ssize_t size;
  unsigned workgroup[3], rank;
  PyObject *locals, *formats;
  (void)type;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "y#szzz(III)IOO", names, &source, &size,
                                   &language, &name, &entry, &options, &workgroup[0], &workgroup[1],
                                   &workgroup[2], &rank, &locals, &formats))
    return NULL;
  named *n = calloc(1, sizeof *n);
  if (!n) return PyErr_NoMemory();
  vyre_program *made = NULL;
  vyre_error error;
  vyre_status status = VYRE_OK;
  bool is_read = read_named(n, locals, formats);
  if (is_read) {
    vyre_source_options how = {.entry = entry,
                               .build_options = options,
                               .workgroup = {workgroup[0], workgroup[1], workgroup[2]},
                               .rank = rank,
                               .locals = n->locals,
                               .local_count = n->local_count,
                               .formats = n->formats,
                               .format_count = n->format_count};
    Py_BEGIN_ALLOW_THREADS status =
        vyre_program_from(language, source, (size_t)size, name, &how, &made, &error);
    Py_END_ALLOW_THREADS
  }
  Py_XDECREF(n->kept);
  free(n);
  if (!is_read) return NULL;
  return status == VYRE_OK ? (PyObject *)wrap(made) : errors_raise(&error);
}

static const char *const space_names[] = {"value", "global", "constant", "local",
                                          "other", "image",  "sampler"};

static PyObject *entry_args(const vyre_source_entry *e) {
  PyObject *list = PyList_New(0);
  for (uint32_t i = 0; list && i < e->arg_count; i++) {
    const vyre_source_arg *a = &e->args[i];
    PyObject *row = Py_BuildValue("(sss)", a->name, a->type, space_names[a->space]);
    if (!row || PyList_Append(list, row)) Py_CLEAR(list);
    Py_XDECREF(row);
  }
  return list;
}

PyObject *program_entries(PyObject *module, PyObject *args) {
  const char *source, *language, *name, *options;
  Py_ssize_t size;
  (void)module;
  if (!PyArg_ParseTuple(args, "y#szz", &source, &size, &language, &name, &options)) return NULL;
  vyre_source_entry *entries = NULL;
  uint32_t count = 0;
  vyre_error error;
  vyre_status status;
  Py_BEGIN_ALLOW_THREADS status =
      vyre_source_entries(language, source, (size_t)size, name, options, &entries, &count, &error);
  Py_END_ALLOW_THREADS if (status != VYRE_OK) return errors_raise(&error);
  PyObject *list = PyList_New(0);
  for (uint32_t i = 0; list && i < count; i++) {
    const vyre_source_entry *e = &entries[i];
    PyObject *row = Py_BuildValue("(sI(III)N)", e->name, (unsigned)e->line, e->workgroup[0],
                                  e->workgroup[1], e->workgroup[2], entry_args(e));
    if (!row || PyList_Append(list, row)) Py_CLEAR(list);
    Py_XDECREF(row);
  }
  vyre_free(entries);
  return list;
}

// ---- what is in it ------------------------------------------------------------------------------

static PyObject *get_name(PyObject *self, void *unused) {
  (void)unused;
  return PyUnicode_FromString(vyre_program_name(((program_object *)self)->program));
}

static PyObject *get_fingerprint(PyObject *self, void *unused) {
  char hex[65];
  uint8_t bytes[32];
  (void)unused;
  vyre_program_fingerprint(((program_object *)self)->program, bytes);
  for (int i = 0; i < 32; i++)
    for (int k = 0; k < 2; k++) hex[2 * i + k] = "0123456789abcdef"[bytes[i] >> (k ? 0 : 4) & 15];
  return PyUnicode_FromStringAndSize(hex, 64);
}

// A list of what `row` makes for 0 to count - 1.
static PyObject *rows(const vyre_program *p, uint32_t count,
                      PyObject *(*row)(const vyre_program *p, uint32_t index)) {
  PyObject *list = PyList_New(0);
  for (uint32_t i = 0; list && i < count; i++) {
    PyObject *made = row(p, i);
    if (!made || PyList_Append(list, made)) Py_CLEAR(list);
    Py_XDECREF(made);
  }
  return list;
}

static PyObject *param_row(const vyre_program *p, uint32_t i) {
  vyre_param_info info = vyre_program_param(p, i);
  return Py_BuildValue("(ss)", info.name, vyre_type_name(info.type));
}

static PyObject *get_params(PyObject *self, void *unused) {
  const vyre_program *p = ((program_object *)self)->program;
  (void)unused;
  return rows(p, vyre_program_param_count(p), param_row);
}

static const char *access_name(vyre_access access) {
  return access == VYRE_READ ? "read" : access == VYRE_WRITE ? "write" : "readwrite";
}

static PyObject *buffer_row(const vyre_program *p, uint32_t i) {
  vyre_buffer_info b = vyre_program_buffer(p, i);
  return Py_BuildValue("(sssNNN)", b.name, vyre_type_name(b.type), access_name(b.access),
                       PyBool_FromLong(b.is_transient), PyBool_FromLong(b.has_length),
                       b.has_fixed_length ? PyLong_FromUnsignedLongLong(b.fixed_length)
                                          : PyLong_FromLong(-1));
}

static PyObject *get_buffers(PyObject *self, void *unused) {
  const vyre_program *p = ((program_object *)self)->program;
  (void)unused;
  return rows(p, vyre_program_buffer_count(p), buffer_row);
}

static PyObject *region_row(const vyre_program *p, uint32_t i) {
  vyre_region_info r = vyre_program_region(p, i);
  return Py_BuildValue("(sI(III)NzI)", r.name, (unsigned)r.rank, r.workgroup[0], r.workgroup[1],
                       r.workgroup[2], PyBool_FromLong(r.is_elastic), r.rigid_because,
                       (unsigned)r.shared_bytes);
}

static PyObject *get_regions(PyObject *self, void *unused) {
  const vyre_program *p = ((program_object *)self)->program;
  (void)unused;
  return rows(p, vyre_program_region_count(p), region_row);
}

static PyObject *scalar_object(vyre_type type, uint64_t bits) {
  float f;
  double d;
  switch (vyre_type_name(type)[0]) {
  case 'b': return PyBool_FromLong(bits != 0);
  case 'u': return PyLong_FromUnsignedLongLong(bits);
  case 'i': {
    unsigned unused_bits = 64 - 8 * (unsigned)vyre_type_size(type);
    return PyLong_FromLongLong((long long)(bits << unused_bits) >> unused_bits);
  }
  default:
    memcpy(&f, &bits, sizeof f);
    memcpy(&d, &bits, sizeof d);
    return PyFloat_FromDouble(type == VYRE_F64 ? d : (double)f);
  }
}

static PyObject *tunable_row(const vyre_program *p, uint32_t i) {
  vyre_tunable_info t = vyre_program_tunable(p, i);
  PyObject *values = PyList_New(0);
  for (uint32_t k = 0; values && k < t.count; k++) {
    PyObject *value = scalar_object(t.type, t.values[k]);
    if (!value || PyList_Append(values, value)) Py_CLEAR(values);
    Py_XDECREF(value);
  }
  return values ? Py_BuildValue("(ssNI)", t.name, vyre_type_name(t.type), values, t.chosen) : NULL;
}

static PyObject *get_tunables(PyObject *self, void *unused) {
  const vyre_program *p = ((program_object *)self)->program;
  (void)unused;
  return rows(p, vyre_program_tunable_count(p), tunable_row);
}

static PyObject *get_stats(PyObject *self, void *unused) {
  vyre_stats s = vyre_program_stats(((program_object *)self)->program);
  (void)unused;
  return Py_BuildValue("{sKsKsKsKsKsKsK}", "nodes", s.node_count, "instructions",
                       s.instruction_count, "memory_operations", s.memory_op_count, "atomics",
                       s.atomic_op_count, "control_flow", s.control_flow_count, "register_pressure",
                       s.register_pressure, "static_storage_bytes", s.static_storage_bytes);
}

static PyObject *program_text(PyObject *self, PyObject *unused) {
  char *text;
  size_t size;
  vyre_error error;
  (void)unused;
  if (vyre_program_print(((program_object *)self)->program, &text, &size, &error) != VYRE_OK)
    return errors_raise(&error);
  PyObject *made = PyUnicode_DecodeUTF8(text, (Py_ssize_t)size, "replace");
  vyre_free(text);
  return made;
}

static PyObject *program_wire(PyObject *self, PyObject *unused) {
  void *data;
  size_t size;
  vyre_error error;
  (void)unused;
  if (vyre_program_encode(((program_object *)self)->program, &data, &size, &error) != VYRE_OK)
    return errors_raise(&error);
  PyObject *made = PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
  vyre_free(data);
  return made;
}

enum { MOST_TUNABLES = 256 };

static bool read_choice(PyObject *sequence, const vyre_program *p, uint32_t *chosen) {
  uint32_t count = vyre_program_tunable_count(p);
  if (!PyTuple_Check(sequence) || PyTuple_Size(sequence) != (Py_ssize_t)count ||
      count > MOST_TUNABLES) {
    PyErr_Format(PyExc_TypeError, "a tuple of %u numbers is needed", (unsigned)count);
    return false;
  }
  for (uint32_t i = 0; i < count; i++) {
    chosen[i] = (uint32_t)PyLong_AsUnsignedLong(PyTuple_GetItem(sequence, i));
    if (PyErr_Occurred()) return false;
  }
  return true;
}

static PyObject *program_tune(PyObject *self, PyObject *sequence) {
  uint32_t chosen[MOST_TUNABLES];
  vyre_program *p = ((program_object *)self)->program, *made;
  vyre_error error;
  if (!read_choice(sequence, p, chosen)) return NULL;
  if (vyre_program_tune(p, chosen, &made, &error) != VYRE_OK) return errors_raise(&error);
  return (PyObject *)wrap(made);
}

static PyObject *program_holds(PyObject *self, PyObject *sequence) {
  uint32_t chosen[MOST_TUNABLES];
  vyre_program *p = ((program_object *)self)->program;
  if (!read_choice(sequence, p, chosen)) return NULL;
  return PyBool_FromLong(vyre_program_tunables_hold(p, chosen));
}

static PyMethodDef methods[] = {
    {"text", program_text, METH_NOARGS, "The canonical text of the program."},
    {"wire", program_wire, METH_NOARGS, "The wire form of the program: bytes."},
    {"tune", program_tune, METH_O, "The program with other values of its tunables, by number."},
    {"holds", program_holds, METH_O, "Whether the tunables' conditions hold for these values."},
    {0},
};
static PyGetSetDef getters[] = {
    {"name", get_name, NULL, "The name of the program.", NULL},
    {"fingerprint", get_fingerprint, NULL, "BLAKE3 of the canonical form without names.", NULL},
    {"params", get_params, NULL, "[(name, type)]", NULL},
    {"buffers", get_buffers, NULL, "[(name, type, access, transient, has_length, fixed)]", NULL},
    {"regions", get_regions, NULL, "[(name, rank, workgroup, elastic, why rigid, shared)]", NULL},
    {"tunables", get_tunables, NULL, "[(name, type, values, chosen)]", NULL},
    {"stats", get_stats, NULL, "Counts of what is in the program.", NULL},
    {0},
};
static PyType_Slot slots[] = {
    {Py_tp_new, program_new},
    {Py_tp_dealloc, program_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, getters},
    {Py_tp_doc, "An immutable program, made from a source."},
    {0, NULL},
};
static PyType_Spec spec = {"vyre.Program", sizeof(program_object), 0, Py_TPFLAGS_DEFAULT, slots};

bool program_add_type(PyObject *module) {
  program_type = (PyTypeObject *)PyType_FromSpec(&spec);
  if (!program_type) return false;
  Py_INCREF(program_type);
  return !PyModule_AddObject(module, "Program", (PyObject *)program_type);
}
