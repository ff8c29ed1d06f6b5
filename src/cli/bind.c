// SPDX-License-Identifier: MIT
#include "cli/bind.h"

#include "base/error.h"
#include "base/strbuf.h"
#include "cli/array_file.h"
#include "cli/nearest.h"
#include "cli/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t max_elements = UINT32_MAX;  // len is u32
static const char printf_room[] = "zeros:262144"; // a MiB

// ---- names
// ----------------------------------------------------------------------------------------

static int find_param(const bindings *b, const char *name) {
  for (uint32_t i = 0; i < b->param_count; i++)
    if (!strcmp(vyre_program_param(b->program, i).name, name)) return (int)i;
  return -1;
}

static int find_buffer(const bindings *b, const char *name) {
  for (uint32_t i = 0; i < b->buffer_count; i++)
    if (!strcmp(b->buffers[i].info.name, name)) return (int)i;
  return -1;
}

static vyre_status unknown_name(const bindings *b, const char *name, bool params_too,
                                vyre_error *error) {
  nearest n = nearest_begin(name);
  strbuf all = {0};
  for (uint32_t i = 0; i < b->param_count && params_too; i++) {
    nearest_offer(&n, vyre_program_param(b->program, i).name);
    strbuf_printf(&all, "%s%s", all.size ? ", " : "", vyre_program_param(b->program, i).name);
  }
  for (uint32_t i = 0; i < b->buffer_count; i++) {
    if (b->buffers[i].info.is_transient) continue;
    nearest_offer(&n, b->buffers[i].info.name);
    strbuf_printf(&all, "%s%s", all.size ? ", " : "", b->buffers[i].info.name);
  }
  char *list = strbuf_take(&all, NULL);
  vyre_status status =
      error_set(error, VYRE_ERROR_BINDING, "program `%s` has no %s `%s`. Fix: %s%s%s%.300s",
                vyre_program_name(b->program), params_too ? "parameter or buffer" : "buffer", name,
                n.best ? "did you mean `" : "it has ", n.best ? n.best : "",
                n.best ? "`? It has " : "", list && *list ? list : "none");
  free(list);
  return status;
}

named_buffer *bind_find(bindings *b, const char *name, vyre_error *error) {
  int index = find_buffer(b, name);
  if (index >= 0 && !b->buffers[index].info.is_transient) return &b->buffers[index];
  if (index < 0)
    unknown_name(b, name, false, error);
  else
    error_set(error, VYRE_ERROR_BINDING,
              "buffer `%s` is transient and gone after the run. Fix: declare it as a buffer with "
              "access write",
              name);
  return NULL;
}

// ---- parameters
// -----------------------------------------------------------------------------------

static vyre_status bind_param_file(const char *path, vyre_param_info info, uint64_t *bits,
                                   vyre_error *error) {
  npy_array array;
  vyre_status status = array_read(path, info.type, &array, error);
  if (status != VYRE_OK) return status;
  if (array.type == info.type && array.count == 1)
    *bits = number_load(info.type, array.data, 0);
  else
    status = error_set(error, VYRE_ERROR_BINDING,
                       "`%s` holds %llu elements of %s, and `%s` is one %s. Fix: pass a literal, "
                       "such as `%s=2`",
                       path, (unsigned long long)array.count, vyre_type_name(array.type), info.name,
                       vyre_type_name(info.type), info.name);
  npy_free(&array);
  return status;
}

static vyre_status bind_param(bindings *b, uint32_t index, const char *text, vyre_error *error) {
  vyre_param_info info = vyre_program_param(b->program, index);
  spec s;
  vyre_status status = spec_parse(text, &s, error);
  if (status != VYRE_OK) return status;
  if (b->param_given[index])
    return error_set(error, VYRE_ERROR_BINDING, "`%s` is given twice. Fix: give it once",
                     info.name);
  b->param_given[index] = true;
  b->params[index].type = info.type;
  uint64_t *bits = &b->params[index].bits;
  if (s.kind == SPEC_FILE) return bind_param_file(s.text, info, bits, error);
  if (spec_is_generator(&s))
    return error_set(error, VYRE_ERROR_BINDING,
                     "`%s` is a parameter of type %s, not a buffer. Fix: pass a literal, such as "
                     "`%s=2`",
                     info.name, vyre_type_name(info.type), info.name);
  return number_read(text, info.type, bits, error);
}

