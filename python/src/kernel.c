/* SPDX-License-Identifier: MIT */
#include "kernel.h"

#include "bind.h"
#include "completion.h"
#include "errors.h"
#include "interrupt.h"
#include "program.h"
#include "runtime.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct kernel_object {
  PyObject ob_base;
  vector_call call;
  PyObject *loader;        // until it was called: () -> (program, name, args, derived)
  program_object *program; // NULL until it was loaded
  runtime_object *runtime;
  signature *signature;
  vyre_kernel *kernel;
  unsigned epoch;   // of the runtime, when it was loaded
  uint64_t wall_ns; // of the last dispatch
  PyObject *dict, *weak;
} kernel_object;

static PyTypeObject *kernel_type;

// ---- loading ------------------------------------------------------------------------------------

static bool load_program(kernel_object *k) {
  if (k->program) return true;
  PyObject *made = PyObject_CallObject(k->loader, NULL);
  if (!made) return false;
  PyObject *program, *args, *derived;
  const char *name;
  bool ok = PyTuple_Check(made) && PyArg_ParseTuple(made, "O!sO!O!", program_type, &program, &name,
                                                    &PyList_Type, &args, &PyList_Type, &derived);
  signature *s =
      ok ? signature_new(((program_object *)program)->program, name, args, derived) : NULL;
  if (s && k->program) { // by another thread, or by the loader itself
    signature_free(s);
  } else if (s) {
    Py_INCREF(program);
    k->signature = s;
    k->program = (program_object *)program;
  }
  Py_DECREF(made);
  if (!k->program && !PyErr_Occurred())
    PyErr_SetString(PyExc_TypeError, "a loader returns (program, name, args, derived)");
  return k->program != NULL;
}

static bool load(kernel_object *k) {
  if (!load_program(k)) return false;
  vyre_runtime *runtime = runtime_open(k->runtime);
  if (!runtime) return false;
  if (k->kernel && runtime_has(k->runtime, k->epoch)) return true;
  vyre_error error;
  k->kernel = NULL;
  vyre_status status = vyre_runtime_load(runtime, k->program->program, &k->kernel, &error);
  k->epoch = k->runtime->epoch;
  if (status != VYRE_OK) errors_raise(&error);
  return status == VYRE_OK;
}

static inline bool is_loaded(const kernel_object *k) {
  return k->kernel && runtime_has(k->runtime, k->epoch);
}

// ---- calls --------------------------------------------------------------------------------------

// Letting others have the interpreter and getting it back takes 60 ns and more: not for what took
// less than a few microseconds last time. What unexpectedly takes longer is still ended by Ctrl-C.
enum { SHORT_NS = 5000, LONG_NS = 1000000 };

static vyre_status dispatch(kernel_object *k, bound *b, vyre_error *error) {
  vyre_report report = {0};
  vyre_status status;
  bool is_short = k->wall_ns && k->wall_ns < SHORT_NS;
  volatile uint32_t *stop = interrupt_begin(!k->wall_ns || k->wall_ns > LONG_NS);
  b->args.stop = stop;
  if (is_short) {
    status = vyre_kernel_dispatch(k->kernel, &b->args, &report, error);
  } else {
    k->runtime->in_flight++;
    Py_BEGIN_ALLOW_THREADS status = vyre_kernel_dispatch(k->kernel, &b->args, &report, error);
    Py_END_ALLOW_THREADS k->runtime->in_flight--;
  }
  interrupt_end(stop);
  k->wall_ns = report.wall_ns;
  return status;
}

static PyObject *raise_status(vyre_status status, const vyre_error *error) {
  if (status == VYRE_ERROR_STOPPED && PyErr_CheckSignals()) return NULL; // KeyboardInterrupt
  return errors_raise(error);
}

static PyObject *kernel_vectorcall(PyObject *self, PyObject *const *args, size_t flagged,
                                   PyObject *names) {
  kernel_object *k = (kernel_object *)self;
  bound b;
  vyre_error error;
  if (!is_loaded(k) && !load(k)) return NULL;
  Py_ssize_t count = (Py_ssize_t)(flagged & ~VECTORCALL_OFFSET_FLAG);
  if (!bind_call(k->signature, args, count, names, &b)) return NULL;
  vyre_status status = dispatch(k, &b, &error);
  if (b.held_count) bind_release(&b);
  if (status != VYRE_OK) return raise_status(status, &error);
  Py_RETURN_NONE;
}

