/* SPDX-License-Identifier: MIT */
#include "runtime.h"

#include "completion.h"
#include "errors.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

PyTypeObject *runtime_type;

// ---- forks --------------------------------------------------------------------------------------

unsigned runtime_forks;

static void count_fork(void) {
  runtime_forks++;
}

// ---- notices ------------------------------------------------------------------------------------

enum { NOTES_KEPT = 64 };

struct notes {
  pthread_mutex_t lock;
  unsigned count;
  char *texts[NOTES_KEPT];
};

static void take_notice(void *context, const char *message) {
  struct notes *n = context;
  pthread_mutex_lock(&n->lock);
  char *copy = n->count < NOTES_KEPT ? strdup(message) : NULL;
  if (copy) n->texts[n->count++] = copy;
  pthread_mutex_unlock(&n->lock);
}

static PyObject *runtime_take_notices(PyObject *self, PyObject *unused) {
  (void)unused;
  struct notes *n = ((runtime_object *)self)->notes;
  PyObject *list = PyList_New(0);
  pthread_mutex_lock(&n->lock);
  for (unsigned i = 0; i < n->count; i++) {
    PyObject *text = PyUnicode_DecodeUTF8(n->texts[i], (Py_ssize_t)strlen(n->texts[i]), "replace");
    if (!list || !text || PyList_Append(list, text)) Py_CLEAR(list);
    Py_XDECREF(text);
    free(n->texts[i]);
  }
  n->count = 0;
  pthread_mutex_unlock(&n->lock);
  return list;
}

static void notes_free(struct notes *n) {
  for (unsigned i = 0; n && i < n->count; i++) free(n->texts[i]);
  free(n);
}

// ---- opening and closing ------------------------------------------------------------------------

vyre_runtime *runtime_open(runtime_object *r) {
  if (r->runtime && r->generation != runtime_forks) { // the parent's: it is not freed here
    r->runtime = NULL;
    r->epoch++;
    r->in_flight = 0;
    PyList_SetSlice(r->pending, 0, PyList_Size(r->pending), NULL);
  }
  if (r->runtime) return r->runtime;
  if (r->is_closed) {
    errors_set(VYRE_ERROR_ARGUMENT, "the runtime is closed. Fix: use it inside of its with block, "
                                    "or make another one");
    return NULL;
  }
  vyre_error error;
  vyre_runtime *made = NULL;
  vyre_status status;
  r->generation = runtime_forks;
  Py_BEGIN_ALLOW_THREADS status = vyre_runtime_new(&r->options, &made, &error);
  Py_END_ALLOW_THREADS if (status != VYRE_OK) {
    errors_raise(&error);
    return NULL;
  }
  if (r->runtime) { // another thread was faster
    vyre_runtime_free(made);
    return r->runtime;
  }
  return r->runtime = made;
}

static void pause_ms(long milliseconds) {
  struct timespec t = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  nanosleep(&t, NULL);
}