// An OpenCL kernel may have a `grid_x` of its own; then the grid's has underscores behind its name,
// and comes last.
static int find_grid_param(const bindings *b, const char *name) {
  size_t size = strlen(name);
  for (int i = (int)b->param_count - 1; i >= 0; i--) {
    vyre_param_info info = vyre_program_param(b->program, (uint32_t)i);
    if (info.type == VYRE_U32 && !strncmp(info.name, name, size) &&
        strspn(info.name + size, "_") == strlen(info.name + size))
      return i;
  }
  return -1;
}

static vyre_status bind_grid(bindings *b, const uint64_t *grid, uint32_t count, vyre_error *error) {
  static const char *const names[3] = {"grid_x", "grid_y", "grid_z"};
  for (uint32_t k = 0; k < 3 && count; k++) {
    int index = find_grid_param(b, names[k]);
    if (index < 0 && k < count)
      return error_set(error, VYRE_ERROR_BINDING,
                       "program `%s` has no u32 parameter `%s` for --grid to set. Fix: its grid "
                       "comes from its parameters and buffers; `vyre info` shows them",
                       vyre_program_name(b->program), names[k]);
    if (index < 0) continue;
    char text[NUMBER_TEXT];
    snprintf(text, sizeof text, "%llu", (unsigned long long)(k < count ? grid[k] : 1));
    vyre_status status = bind_param(b, (uint32_t)index, text, error);
    if (status != VYRE_OK) return status;
  }
  return VYRE_OK;
}

static bool is_extent(const char *word) {
  return !strcmp(word, ".width") || !strcmp(word, ".height") || !strcmp(word, ".depth") ||
         !strcmp(word, ".layers");
}

// Which of the `count` extents of an image a parameter is, by their names; -1: of none.
static int find_extent(const bindings *b, const char *buffer, const char *param, uint32_t *count) {
  size_t size = strlen(buffer);
  int found = -1;
  *count = 0;
  for (uint32_t i = 0; i < b->param_count; i++) {
    vyre_param_info info = vyre_program_param(b->program, i);
    if (info.type != VYRE_U32 || strncmp(info.name, buffer, size) || !is_extent(info.name + size))
      continue;
    if (!strcmp(info.name, param)) found = (int)*count;
    ++*count;
  }
  return found;
}

// The extents of an image, width first, from the shape of its buffer, whose axes are the other way
// round and may have one more for the channels.
static vyre_status bind_extents(bindings *b, vyre_error *error) {
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < b->param_count && status == VYRE_OK; i++)
    for (uint32_t k = 0; k < b->buffer_count && !b->param_given[i]; k++) {
      const named_buffer *buf = &b->buffers[k];
      uint32_t count;
      int at = find_extent(b, buf->info.name, vyre_program_param(b->program, i).name, &count);
      if (at < 0 || (buf->rank != count && buf->rank != count + 1)) continue;
      char text[NUMBER_TEXT];
      snprintf(text, sizeof text, "%llu", (unsigned long long)buf->shape[count - 1 - (uint32_t)at]);
      status = bind_param(b, i, text, error);
    }
  return status;
}

// The axes of an image, from the parameters that have its extents; 0 when it is none.
static uint32_t image_shape(const bindings *b, const named_buffer *buf,
                            uint64_t shape[SPEC_MOST_AXES]) {
  const char *name = buf->info.name;
  uint32_t rank = 0;
  uint64_t pixels = 1;
  bool is_image = false;
  for (uint32_t i = 0; i < b->param_count && rank < SPEC_MOST_AXES; i++) {
    uint32_t count;
    int at = find_extent(b, name, vyre_program_param(b->program, i).name, &count);
    if (at < 0 || count >= SPEC_MOST_AXES) continue;
    shape[count - 1 - (uint32_t)at] = b->params[i].bits;
    is_image = !__builtin_mul_overflow(pixels, b->params[i].bits, &pixels) && (is_image || !rank);
    rank = count;
  }
  is_image = is_image && pixels && buf->count % pixels == 0;
  if (!is_image || buf->count == pixels) return is_image ? rank : 0;
  shape[rank] = buf->count / pixels;
  return rank + 1;
}

// How many of the first axes of `given` hold as many elements as `buf` has; 0: none do.
static uint32_t shared_axes(const named_buffer *given, const named_buffer *buf) {
  uint64_t count = 1;
  for (uint32_t k = 0; k < given->rank; k++) {
    count *= given->shape[k]; // the product of all is the count of a buffer
    if (k && count == buf->count)
      return k + 1 < given->rank && given->count == count ? given->rank : k + 1;
  }
  return 0;
}