// Arguments in one array, as a vectorcall has them. The values are borrowed.
typedef struct flat {
  PyObject *names; // owned, or NULL
  Py_ssize_t count;
  PyObject *values[BIND_ARGS + 8];
} flat;

static bool flatten(PyObject *args, PyObject *named, flat *f) {
  PyObject *key, *value;
  Py_ssize_t at = 0, extra = named ? PyDict_Size(named) : 0;
  f->count = PyTuple_Size(args);
  f->names = NULL;
  if (f->count + extra > BIND_ARGS + 8) {
    PyErr_SetString(PyExc_TypeError, "too many arguments");
    return false;
  }
  for (Py_ssize_t i = 0; i < f->count; i++) f->values[i] = PyTuple_GetItem(args, i);
  if (!extra) return true;
  if (!(f->names = PyTuple_New(extra))) return false;
  for (Py_ssize_t i = 0; PyDict_Next(named, &at, &key, &value); i++) {
    Py_INCREF(key);
    PyTuple_SetItem(f->names, i, key);
    f->values[f->count + i] = value;
  }
  return true;
}

static PyObject *kernel_call(PyObject *self, PyObject *args, PyObject *named) {
  flat f;
  if (!flatten(args, named, &f)) return NULL;
  PyObject *result = kernel_vectorcall(self, f.values, (size_t)f.count, f.names);
  Py_XDECREF(f.names);
  return result;
}

static PyObject *submit_flat(kernel_object *k, const flat *f, PyObject *kept) {
  if (!is_loaded(k) && !load(k)) return NULL;
  bound *b = malloc(sizeof *b);
  if (!b) return PyErr_NoMemory();
  PyObject *made = NULL;
  bool is_bound = bind_call(k->signature, f->values, f->count, f->names, b);
  if (is_bound) made = completion_submit((PyObject *)k, k->kernel, k->runtime, b, kept);
  if (made) return made;
  if (is_bound) bind_release(b);
  free(b);
  return NULL;
}

static PyObject *kernel_submit(PyObject *self, PyObject *args, PyObject *named) {
  flat f;
  if (!flatten(args, named, &f)) return NULL;
  PyObject *kept = named ? PyTuple_Pack(2, args, named) : PyTuple_Pack(1, args);
  PyObject *made = kept ? submit_flat((kernel_object *)self, &f, kept) : NULL;
  Py_XDECREF(kept);
  Py_XDECREF(f.names);
  return made;
}

// ---- other methods ------------------------------------------------------------------------------

static PyObject *kernel_explain(PyObject *self, PyObject *unused) {
  kernel_object *k = (kernel_object *)self;
  char *text = NULL;
  vyre_error error;
  vyre_status status;
  (void)unused;
  if (!is_loaded(k) && !load(k)) return NULL;
  k->runtime->in_flight++;
  Py_BEGIN_ALLOW_THREADS status = vyre_kernel_explain(k->kernel, &text, &error);
  Py_END_ALLOW_THREADS k->runtime->in_flight--;
  if (status != VYRE_OK) return errors_raise(&error);
  PyObject *made = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
  vyre_free(text);
  return made;
}

static PyObject *get_program(PyObject *self, void *unused) {
  kernel_object *k = (kernel_object *)self;
  (void)unused;
  if (!load_program(k)) return NULL;
  Py_INCREF((PyObject *)k->program);
  return (PyObject *)k->program;
}

static PyObject *get_is_loaded(PyObject *self, void *unused) {
  (void)unused;
  return PyBool_FromLong(((kernel_object *)self)->program != NULL);
}

static PyObject *get_runtime(PyObject *self, void *unused) {
  (void)unused;
  PyObject *runtime = (PyObject *)((kernel_object *)self)->runtime;
  Py_INCREF(runtime);
  return runtime;
}

static PyObject *get_seconds(PyObject *self, void *unused) {
  (void)unused;
  return PyFloat_FromDouble((double)((kernel_object *)self)->wall_ns * 1e-9);
}

// [(name, is_buffer, type, access, ndim, default or ...)]
static PyObject *get_arguments(PyObject *self, void *unused) {
  kernel_object *k = (kernel_object *)self;
  (void)unused;
  if (!load_program(k)) return NULL;
  PyObject *list = PyList_New(0);
  for (uint32_t i = 0; list && i < k->signature->arg_count; i++) {
    const bind_arg *a = &k->signature->args[i];
    const char *access = !a->is_buffer                  ? ""
                         : a->want.access == VYRE_READ  ? "read"
                         : a->want.access == VYRE_WRITE ? "write"
                                                        : "readwrite";
    PyObject *row = Py_BuildValue("(ONssiO)", a->name, PyBool_FromLong(a->is_buffer),
                                  vyre_type_name(a->want.type), access, a->want.ndim,
                                  a->default_ ? a->default_ : Py_Ellipsis);
    if (!row || PyList_Append(list, row)) Py_CLEAR(list);
    Py_XDECREF(row);
  }
  return list;
}

