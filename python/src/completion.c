/* SPDX-License-Identifier: MIT */
#include "completion.h"

#include "errors.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct completion_object {
  PyObject ob_base;
  PyObject *kernel, *kept; // owned
  runtime_object *runtime; // owned
  bound *bound;            // until it is done
  vyre_completion *completion;
  volatile uint32_t stop; // what Ctrl-C and cancel() set
  unsigned waiting;       // threads that look at it without the GIL
  unsigned generation;    // of forks
  vyre_status status;
  vyre_error error;
} completion_object;

static PyTypeObject *completion_type;

// It is done: gives back what it held. Once, with the GIL.
static void finish(completion_object *c) {
  if (!c->completion) return;
  vyre_completion *ended = c->completion;
  c->completion = NULL;
  c->status = vyre_completion_wait(ended, &c->error); // does not wait any more
  if (c->bound) bind_release(c->bound);
  free(c->bound);
  c->bound = NULL;
  Py_CLEAR(c->kept);
}

static bool is_done(completion_object *c) {
  if (c->completion && !c->waiting && vyre_completion_is_done(c->completion)) finish(c);
  return !c->completion;
}

// Those that are done need not be kept any longer.
static void sweep(PyObject *list) {
  for (Py_ssize_t i = PyList_Size(list) - 1; i >= 0; i--) {
    completion_object *c = (completion_object *)PyList_GetItem(list, i);
    if (is_done(c)) PyList_SetSlice(list, i, i + 1, NULL);
  }
}

PyObject *completion_submit(PyObject *kernel_object, vyre_kernel *kernel, runtime_object *runtime,
                            bound *b, PyObject *kept) {
  allocfunc alloc = (allocfunc)PyType_GetSlot(completion_type, Py_tp_alloc);
  completion_object *c = (completion_object *)alloc(completion_type, 0);
  if (!c) return NULL;
  sweep(runtime->pending);
  b->args.stop = &c->stop;
  vyre_status status = vyre_kernel_submit(kernel, &b->args, &c->completion, &c->error);
  if (status != VYRE_OK) {
    errors_raise(&c->error);
    Py_DECREF(c);
    return NULL;
  }
  Py_INCREF(kernel_object);
  Py_INCREF((PyObject *)runtime);
  Py_INCREF(kept);
  c->kernel = kernel_object;
  c->runtime = runtime;
  c->kept = kept;
  c->bound = b;
  c->generation = runtime_generation();
  if (PyList_Append(runtime->pending, (PyObject *)c)) PyErr_Clear(); // dealloc waits then
  return (PyObject *)c;
}

// ---- waiting ------------------------------------------------------------------------------------

enum { SHORTEST_NS = 20000, LONGEST_NS = 2000000, SIGNALS_EVERY_NS = 20000000 };

static long long now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
}

// Without the GIL, until it is done, or for a while. The library has no wait with a limit: how long
// is slept grows with how long it took already.
static bool wait_a_while(const vyre_completion *completion, long long begin, long long end) {
  for (long long now = now_ns(); !vyre_completion_is_done(completion); now = now_ns()) {
    if (now >= end) return false;
    long long pause = (now - begin) / 8;
    if (pause < SHORTEST_NS) pause = SHORTEST_NS;
    if (pause > LONGEST_NS) pause = LONGEST_NS;
    struct timespec t = {0, pause};
    nanosleep(&t, NULL);
  }
  return true;
}

// 1: it is done; 0: `limit_ns` passed (-1: there is none); -1: an exception, after the dispatch was
// stopped.
static int wait_for(completion_object *c, long long limit_ns) {
  long long begin = now_ns();
  while (!is_done(c)) {
    long long now = now_ns(), until = now + SIGNALS_EVERY_NS;
    if (limit_ns >= 0 && now >= begin + limit_ns) return 0;
    if (limit_ns >= 0 && until > begin + limit_ns) until = begin + limit_ns;
    c->waiting++;
    Py_BEGIN_ALLOW_THREADS wait_a_while(c->completion, begin, until);
    Py_END_ALLOW_THREADS c->waiting--;
    if (PyErr_CheckSignals()) {
      c->stop = 1;
      return -1;
    }
  }
  return 1;
}

