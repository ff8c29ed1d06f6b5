// SPDX-License-Identifier: MIT
//
// Building, compiling and linking. A compiled program is its preprocessed text; link.c puts texts
// behind one another.
#include "icd/program.h"

#include "base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef void(CL_CALLBACK build_notify)(cl_program program, void *data);

// ---- checks -------------------------------------------------------------------------------------

static cl_int check_devices(cl_context context, cl_uint count, const cl_device_id *devices) {
  if (!count != !devices) return CL_INVALID_VALUE;
  for (cl_uint i = 0; i < count; i++)
    if (!object_is(devices[i], OBJECT_DEVICE) || !context_has(context, devices[i]))
      return CL_INVALID_DEVICE;
  return CL_SUCCESS;
}

static cl_int check_build(cl_program p, cl_uint count, const cl_device_id *devices,
                          build_notify *notify, void *data) {
  if (!object_is(p, OBJECT_PROGRAM)) return CL_INVALID_PROGRAM;
  cl_int code = check_devices(p->context, count, devices);
  if (code != CL_SUCCESS) return code;
  if (!notify && data) return CL_INVALID_VALUE;
  return atomic_load(&p->kernel_count) ? CL_INVALID_OPERATION : CL_SUCCESS;
}

// ---- one text -----------------------------------------------------------------------------------

// Headers are named as the client named them, wherever they were put for a moment.
static cl_int forget_folder(cl_program p, const char *folder) {
  strbuf made = {0};
  size_t size = strlen(folder);
  const char *at = p->text, *end = p->text + p->text_size, *next;
  while ((next = memmem(at, (size_t)(end - at), folder, size))) {
    strbuf_add(&made, at, (size_t)(next - at));
    at = next + size;
    if (at < end && *at == '/') at++;
  }
  strbuf_add(&made, at, (size_t)(end - at));
  char *text = strbuf_take(&made, &size);
  if (!text) return CL_OUT_OF_HOST_MEMORY;
  free(p->text);
  p->text = text;
  p->text_size = size;
  return CL_SUCCESS;
}

// What a source without a standard can ask for: it is then read as the first language that has it.
static const char later_extensions[] =
    "-Dcl_khr_subgroups=1 -Dcl_khr_subgroup_extended_types=1 -Dcl_khr_subgroup_shuffle=1 "
    "-Dcl_khr_subgroup_shuffle_relative=1 -Dcl_khr_subgroup_rotate=1 -Dcl_khr_extended_bit_ops=1 "
    "-Dcl_khr_integer_dot_product=1 -Dcl_khr_srgb_image_writes=1 ";

// Preprocesses the source with the options and, in front of them, `folder` as one of includes.
static cl_int preprocess(cl_program p, build_options *o, const char *folder) {
  vyre_error error = {0};
  strbuf all = {0};
  strbuf_puts(&all, "-D__OPENCL_VERSION__=300 "); // the device's, whatever the language
  if (!strstr(o->preprocess, "-cl-std=CL1.")) strbuf_puts(&all, later_extensions);
  if (folder) strbuf_printf(&all, "\"-I%s\" ", folder);
  strbuf_puts(&all, o->preprocess);
  char *options = strbuf_take(&all, NULL);
  if (!options) return CL_OUT_OF_HOST_MEMORY;
  vyre_status status = vyre_source_preprocess("opencl", p->source, p->source_size, "program.cl",
                                              options, &p->text, &p->text_size, &error);
  free(options);
  p->flags = o->read;
  o->read = NULL;
  if (status == VYRE_OK) return folder ? forget_folder(p, folder) : CL_SUCCESS;
  program_log_error(p, &error);
  return status == VYRE_ERROR_MEMORY ? CL_OUT_OF_HOST_MEMORY : CL_BUILD_PROGRAM_FAILURE;
}

static void end_build(cl_program p, cl_int code, program_form form) {
  p->status = code == CL_SUCCESS ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
  if (code == CL_SUCCESS) p->form = form;
}

static cl_int begin_build(cl_program p, const char *options) {
  program_clear(p);
  p->options = strdup(options ? options : "");
  p->status = CL_BUILD_IN_PROGRESS;
  return p->options ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

cl_int clBuildProgram(cl_program p, cl_uint count, const cl_device_id *devices, const char *options,
                      build_notify *notify, void *data) {
  cl_int code = check_build(p, count, devices, notify, data);
  if (code != CL_SUCCESS) return code;
  if (!p->source && !p->is_binary) return CL_INVALID_OPERATION;
  if (p->is_binary && p->form == PROGRAM_LIBRARY) return CL_INVALID_BINARY;
  build_options o;
  code = build_options_read(options, false, &o);
  if (code != CL_SUCCESS) return code;
  pthread_mutex_lock(&p->lock);
  code = begin_build(p, options);
  if (code == CL_SUCCESS && !p->is_binary) code = preprocess(p, &o, NULL);
  if (code == CL_SUCCESS) code = program_read(p);
  end_build(p, code, PROGRAM_EXECUTABLE);
  pthread_mutex_unlock(&p->lock);
  build_options_free(&o);
  if (notify) notify(p, data);
  return code;
}

// ---- headers ------------------------------------------------------------------------------------

static bool write_file(const char *path, const char *text, size_t size) {
  FILE *file = fopen(path, "wx");
  if (!file) return errno == EEXIST; // the first of a name counts
  bool is_written = fwrite(text, 1, size, file) == size;
  return !fclose(file) && is_written;
}

// A header below the folder, with the folders of its name.
static bool write_header(const char *folder, const char *name, cl_program header) {
  strbuf path = {0};
  strbuf_printf(&path, "%s/%s", folder, name);
  char *text = strbuf_take(&path, NULL);
  bool is_written = text && name[0] && name[0] != '/' && !strstr(name, "..");
  for (char *slash = text ? strchr(text + strlen(folder) + 1, '/') : NULL; slash && is_written;
       slash = strchr(slash + 1, '/')) {
    *slash = 0;
    is_written = !mkdir(text, 0700) || errno == EEXIST;
    *slash = '/';
  }
  if (is_written) is_written = write_file(text, header->source, header->source_size);
  free(text);
  return is_written;
}

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *at) {
  (void)about, (void)type, (void)at;
  return remove(path);
}