static PyObject *get_grid_rank(PyObject *self, void *unused) {
  kernel_object *k = (kernel_object *)self;
  (void)unused;
  if (!load_program(k)) return NULL;
  return PyLong_FromUnsignedLong(k->signature->grid_rank);
}

// ---- life ---------------------------------------------------------------------------------------

static PyObject *kernel_new(PyTypeObject *type, PyObject *args, PyObject *named) {
  static char *names[] = {"runtime", "loader", NULL};
  PyObject *runtime, *loader;
  if (!PyArg_ParseTupleAndKeywords(args, named, "O!O", names, runtime_type, &runtime, &loader))
    return NULL;
  allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  kernel_object *k = (kernel_object *)alloc(type, 0);
  if (!k) return NULL;
  Py_INCREF(runtime);
  Py_INCREF(loader);
  k->call = kernel_vectorcall;
  k->runtime = (runtime_object *)runtime;
  k->loader = loader;
  return (PyObject *)k;
}

static int kernel_traverse(PyObject *self, visitproc visit, void *arg) {
  kernel_object *k = (kernel_object *)self;
  Py_VISIT((PyObject *)Py_TYPE(self));
  Py_VISIT(k->loader);
  Py_VISIT((PyObject *)k->runtime);
  Py_VISIT(k->dict);
  return 0;
}

static int kernel_clear(PyObject *self) {
  kernel_object *k = (kernel_object *)self;
  Py_CLEAR(k->loader);
  Py_CLEAR(k->dict);
  return 0;
}

static void kernel_dealloc(PyObject *self) {
  kernel_object *k = (kernel_object *)self;
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (k->weak) PyObject_ClearWeakRefs(self);
  if (k->kernel && k->runtime && runtime_has(k->runtime, k->epoch)) {
    vyre_kernel *freed = k->kernel;
    Py_BEGIN_ALLOW_THREADS vyre_kernel_free(freed);
    Py_END_ALLOW_THREADS
  }
  signature_free(k->signature);
  Py_XDECREF((PyObject *)k->program);
  Py_XDECREF((PyObject *)k->runtime);
  kernel_clear(self);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"submit", (PyCFunction)(void (*)(void))kernel_submit, METH_VARARGS | METH_KEYWORDS,
     "submit(...): starts a call with these arguments and returns a Completion, which can be "
     "waited for or awaited. The arrays must not be used until it is done."},
    {"_explain", kernel_explain, METH_NOARGS, "What was decided for it, and why."},
    {0},
};
static PyGetSetDef getters[] = {
    {"program", get_program, NULL, "The program behind it.", NULL},
    {"is_loaded", get_is_loaded, NULL, "Whether its program was made already.", NULL},
    {"runtime", get_runtime, NULL, "Where it runs.", NULL},
    {"seconds", get_seconds, NULL, "How long the last call ran, without Python's part.", NULL},
    {"_arguments", get_arguments, NULL, "[(name, is_buffer, type, access, ndim, default)]", NULL},
    {"_grid_rank", get_grid_rank, NULL, "Numbers that `grid` takes; 0: it is not given.", NULL},
    {0},
};
static PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(kernel_object, call), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(kernel_object, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(kernel_object, weak), READONLY, NULL},
    {0},
};
static PyType_Slot slots[] = {
    {Py_tp_new, kernel_new},
    {Py_tp_call, kernel_call},
    {Py_tp_dealloc, kernel_dealloc},
    {Py_tp_traverse, kernel_traverse},
    {Py_tp_clear, kernel_clear},
    {Py_tp_methods, methods},
    {Py_tp_getset, getters},
    {Py_tp_members, members},
    {Py_tp_doc, "A program that is called like a function: made by vyre.kernel and vyre.jit."},
    {0, NULL},
};
static PyType_Spec spec = {"vyre.Kernel", sizeof(kernel_object), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | TYPE_HAS_VECTORCALL, slots};

bool kernel_add_type(PyObject *module) {
  interrupt_init();
  kernel_type = (PyTypeObject *)PyType_FromSpec(&spec);
  if (!kernel_type) return false;
  Py_INCREF(kernel_type);
  return !PyModule_AddObject(module, "Kernel", (PyObject *)kernel_type);
}
