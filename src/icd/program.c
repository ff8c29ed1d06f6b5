// SPDX-License-Identifier: MIT
#include "icd/program.h"

#include "base/strbuf.h"
#include "base/vec.h"
#include "icd/info.h"
#include "icd/variant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- what is built ------------------------------------------------------------------------------

static void free_entries(cl_program p) {
  for (uint32_t i = 0; i < p->entry_count; i++) {
    variant_free_all(p->entries[i].variants);
    pthread_mutex_destroy(&p->entries[i].lock);
  }
  free(p->entries);
  vyre_free(p->list);
  for (program_global *g = p->globals, *next; g; g = next) {
    next = g->next;
    free(g->name);
    free(g->data);
    free(g);
  }
  p->entries = NULL;
  p->list = NULL;
  p->globals = NULL;
  p->entry_count = 0;
}

void program_clear(cl_program p) {
  free_entries(p);
  free(p->log);
  free(p->options);
  p->log = p->options = NULL;
  if (p->is_binary) return; // its text is what it is
  free(p->text);
  free(p->flags);
  p->text = p->flags = NULL;
  p->text_size = 0;
}

void program_fini(void *handle) {
  cl_program p = handle;
  p->is_binary = false;
  program_clear(p);
  free(p->source);
  pthread_mutex_destroy(&p->lock);
  object_drop(p->context);
}

void program_log_error(cl_program p, const vyre_error *error) {
  strbuf text = {0};
  if (p->log) strbuf_puts(&text, p->log);
  if (error->file[0] && error->line)
    strbuf_printf(&text, "%s:%u:%u: ", error->file, error->line, error->column);
  strbuf_printf(&text, "error%s%s%s: %s\n", error->code[0] ? "[" : "", error->code,
                error->code[0] ? "]" : "", error->message);
  if (error->excerpt[0]) strbuf_printf(&text, "%s\n", error->excerpt);
  free(p->log);
  p->log = strbuf_take(&text, NULL);
}

// Of longer texts a kernel is found out about when the client asks for it: making programs of all
// their kernels would take longer than it is going to wait for those that it needs.
enum { MOST_CHECKED_BYTES = 1 << 15, CHECKED_LOCAL_BYTES = 256 };

static void check_one(void *data, const vyre_source_result *result) {
  cl_program p = data;
  if (result->program || result->error->status != VYRE_ERROR_UNSUPPORTED) return;
  for (uint32_t i = 0; i < p->entry_count; i++)
    p->entries[i].is_refused |= !strcmp(p->entries[i].about->name, result->entry);
  program_log_error(p, result->error);
}

typedef vec(vyre_source_local) local_list;

// Some size for each local argument of the kernel.
static void add_locals(const vyre_source_entry *entry, local_list *locals) {
  for (uint32_t k = 0; k < entry->arg_count; k++) {
    const vyre_source_arg *a = &entry->args[k];
    vyre_source_local local = {a->name, CHECKED_LOCAL_BYTES + a->size_bytes};
    if (a->space == VYRE_SPACE_LOCAL && !vec_push(locals, local)) break;
  }
}

// CL_BUILD_PROGRAM_FAILURE when nothing of the program can run.
static cl_int check_entries(cl_program p) {
  local_list locals = {0};
  for (uint32_t i = 0; i < p->entry_count; i++) add_locals(&p->list[i], &locals);
  vyre_source_options options = {
      .build_options = p->flags, .locals = locals.at, .local_count = (uint32_t)locals.count};
  vyre_source_each("opencl", p->text, p->text_size, "program.cl", &options, check_one, p, NULL);
  vec_free(&locals);
  cl_int code = CL_BUILD_PROGRAM_FAILURE;
  for (uint32_t i = 0; i < p->entry_count; i++) {
    p->entries[i].is_checked = true;
    if (!p->entries[i].is_refused) code = CL_SUCCESS;
  }
  return code;
}