static void remove_folder(const char *folder) {
  nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static cl_int make_folder(char *folder, size_t size, cl_uint count, const cl_program *headers,
                          const char **names) {
  const char *place = getenv("TMPDIR");
  snprintf(folder, size, "%s/vyre-headers-XXXXXX", place && *place ? place : "/tmp");
  if (!mkdtemp(folder)) return CL_OUT_OF_RESOURCES;
  for (cl_uint i = 0; i < count; i++)
    if (!write_header(folder, names[i], headers[i])) {
      remove_folder(folder);
      return CL_OUT_OF_RESOURCES;
    }
  return CL_SUCCESS;
}

static cl_int compile(cl_program p, build_options *o, cl_uint count, const cl_program *headers,
                      const char **names) {
  char folder[512];
  if (!count) return preprocess(p, o, NULL);
  cl_int code = make_folder(folder, sizeof folder, count, headers, names);
  if (code != CL_SUCCESS) return code;
  code = preprocess(p, o, folder);
  remove_folder(folder);
  return code;
}

cl_int clCompileProgram(cl_program p, cl_uint count, const cl_device_id *devices,
                        const char *options, cl_uint header_count, const cl_program *headers,
                        const char **names, build_notify *notify, void *data) {
  cl_int code = check_build(p, count, devices, notify, data);
  if (code != CL_SUCCESS) return code;
  if (!p->source) return CL_INVALID_OPERATION;
  if (header_count ? !headers || !names : headers || names) return CL_INVALID_VALUE;
  for (cl_uint i = 0; i < header_count; i++)
    if (!object_is(headers[i], OBJECT_PROGRAM) || !headers[i]->source || !names[i])
      return CL_INVALID_VALUE;
  build_options o;
  code = build_options_read(options, false, &o);
  if (code == CL_INVALID_BUILD_OPTIONS) code = CL_INVALID_COMPILER_OPTIONS;
  if (code != CL_SUCCESS) return code;
  pthread_mutex_lock(&p->lock);
  code = begin_build(p, options);
  if (code == CL_SUCCESS) code = compile(p, &o, header_count, headers, names);
  if (code == CL_BUILD_PROGRAM_FAILURE) code = CL_COMPILE_PROGRAM_FAILURE;
  end_build(p, code, PROGRAM_OBJECT);
  pthread_mutex_unlock(&p->lock);
  build_options_free(&o);
  if (notify) notify(p, data);
  return code;
}

// ---- linking ------------------------------------------------------------------------------------

static cl_int check_inputs(cl_context context, cl_uint count, const cl_program *inputs) {
  if (!count || !inputs) return CL_INVALID_VALUE;
  uint32_t with_code = 0;
  for (cl_uint i = 0; i < count; i++) {
    if (!object_is(inputs[i], OBJECT_PROGRAM) || inputs[i]->context != context)
      return CL_INVALID_PROGRAM;
    bool is_linkable = inputs[i]->form == PROGRAM_OBJECT || inputs[i]->form == PROGRAM_LIBRARY;
    with_code += inputs[i]->text && is_linkable;
  }
  return with_code == count ? CL_SUCCESS : CL_INVALID_OPERATION;
}

cl_program clLinkProgram(cl_context context, cl_uint device_count, const cl_device_id *devices,
                         const char *options, cl_uint count, const cl_program *inputs,
                         build_notify *notify, void *data, cl_int *errcode) {
  if (!object_is(context, OBJECT_CONTEXT)) return icd_fail(errcode, CL_INVALID_CONTEXT);
  cl_int code = check_devices(context, device_count, devices);
  if (code == CL_SUCCESS && !notify && data) code = CL_INVALID_VALUE;
  if (code == CL_SUCCESS) code = check_inputs(context, count, inputs);
  if (code != CL_SUCCESS) return icd_fail(errcode, code);
  build_options o;
  code = build_options_read(options, true, &o);
  if (code != CL_SUCCESS) return icd_fail(errcode, code);
  cl_program made = program_make(context);
  if (!made) {
    build_options_free(&o);
    return icd_fail(errcode, CL_OUT_OF_HOST_MEMORY);
  }
  code = begin_build(made, options);
  if (code == CL_SUCCESS) code = program_link(made, count, inputs);
  if (code == CL_SUCCESS && !o.is_library) code = program_read(made);
  if (code == CL_BUILD_PROGRAM_FAILURE) code = CL_LINK_PROGRAM_FAILURE;
  end_build(made, code, o.is_library ? PROGRAM_LIBRARY : PROGRAM_EXECUTABLE);
  build_options_free(&o);
  icd_fail(errcode, code);
  if (notify) notify(made, data);
  return made; // also one that failed: it has the log
}
