// SPDX-License-Identifier: MIT
//
// The text is made of templates around the regions' code. Each invocation has a frame. In a region
// with barriers its values are members of that, and the body is one `switch`, which goes on at the
// barrier where the invocation stood.
#include "backend/c/emit.h"

#include "backend/spell/spell.h"
#include "base/error.h"
#include "base/format.h"
#include "lower/lower.h"

#include <stdlib.h>

static const lower_target c_target = {
    .name = "c",
    .has_f64 = true,
    .has_i64 = true,
    .has_small_storage = true,
    .keeps_f32_subnormals = true,
    .keeps_f64_subnormals = true,
    .rounds_f32_division = true,
    .rounds_f64_division = true,
    .has_f32_fma = true,
    .has_f64_fma = true,
    .has_f32_rounding = true,
    .has_f64_rounding = true,
    .has_rint = true,
    .zeroes_shared = true,
    .has_i64_atomics = true,
    .has_i64_extended_atomics = true,
    .has_float_atomics = true,
    .parts_at_barriers = true,
};

typedef struct c_file {
  const vyre_program *p; // lowered
  c_form form;
  speller s;         // its text is the file
  uint32_t barriers; // of the region so far
} c_file;

// ---- the dialect --------------------------------------------------------------------------------

static const char *atomic_name(const inst *in, char name[40]) {
  format_text(name, 40, "%s_%s", op_table[in->op].name, vyre_type_name((vyre_type)in->type));
  return name;
}

static void put_barrier(speller *s) {
  uint32_t *number = s->context;
  spell_line(s, "s->where = %u;", ++*number);
  spell_line(s, "return;");
  spell_line(s, "case %u:;", *number);
}

static void put_leave(speller *s) {
  if (s->is_framed) spell_line(s, "s->where = DONE;");
  spell_line(s, "return;");
}

static const dialect c_dialect = {
    .types = {"void", "bool", "int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t",
              "int64_t", "uint64_t", "float", "double"},
    .memory_bool = "uint8_t",
    .wide_suffix = "ULL",
    .f32_suffix = "f",
    .bits_of = {"bits_of_f32", "bits_of_f64"},
    .float_of = {"f32_of_bits", "f64_of_bits"},
    .launch_prefix = "g->",
    .shared_prefix = "sh->",
    .stop = "*g->stop != 0",
    .facts = {"at->global[%u]", "at->local[%u]", "at->group[%u]", "g->grid[%u]", NULL,
              "g->grid[%u] / %uu"},
    .atomic = atomic_name,
    .barrier = put_barrier,
    .leave = put_leave,
};