bool program_refuses(cl_program p, program_entry *entry) {
  pthread_mutex_lock(&p->lock);
  if (!entry->is_checked) {
    local_list locals = {0};
    add_locals(entry->about, &locals);
    vyre_source_options options = {.entry = entry->about->name,
                                   .build_options = p->flags,
                                   .locals = locals.at,
                                   .local_count = (uint32_t)locals.count};
    vyre_error error = {0};
    vyre_source_result result = {.entry = entry->about->name, .error = &error};
    vyre_program *made = NULL;
    vyre_program_from("opencl", p->text, p->text_size, "program.cl", &options, &made, &error);
    result.program = made;
    check_one(p, &result);
    vyre_program_release(made);
    vec_free(&locals);
    entry->is_checked = true;
  }
  bool is_refused = entry->is_refused;
  pthread_mutex_unlock(&p->lock);
  return is_refused;
}

cl_int program_read(cl_program p) {
  vyre_error error = {0};
  uint32_t count = 0;
  vyre_status status = vyre_source_entries("opencl", p->text, p->text_size, "program.cl", p->flags,
                                           &p->list, &count, &error);
  if (status != VYRE_OK) {
    program_log_error(p, &error);
    return status == VYRE_ERROR_MEMORY ? CL_OUT_OF_HOST_MEMORY : CL_BUILD_PROGRAM_FAILURE;
  }
  p->entries = calloc(count + 1, sizeof *p->entries);
  if (!p->entries) return CL_OUT_OF_HOST_MEMORY;
  for (uint32_t i = 0; i < count; i++) {
    p->entries[i].about = &p->list[i];
    pthread_mutex_init(&p->entries[i].lock, NULL);
  }
  p->entry_count = count;
  return count && p->text_size <= MOST_CHECKED_BYTES ? check_entries(p) : CL_SUCCESS;
}

void *program_global_data(cl_program p, const char *name, size_t size) {
  pthread_mutex_lock(&p->lock);
  program_global *g = p->globals;
  while (g && (strcmp(g->name, name) || g->size < size)) g = g->next;
  if (!g && (g = calloc(1, sizeof *g))) {
    size_t padded = (size + DEVICE_ALIGN_BYTES) / DEVICE_ALIGN_BYTES * DEVICE_ALIGN_BYTES;
    g->name = strdup(name);
    g->data = aligned_alloc(DEVICE_ALIGN_BYTES, padded);
    g->size = size;
    if (g->data) memset(g->data, 0, padded);
    if (!g->name || !g->data) {
      free(g->name);
      free(g->data);
      free(g);
      g = NULL;
    } else {
      g->next = p->globals;
      p->globals = g;
    }
  }
  void *data = g ? g->data : NULL;
  pthread_mutex_unlock(&p->lock);
  return data;
}

// ---- making -------------------------------------------------------------------------------------

cl_program program_make(cl_context context) {
  cl_program made = object_new(OBJECT_PROGRAM);
  if (!made) return NULL;
  made->context = object_hold(context);
  made->status = CL_BUILD_NONE;
  pthread_mutex_init(&made->lock, NULL);
  return made;
}

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **strings,
                                     const size_t *sizes, cl_int *errcode) {
  if (!object_is(context, OBJECT_CONTEXT)) return icd_fail(errcode, CL_INVALID_CONTEXT);
  if (!count || !strings) return icd_fail(errcode, CL_INVALID_VALUE);
  strbuf all = {0};
  for (cl_uint i = 0; i < count; i++) {
    if (!strings[i]) {
      strbuf_fini(&all);
      return icd_fail(errcode, CL_INVALID_VALUE);
    }
    strbuf_add(&all, strings[i], sizes && sizes[i] ? sizes[i] : strlen(strings[i]));
  }
  cl_program made = program_make(context);
  if (made) made->source = strbuf_take(&all, &made->source_size);
  if (!made || !made->source) {
    strbuf_fini(&all);
    if (made) clReleaseProgram(made);
    return icd_fail(errcode, CL_OUT_OF_HOST_MEMORY);
  }
  icd_fail(errcode, CL_SUCCESS);
  return made;
}