// The shape of the inputs that have as many elements, or rows and columns; 0 when there is none, or
// when they do not agree.
static uint32_t input_shape(const bindings *b, const named_buffer *buf,
                            uint64_t shape[SPEC_MOST_AXES]) {
  uint32_t rank = 0;
  for (uint32_t i = 0; i < b->buffer_count; i++) {
    const named_buffer *given = &b->buffers[i];
    uint32_t axes = given == buf || given->rank < 2 ? 0 : shared_axes(given, buf);
    if (!axes) continue;
    if (rank && (rank != axes || memcmp(shape, given->shape, rank * sizeof *shape))) return 0;
    rank = axes;
    memcpy(shape, given->shape, rank * sizeof *shape);
  }
  return rank;
}

uint32_t bind_shape(const bindings *b, const named_buffer *buf, uint64_t shape[SPEC_MOST_AXES]) {
  uint32_t rank = image_shape(b, buf, shape);
  if (!rank && buf->rank) {
    memcpy(shape, buf->shape, sizeof buf->shape);
    rank = buf->rank;
  }
  if (!rank) rank = input_shape(b, buf, shape);
  if (rank) return rank;
  shape[0] = buf->count;
  return 1;
}

static vyre_status check_params(const bindings *b, vyre_error *error) {
  for (uint32_t i = 0; i < b->param_count; i++) {
    vyre_param_info info = vyre_program_param(b->program, i);
    bool is_float = info.type == VYRE_F16 || info.type == VYRE_F32 || info.type == VYRE_F64;
    if (!b->param_given[i] && !strcmp(info.name, "grid_x"))
      return error_set(error, VYRE_ERROR_BINDING,
                       "it is not said how many invocations there are (parameter `grid_x`). Fix: "
                       "add an option such as `--grid 1024`");
    if (!b->param_given[i])
      return error_set(error, VYRE_ERROR_BINDING,
                       "parameter `%s` (%s) is not given. Fix: add a word such as `%s=%s`",
                       info.name, vyre_type_name(info.type), info.name,
                       is_float                 ? "2.5"
                       : info.type == VYRE_BOOL ? "true"
                                                : "42");
  }
  return VYRE_OK;
}

// ---- buffers ------------------------------------------------------------------------------------

static vyre_status too_long(const named_buffer *buf, vyre_error *error) {
  return error_set(error, VYRE_ERROR_LIMIT,
                   "buffer `%s` would have %llu elements, above the limit of %llu. Fix: use a "
                   "smaller one",
                   buf->info.name, (unsigned long long)buf->count,
                   (unsigned long long)max_elements);
}

static vyre_status bind_buffer_file(const bindings *b, named_buffer *buf, vyre_error *error) {
  npy_array array;
  buf->is_later = b->is_later && npy_read_header(buf->spec.text, &array, &buf->file_elements);
  vyre_status status = VYRE_OK;
  if (!buf->is_later) status = array_read(buf->spec.text, buf->info.type, &array, error);
  if (status != VYRE_OK) return status;
  vyre_type held = array.type;
  if (held != buf->info.type) {
    npy_free(&array);
    return error_set(error, VYRE_ERROR_BINDING,
                     "buffer `%s` has elements of %s, and `%s` holds %s. Fix: convert the file; "
                     "nothing is converted implicitly",
                     buf->info.name, vyre_type_name(buf->info.type), buf->spec.text,
                     vyre_type_name(held));
  }
  buf->count = array.count;
  buf->rank = array.rank <= SPEC_MOST_AXES ? array.rank : 0;
  memcpy(buf->shape, array.shape, sizeof buf->shape);
  buf->data = array.data;
  buf->storage = array.storage;
  if (buf->is_later) buf->file = array;
  if (buf->is_later && buf->count > max_elements) return too_long(buf, error);
  return VYRE_OK;
}

static vyre_status allocate(named_buffer *buf, vyre_error *error) {
  size_t size = vyre_type_size(buf->info.type);
  // Memory that the machine does not have may well be handed out; touching it would end the
  // process.
  uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
  if (buf->count * size <= machine) buf->data = buf->storage = calloc(buf->count + 1, size);
  if (buf->data) return VYRE_OK;
  return error_set(error, VYRE_ERROR_MEMORY,
                   "there is no memory for the %llu bytes of buffer `%s`. Fix: use a smaller one",
                   (unsigned long long)buf->count * size, buf->info.name);
}

// Whether what was to be numbers is the name of a file.
static bool is_path(const char *text) {
  return strcmp(text, "-") && (array_is_named(text) || access(text, F_OK) == 0);
}

static vyre_status missing_at(const char *name, const char *path, vyre_error *error) {
  return error_set(error, VYRE_ERROR_BINDING,
                   "`%.200s` is a file, and a file is named with `@`. Fix: did you mean "
                   "`%s=@%.200s`?",
                   path, name, path);
}

