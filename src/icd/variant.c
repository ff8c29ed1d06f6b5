// SPDX-License-Identifier: MIT
#include "icd/variant.h"

#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "icd/image.h"
#include "icd/info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- what programs are made for -----------------------------------------------------------------

typedef struct shape { // of the frontend's options, from the arguments of a kernel
  vec(vyre_source_local) locals;
  vec(vyre_source_format) formats;
  bool failed;
} shape;

static void shape_free(shape *s) {
  vec_free(&s->locals);
  vec_free(&s->formats);
}

// Local arguments that are not set have so many elements.
static void shape_read(cl_kernel k, shape *s, uint64_t unset_elements) {
  for (uint32_t i = 0; i < k->arg_count; i++) {
    const vyre_source_arg *about = &k->entry->about->args[i];
    const kernel_arg *a = &k->args[i];
    if (about->space == VYRE_SPACE_LOCAL) {
      vyre_source_local local = {about->name,
                                 a->is_set ? a->local_bytes : unset_elements * about->size_bytes};
      if (!vec_push(&s->locals, local)) s->failed = true;
    }
    const char *format = about->space == VYRE_SPACE_IMAGE && a->memory     ? image_text(a->memory)
                         : about->space == VYRE_SPACE_SAMPLER && a->is_set ? a->sampler
                                                                           : NULL;
    vyre_source_format made = {about->name, format};
    if (format && !vec_push(&s->formats, made)) s->failed = true;
  }
}

// The same as text, for the key; kept until an argument that matters is set again.
static const char *shape_text(cl_kernel k) {
  if (!k->is_shape_old) return k->shape;
  shape s = {0};
  strbuf text = {0};
  shape_read(k, &s, 0);
  for (size_t i = 0; i < s.locals.count; i++)
    strbuf_printf(&text, "%s=%llu;", s.locals.at[i].name,
                  (unsigned long long)s.locals.at[i].size_bytes);
  for (size_t i = 0; i < s.formats.count; i++)
    strbuf_printf(&text, "%s=%s;", s.formats.at[i].name, s.formats.at[i].format);
  free(k->shape);
  k->shape = strbuf_take(&text, NULL);
  if (s.failed) {
    free(k->shape);
    k->shape = NULL;
  }
  shape_free(&s);
  k->is_shape_old = !k->shape;
  k->recent = NULL;
  return k->shape;
}

// ---- where its arguments come from --------------------------------------------------------------

static uint32_t find_arg(cl_kernel k, const char *name) {
  uint32_t i = 0;
  while (i < k->arg_count && strcmp(k->entry->about->args[i].name, name)) i++;
  return i;
}

static vyre_status map_buffers(cl_kernel k, variant *v, const vyre_program *p, vyre_error *error) {
  uint32_t count = vyre_program_buffer_count(p);
  v->buffers = calloc(count + 1, sizeof *v->buffers);
  if (!v->buffers) return error_out_of_memory(error);
  for (uint32_t i = 0; i < count; i++) {
    vyre_buffer_info b = vyre_program_buffer(p, i);
    if (b.is_transient) continue;
    variant_buffer *made = &v->buffers[v->buffer_count++];
    made->element_bytes = (uint32_t)vyre_type_size(b.type);
    made->is_written = b.access & VYRE_WRITE;
    made->arg = find_arg(k, b.name);
    if (made->arg < k->arg_count) continue;
    made->room = b.has_fixed_length ? ROOM_GLOBAL : ROOM_PRINTF;
    if (made->room == ROOM_PRINTF) continue;
    made->global_bytes = (size_t)b.fixed_length * made->element_bytes;
    made->global = program_global_data(k->program, b.name, made->global_bytes);
    if (!made->global) return error_out_of_memory(error);
  }
  return VYRE_OK;
}

static void add_param(variant *v, const vyre_program *p, variant_param made) {
  if (v->param_count < vyre_program_param_count(p))
    made.type = vyre_program_param(p, v->param_count).type;
  v->params[v->param_count++] = made;
}

