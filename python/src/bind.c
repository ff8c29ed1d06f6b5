/* SPDX-License-Identifier: MIT */
#include "bind.h"

#include "errors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- signatures ---------------------------------------------------------------------------------

static vyre_buffer_info bound_buffer_info(const vyre_program *p, uint32_t index) {
  uint32_t count = vyre_program_buffer_count(p);
  for (uint32_t i = 0, next = 0; i < count; i++) {
    vyre_buffer_info info = vyre_program_buffer(p, i);
    if (!info.is_transient && next++ == index) return info;
  }
  return (vyre_buffer_info){0};
}

static bool read_arg(signature *s, const vyre_program *p, PyObject *row, bind_arg *a) {
  PyObject *name, *fallback;
  int is_buffer, ndim;
  unsigned index;
  if (!PyArg_ParseTuple(row, "UpIiO", &name, &is_buffer, &index, &ndim, &fallback)) return false;
  *a = (bind_arg){.is_buffer = is_buffer, .index = index};
  if (index >= (is_buffer ? s->buffer_count : s->param_count)) {
    PyErr_SetString(PyExc_IndexError, "an argument's number is past the program's");
    return false;
  }
  Py_INCREF(name);
  a->name = name;
  PyUnicode_InternInPlace(&a->name);
  if (fallback != Py_Ellipsis) {
    Py_INCREF(fallback);
    a->default_ = fallback;
  }
  if (!(a->kept_name = PyUnicode_AsUTF8String(name))) return false;
  vyre_buffer_info info = bound_buffer_info(p, index);
  a->want = (memory_want){.kernel = s->kernel,
                          .name = PyBytes_AsString(a->kept_name),
                          .type = is_buffer ? info.type : s->param_types[index],
                          .access = info.access,
                          .ndim = ndim};
  a->element_bytes = (uint32_t)vyre_type_size(a->want.type);
  return true;
}

static bool read_derived(signature *s, PyObject *row, bind_derived *d) {
  unsigned param, source, arg, axis;
  if (!PyArg_ParseTuple(row, "IIII", &param, &source, &arg, &axis)) return false;
  *d = (bind_derived){param, arg, axis, (bind_source)source};
  bool is_good = param < s->param_count && axis < 3 && source <= BIND_FROM_GRID &&
                 (source == BIND_FROM_GRID || (arg < s->arg_count && s->args[arg].is_buffer));
  if (source == BIND_FROM_GRID && axis + 1 > s->grid_rank) s->grid_rank = axis + 1;
  if (!is_good) PyErr_SetString(PyExc_IndexError, "a parameter's source is not there");
  return is_good;
}

static bool read_all(signature *s, const vyre_program *p, PyObject *args, PyObject *derived) {
  for (uint32_t i = 0; i < vyre_program_buffer_count(p); i++)
    s->buffer_count += !vyre_program_buffer(p, i).is_transient;
  for (uint32_t i = 0; i < s->param_count; i++) s->param_types[i] = vyre_program_param(p, i).type;
  Py_ssize_t count = PyList_Size(args), hidden = PyList_Size(derived);
  if (count < 0 || hidden < 0) return false;
  if (count + hidden != s->param_count + s->buffer_count) {
    PyErr_SetString(PyExc_ValueError, "each parameter and buffer comes from one place");
    return false;
  }
  s->args = calloc((size_t)count + 1, sizeof *s->args);
  s->derived = calloc((size_t)hidden + 1, sizeof *s->derived);
  if (!s->args || !s->derived) return PyErr_NoMemory() != NULL;
  for (; s->arg_count < (uint32_t)count; s->arg_count++)
    if (!read_arg(s, p, PyList_GetItem(args, s->arg_count), &s->args[s->arg_count])) {
      s->arg_count++; // what it holds is let go
      return false;
    }
  for (; s->derived_count < (uint32_t)hidden; s->derived_count++)
    if (!read_derived(s, PyList_GetItem(derived, s->derived_count), &s->derived[s->derived_count]))
      return false;
  return true;
}

