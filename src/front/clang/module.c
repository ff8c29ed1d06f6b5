// SPDX-License-Identifier: MIT
//
// The module's table: reads a source, then makes a program or lists its kernels.
#include "front/clang/lower.h"

#include "base/error.h"
#include "base/strbuf.h"
#include "front/clang/guard.h"
#include "front/clang/parse.h"
#include "front/clang/source.h"
#include "front/opencl.h"

#include <stdlib.h>
#include <string.h>

typedef struct request {
  const vyre_source_options *options; // for a program
  vyre_program **program;
  front_visit *visit; // for all programs
  void *data;
  vyre_source_entry **kernels; // for a list
  uint32_t *kernel_count;
  char **text; // for the preprocessed source
  size_t *text_size;
} request;

static function *find_kernel(unit *u, const char *name) {
  function *found = NULL;
  strbuf names = {0};
  for (uint32_t i = 0; i < u->ast->function_count; i++) {
    function *f = u->ast->functions[i];
    if (!f->is_kernel) continue;
    if (name && !strcmp(f->name, name)) found = f;
    if (!name && !names.size)
      found = f;
    else if (!name)
      found = NULL;
    strbuf_printf(&names, "%s%s", names.size ? ", " : "", f->name);
  }
  char *list = strbuf_take(&names, NULL);
  const char *kept = list ? unit_copy(u, list, strlen(list)) : "";
  free(list);
  if (found) return found;
  if (!*kept)
    unit_fail(u, VYRE_ERROR_BINDING, NO_PLACE,
              "the source has no kernel. Fix: mark a function with `kernel`");
  if (name)
    unit_fail(u, VYRE_ERROR_BINDING, NO_PLACE,
              "the source has no kernel `%s`. Fix: name one of these: %.300s", name, kept);
  unit_fail(u, VYRE_ERROR_BINDING, NO_PLACE,
            "the source has several kernels. Fix: name one of these, as in FILE:KERNEL: %.300s",
            kept);
}

// ---- the list -----------------------------------------------------------------------------------

// The list is one block of memory: kernels, arguments, offsets of parts, strings. The first pass
// counts.
typedef struct listing {
  unit *u;
  vyre_source_entry *kernels; // NULL while counting
  vyre_source_arg *args;
  uint64_t *parts;
  char *strings;
  size_t kernel_count, arg_count, part_count, string_bytes;
} listing;

static const char *list_string(listing *s, const char *text) {
  size_t size = strlen(text) + 1;
  char *at = s->kernels ? memcpy(s->strings + s->string_bytes, text, size) : NULL;
  s->string_bytes += size;
  return at;
}

static vyre_source_space list_space(const ctype *type) {
  if (type->kind == T_OTHER) return VYRE_SPACE_OTHER;
  if (type->kind == T_IMAGE) return VYRE_SPACE_IMAGE;
  if (type->is_sampler) return VYRE_SPACE_SAMPLER;
  if (type->kind != T_POINTER) return VYRE_SPACE_VALUE;
  return type->space == SPACE_GLOBAL     ? VYRE_SPACE_GLOBAL
         : type->space == SPACE_CONSTANT ? VYRE_SPACE_CONSTANT
         : type->space == SPACE_LOCAL    ? VYRE_SPACE_LOCAL
                                         : VYRE_SPACE_OTHER;
}

// As OpenCL C writes it: "float4", "uint", "struct particle".
static const char *plain_type(unit *u, const ctype *type) {
  static const char *const names[VYRE_TYPE_COUNT] = {
      [VYRE_BOOL] = "bool",  [VYRE_I8] = "char",   [VYRE_U8] = "uchar",   [VYRE_I16] = "short",
      [VYRE_U16] = "ushort", [VYRE_I32] = "int",   [VYRE_U32] = "uint",   [VYRE_I64] = "long",
      [VYRE_U64] = "ulong",  [VYRE_F32] = "float", [VYRE_F64] = "double", [VYRE_F16] = "half"};
  const char *name = type_is_arithmetic(type) ? names[type->scalar] : NULL;
  if (type->is_sampler) return type->spelling;
  if (type->kind == T_SCALAR) return name;
  if (type->kind == T_VECTOR) return unit_printf(u, "%s%u", name, type->count);
  const char *text = type->spelling;
  static const char *const words[] = {"__global ",    "__constant ",   "__local ",
                                      "__private ",   "const ",        "volatile ",
                                      "__read_only ", "__write_only ", "__read_write "};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (!strncmp(text, words[i], strlen(words[i]))) {
      text += strlen(words[i]);
      i = (size_t)-1; // from the start again
    }
  return text;
}