// Calls of other threads come to their end first.
static PyObject *runtime_close(PyObject *self, PyObject *unused) {
  (void)unused;
  runtime_object *r = (runtime_object *)self;
  r->is_closed = true;
  if (!r->runtime || r->generation != runtime_forks) Py_RETURN_NONE;
  while (r->in_flight) {
    Py_BEGIN_ALLOW_THREADS pause_ms(1);
    Py_END_ALLOW_THREADS if (PyErr_CheckSignals()) return NULL;
  }
  if (!completion_wait_all(r->pending)) return NULL;
  vyre_runtime *freed = r->runtime;
  if (!freed) Py_RETURN_NONE; // closed by another thread meanwhile
  r->runtime = NULL;
  r->epoch++;
  Py_BEGIN_ALLOW_THREADS vyre_runtime_free(freed);
  Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

static PyObject *runtime_settle(PyObject *self, PyObject *unused) {
  (void)unused;
  runtime_object *r = (runtime_object *)self;
  vyre_runtime *runtime = runtime_open(r);
  if (!runtime) return NULL;
  r->in_flight++;
  Py_BEGIN_ALLOW_THREADS vyre_runtime_settle(runtime);
  Py_END_ALLOW_THREADS r->in_flight--;
  Py_RETURN_NONE;
}

static PyObject *runtime_new(PyTypeObject *type, PyObject *args, PyObject *named) {
  static char *names[] = {"backend", "learning", "store", "specialise", "learn_after", NULL};
  const char *backend = NULL;
  int learning = 1, store = 1, specialise = 0;
  unsigned learn_after = 0;
  if (!PyArg_ParseTupleAndKeywords(args, named, "|z$pppI", names, &backend, &learning, &store,
                                   &specialise, &learn_after))
    return NULL;
  allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  runtime_object *r = (runtime_object *)alloc(type, 0);
  if (!r) return NULL;
  r->pending = PyList_New(0);
  r->notes = calloc(1, sizeof *r->notes);
  r->backend = backend ? strdup(backend) : NULL;
  if (!r->pending || !r->notes || (backend && !r->backend)) {
    Py_DECREF(r);
    return PyErr_NoMemory();
  }
  pthread_mutex_init(&r->notes->lock, NULL);
  r->options = (vyre_runtime_options){.backend = r->backend,
                                      .no_learning = !learning,
                                      .no_store = !store,
                                      .specialise = specialise,
                                      .learn_after = learn_after,
                                      .notice = take_notice,
                                      .notice_context = r->notes};
  return (PyObject *)r;
}

static void runtime_dealloc(PyObject *self) {
  runtime_object *r = (runtime_object *)self;
  PyTypeObject *type = Py_TYPE(self);
  if (PyType_GetFlags(type) & Py_TPFLAGS_HAVE_GC) PyObject_GC_UnTrack(self); // a subclass's
  if (r->runtime && r->generation == runtime_forks) {
    vyre_runtime *freed = r->runtime;
    r->runtime = NULL;
    Py_BEGIN_ALLOW_THREADS vyre_runtime_free(freed);
    Py_END_ALLOW_THREADS
  }
  Py_CLEAR(r->pending);
  notes_free(r->notes);
  free(r->backend);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

static PyObject *get_closed(PyObject *self, void *unused) {
  (void)unused;
  return PyBool_FromLong(((runtime_object *)self)->is_closed);
}

static PyObject *get_backend(PyObject *self, void *unused) {
  (void)unused;
  const char *backend = ((runtime_object *)self)->backend;
  if (!backend) Py_RETURN_NONE;
  return PyUnicode_FromString(backend);
}

static PyObject *get_in_flight(PyObject *self, void *unused) {
  (void)unused;
  return PyLong_FromUnsignedLong(((runtime_object *)self)->in_flight);
}

static PyMethodDef methods[] = {
    {"close", runtime_close, METH_NOARGS,
     "Waits for what is under way, saves what was learned, and frees kernels and buffers."},
    {"settle", runtime_settle, METH_NOARGS, "Waits until nothing is being learned."},
    {"take_notices", runtime_take_notices, METH_NOARGS,
     "What went wrong without stopping the work, since the last call: a list of texts."},
    {0},
};
static PyGetSetDef getters[] = {
    {"closed", get_closed, NULL, "Whether close() was called.", NULL},
    {"_in_flight", get_in_flight, NULL, "Calls of other threads that are under way.", NULL},
    {"backend", get_backend, NULL, "The one backend that it uses, or None: routed.", NULL},
    {0},
};
static PyType_Slot slots[] = {
    {Py_tp_new, runtime_new},
    {Py_tp_dealloc, runtime_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, getters},
    {Py_tp_doc, "Where kernels run: see vyre.Runtime."},
    {0, NULL},
};
static PyType_Spec spec = {"vyre._vyre.Runtime", sizeof(runtime_object), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

bool runtime_add_type(PyObject *module) {
  static bool is_watching;
  if (!is_watching) is_watching = !pthread_atfork(NULL, NULL, count_fork);
  runtime_type = (PyTypeObject *)PyType_FromSpec(&spec);
  if (!runtime_type) return false;
  Py_INCREF(runtime_type);
  return !PyModule_AddObject(module, "Runtime", (PyObject *)runtime_type);
}
