// SPDX-License-Identifier: MIT
//
// Facts, rounds, and the kernel's interface.
#include "front/clang/lower.h"

#include "base/error.h"
#include "front/clang/image.h"
#include "front/clang/source.h"

#include <string.h>

enum { MOST_ROUNDS = 64 };

// What went wrong in the builder comes first: nothing is what it seems after that.
static void report_builder(lowering *l) {
  vyre_program *none = NULL;
  size_t place = 0;
  if (!l->b || builder_status(l->b) == VYRE_OK) return;
  builder_finish(l->b, &none, &place, l->u->error);
  source_place_error(l->u, l->kernel->offset);
  unit_bail(l->u);
}

void lower_refuse(lowering *l, uint32_t offset, const char *what, const char *fix) {
  report_builder(l);
  unit_fail(l->u, VYRE_ERROR_UNSUPPORTED, offset, "%s is not supported. Fix: %s", what, fix);
}

void lower_at(lowering *l, uint32_t offset) {
  source_spot spot = source_find(l->u, offset);
  if (spot.offset != NO_PLACE) builder_at(l->b, spot.offset);
}

// ---- facts --------------------------------------------------------------------------------------

static uint32_t fact_hash(const context *ctx, const void *key, int kind) {
  uint64_t h = (uint64_t)(uintptr_t)ctx * 0x9e3779b97f4a7c15u;
  h = (h ^ (uint64_t)(uintptr_t)key) * 0x9e3779b97f4a7c15u;
  h = (h ^ (uint64_t)kind) * 0x9e3779b97f4a7c15u;
  return (uint32_t)(h >> 32);
}

static fact_entry *fact_slot(fact_entry *table, uint32_t capacity, const context *ctx,
                             const void *key, int kind) {
  uint32_t at = fact_hash(ctx, key, kind) & (capacity - 1);
  while (table[at].fact && (table[at].ctx != ctx || table[at].key != key || table[at].kind != kind))
    at = (at + 1) & (capacity - 1);
  return &table[at];
}

static void grow_facts(lowering *l) {
  uint32_t capacity = l->fact_capacity ? l->fact_capacity * 2 : 256;
  fact_entry *table = UNIT_ARRAY(l->u, capacity, fact_entry);
  for (uint32_t i = 0; i < l->fact_capacity; i++) {
    const fact_entry *old = &l->facts[i];
    if (old->fact) *fact_slot(table, capacity, old->ctx, old->key, old->kind) = *old;
  }
  l->facts = table;
  l->fact_capacity = capacity;
}

void *fact(lowering *l, const void *key, int kind, size_t size) {
  if (2 * l->fact_count >= l->fact_capacity) grow_facts(l);
  fact_entry *slot = fact_slot(l->facts, l->fact_capacity, l->ctx, key, kind);
  if (!slot->fact) {
    *slot = (fact_entry){l->ctx, key, kind, unit_alloc(l->u, 1, size)};
    l->fact_count++;
  }
  return slot->fact;
}

bool learn(lowering *l) {
  if (builder_status(l->b) != VYRE_OK) return false;
  l->changed = true;
  return true;
}

void note(lowering *l, bool *flag) {
  if (!*flag && learn(l)) *flag = true;
}

uint32_t set_find(const base_set *set, const base *b) {
  for (uint32_t i = 0; i < set->count; i++)
    if (set->at[i] == b) return i;
  return UINT32_MAX;
}

void set_push(lowering *l, base_set *set, base *b) {
  if (set_find(set, b) == UINT32_MAX) UNIT_PUSH(l->u, set->at, set->count, set->capacity, b);
}

void set_add(lowering *l, base_set *set, base *b) {
  if (set_find(set, b) == UINT32_MAX && learn(l)) set_push(l, set, b);
}

base_set *set_union(lowering *l, const base_set *a, const base_set *b) {
  base_set *made = UNIT_NEW(l->u, base_set);
  for (uint32_t i = 0; i < a->count; i++) set_push(l, made, a->at[i]);
  for (uint32_t i = 0; i < b->count; i++) set_push(l, made, b->at[i]);
  UNIT_PUSH(l->u, l->sets, l->set_count, l->set_capacity, made);
  return made;
}

// Objects that one pointer can point into have words of one size.
static void unify_words(lowering *l) {
  for (uint32_t again = 1; again;) {
    again = 0;
    for (uint32_t i = 0; i < l->set_count; i++) {
      const base_set *set = l->sets[i];
      base *a = NULL;
      for (uint32_t k = 0; k < set->count; k++) {
        base *b = set->at[k];
        if (b->kind == B_NULL) continue; // has no words
        if (!a) a = b;
        uint64_t before = a->grain + b->grain;
        base_grain(l, a, b->grain);
        base_grain(l, b, a->grain);
        again |= a->grain + b->grain != before;
      }
    }
  }
}