static vyre_status bind_buffer(bindings *b, uint32_t index, const char *text, vyre_error *error) {
  named_buffer *buf = &b->buffers[index];
  vyre_status status = spec_parse(text, &buf->spec, error);
  if (status != VYRE_OK) return status;
  if (buf->is_given)
    return error_set(error, VYRE_ERROR_BINDING, "`%s` is given twice. Fix: give it once",
                     buf->info.name);
  buf->is_given = true;
  if (buf->info.is_transient)
    return error_set(error, VYRE_ERROR_BINDING,
                     "buffer `%s` is transient: it is allocated for the run. Fix: leave it out",
                     buf->info.name);
  if (buf->spec.kind == SPEC_FILE) return bind_buffer_file(b, buf, error);
  if (buf->spec.kind == SPEC_LOCAL)
    return error_set(
        error, VYRE_ERROR_BINDING,
        "`local:BYTES` is for workgroup-shared kernel arguments, and `%s` is a buffer. "
        "Fix: use a generator such as `%s=zeros:1024`",
        buf->info.name, buf->info.name);
  if (buf->spec.kind == SPEC_LITERAL) {
    if (is_path(text)) return missing_at(buf->info.name, text, error);
    buf->spec.count = spec_list_count(&buf->spec);
  }
  if (buf->spec.kind != SPEC_LITERAL && !buf->spec.has_count) {
    if (buf->info.has_length) return VYRE_OK;
    return error_set(
        error, VYRE_ERROR_BINDING,
        "buffer `%s` declares no length. Fix: say how many elements, as in `%s=%s:1024`",
        buf->info.name, buf->info.name, text);
  }
  buf->count = buf->spec.count;
  buf->rank = buf->spec.rank;
  memcpy(buf->shape, buf->spec.shape, sizeof buf->shape);
  return buf->count <= max_elements ? VYRE_OK : too_long(buf, error);
}

named_buffer *bind_printf(bindings *b) {
  int index = find_buffer(b, "printf");
  if (index < 0 || b->buffers[index].info.type != VYRE_U32) return NULL;
  return b->buffers[index].info.access == VYRE_READWRITE ? &b->buffers[index] : NULL;
}

static vyre_status missing_buffer(const named_buffer *buf, vyre_error *error) {
  const char *name = buf->info.name, *type = vyre_type_name(buf->info.type);
  if (buf->info.access == VYRE_WRITE)
    return error_set(error, VYRE_ERROR_BINDING,
                     "buffer `%s` (%s, write) is not given and declares no length. Fix: add a word "
                     "such as `%s=zeros:1024`",
                     name, type, name);
  return error_set(error, VYRE_ERROR_BINDING,
                   "buffer `%s` (%s, %s) is not given. Fix: add a word such as `%s=@%s.npy` or "
                   "`%s=rand:1024`",
                   name, type, buf->info.access == VYRE_READ ? "read" : "readwrite", name, name,
                   name);
}

static bool is_automatic(const named_buffer *buf) {
  return buf->info.has_length && (buf->is_given || buf->info.access == VYRE_WRITE) &&
         !(buf->is_given && (buf->spec.has_count || buf->spec.kind <= SPEC_FILE));
}

// Lengths that the program declares, for the buffers that take them.
static vyre_status size_automatic(bindings *b, vyre_error *error) {
  uint64_t *lengths = calloc(b->buffer_count + 1, sizeof *lengths);
  if (!lengths) return error_out_of_memory(error);
  for (uint32_t i = 0; i < b->buffer_count; i++) lengths[i] = b->buffers[i].count;
  vyre_status status = vyre_program_extents(b->program, b->params, lengths, NULL, error);
  for (uint32_t i = 0; i < b->buffer_count && status == VYRE_OK; i++)
    if (is_automatic(&b->buffers[i])) b->buffers[i].count = lengths[i];
  free(lengths);
  return status;
}

static vyre_status fill_buffers(bindings *b, vyre_error *error) {
  for (uint32_t i = 0; i < b->buffer_count; i++) {
    named_buffer *buf = &b->buffers[i];
    if (buf->info.is_transient) continue;
    vyre_status status = buf->data ? VYRE_OK : allocate(buf, error);
    bool fill = buf->is_given && buf->spec.kind != SPEC_FILE && buf->spec.kind != SPEC_ZEROS;
    if (fill && b->is_later && spec_is_generator(&buf->spec)) buf->is_later = true, fill = false;
    if (status == VYRE_OK && fill)
      status = spec_fill(&buf->spec, buf->info.type, buf->count, buf->data, error);
    if (status != VYRE_OK) return status;
    b->spans[b->span_count++] = (vyre_span){buf->data, buf->count * vyre_type_size(buf->info.type)};
  }
  return VYRE_OK;
}