// Atomics are functions of two steps: all invocations run in one thread, so nobody is between them.
static const char prelude[] =
    "#include <float.h>\n#include <math.h>\n#include <stdbool.h>\n#include <stdint.h>\n"
    "#include <stdlib.h>\n#include <string.h>\n\n"
    "#if defined(__FAST_MATH__) || (defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0)\n"
    "#error \"compile without -ffast-math, for a machine that computes floats in their own type\"\n"
    "#endif\n"
    "#if defined(__clang__)\n#pragma STDC FP_CONTRACT OFF\n"
    "#pragma clang diagnostic ignored \"-Wunused-function\"\n"
    "#elif defined(__GNUC__)\n#pragma GCC optimize(\"fp-contract=off\")\n#endif\n"
    "#if defined(__GNUC__)\n#pragma GCC diagnostic ignored \"-Wtype-limits\"\n"
    "#pragma GCC diagnostic ignored \"-Wtautological-compare\"\n"
    "#pragma GCC diagnostic ignored \"-Wunused-variable\"\n"
    "#pragma GCC diagnostic ignored \"-Wunused-but-set-variable\"\n#endif\n\n"
    "enum { RAN, NO_MEMORY, BAD_EXTENT, DIVERGED, STOPPED };\n"
    "#define DONE UINT32_MAX // where an invocation is that has ended\n\n"
    "struct place {\n  uint32_t global[3], local[3], group[3];\n};\n\n"
    "static inline struct place place_of(const uint32_t *group, uint32_t i, const uint32_t *size) "
    "{\n"
    "  struct place at = {{0}, {i % size[0], i / size[0] % size[1], i / size[0] / size[1]},\n"
    "                     {group[0], group[1], group[2]}};\n"
    "  for (int k = 0; k < 3; k++) at.global[k] = group[k] * size[k] + at.local[k];\n"
    "  return at;\n}\n\n"
    "#define BITS(NAME, TO, FROM) \\\n"
    "  static inline TO NAME(FROM x) { TO y; memcpy(&y, &x, sizeof y); return y; }\n"
    "BITS(bits_of_f32, uint32_t, float)\nBITS(bits_of_f64, uint64_t, double)\n"
    "BITS(f32_of_bits, float, uint32_t)\nBITS(f64_of_bits, double, uint64_t)\n\n"
    "#define ATOMIC(NAME, T, U, MADE) \\\n"
    "  static inline T NAME(T *at, T x) { T old = *at; *at = (T)(MADE); return old; }\n"
    "#define ATOMICS(N, T, U) \\\n"
    "  ATOMIC(atomic_add_##N, T, U, (U)old + (U)x) ATOMIC(atomic_sub_##N, T, U, (U)old - (U)x) \\\n"
    "  ATOMIC(atomic_min_##N, T, U, old < x ? old : x) \\\n"
    "  ATOMIC(atomic_max_##N, T, U, old > x ? old : x) \\\n"
    "  ATOMIC(atomic_and_##N, T, U, old & x) ATOMIC(atomic_or_##N, T, U, old | x) \\\n"
    "  ATOMIC(atomic_xor_##N, T, U, old ^ x) ATOMIC(atomic_exchange_##N, T, U, x) \\\n"
    "  static inline T atomic_cas_##N(T *at, T x, T y) { \\\n"
    "    T old = *at; if (old == x) *at = y; return old; }\n"
    "ATOMICS(i32, int32_t, uint32_t)\nATOMICS(u32, uint32_t, uint32_t)\n"
    "ATOMICS(i64, int64_t, uint64_t)\nATOMICS(u64, uint64_t, uint64_t)\n"
    "#define FLOAT_ATOMIC(NAME, T, MADE) \\\n"
    "  static inline T NAME(T *at, T x) { T old = *at; *at = MADE; return old; }\n"
    "#define FLOAT_ATOMICS(N, T) \\\n"
    "  FLOAT_ATOMIC(atomic_add_##N, T, old + x) FLOAT_ATOMIC(atomic_sub_##N, T, old - x) \\\n"
    "  FLOAT_ATOMIC(atomic_min_##N, T, \\\n"
    "               x < old || old != old || (x == old && signbit(x)) ? x : old) \\\n"
    "  FLOAT_ATOMIC(atomic_max_##N, T, \\\n"
    "               x > old || old != old || (x == old && !signbit(x)) ? x : old) \\\n"
    "  FLOAT_ATOMIC(atomic_exchange_##N, T, x) \\\n"
    "  static inline T atomic_cas_##N(T *at, T x, T y) { \\\n"
    "    T old = *at; \\\n"
    "    if (bits_of_##N(old) == bits_of_##N(x) || (old != old && x != x)) *at = y; \\\n"
    "    return old; }\n"
    "FLOAT_ATOMICS(f32, float)\nFLOAT_ATOMICS(f64, double)\n\n";

// Of programs for devices without the types: bytes behind the end of a buffer are zero, and stay.
static const char word_prelude[] =
    "static inline size_t word_size(uint64_t bytes, uint32_t i) {\n"
    "  uint64_t left = bytes - 4 * (uint64_t)i;\n  return left < 4 ? (size_t)left : 4;\n}\n"
    "static inline uint32_t word_load(const void *at, uint64_t bytes, uint32_t i) {\n"
    "  uint32_t x = 0;\n  memcpy(&x, (const char *)at + 4 * (size_t)i, word_size(bytes, i));\n"
    "  return x;\n}\n"
    "static inline void word_store(void *at, uint64_t bytes, uint32_t i, uint32_t x) {\n"
    "  memcpy((char *)at + 4 * (size_t)i, &x, word_size(bytes, i));\n}\n"
    "static inline uint32_t word_cas(void *at, uint64_t bytes, uint32_t i, uint32_t x, uint32_t y)"
    " {\n"
    "  uint32_t old = word_load(at, bytes, i);\n"
    "  if (old == x) word_store(at, bytes, i, y);\n  return old;\n}\n\n";

static void put(c_file *f, const char *text) {
  strbuf_puts(&f->s.text, text);
}

static void begin_scope(c_file *f, const region *r, range part) {
  spell_name_interface(&f->s);
  spell_plan(&f->s, r, part);
}