// ---- the interface of a kernel ------------------------------------------------------------------

static void declare_buffer(lowering *l, decl *d, const char *name) {
  base *b = base_new(l, d, FACT_BUFFER); // the buffer, not the pointer to it
  b->name = name;
  b->type = d->type->element;
  b->space = d->type->space;
  b->size = 0;
  b->offset = d->offset;
  b->kind = B_MEMORY;
  base_words(b);
  b->mem = vyre_build_buffer(l->b, name, b->word, base_access(b), 0);
}

static const vyre_source_alias *find_alias(const lowering *l, const char *name) {
  for (uint32_t i = 0; i < l->options->alias_count; i++)
    if (!strcmp(l->options->aliases[i].name, name)) return &l->options->aliases[i];
  return NULL;
}

static bool is_in_memory(const decl *d) {
  return d->type->kind == T_POINTER &&
         (d->type->space == SPACE_GLOBAL || d->type->space == SPACE_CONSTANT);
}

// The pointer that an alias is.
static pointer alias_pointer(lowering *l, const decl *d, const vyre_source_alias *alias) {
  if (!alias->of) return pointer_null(l);
  for (uint32_t i = 0; i < l->kernel->param_count; i++) {
    const char *name = ast_param_name(l->u, l->kernel, i);
    const vyre_source_alias *own = find_alias(l, name);
    if (strcmp(name, alias->of) || !is_in_memory(l->kernel->params[i])) continue;
    if (own && (!own->of || strcmp(own->of, name))) continue;
    pointer p = pointer_to(l, base_new(l, l->kernel->params[i], FACT_BUFFER));
    p.disp += (int64_t)alias->offset_bytes;
    return p;
  }
  unit_fail(l->u, VYRE_ERROR_BINDING, d->offset,
            "`%s` cannot be an alias of `%s`. Fix: name an argument that points to global memory "
            "and is no alias",
            alias->name, alias->of);
}

static uint64_t local_size(lowering *l, const char *name, uint32_t offset) {
  for (uint32_t i = 0; i < l->options->local_count; i++)
    if (!strcmp(l->options->locals[i].name, name)) return l->options->locals[i].size_bytes;
  unit_fail(l->u, VYRE_ERROR_BINDING, offset,
            "the size of the local memory of `%s` is not given. Fix: pass %s=local:BYTES", name,
            name);
}

static void declare_value_params(lowering *l, decl *d, const char *name, uint32_t *first) {
  const leaf *leaves = type_leaves(l->u, d->type, d->offset);
  for (uint32_t k = 0; k < d->type->leaf_count; k++) {
    if (leaves[k].type->kind == T_POINTER)
      lower_refuse(l, d->offset, "a pointer inside of an argument", "pass it as its own argument");
    uint32_t made = vyre_build_param(
        l->b, *leaves[k].suffix ? unit_printf(l->u, "%s%s", name, leaves[k].suffix) : name,
        leaves[k].type->scalar);
    if (k == 0) *first = made;
  }
}

// Functions may have tables and variables of the same name.
static const char *table_name(lowering *l, uint32_t table, const char *wanted) {
  const char *name = ast_free_name(l->u, l->kernel, wanted);
  for (uint32_t i = 0; i < table; i++)
    if (l->bases[i]->has_buffer && !strcmp(l->bases[i]->name, name))
      return table_name(l, table, unit_printf(l->u, "%s_", name));
  return name;
}

// Buffers that no argument of the kernel is.
static void declare_globals(lowering *l) {
  for (uint32_t i = 0; i < l->base_count; i++) {
    base *b = l->bases[i];
    if (!b->is_global) continue;
    b->kind = B_MEMORY;
    b->name = table_name(l, i, b->name);
    b->has_buffer = true;
    base_words(b);
    b->mem = vyre_build_buffer(l->b, b->name, b->word, base_access(b),
                               e_const(l, VYRE_U32, base_word_total(b)));
  }
}

static void declare_pointed(lowering *l, decl *d, const char *name) {
  const vyre_source_alias *alias = find_alias(l, name);
  if (!alias || (alias->of && !strcmp(alias->of, name))) declare_buffer(l, d, name);
}