static void map_arg(cl_kernel k, variant *v, const vyre_program *p, uint32_t arg) {
  const vyre_source_arg *about = &k->entry->about->args[arg];
  for (uint32_t part = 0; part < about->part_count; part++) {
    if (about->space == VYRE_SPACE_VALUE)
      add_param(v, p,
                (variant_param){.from = FROM_VALUE,
                                .at = k->args[arg].value_at + (uint32_t)about->part_offsets[part]});
    else
      add_param(v, p, (variant_param){.from = FROM_EXTENT, .at = arg, .axis = part});
  }
}

static vyre_status map_params(cl_kernel k, variant *v, const vyre_program *p, vyre_error *error) {
  uint32_t count = 2 * v->rank;
  for (uint32_t i = 0; i < k->arg_count; i++) count += k->entry->about->args[i].part_count;
  v->params = calloc(count + 1, sizeof *v->params);
  if (!v->params) return error_out_of_memory(error);
  for (uint32_t i = 0; i < k->arg_count; i++) map_arg(k, v, p, i);
  for (uint32_t i = 0; i < v->rank; i++)
    add_param(v, p, (variant_param){.from = FROM_GRID, .axis = i});
  for (uint32_t i = 0; i < v->rank && v->has_offset; i++)
    add_param(v, p, (variant_param){.from = FROM_OFFSET, .axis = i});
  if (v->param_count == vyre_program_param_count(p)) return VYRE_OK;
  return error_set(error, VYRE_ERROR_BINDING,
                   "the program of `%s` has %u parameters, and its arguments make %u. Fix: report "
                   "this as a bug of the driver",
                   k->entry->about->name, vyre_program_param_count(p), v->param_count);
}

// ---- making -------------------------------------------------------------------------------------

static vyre_status make_program(cl_kernel k, const variant_launch *launch, uint64_t unset_elements,
                                vyre_program **out, vyre_error *error) {
  shape s = {0};
  shape_read(k, &s, unset_elements);
  vyre_source_options options = {.entry = k->entry->about->name,
                                 .build_options = k->program->flags,
                                 .rank = launch->rank,
                                 .locals = s.locals.at,
                                 .local_count = (uint32_t)s.locals.count,
                                 .formats = s.formats.at,
                                 .format_count = (uint32_t)s.formats.count,
                                 .aliases = launch->aliases,
                                 .alias_count = launch->alias_count,
                                 .has_offset_params = launch->has_offset};
  memcpy(options.workgroup, launch->workgroup, sizeof options.workgroup);
  vyre_status status = s.failed
                           ? error_out_of_memory(error)
                           : vyre_program_from("opencl", k->program->text, k->program->text_size,
                                               "program.cl", &options, out, error);
  shape_free(&s);
  return status;
}

static vyre_status compile(variant *v, vyre_program *program, vyre_error *error) {
  if (!device_is_routed(v->device)) {
    vyre_compile_options options = {.device = v->device->about.adapter};
    if (!strcmp(v->device->backend, "cpu")) options.device = NULL;
    return vyre_compile(program, v->device->backend, &options, &v->executable, error);
  }
  vyre_runtime *runtime = device_runtime(error);
  return runtime ? vyre_runtime_load(runtime, program, &v->routed, error) : VYRE_ERROR_BACKEND;
}

static void variant_free(variant *v) {
  vyre_executable_release(v->executable);
  vyre_kernel_free(v->routed);
  free(v->params);
  free(v->buffers);
  free(v->key);
  free(v);
}

void variant_free_all(variant *first) {
  for (variant *next; first; first = next) {
    next = first->next;
    variant_free(first);
  }
}

static void look_at_regions(variant *v, const vyre_program *program) {
  v->is_elastic = true;
  for (uint32_t i = 0; i < vyre_program_region_count(program); i++) {
    vyre_region_info region = vyre_program_region(program, i);
    v->is_elastic &= region.is_elastic;
    if (region.shared_bytes > v->local_bytes) v->local_bytes = region.shared_bytes;
  }
}