// ---- the interface ------------------------------------------------------------------------------

// Declares the parameters and buffers, as members or as parameters of the function.
static void put_interface(c_file *f, strbuf *out, bool with_transients, const char *end) {
  const speller *s = &f->s;
  for (uint32_t i = 0; i < f->p->param_count; i++)
    strbuf_printf(out, "%s %s%s", spell_type(s, f->p->params[i].type), s->param_names[i], end);
  for (uint32_t i = 0; i < f->p->buffer_count; i++) {
    const buffer *b = &f->p->buffers[i];
    if (b->is_transient && !with_transients) continue;
    strbuf_printf(out, "%s%s *%s%suint32_t %s%s", b->access & VYRE_WRITE ? "" : "const ",
                  spell_memory_type(s, b->type), s->buffer_names[i], end, s->length_names[i], end);
  }
}

static void put_prototype(c_file *f, strbuf *out) {
  strbuf_puts(out, "int vyre_");
  for (const char *c = f->p->name; *c; c++) strbuf_putc(out, *c == '.' ? '_' : *c);
  strbuf_putc(out, '(');
  size_t begin = out->size;
  put_interface(f, out, false, ", ");
  if (f->p->target->polls_stop)
    strbuf_puts(out, "const volatile uint32_t *stop)");
  else if (out->size == begin)
    strbuf_puts(out, "void)");
  else if (!out->failed)
    out->at[(out->size -= 1) - 1] = ')'; // instead of the last comma
}

// ---- regions ------------------------------------------------------------------------------------

static void put_structs(c_file *f, uint32_t index) {
  speller *s = &f->s;
  const region *r = s->r;
  s->indent = 1;
  strbuf_printf(&s->text, "// Region `%s`.\nstruct shared_%u {\n  char first;\n", r->name, index);
  for (uint32_t i = r->shared.first; i < r->shared.end; i++)
    spell_line(s, "%s %s[%u];", spell_memory_type(s, f->p->shared[i].type),
               s->shared_names[i - r->shared.first], f->p->shared[i].length);
  strbuf_printf(&s->text, "};\n\nstruct frame_%u {\n  struct place place;\n  uint32_t where;\n",
                index);
  if (r->has_barrier) spell_declarations(s);
  put(f, "};\n\n");
}

static void put_invocation(c_file *f, uint32_t index) {
  speller *s = &f->s;
  bool is_framed = s->is_framed = s->r->has_barrier;
  f->barriers = 0;
  strbuf_printf(
      &s->text,
      "static inline void invoke_%u(const struct launch *g, struct frame_%u *s,\n"
      "                            struct shared_%u *sh) {\n"
      "  const struct place *const at = &s->place;\n  (void)g;\n  (void)at;\n  (void)sh;\n",
      index, index, index);
  put(f, is_framed ? "  switch (s->where) {\n  case 0:;\n" : "  s->where = DONE;\n");
  s->indent = 1;
  spell_code(s);
  put(f, is_framed ? "  }\n  s->where = DONE;\n}\n\n" : "}\n\n");
  s->is_framed = false;
}

// From barrier to barrier, all invocations of a workgroup. Those of an elastic region have one.
static void put_region(c_file *f, uint32_t index) {
  static const uint32_t one[3] = {1, 1, 1};
  const uint32_t *w = f->s.r->is_elastic ? one : f->s.r->workgroup, size = w[0] * w[1] * w[2];
  strbuf_printf(&f->s.text,
                "static int region_%u(const struct launch *g) {\n"
                "  static const uint32_t size[3] = {%u, %u, %u};\n"
                "  struct shared_%u shared;\n  int result = RAN;\n  uint32_t group[3];\n"
                "  struct frame_%u *frames = calloc(%u, sizeof *frames);\n"
                "  if (!frames) return NO_MEMORY;\n",
                index, w[0], w[1], w[2], index, index, size);
  strbuf_printf(&f->s.text,
                "  bool is_empty = !g->grid[0] || !g->grid[1] || !g->grid[2];\n"
                "  uint32_t ends[3];\n"
                "  for (int k = 0; k < 3; k++) ends[k] = is_empty ? 0 : g->grid[k] / size[k];\n"
                "  for (group[2] = 0; group[2] < ends[2] && result == RAN; group[2]++)\n"
                "    for (group[1] = 0; group[1] < ends[1] && result == RAN; group[1]++)\n"
                "      for (group[0] = 0; group[0] < ends[0] && result == RAN; group[0]++) {\n"
                "        memset(&shared, 0, sizeof shared);\n"
                "        for (uint32_t i = 0; i < %u; i++) {\n"
                "          frames[i].place = place_of(group, i, size);\n"
                "          frames[i].where = 0;\n        }\n"
                "        do {\n"
                "          for (uint32_t i = 0; i < %u; i++) invoke_%u(g, &frames[i], &shared);\n"
                "          for (uint32_t i = 1; i < %u; i++)\n"
                "            if (frames[i].where != frames[0].where) result = DIVERGED;\n"
                "          if (g->stop && *g->stop) result = STOPPED;\n"
                "        } while (frames[0].where != DONE && result == RAN);\n      }\n"
                "  free(frames);\n  return result;\n}\n\n",
                size, size, index, size);
}