// Of every axis: the grid, and where the ids begin.
static void declare_launch_params(lowering *l) {
  static const char *const grid_names[] = {"grid_x", "grid_y", "grid_z"};
  static const char *const offset_names[] = {"offset_x", "offset_y", "offset_z"};
  for (uint32_t i = 0; i < l->rank && !l->has_own_grid; i++)
    l->grid_params[i] =
        vyre_build_param(l->b, ast_free_name(l->u, l->kernel, grid_names[i]), VYRE_U32);
  for (uint32_t i = 0; i < l->rank && l->options->has_offset_params; i++)
    l->offset_params[i] =
        vyre_build_param(l->b, ast_free_name(l->u, l->kernel, offset_names[i]), VYRE_U64);
}

// Buffers and parameters, which come before the region.
static void declare_interface(lowering *l, uint32_t *first_param) {
  function *k = l->kernel;
  for (uint32_t i = 0; i < k->param_count; i++) {
    decl *d = k->params[i];
    switch (d->type->kind) {
    case T_POINTER:
      if (is_in_memory(d))
        declare_pointed(l, d, ast_param_name(l->u, k, i));
      else if (d->type->space != SPACE_LOCAL)
        lower_refuse(l, d->offset, "a pointer argument without an address space",
                     "write global, constant or local");
      break;
    case T_OTHER:
      unit_fail(l->u, VYRE_ERROR_UNSUPPORTED, d->offset,
                "`%s` is of type `%s`, which is not supported. Fix: pass the data in a buffer",
                d->name, d->type->spelling);
    case T_IMAGE: image_declare(l, d, ast_param_name(l->u, k, i)); break;
    default:
      if (!d->type->is_sampler)
        declare_value_params(l, d, ast_param_name(l->u, k, i), &first_param[i]);
    }
  }
  declare_launch_params(l);
  l->has_print = l->prints;
  if (l->prints)
    l->print = vyre_build_buffer(l->b, ast_free_name(l->u, l->kernel, "printf"), VYRE_U32,
                                 VYRE_READWRITE, 0);
  declare_globals(l);
  for (uint32_t i = 0; i < l->base_count; i++) {
    base *b = l->bases[i];
    if (!b->table || !b->is_dynamic || b->is_global) continue;
    b->name = table_name(l, i, b->name);
    b->has_buffer = true;
    base_words(b);
    b->mem = vyre_build_transient(l->b, b->name, b->word, e_const(l, VYRE_U32, base_word_total(b)));
  }
}

static value param_value(lowering *l, const decl *d, uint32_t first_param) {
  value v = value_new(l, d->type, d->offset);
  for (uint32_t i = 0; i < d->type->leaf_count; i++)
    v.at[i].v = vyre_build_param_value(l->b, first_param + i);
  return v;
}

static pointer argument_pointer(lowering *l, decl *d, const char *name) {
  const vyre_source_alias *alias = is_in_memory(d) ? find_alias(l, name) : NULL;
  if (alias) return alias_pointer(l, d, alias);
  base *to = base_new(l, d, FACT_BUFFER);
  if (d->type->space == SPACE_LOCAL)
    base_declare_shared(l, to, name, d->type->element, local_size(l, name, d->offset), d->offset);
  return pointer_to(l, to);
}

// Inside the region: what the kernel's parameters are.
static void bind_interface(lowering *l, const uint32_t *first_param) {
  function *k = l->kernel;
  for (uint32_t i = 0; i < k->param_count; i++) {
    decl *d = k->params[i];
    const char *name = ast_param_name(l->u, k, i);
    base *b = base_of_decl(l, d);
    bool is_pointer = d->type->kind == T_POINTER || d->type->kind == T_IMAGE;
    bool is_sampler = d->type->is_sampler;
    if (is_pointer || is_sampler || d->writes || b->in_memory || b->is_mutable) {
      value init = is_pointer   ? value_pointer(l, d->type, argument_pointer(l, d, name))
                   : is_sampler ? sampler_argument(l, d, name)
                                : param_value(l, d, first_param[i]);
      base_declare(l, b, name, d->type, d->writes > 0 ? BASE_MUTABLE : BASE_PARAMETER, &init,
                   builder_code_count(l->b), d->offset);
      continue;
    }
    b->name = name;
    b->type = d->type;
    b->size = d->type->size;
    b->offset = d->offset;
    b->kind = B_PARAM;
    b->cells = UNIT_ARRAY(l->u, type_leaf_count(l, d->type, d->offset), cell);
    for (uint32_t c = 0; c < d->type->leaf_count; c++) b->cells[c].v = first_param[i] + c;
  }
}

// ---- rounds -------------------------------------------------------------------------------------