signature *signature_new(const vyre_program *p, const char *name, PyObject *args,
                         PyObject *derived) {
  signature *s = calloc(1, sizeof *s);
  char *kernel = strdup(name);
  if (!s || !kernel) {
    free(s);
    free(kernel);
    PyErr_NoMemory();
    return NULL;
  }
  s->kernel = kernel;
  s->param_count = vyre_program_param_count(p);
  if (read_all(s, p, args, derived)) return s;
  signature_free(s);
  return NULL;
}

void signature_free(signature *s) {
  if (!s) return;
  for (uint32_t i = 0; i < s->arg_count; i++) {
    Py_XDECREF(s->args[i].name);
    Py_XDECREF(s->args[i].default_);
    Py_XDECREF(s->args[i].kept_name);
  }
  free(s->args);
  free(s->derived);
  free(s->kernel);
  free(s);
}

// ---- scalars ------------------------------------------------------------------------------------

static bool refuse_scalar(const memory_want *w, const char *words) {
  PyErr_Clear();
  errors_set(VYRE_ERROR_BINDING, "%s: argument `%s` is %s, but %s. Fix: pass %s", w->kernel,
             w->name, vyre_type_name(w->type), words,
             w->type == VYRE_BOOL                ? "True or False"
             : vyre_type_name(w->type)[0] == 'f' ? "a number"
                                                 : "a whole number that fits");
  return false;
}

// Toward zero, with the last bit set where something was lost: what is rounded from it to f16 is
// rounded as from the number itself.
static float narrowed(double value) {
  float near = (float)value;
  if ((double)near == value || isnan(value)) return near;
  uint32_t bits;
  memcpy(&bits, &near, sizeof bits);
  bits = (bits - (fabs((double)near) > fabs(value))) | 1;
  memcpy(&near, &bits, sizeof bits);
  return near;
}

static bool bind_float(PyObject *object, const memory_want *w, vyre_scalar *out) {
  double value = PyFloat_AsDouble(object);
  if (value == -1 && PyErr_Occurred()) {
    if (PyErr_ExceptionMatches(PyExc_TypeError)) return refuse_scalar(w, "this is no number");
    if (PyErr_ExceptionMatches(PyExc_OverflowError)) return refuse_scalar(w, "this is too large");
    return false;
  }
  bool fits = true; // in what is nearest to it
  if (w->type == VYRE_F64) {
    *out = vyre_scalar_f64(value);
  } else if (w->type == VYRE_F16) {
    *out = vyre_scalar_f16(narrowed(value));
    fits = fabs(value) < 65520; // 65504 is the largest, and 65536 would be the next
  } else {
    *out = vyre_scalar_f32((float)value);
    fits = !isinf((float)value);
  }
  return fits || isinf(value) || isnan(value) || refuse_scalar(w, "this is too large");
}

// True, False, and what equals one of them: a text "false" is true to Python, and not to people.
static bool bind_bool(PyObject *object, const memory_want *w, vyre_scalar *out) {
  int value = PyObject_IsTrue(object);
  if (value >= 0 && !PyBool_Check(object) &&
      PyObject_RichCompareBool(object, value ? Py_True : Py_False, Py_EQ) != 1)
    value = -1;
  if (value < 0) return refuse_scalar(w, "this is neither true nor false");
  *out = (vyre_scalar){w->type, (uint64_t)value};
  return true;
}