// ---- the function -------------------------------------------------------------------------------

static void put_extent(c_file *f, ref extent, uint32_t limit) {
  put(f, "  if (");
  spell_operand(&f->s, extent);
  put(f, " < 0 || (uint64_t)");
  spell_operand(&f->s, extent);
  strbuf_printf(&f->s.text, " > %u) return BAD_EXTENT;\n", limit);
}

static void put_lengths(c_file *f) {
  speller *s = &f->s;
  begin_scope(f, NULL, f->p->header);
  s->indent = 1;
  spell_code(s);
  for (uint32_t i = 0; i < f->p->buffer_count; i++) {
    const buffer *b = &f->p->buffers[i];
    if (!b->length) continue;
    put_extent(f, b->length, LIMIT_LENGTH);
    strbuf_printf(&s->text, b->is_transient ? "  g->%s = (uint32_t)" : "  if (g->%s != (uint32_t)",
                  s->length_names[i]);
    spell_operand(s, b->length);
    put(f, b->is_transient ? ";\n" : ") return BAD_EXTENT;\n");
  }
}

static void put_grid(c_file *f, uint32_t index) {
  speller *s = &f->s;
  const region *r = &f->p->regions[index];
  begin_scope(f, r, r->grid_code);
  put(f, "  {\n");
  s->indent = 1;
  spell_code(s);
  for (int k = 0; k < 3; k++) {
    put_extent(f, r->grid[k], LIMIT_EXTENT);
    strbuf_printf(&s->text, "  grids[%u][%d] = (uint32_t)", index, k);
    spell_operand(s, r->grid[k]);
    put(f, ";\n");
    if (!r->is_elastic)
      spell_line(s, "if (grids[%u][%d] %% %u) return BAD_EXTENT;", index, k, r->workgroup[k]);
  }
  put(f, "  }\n");
}

// What is the same whatever the arguments' types are: it runs a launch whose interface is filled.
static void put_run(c_file *f) {
  speller *s = &f->s;
  uint32_t count = f->p->region_count;
  strbuf_printf(&s->text, "static int run(struct launch *g, uint32_t *region) {\n"
                          "  static int (*const regions[])(const struct launch *) = {");
  for (uint32_t i = 0; i < count; i++) strbuf_printf(&s->text, "%sregion_%u", i ? ", " : "", i);
  strbuf_printf(&s->text, "};\n  uint32_t grids[%u][3];\n  int result = RAN;\n", count);
  put_lengths(f);
  for (uint32_t i = 0; i < count; i++) put_grid(f, i);
  s->indent = 1;
  for (uint32_t i = 0; i < f->p->buffer_count; i++)
    if (f->p->buffers[i].is_transient) {
      const char *name = s->buffer_names[i];
      spell_line(s, "g->%s = calloc((size_t)g->%s + 1, sizeof *g->%s);", name, s->length_names[i],
                 name);
      spell_line(s, "if (!g->%s) result = NO_MEMORY;", name);
    }
  strbuf_printf(&s->text,
                "  for (*region = 0; *region < %u && result == RAN; ++*region) {\n"
                "    memcpy(g->grid, grids[*region], sizeof g->grid);\n"
                "    result = regions[*region](g);\n  }\n",
                count);
  for (uint32_t i = 0; i < f->p->buffer_count; i++)
    if (f->p->buffers[i].is_transient) spell_line(s, "free(g->%s);", s->buffer_names[i]);
  put(f, "  return result;\n}\n\n");
}