static void begin_round(lowering *l) {
  vyre_builder_free(l->u->builder);
  l->u->builder = l->b = vyre_builder_new(l->kernel->name);
  if (!l->b) unit_fail_memory(l->u);
  vyre_build_fast(l->b, l->u->fast_ulp);
  l->changed = false;
  l->ctx = NULL;
  l->labels = l->break_to = l->continue_to = l->tail = NULL;
  l->loop_depth = l->depth = 0;
  l->loaded = NULL;
  l->number_count = 0;
  l->guard = 0;
  if (l->named_capacity) memset(l->is_named, 0, l->named_capacity);
  for (uint32_t i = 0; i < l->base_count; i++) {
    l->bases[i]->kind = B_NONE;
    l->bases[i]->is_hoisted = l->bases[i]->has_buffer = l->bases[i]->is_declaring = false;
  }
  l->null = base_new(l, l, FACT_BASE);
  l->null->kind = B_NULL;
  l->null->name = "null";
}

static void build_round(lowering *l) {
  begin_round(l);
  uint32_t *first_param = UNIT_ARRAY(l->u, l->kernel->param_count, uint32_t);
  declare_interface(l, first_param);
  for (uint32_t i = 0; i < l->base_count; i++)
    if (l->bases[i]->table && (l->bases[i]->is_dynamic || l->bases[i]->is_global))
      base_fill_table(l, l->bases[i]);
  vyre_build_region_begin(l->b, l->kernel->name);
  ref grid[3];
  if (l->has_own_grid) grid_extents(l, first_param, grid);
  for (uint32_t i = 0; i < l->rank && !l->has_own_grid; i++)
    grid[i] = vyre_build_param_value(l->b, l->grid_params[i]);
  vyre_build_grid(l->b, l->rank, grid, l->workgroup);
  bind_interface(l, first_param);
  lower_stmt(l, l->kernel->body);
  vyre_build_region_end(l->b);
  unify_words(l);
}

static void choose_workgroup(lowering *l) {
  const uint32_t *stated = l->kernel->workgroup, *wanted = l->options->workgroup;
  bool has_stated = stated[0] != 0, has_wanted = wanted[0] || wanted[1] || wanted[2];
  if (!has_wanted && l->kernel->hint[0]) {
    wanted = l->kernel->hint;
    has_wanted = !has_stated;
  }
  for (int i = 0; i < 3; i++) {
    uint32_t w = has_wanted && wanted[i] ? wanted[i] : has_wanted ? 1 : 0;
    l->workgroup[i] = has_stated ? stated[i] : has_wanted ? w : i == 0 ? 64 : 1;
    if (has_stated && has_wanted && stated[i] != w)
      unit_fail(l->u, VYRE_ERROR_BINDING, l->kernel->offset,
                "`%s` requires a workgroup of %u, %u, %u. Fix: ask for that one, or for none",
                l->kernel->name, stated[0], stated[1], stated[2]);
    if (l->workgroup[i] > 1 && (uint32_t)i + 1 > l->rank) l->rank = (uint32_t)i + 1;
  }
}

static void finish(lowering *l, vyre_program **out) {
  vyre_program *made = NULL;
  size_t place = 0;
  const front_source *source = &l->u->source;
  const line_index *lines = &l->u->user_lines;
  builder_source(l->b, &(builder_source_text){source->name, source->text, source->size, true,
                                              lines->start, lines->count});
  vyre_status status = builder_finish(l->b, &made, &place, l->u->error);
  if (status != VYRE_OK) {
    if (place)
      error_place(l->u->error, l->u->source.name, l->u->source.text, l->u->source.size, place - 1);
    else
      source_place_error(l->u, l->kernel->offset);
    unit_bail(l->u);
  }
  status = tidy(made, out, l->u->error);
  vyre_program_release(made);
  if (status != VYRE_OK) unit_bail(l->u);
}

void lower_kernel(unit *u, function *kernel, const vyre_source_options *options,
                  vyre_program **out) {
  lowering l = {.u = u, .kernel = kernel, .options = options};
  ast_function(u, kernel);
  l.rank = options->rank > 3 ? 3 : options->rank ? options->rank : 1;
  l.has_own_grid = kernel->grid && !options->rank;
  if (l.has_own_grid) l.rank = grid_rank(&l);
  choose_workgroup(&l);
  int round = 0;
  do {
    if (round++ == MOST_ROUNDS)
      unit_fail(u, VYRE_ERROR_LIMIT, kernel->offset,
                "the pointers of `%s` depend on one another in too many ways. Fix: use fewer "
                "pointer variables",
                kernel->name);
    build_round(&l);
  } while (l.changed);
  finish(&l, out);
}