static bool bind_whole(PyObject *object, const memory_want *w, vyre_scalar *out) {
  PyObject *number = PyLong_CheckExact(object) ? object : PyNumber_Index(object);
  if (!number) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) return false;
    return refuse_scalar(w, "this is no whole number");
  }
  unsigned spare = 64 - 8 * (unsigned)vyre_type_size(w->type);
  bool is_signed = vyre_type_name(w->type)[0] == 'i', fits;
  out->type = w->type;
  if (is_signed) {
    long long value = PyLong_AsLongLong(number);
    fits = !(value == -1 && PyErr_Occurred()) &&
           (long long)((uint64_t)value << spare) >> spare == value;
    out->bits = (uint64_t)value;
  } else {
    unsigned long long value = PyLong_AsUnsignedLongLong(number);
    fits =
        !(value == (unsigned long long)-1 && PyErr_Occurred()) && value << spare >> spare == value;
    out->bits = value;
  }
  if (number != object) Py_DECREF(number);
  return fits || refuse_scalar(w, "this number is outside of its range");
}

static bool bind_scalar(PyObject *object, const memory_want *w, vyre_scalar *out) {
  switch (w->type) {
  case VYRE_BOOL: return bind_bool(object, w, out);
  case VYRE_I8:
  case VYRE_U8:
  case VYRE_I16:
  case VYRE_U16:
  case VYRE_I32:
  case VYRE_U32:
  case VYRE_I64:
  case VYRE_U64: return bind_whole(object, w, out);
  default: return bind_float(object, w, out);
  }
}

// ---- arguments ----------------------------------------------------------------------------------

static void set_scalar(vyre_scalar *out, vyre_type type, uint64_t value) {
  if (type == VYRE_F32)
    *out = vyre_scalar_f32((float)value);
  else if (type == VYRE_F64)
    *out = vyre_scalar_f64((double)value);
  else
    *out = (vyre_scalar){type, value};
}

static void derive(const signature *s, uint32_t arg, const memory *m, bound *b) {
  for (uint32_t i = 0; i < s->derived_count; i++) {
    const bind_derived *d = &s->derived[i];
    if (d->arg != arg || d->source == BIND_FROM_GRID) continue;
    uint64_t value = d->source == BIND_FROM_COUNT ? m->count
                     : (int)d->axis < m->ndim     ? (uint64_t)m->shape[d->axis]
                                                  : 1;
    set_scalar(&b->params[d->param], s->param_types[d->param], value);
  }
}

static bool bind_memory(const signature *s, uint32_t arg, PyObject *object, bound *b) {
  const bind_arg *a = &s->args[arg];
  memory found;
  memory *m = &found;
  if (!memory_get_fast(object, &a->want, m)) {
    m = &b->held[b->held_count];
    if (!memory_get(object, &a->want, m)) return false;
    b->held_count++;
  }
  if (a->want.ndim && m->count > INT32_MAX) { // kernels in Python index with i32
    errors_set(VYRE_ERROR_LIMIT,
               "%s: argument `%s` has more than 2147483647 elements. Fix: split it", s->kernel,
               a->want.name);
    return false;
  }
  b->spans[a->index] = (vyre_span){m->count ? m->data : NULL, m->count * a->element_bytes};
  b->handles[a->index] = m->handle;
  if (m->handle) b->args.handles = b->handles;
  if (s->derived_count) derive(s, arg, m, b);
  return true;
}

static bool bind_one(const signature *s, uint32_t arg, PyObject *object, bound *b) {
  const bind_arg *a = &s->args[arg];
  if (a->is_buffer) return bind_memory(s, arg, object, b);
  if (a->want.type == VYRE_F32 && PyFloat_CheckExact(object)) { // most of them
    float value = (float)PyFloat_AsDouble(object);
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    b->params[a->index] = (vyre_scalar){VYRE_F32, bits};
    if (!isinf(value)) return true;
  }
  return bind_scalar(object, &a->want, &b->params[a->index]);
}

// ---- how it is launched -------------------------------------------------------------------------

typedef struct launch_words {
  uint64_t grid[3];
  uint32_t grid_count;
} launch_words;