static variant *make(cl_kernel k, const variant_launch *launch, const char *key,
                     vyre_error *error) {
  vyre_program *program = NULL;
  if (make_program(k, launch, 0, &program, error) != VYRE_OK) return NULL;
  variant *v = calloc(1, sizeof *v);
  if (v) {
    v->device = launch->device;
    v->rank = launch->rank;
    v->has_offset = launch->has_offset;
    memcpy(v->workgroup, launch->workgroup, sizeof v->workgroup);
    v->key = strdup(key);
    look_at_regions(v, program);
  }
  vyre_status status = v && v->key ? VYRE_OK : error_out_of_memory(error);
  if (status == VYRE_OK) status = map_buffers(k, v, program, error);
  if (status == VYRE_OK) status = map_params(k, v, program, error);
  if (status == VYRE_OK) status = compile(v, program, error);
  vyre_program_release(program);
  if (status == VYRE_OK) return v;
  if (v) variant_free(v);
  return NULL;
}

bool variant_fits(const variant *v, const variant_launch *launch) {
  if (v->device != launch->device || v->rank != launch->rank || v->has_offset != launch->has_offset)
    return false;
  return v->is_elastic || !memcmp(v->workgroup, launch->workgroup, sizeof v->workgroup);
}

variant *variant_find(cl_kernel k, const variant_launch *launch, vyre_error *error) {
  const char *text = shape_text(k);
  strbuf all = {0};
  if (!text) {
    error_out_of_memory(error);
    return NULL;
  }
  strbuf_printf(&all, "%s%s", text, launch->alias_text ? launch->alias_text : "");
  char *key = strbuf_take(&all, NULL);
  if (!key) {
    error_out_of_memory(error);
    return NULL;
  }
  pthread_mutex_lock(&k->entry->lock);
  variant *v = k->entry->variants;
  while (v && (!variant_fits(v, launch) || strcmp(v->key, key))) v = v->next;
  if (!v && (v = make(k, launch, key, error))) {
    v->next = k->entry->variants;
    k->entry->variants = v;
  }
  pthread_mutex_unlock(&k->entry->lock);
  free(key);
  return v;
}

// ---- questions ----------------------------------------------------------------------------------

static uint64_t local_bytes_of(cl_kernel k, uint64_t unset_elements) {
  variant_launch launch = {.rank = 1};
  vyre_program *program = NULL;
  if (make_program(k, &launch, unset_elements, &program, NULL) != VYRE_OK) return 0;
  variant v = {0};
  look_at_regions(&v, program);
  vyre_program_release(program);
  return v.local_bytes;
}

// Arguments that are not set count as nothing; a program has at least an element of each, so that
// what they take is what twice as many take more.
uint64_t variant_local_bytes(cl_kernel k) {
  uint64_t once = local_bytes_of(k, 1);
  return k->unset && once ? 2 * once - local_bytes_of(k, 2) : once;
}

cl_int variant_attributes(cl_kernel k, size_t room, void *value, size_t *size) {
  strbuf text = {0};
  info i = {0};
  const uint32_t *stated = k->entry->about->workgroup, *hint = k->entry->about->hint;
  if (stated[0])
    strbuf_printf(&text, "reqd_work_group_size(%u,%u,%u)", stated[0], stated[1], stated[2]);
  if (hint[0])
    strbuf_printf(&text, "%swork_group_size_hint(%u,%u,%u)", text.size ? " " : "", hint[0], hint[1],
                  hint[2]);
  if (k->entry->about->vector)
    strbuf_printf(&text, "%svec_type_hint(%s)", text.size ? " " : "", k->entry->about->vector);
  char *all = strbuf_take(&text, NULL);
  if (!all) return CL_OUT_OF_HOST_MEMORY;
  info_text(&i, all);
  cl_int code = info_answer(&i, room, value, size);
  free(all);
  return code;
}