// ---- all
// ------------------------------------------------------------------------------------------

static vyre_status begin(bindings *b, const vyre_program *program, bool is_later,
                         vyre_error *error) {
  *b = (bindings){.program = program,
                  .is_later = is_later,
                  .param_count = vyre_program_param_count(program),
                  .buffer_count = vyre_program_buffer_count(program)};
  b->params = calloc(b->param_count + 1, sizeof *b->params);
  b->param_given = calloc(b->param_count + 1, sizeof *b->param_given);
  b->buffers = calloc(b->buffer_count + 1, sizeof *b->buffers);
  b->spans = calloc(b->buffer_count + 1, sizeof *b->spans);
  if (!b->params || !b->param_given || !b->buffers || !b->spans) return error_out_of_memory(error);
  for (uint32_t i = 0; i < b->buffer_count; i++)
    b->buffers[i].info = vyre_program_buffer(program, i);
  return VYRE_OK;
}

static vyre_status bind_word(bindings *b, char *word, vyre_error *error) {
  char *equals = strchr(word, '=');
  if (!equals || equals == word)
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "`%s` is no NAME=SPEC. Fix: name the parameter or buffer, as in `a=2.5` or "
                     "`x=rand:1024`",
                     word);
  *equals = 0;
  int param = find_param(b, word), buf = find_buffer(b, word);
  vyre_status status = param >= 0 ? bind_param(b, (uint32_t)param, equals + 1, error)
                       : buf >= 0 ? bind_buffer(b, (uint32_t)buf, equals + 1, error)
                                  : unknown_name(b, word, true, error);
  *equals = '=';
  return status;
}

static vyre_status bind_all(const vyre_program *program, char **words, size_t word_count,
                            const uint64_t *grid, uint32_t grid_count, bool is_later, bindings *b,
                            vyre_error *error) {
  vyre_status status = begin(b, program, is_later, error);
  for (size_t i = 0; i < word_count && status == VYRE_OK; i++)
    status = bind_word(b, words[i], error);
  if (status == VYRE_OK) status = bind_grid(b, grid, grid_count, error);
  if (status == VYRE_OK) status = bind_extents(b, error);
  if (status == VYRE_OK) status = check_params(b, error);
  const named_buffer *print = status == VYRE_OK ? bind_printf(b) : NULL;
  if (print && !print->is_given)
    status = bind_buffer(b, (uint32_t)(print - b->buffers), printf_room, error);
  for (uint32_t i = 0; i < b->buffer_count && status == VYRE_OK; i++) {
    const named_buffer *buf = &b->buffers[i];
    if (!buf->is_given && !buf->info.is_transient && !is_automatic(buf))
      status = missing_buffer(buf, error);
  }
  if (status == VYRE_OK) status = size_automatic(b, error);
  if (status == VYRE_OK) status = fill_buffers(b, error);
  if (status != VYRE_OK) bind_free(b);
  return status;
}

vyre_status bind_words(const vyre_program *program, char **words, size_t word_count,
                       const uint64_t *grid, uint32_t grid_count, bindings *b, vyre_error *error) {
  return bind_all(program, words, word_count, grid, grid_count, false, b, error);
}

vyre_status bind_words_later(const vyre_program *program, char **words, size_t word_count,
                             const uint64_t *grid, uint32_t grid_count, bindings *b,
                             vyre_error *error) {
  return bind_all(program, words, word_count, grid, grid_count, true, b, error);
}

vyre_status bind_fill(const named_buffer *buf, uint64_t first, uint64_t count, void *to,
                      vyre_error *error) {
  size_t width = vyre_type_size(buf->info.type);
  if (buf->is_later && buf->spec.kind == SPEC_FILE)
    return npy_read_part(buf->spec.text, &buf->file, buf->file_elements, first, count, to, error);
  if (buf->is_later) return spec_fill_part(&buf->spec, buf->info.type, first, count, to, error);
  if (count) memcpy(to, (char *)buf->data + first * width, count * width);
  return VYRE_OK;
}

void bind_free(bindings *b) {
  for (uint32_t i = 0; i < b->buffer_count && b->buffers; i++) free(b->buffers[i].storage);
  free(b->params);
  free(b->param_given);
  free(b->buffers);
  free(b->spans);
  *b = (bindings){0};
}