// A number, or a tuple or list of one to three.
static bool read_extents(const signature *s, const char *name, PyObject *object, uint64_t *out,
                         uint32_t *count) {
  PyObject *tuple = PyLong_Check(object) || PyIndex_Check(object) ? PyTuple_Pack(1, object)
                                                                  : PySequence_Tuple(object);
  Py_ssize_t size = tuple ? PyTuple_Size(tuple) : 0;
  bool ok = size >= 1 && size <= 3;
  for (Py_ssize_t i = 0; i < size && ok; i++) {
    PyObject *number = PyNumber_Index(PyTuple_GetItem(tuple, i));
    out[i] = number ? PyLong_AsUnsignedLongLong(number) : 0;
    Py_XDECREF(number);
    ok = !PyErr_Occurred();
  }
  Py_XDECREF(tuple);
  *count = (uint32_t)size;
  if (ok) return true;
  PyErr_Clear();
  errors_set(VYRE_ERROR_ARGUMENT,
             "%s: `%s` takes one to three whole numbers. Fix: write it like %s=(640, 480)",
             s->kernel, name, name);
  return false;
}

static bool read_launch_word(const signature *s, PyObject *name, PyObject *value, bound *b,
                             launch_words *l) {
  uint64_t numbers[3] = {0};
  uint32_t count;
  if (!PyUnicode_CompareWithASCIIString(name, "grid"))
    return read_extents(s, "grid", value, l->grid, &l->grid_count);
  if (!PyUnicode_CompareWithASCIIString(name, "workgroup")) {
    if (!read_extents(s, "workgroup", value, numbers, &count)) return false;
    for (int k = 0; k < 3; k++)
      b->args.workgroup[k] = numbers[k] > UINT32_MAX ? UINT32_MAX : (uint32_t)numbers[k];
    return true;
  }
  if (!PyUnicode_CompareWithASCIIString(name, "timeout")) {
    double seconds = value == Py_None ? 0 : PyFloat_AsDouble(value);
    if (PyErr_Occurred()) return false;
    if (value != Py_None && !(seconds > 0)) {
      errors_set(VYRE_ERROR_ARGUMENT,
                 "%s: `timeout` is in seconds, above 0. Fix: write it like timeout=2.5", s->kernel);
      return false;
    }
    b->args.timeout_ns = seconds >= 1e9 ? 0 : (uint64_t)(seconds * 1e9) + (seconds > 0);
    return true;
  }
  bool is_threads = !PyUnicode_CompareWithASCIIString(name, "threads");
  if (is_threads || !PyUnicode_CompareWithASCIIString(name, "fuel")) {
    unsigned long long number = PyLong_AsUnsignedLongLong(value);
    if (PyErr_Occurred()) return false;
    if (is_threads)
      b->args.threads = number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
    else
      b->args.fuel = number;
    return true;
  }
  PyObject *bytes = PyUnicode_AsUTF8String(name);
  errors_set(VYRE_ERROR_ARGUMENT,
             "%s: there is no argument `%s`. Fix: print(vyre.signature(%s)) lists them; grid, "
             "workgroup, timeout, threads and fuel say how it is launched",
             s->kernel, bytes ? PyBytes_AsString(bytes) : "?", s->kernel);
  Py_XDECREF(bytes);
  return false;
}

static bool use_grid(const signature *s, const launch_words *l, bound *b) {
  if (!s->grid_rank && !l->grid_count) return true;
  if (!s->grid_rank)
    return errors_set(VYRE_ERROR_ARGUMENT,
                      "%s: the grid is part of this kernel. Fix: call it without `grid`",
                      s->kernel) != NULL;
  if (l->grid_count != s->grid_rank)
    return errors_set(VYRE_ERROR_ARGUMENT,
                      "%s: the grid has %u axes, and %u numbers were given. Fix: pass "
                      "grid=(...) with %u numbers",
                      s->kernel, s->grid_rank, l->grid_count, s->grid_rank) != NULL;
  for (uint32_t i = 0; i < s->derived_count; i++) {
    const bind_derived *d = &s->derived[i];
    if (d->source != BIND_FROM_GRID) continue;
    uint64_t extent = l->grid[d->axis];
    if (extent > INT32_MAX)
      return errors_set(VYRE_ERROR_LIMIT,
                        "%s: an extent of the grid is above 2147483647. Fix: use a smaller one",
                        s->kernel) != NULL;
    set_scalar(&b->params[d->param], s->param_types[d->param], extent);
  }
  return true;
}