bool completion_wait_all(PyObject *list) {
  Py_INCREF(list);
  while (PyList_Size(list) > 0) {
    PyObject *c = PyList_GetItem(list, 0);
    Py_INCREF(c);
    int ended = wait_for((completion_object *)c, -1);
    Py_DECREF(c);
    if (ended < 0) {
      Py_DECREF(list);
      return false;
    }
    sweep(list);
  }
  Py_DECREF(list);
  return true;
}

static PyObject *result(completion_object *c) {
  if (c->status != VYRE_OK) return errors_raise(&c->error);
  Py_RETURN_NONE;
}

static PyObject *completion_wait(PyObject *self, PyObject *args) {
  PyObject *limit = Py_None;
  completion_object *c = (completion_object *)self;
  if (!PyArg_ParseTuple(args, "|O", &limit)) return NULL;
  double seconds = limit == Py_None ? -1 : PyFloat_AsDouble(limit);
  if (PyErr_Occurred()) return NULL;
  long long limit_ns = seconds < 0 || seconds > 1e9 ? -1 : (long long)(seconds * 1e9);
  int ended = wait_for(c, limit_ns);
  if (ended < 0) return NULL;
  if (ended) sweep(c->runtime->pending);
  if (!ended)
    return errors_set(VYRE_ERROR_TIMEOUT,
                      "the dispatch is not done after %g seconds; it goes on. "
                      "Fix: wait longer, or cancel() it",
                      seconds);
  return result(c);
}

static PyObject *completion_cancel(PyObject *self, PyObject *unused) {
  (void)unused;
  completion_object *c = (completion_object *)self;
  c->stop = 1;
  return PyBool_FromLong(!is_done(c));
}

static PyObject *get_done(PyObject *self, void *unused) {
  (void)unused;
  return PyBool_FromLong(is_done((completion_object *)self));
}

static PyObject *get_kernel(PyObject *self, void *unused) {
  (void)unused;
  PyObject *kernel = ((completion_object *)self)->kernel;
  if (!kernel) Py_RETURN_NONE;
  Py_INCREF(kernel);
  return kernel;
}

// The last reference went while it runs: only when the runtime could not keep it.
static void completion_dealloc(PyObject *self) {
  completion_object *c = (completion_object *)self;
  PyTypeObject *type = Py_TYPE(self);
  if (c->completion && c->generation == runtime_generation()) {
    c->stop = 1;
    Py_BEGIN_ALLOW_THREADS wait_a_while(c->completion, now_ns(), INT64_MAX);
    Py_END_ALLOW_THREADS finish(c);
  }
  Py_XDECREF(c->kept);
  Py_XDECREF(c->kernel);
  Py_XDECREF((PyObject *)c->runtime);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"wait", completion_wait, METH_VARARGS,
     "wait(timeout=None): returns when the dispatch is done, and raises what went wrong in it."},
    {"cancel", completion_cancel, METH_NOARGS,
     "Asks for its end: wait() raises vyre.StoppedError unless it was done. True when it was not."},
    {0},
};
static PyGetSetDef getters[] = {
    {"done", get_done, NULL, "Whether it is done.", NULL},
    {"kernel", get_kernel, NULL, "What runs.", NULL},
    {0},
};
static PyType_Slot slots[] = {
    {Py_tp_dealloc, completion_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, getters},
    {Py_tp_doc, "A dispatch that is under way: made by Kernel.submit, waited for by wait() or "
                "await."},
    {0, NULL},
};
static PyType_Spec spec = {"vyre.Completion", sizeof(completion_object), 0, Py_TPFLAGS_DEFAULT,
                           slots};

bool completion_add_type(PyObject *module) {
  completion_type = (PyTypeObject *)PyType_FromSpec(&spec);
  if (!completion_type) return false;
  Py_INCREF(completion_type);
  return !PyModule_AddObject(module, "Completion", (PyObject *)completion_type);
}