cl_program clCreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id *devices,
                                     const size_t *sizes, const unsigned char **binaries,
                                     cl_int *status, cl_int *errcode) {
  if (!object_is(context, OBJECT_CONTEXT)) return icd_fail(errcode, CL_INVALID_CONTEXT);
  if (!count || !devices || !sizes || !binaries) return icd_fail(errcode, CL_INVALID_VALUE);
  for (cl_uint i = 0; i < count; i++)
    if (!object_is(devices[i], OBJECT_DEVICE) || !context_has(context, devices[i]))
      return icd_fail(errcode, CL_INVALID_DEVICE);
  cl_int code = CL_SUCCESS;
  cl_program made = program_make(context);
  if (!made) return icd_fail(errcode, CL_OUT_OF_HOST_MEMORY);
  made->is_binary = true;
  for (cl_uint i = 0; i < count; i++) {
    cl_int one = CL_SUCCESS;
    if (!sizes[i] || !binaries[i]) {
      one = CL_INVALID_VALUE;
    } else { // the same for every device: the last that is right counts
      free(made->text);
      free(made->flags);
      made->text = made->flags = NULL;
      if (!program_decode(made, binaries[i], sizes[i])) one = CL_INVALID_BINARY;
    }
    if (status) status[i] = one;
    if (one != CL_SUCCESS && code == CL_SUCCESS) code = one;
  }
  icd_fail(errcode, code);
  if (code == CL_SUCCESS) return made;
  clReleaseProgram(made);
  return NULL;
}

cl_program clCreateProgramWithBuiltInKernels(cl_context context, cl_uint count,
                                             const cl_device_id *devices, const char *names,
                                             cl_int *errcode) {
  if (!object_is(context, OBJECT_CONTEXT)) return icd_fail(errcode, CL_INVALID_CONTEXT);
  if (!count || !devices || !names) return icd_fail(errcode, CL_INVALID_VALUE);
  for (cl_uint i = 0; i < count; i++)
    if (!object_is(devices[i], OBJECT_DEVICE) || !context_has(context, devices[i]))
      return icd_fail(errcode, CL_INVALID_DEVICE);
  return icd_fail(errcode, CL_INVALID_VALUE); // no device has any
}

cl_program clCreateProgramWithIL(cl_context context, const void *il, size_t size, cl_int *errcode) {
  if (!object_is(context, OBJECT_CONTEXT)) return icd_fail(errcode, CL_INVALID_CONTEXT);
  if (!il || !size) return icd_fail(errcode, CL_INVALID_VALUE);
  return icd_fail(errcode, CL_INVALID_OPERATION); // no device takes an intermediate language
}

// ---- the client's calls -------------------------------------------------------------------------

cl_int clRetainProgram(cl_program p) {
  return object_retain(p, OBJECT_PROGRAM, CL_INVALID_PROGRAM);
}

cl_int clReleaseProgram(cl_program p) {
  return object_release(p, OBJECT_PROGRAM, CL_INVALID_PROGRAM);
}

cl_int clSetProgramReleaseCallback(cl_program p, void(CL_CALLBACK *call)(cl_program, void *),
                                   void *data) {
  (void)call, (void)data;
  if (!object_is(p, OBJECT_PROGRAM)) return CL_INVALID_PROGRAM;
  return CL_INVALID_OPERATION; // of programs with global constructors, which there are not
}

cl_int clSetProgramSpecializationConstant(cl_program p, cl_uint number, size_t size,
                                          const void *value) {
  (void)number, (void)size, (void)value;
  if (!object_is(p, OBJECT_PROGRAM)) return CL_INVALID_PROGRAM;
  return CL_INVALID_OPERATION; // of programs in an intermediate language
}

// The names of kernels, joined by semicolons; malloc'ed.
static char *kernel_names(cl_program p) {
  strbuf names = {0};
  for (uint32_t i = 0; i < p->entry_count; i++)
    strbuf_printf(&names, "%s%s", i ? ";" : "", p->entries[i].about->name);
  return strbuf_take(&names, NULL);
}

static cl_int answer_binaries(cl_program p, size_t room, void *value, size_t *size) {
  cl_uint count = p->context->device_count;
  if (value && room < count * sizeof(void *)) return CL_INVALID_VALUE;
  if (size) *size = count * sizeof(void *);
  if (!value) return CL_SUCCESS;
  size_t bytes;
  void *made = program_encode(p, &bytes);
  if (!made) return CL_OUT_OF_HOST_MEMORY;
  for (cl_uint i = 0; i < count; i++)
    if (((void **)value)[i]) memcpy(((void **)value)[i], made, bytes);
  free(made);
  return CL_SUCCESS;
}

static cl_int answer_binary_sizes(cl_program p, size_t room, void *value, size_t *size) {
  cl_uint count = p->context->device_count;
  if (value && room < count * sizeof(size_t)) return CL_INVALID_VALUE;
  if (size) *size = count * sizeof(size_t);
  for (cl_uint i = 0; value && i < count; i++) ((size_t *)value)[i] = program_encoded_size(p);
  return CL_SUCCESS;
}