// ---- calls --------------------------------------------------------------------------------------

static int find_arg(const signature *s, PyObject *name) {
  for (uint32_t i = 0; i < s->arg_count; i++)
    if (s->args[i].name == name) return (int)i;
  for (uint32_t i = 0; i < s->arg_count; i++) // names of calls are interned, most of the time
    if (PyUnicode_Compare(s->args[i].name, name) == 0) return (int)i;
  return -1;
}

static bool bind_named(const signature *s, PyObject *const *args, Py_ssize_t count, PyObject *names,
                       bool *is_bound, bound *b, launch_words *l) {
  Py_ssize_t named = names ? PyTuple_Size(names) : 0;
  for (Py_ssize_t i = 0; i < named; i++) {
    PyObject *name = PyTuple_GetItem(names, i), *value = args[count + i];
    int arg = find_arg(s, name);
    if (arg < 0) {
      if (!read_launch_word(s, name, value, b, l)) return false;
      continue;
    }
    if (is_bound[arg])
      return errors_set(VYRE_ERROR_ARGUMENT,
                        "%s: argument `%s` is given twice. Fix: pass it by position or by name",
                        s->kernel, s->args[arg].want.name) != NULL;
    if (!bind_one(s, (uint32_t)arg, value, b)) return false;
    is_bound[arg] = true;
  }
  return true;
}

static bool bind_rest(const signature *s, const bool *is_bound, bound *b) {
  for (uint32_t i = 0; i < s->arg_count; i++) {
    if (is_bound[i]) continue;
    if (!s->args[i].default_)
      return errors_set(VYRE_ERROR_BINDING, "%s: argument `%s` is missing. Fix: pass %s %s for it",
                        s->kernel, s->args[i].want.name, s->args[i].is_buffer ? "an array of" : "a",
                        vyre_type_name(s->args[i].want.type)) != NULL;
    if (!bind_one(s, i, s->args[i].default_, b)) return false;
  }
  return true;
}

static bool bind_all(const signature *s, PyObject *const *args, Py_ssize_t count, PyObject *names,
                     bound *b) {
  if (count > (Py_ssize_t)s->arg_count)
    return errors_set(VYRE_ERROR_BINDING,
                      "%s takes %u arguments, %zd were passed. Fix: print(vyre.signature(%s)) "
                      "lists them",
                      s->kernel, s->arg_count, count, s->kernel) != NULL;
  for (Py_ssize_t i = 0; i < count; i++)
    if (!bind_one(s, (uint32_t)i, args[i], b)) return false;
  if (!names && count == (Py_ssize_t)s->arg_count && !s->grid_rank) return true;
  bool is_bound[BIND_ARGS] = {false};
  launch_words l = {{0}, 0};
  for (Py_ssize_t i = 0; i < count; i++) is_bound[i] = true;
  return bind_named(s, args, count, names, is_bound, b, &l) && bind_rest(s, is_bound, b) &&
         use_grid(s, &l, b);
}

bool bind_call(const signature *s, PyObject *const *args, Py_ssize_t count, PyObject *names,
               bound *b) {
  b->args = (vyre_dispatch_args){.params = b->params,
                                 .param_count = s->param_count,
                                 .buffers = b->spans,
                                 .buffer_count = s->buffer_count};
  b->held_count = 0;
  if (bind_all(s, args, count, names, b)) return true;
  bind_release(b);
  return false;
}

void bind_release(bound *b) {
  for (uint32_t i = 0; i < b->held_count; i++) memory_release(&b->held[i]);
  b->held_count = 0;
}