// The parameters that the program has for an argument, as declare_interface makes them.
static void list_parts(listing *s, const decl *d, vyre_source_arg *arg) {
  if (arg->space == VYRE_SPACE_IMAGE)
    arg->part_count = d->type->axes + (d->type->is_layered ? 1 : 0);
  if (arg->space != VYRE_SPACE_VALUE) return;
  const leaf *leaves = type_leaves(s->u, d->type, d->offset);
  arg->part_count = d->type->leaf_count;
  if (s->kernels) arg->part_offsets = s->parts + s->part_count;
  for (uint32_t k = 0; k < arg->part_count && s->kernels; k++)
    s->parts[s->part_count + k] = leaves[k].offset;
  s->part_count += arg->part_count;
}

static const char *declared_type(unit *u, const function *f, uint32_t i) {
  return unit_string(
      u, clang_getTypeSpelling(clang_getCursorType(clang_Cursor_getArgument(f->cursor, i))));
}

static void list_arg(listing *s, const function *f, uint32_t i) {
  const decl *d = f->params[i];
  const ctype *of = d->type->kind == T_POINTER ? d->type->element : d->type;
  vyre_source_arg arg = {.name = list_string(s, ast_param_name(s->u, f, i)),
                         .type = list_string(s, plain_type(s->u, of)),
                         .space = list_space(d->type),
                         .size_bytes = of->size,
                         .is_const = d->type->kind == T_POINTER && d->type->is_const,
                         .declared = list_string(s, declared_type(s->u, f, i))};
  list_parts(s, d, &arg);
  if (s->kernels) s->args[s->arg_count] = arg;
  s->arg_count++;
}

static void list_kernels(listing *s) {
  s->kernel_count = s->arg_count = s->part_count = s->string_bytes = 0;
  for (uint32_t i = 0; i < s->u->ast->function_count; i++) {
    function *f = s->u->ast->functions[i];
    if (!f->is_kernel) continue;
    vyre_source_entry k = {.name = list_string(s, f->name)};
    k.line = source_find(s->u, f->offset).line;
    memcpy(k.workgroup, f->workgroup, sizeof k.workgroup);
    memcpy(k.hint, f->hint, sizeof k.hint);
    if (f->vector) k.vector = list_string(s, f->vector);
    k.args = s->args ? s->args + s->arg_count : NULL;
    ast_params(s->u, f);
    k.arg_count = f->param_count;
    for (uint32_t a = 0; a < k.arg_count; a++) list_arg(s, f, a);
    if (s->kernels) s->kernels[s->kernel_count] = k;
    s->kernel_count++;
  }
}

static void make_list(unit *u, const request *r) {
  listing s = {.u = u};
  list_kernels(&s);
  size_t kernel_bytes = s.kernel_count * sizeof *s.kernels;
  size_t arg_bytes = s.arg_count * sizeof *s.args;
  size_t part_bytes = s.part_count * sizeof *s.parts;
  char *block = calloc(1, kernel_bytes + arg_bytes + part_bytes + s.string_bytes + 1);
  if (!block) unit_fail_memory(u);
  *r->kernels = s.kernels = (vyre_source_entry *)(void *)block;
  s.args = (vyre_source_arg *)(void *)(block + kernel_bytes);
  s.parts = (uint64_t *)(void *)(block + kernel_bytes + arg_bytes);
  s.strings = block + kernel_bytes + arg_bytes + part_bytes;
  list_kernels(&s);
  *r->kernel_count = (uint32_t)s.kernel_count;
}

// ---- all programs -------------------------------------------------------------------------------