static void put_function(c_file *f) {
  speller *s = &f->s;
  put_prototype(f, &s->text);
  put(f, " {\n  struct launch launch = {0}, *const g = &launch;\n  uint32_t region;\n");
  for (uint32_t i = 0; i < f->p->param_count; i++)
    spell_line(s, "g->%s = %s;", s->param_names[i], s->param_names[i]);
  for (uint32_t i = 0; i < f->p->buffer_count; i++) {
    if (f->p->buffers[i].is_transient) continue;
    spell_line(s, "g->%s = %s;", s->buffer_names[i], s->buffer_names[i]);
    spell_line(s, "g->%s = %s;", s->length_names[i], s->length_names[i]);
  }
  put(f, f->p->target->polls_stop ? "  g->stop = stop;\n" : "");
  put(f, "  return run(g, &region);\n}\n");
}

static void put_entry(c_file *f) {
  speller *s = &f->s;
  put(f, "int " C_ENTRY "(const uint64_t *params, void *const *buffers, const uint32_t *lengths,\n"
         "    const volatile uint32_t *stop, uint32_t *region) {\n"
         "  struct launch launch = {0}, *const g = &launch;\n"
         "  (void)params;\n  (void)buffers;\n  (void)lengths;\n  g->stop = stop;\n");
  for (uint32_t i = 0; i < f->p->param_count; i++)
    spell_line(s, "memcpy(&g->%s, &params[%u], sizeof g->%s);", s->param_names[i], i,
               s->param_names[i]);
  for (uint32_t i = 0; i < f->p->buffer_count; i++) {
    spell_line(s, "g->%s = buffers[%u];", s->buffer_names[i], i);
    spell_line(s, "g->%s = lengths[%u];", s->length_names[i], i);
  }
  put(f, "  return run(g, region);\n}\n");
}

// ---- the files ----------------------------------------------------------------------------------

static void put_notes(c_file *f) {
  strbuf_printf(&f->s.text,
                "// Made by vyre %s from program `%s`. Compile as C11 with -ffp-contract=off, link "
                "with -lm.\n//\n"
                "// The function runs in the caller's thread. It returns 0; 1: out of memory; 2: a "
                "grid or a length\n// is not what the program allows, and nothing was run; 3: only "
                "some of a workgroup reached a\n// barrier; 4: it was asked to stop (*stop).\n",
                vyre_version(), f->p->name);
}

static void put_header(c_file *f) {
  put(f, "#pragma once\n\n#include <stdbool.h>\n#include <stdint.h>\n\n"
         "#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
  put_prototype(f, &f->s.text);
  put(f, ";\n#ifdef __cplusplus\n}\n#endif\n");
}

static void put_code(c_file *f) {
  put(f, prelude);
  const lower_target *target = f->p->target;
  if (!target->has_i64 || !target->has_small_storage) put(f, word_prelude);
  put(f, "struct launch {\n");
  put_interface(f, &f->s.text, true, ";\n");
  put(f, "uint32_t grid[3];\nconst volatile uint32_t *stop;\n};\n\n");
  for (uint32_t i = 0; i < f->p->region_count && !f->s.failed; i++) {
    begin_scope(f, &f->p->regions[i], f->p->regions[i].body);
    put_structs(f, i);
    put_invocation(f, i);
    put_region(f, i);
  }
  put_run(f);
  if (f->form == C_MODULE)
    put_entry(f);
  else
    put_function(f);
}

vyre_status c_emit(const vyre_program *program, c_form form, bool is_polled, char **text,
                   size_t *size, vyre_error *error) {
  vyre_program *lowered;
  lower_target target = c_target;
  target.polls_stop = is_polled;
  vyre_status status = VYRE_OK;
  if (program->target) // as it is: for comparison with devices that do not exist
    lowered = vyre_program_retain((vyre_program *)(uintptr_t)program);
  else
    status = lower_program(program, &target, &lowered, error);
  if (status != VYRE_OK) return status;
  c_file *f = calloc(1, sizeof *f);
  *text = NULL;
  if (f) {
    *f = (c_file){lowered, form, {.p = lowered, .d = &c_dialect, .context = &f->barriers}, 0};
    begin_scope(f, NULL, lowered->header);
    put_notes(f);
    if (form == C_HEADER)
      put_header(f);
    else
      put_code(f);
    if (!f->s.failed) *text = strbuf_take(&f->s.text, size);
    spell_fini(&f->s);
  }
  free(f);
  vyre_program_release(lowered);
  return *text ? VYRE_OK : error_out_of_memory(error);
}