static cl_int answer_kernels(cl_program p, cl_program_info what, size_t room, void *value,
                             size_t *size) {
  info i = {0};
  if (p->status != CL_BUILD_SUCCESS || p->form != PROGRAM_EXECUTABLE)
    return CL_INVALID_PROGRAM_EXECUTABLE;
  if (what == CL_PROGRAM_NUM_KERNELS) {
    info_size(&i, p->entry_count);
    return info_answer(&i, room, value, size);
  }
  char *names = kernel_names(p);
  if (!names) return CL_OUT_OF_HOST_MEMORY;
  info_text(&i, names);
  cl_int code = info_answer(&i, room, value, size);
  free(names);
  return code;
}

cl_int clGetProgramInfo(cl_program p, cl_program_info what, size_t room, void *value,
                        size_t *size) {
  info i = {0};
  if (!object_is(p, OBJECT_PROGRAM)) return CL_INVALID_PROGRAM;
  switch (what) {
  case CL_PROGRAM_REFERENCE_COUNT: info_u32(&i, object_count(p)); break;
  case CL_PROGRAM_CONTEXT: info_pointer(&i, p->context); break;
  case CL_PROGRAM_NUM_DEVICES: info_u32(&i, p->context->device_count); break;
  case CL_PROGRAM_DEVICES:
    info_bytes(&i, p->context->devices, p->context->device_count * sizeof(cl_device_id));
    break;
  case CL_PROGRAM_SOURCE: info_text(&i, p->source ? p->source : ""); break;
  case CL_PROGRAM_IL: info_bytes(&i, NULL, 0); break;
  case CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT:
  case CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT: info_u32(&i, CL_FALSE); break;
  case CL_PROGRAM_BINARY_SIZES: return answer_binary_sizes(p, room, value, size);
  case CL_PROGRAM_BINARIES: return answer_binaries(p, room, value, size);
  case CL_PROGRAM_NUM_KERNELS:
  case CL_PROGRAM_KERNEL_NAMES: return answer_kernels(p, what, room, value, size);
  default: return CL_INVALID_VALUE;
  }
  return info_answer(&i, room, value, size);
}

static cl_program_binary_type binary_type(cl_program p) {
  if (!p->text || (p->status != CL_BUILD_SUCCESS && !p->is_binary))
    return CL_PROGRAM_BINARY_TYPE_NONE;
  switch (p->form) {
  case PROGRAM_SOURCE: return CL_PROGRAM_BINARY_TYPE_NONE;
  case PROGRAM_OBJECT: return CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT;
  case PROGRAM_LIBRARY: return CL_PROGRAM_BINARY_TYPE_LIBRARY;
  case PROGRAM_EXECUTABLE: return CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
  }
  return CL_PROGRAM_BINARY_TYPE_NONE;
}

// Kernels that are created add to it.
static cl_int log_info(cl_program p, size_t room, void *value, size_t *size) {
  info i = {0};
  pthread_mutex_lock(&p->lock);
  info_text(&i, p->log ? p->log : "");
  cl_int code = info_answer(&i, room, value, size);
  pthread_mutex_unlock(&p->lock);
  return code;
}

cl_int clGetProgramBuildInfo(cl_program p, cl_device_id device, cl_program_build_info what,
                             size_t room, void *value, size_t *size) {
  info i = {0};
  if (!object_is(p, OBJECT_PROGRAM)) return CL_INVALID_PROGRAM;
  if (!object_is(device, OBJECT_DEVICE) || !context_has(p->context, device))
    return CL_INVALID_DEVICE;
  switch (what) {
  case CL_PROGRAM_BUILD_STATUS: info_u32(&i, (cl_uint)p->status); break;
  case CL_PROGRAM_BUILD_OPTIONS: info_text(&i, p->options ? p->options : ""); break;
  case CL_PROGRAM_BUILD_LOG: return log_info(p, room, value, size);
  case CL_PROGRAM_BINARY_TYPE: info_u32(&i, binary_type(p)); break;
  case CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE: info_size(&i, 0); break;
  default: return CL_INVALID_VALUE;
  }
  return info_answer(&i, room, value, size);
}