// A kernel that is refused leaves parts of the tree and of the types unfinished: they are made
// anew.
static void forget_tree(unit *u) {
  ast_fini(u);
  u->types = NULL;
  ast_init(u);
}

static bool try_kernel(unit *u, function *kernel, const vyre_source_options *options,
                       vyre_program **out) {
  if (setjmp(u->bail)) return false;
  lower_kernel(u, kernel, options, out);
  return true;
}

static uint32_t count_kernels(const unit *u) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < u->ast->function_count; i++) count += u->ast->functions[i]->is_kernel;
  return count;
}

// The place to which mistakes lead is that of one kernel meanwhile.
static void visit_kernels(unit *u, const request *r) {
  jmp_buf outer;
  vyre_error *error = u->error, own;
  if (!count_kernels(u)) find_kernel(u, NULL); // says so
  memcpy(outer, u->bail, sizeof outer);
  u->error = &own;
  vyre_source_result result = {.count = count_kernels(u)};
  for (uint32_t i = 0; i < u->ast->function_count; i++) {
    function *f = u->ast->functions[i];
    if (!f->is_kernel) continue;
    vyre_program *made = NULL;
    result.entry = f->name;
    result.error = try_kernel(u, f, r->options, &made) ? NULL : &own;
    result.program = made;
    r->visit(r->data, &result);
    vyre_program_release(made);
    if (result.error) forget_tree(u);
    result.index++;
  }
  u->error = error;
  memcpy(u->bail, outer, sizeof outer);
}

// ---- the calls ----------------------------------------------------------------------------------

static void give_text(unit *u, const request *r) {
  *r->text = u->text;
  *r->text_size = u->size;
  u->text = NULL;
}

static void serve(unit *u, const request *r, const char *build_options) {
  parse_source(u, build_options);
  if (r->text) {
    give_text(u, r);
    return;
  }
  ast_init(u);
  if (r->kernels)
    make_list(u, r);
  else if (r->visit)
    visit_kernels(u, r);
  else
    lower_kernel(u, find_kernel(u, r->options->entry), r->options, r->program);
}

typedef struct reading {
  const front_source *source;
  const char *build_options;
  const request *request;
  vyre_error *error;
} reading;

static vyre_status run_reading(void *data) {
  const reading *c = data;
  vyre_error own;
  unit *u = calloc(1, sizeof *u);
  if (!u) return error_out_of_memory(c->error);
  u->source = *c->source;
  u->error = c->error ? c->error : &own;
  vyre_status status = VYRE_OK;
  if (setjmp(u->bail) == 0)
    serve(u, c->request, c->build_options);
  else
    status = u->error->status;
  unit_fini(u);
  free(u);
  return status;
}

static vyre_status run(const front_source *source, const char *build_options, const request *r,
                       vyre_error *error) {
  reading c = {source, build_options, r, error};
  return guard_run(run_reading, &c, error);
}

static vyre_status make_program(const front_source *source, const vyre_source_options *options,
                                vyre_program **out, vyre_error *error) {
  request r = {.options = options, .program = out};
  return run(source, options->build_options ? options->build_options : "", &r, error);
}

static vyre_status visit_programs(const front_source *source, const vyre_source_options *options,
                                  front_visit *visit, void *data, vyre_error *error) {
  request r = {.options = options, .visit = visit, .data = data};
  return run(source, options->build_options ? options->build_options : "", &r, error);
}

static vyre_status list_of_kernels(const front_source *source, const char *build_options,
                                   vyre_source_entry **out, uint32_t *count, vyre_error *error) {
  request r = {.kernels = out, .kernel_count = count};
  return run(source, build_options, &r, error);
}

static vyre_status preprocessed(const front_source *source, const char *build_options, char **out,
                                size_t *size, vyre_error *error) {
  request r = {.text = out, .text_size = size};
  return run(source, build_options, &r, error);
}

extern VYRE_API const front_module vyre_front_module;
const front_module vyre_front_module = {FRONT_ABI_VERSION, make_program, visit_programs,
                                        list_of_kernels, preprocessed};
