// SPDX-License-Identifier: MIT
#include "conform/edit.h"

#include "conform/generate.h"
#include "ir/builder.h"
#include "ir/limits.h"
#include "ir/op_groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- life ---------------------------------------------------------------------------------------

static bool fill_shapes(edit *e, const trial *t) {
  const vyre_program *p = t->program;
  uint64_t *lengths = calloc(p->buffer_count + 1u, sizeof *lengths);
  if (!lengths) return false;
  bool ok = trial_extents(t, lengths, e->grids);
  for (uint32_t i = 0; i < p->region_count; i++)
    memcpy(e->workgroups[i], p->regions[i].workgroup, sizeof e->workgroups[i]);
  free(lengths);
  return ok;
}

bool edit_init(edit *e, const trial *t) {
  const vyre_program *p = t->program;
  *e = (edit){.actions = calloc(p->code_count + 1u, 1),
              .drops_region = calloc(p->region_count + 1u, sizeof(bool)),
              .drops_param = calloc(p->param_count + 1u, sizeof(bool)),
              .drops_buffer = calloc(p->buffer_count + 1u, sizeof(bool)),
              .grids = calloc(p->region_count + 1u, sizeof *e->grids),
              .workgroups = calloc(p->region_count + 1u, sizeof *e->workgroups)};
  bool ok = e->actions && e->drops_region && e->drops_param && e->drops_buffer && e->grids &&
            e->workgroups && fill_shapes(e, t);
  if (!ok) edit_fini(e);
  return ok;
}

void edit_fini(edit *e) {
  free(e->actions);
  free(e->drops_region);
  free(e->drops_param);
  free(e->drops_buffer);
  free(e->grids);
  free(e->workgroups);
  *e = (edit){0};
}

// ---- copying code -------------------------------------------------------------------------------

typedef struct copier {
  const edit *e;
  const trial *from;
  const vyre_program *p;
  vyre_builder *b;
  ref *map;                         // old operation -> new value; 0: gone
  uint8_t *is_live;                 // somebody needs the operation
  uint32_t *params, *buffers;       // old number -> new
  uint32_t shared_shift;            // added to the numbers of the region's shared arrays, wraps
  uint32_t param_base, buffer_base; // numbers of the first ones in the new program
  const char *prefix;               // of the names of parameters, buffers and regions
  uint64_t *lengths;                // evaluated, per buffer
  bool failed;
} copier;

static ref number(copier *c, vyre_type type, unsigned value) {
  return vyre_build_const(c->b, type, generate_float(type, value));
}

// The new name of an old value; one that is gone is zero.
static ref map_value(copier *c, ref old) {
  if (ref_is_const(old)) return builder_map_ref(c->b, c->p, old, c->map);
  if (c->map[old]) return c->map[old];
  return number(c, (vyre_type)c->p->code[old].type, 0);
}

// Whether the memory or variable that an operation works on is gone.
static bool lacks_object(const copier *c, const inst *in) {
  char kind = op_table[in->op].operands[0];
  if (kind == 'x') return !c->map[in->arg[0]];
  if (kind == 'b') return c->e->drops_buffer[in->arg[0]];
  if (kind != 'm') return false;
  uint32_t i = mem_index(in->arg[0]);
  if (mem_space(in->arg[0]) == MEM_BUFFER) return c->e->drops_buffer[i];
  return mem_space(in->arg[0]) == MEM_PRIVATE && !c->map[i];
}

static uint32_t map_memory(const copier *c, uint32_t mem) {
  uint32_t i = mem_index(mem);
  switch (mem_space(mem)) {
  case MEM_BUFFER: return MEM_REF(MEM_BUFFER, c->buffers[i]);
  case MEM_SHARED: return MEM_REF(MEM_SHARED, i + c->shared_shift);
  default: return MEM_REF(MEM_PRIVATE, c->map[i]);
  }
}

static void copy_operation(copier *c, uint32_t i) {
  const inst *old = &c->p->code[i];
  inst in = {.op = old->op, .type = old->type};
  const char *operands = op_table[old->op].operands;
  for (int k = 0; operands[k]; k++) {
    uint32_t arg = old->arg[k];
    in.arg[k] = operands[k] == 'v'   ? map_value(c, arg)
                : operands[k] == 'x' ? c->map[arg]
                : operands[k] == 'm' ? map_memory(c, arg)
                : operands[k] == 'b' ? c->buffers[arg]
                : operands[k] == 'p' ? c->params[arg]
                                     : arg;
  }
  c->map[i] = builder_emit(c->b, &in);
  if (c->p->names && c->p->names[i]) vyre_build_name(c->b, c->map[i], c->p->names[i]);
}

static void copy_value(copier *c, uint32_t i) {
  const inst *in = &c->p->code[i];
  edit_action action = (edit_action)c->e->actions[i];
  if (lacks_object(c, in)) action = EDIT_DROP;
  if (in->op == VYRE_OP_PARAM && c->e->drops_param[in->arg[0]]) {
    c->map[i] = vyre_build_const(c->b, (vyre_type)in->type, c->from->params[in->arg[0]].bits);
  } else if (action == EDIT_KEEP) {
    if (c->is_live[i]) copy_operation(c, i);
  } else if (action == EDIT_ONE && in->type != VYRE_VOID && in->op != VYRE_OP_VAR &&
             in->op != VYRE_OP_ARRAY) {
    c->map[i] = number(c, (vyre_type)in->type, 1);
  } else if (action >= EDIT_OPERAND0 && action <= EDIT_OPERAND2) {
    uint32_t k = (uint32_t)(action - EDIT_OPERAND0);
    bool fits = k < op_table[in->op].operand_count && op_table[in->op].operands[k] == 'v' &&
                ref_type(c->p, in->arg[k]) == (vyre_type)in->type && in->op != VYRE_OP_VAR;
    if (fits)
      c->map[i] = map_value(c, in->arg[k]);
    else
      c->failed = true;
  }
}

// ---- blocks -------------------------------------------------------------------------------------

static bool is_unwrapped(const copier *c, uint32_t opener) {
  return c->e->actions[opener] == EDIT_UNWRAP || c->e->actions[opener] == EDIT_UNWRAP_ELSE;
}

// Copies a structure operation and returns where to go on.
static uint32_t copy_structure(copier *c, uint32_t i) {
  const inst *in = &c->p->code[i];
  edit_action action = (edit_action)c->e->actions[i];
  switch ((vyre_op)in->op) {
  case VYRE_OP_IF:
  case VYRE_OP_FOR:
  case VYRE_OP_WHILE:
    if (action == EDIT_DROP) return inst_end(in) + 1;
    if (action == EDIT_UNWRAP_ELSE)
      return (in->op == VYRE_OP_IF && in->arg[1] ? in->arg[1] : i) + 1;
    if (action != EDIT_UNWRAP) copy_operation(c, i);
    if (action == EDIT_UNWRAP && in->op == VYRE_OP_FOR) c->map[i] = map_value(c, in->arg[0]);
    return i + 1;
  case VYRE_OP_ELSE:
    if (is_unwrapped(c, in->arg[1]) || action == EDIT_DROP) return in->arg[2];
    break;
  case VYRE_OP_DO:
  case VYRE_OP_END:
  case VYRE_OP_BREAK:
  case VYRE_OP_CONTINUE:
    if (is_unwrapped(c, in->arg[1])) return i + 1;
    if (in->op <= VYRE_OP_END) action = EDIT_KEEP;
    break;
  case OPS_COMPUTED:
  case OPS_LAUNCH:
  case OPS_MEMORY:
  case OPS_STATE:
  case VYRE_OP_RETURN:
  case VYRE_OP_BARRIER:
  case OPS_NONE: break;
  }
  if (action == EDIT_KEEP) copy_operation(c, i);
  return i + 1;
}

// What has an effect is live, and what a live operation mentions.
static void mark_live(copier *c) {
  const vyre_program *p = c->p;
  for (uint32_t i = p->code_count; i-- > 1;) {
    const inst *in = &p->code[i];
    uint8_t action = c->e->actions[i];
    bool is_object = in->op == VYRE_OP_VAR || in->op == VYRE_OP_ARRAY;
    if (op_is((vyre_op)in->op, OPF_STMT | OPF_OPEN | OPF_CLOSE) && !is_object) c->is_live[i] = 1;
    if (!c->is_live[i] || action == EDIT_DROP || action == EDIT_ONE || lacks_object(c, in))
      continue;
    const char *operands = op_table[in->op].operands;
    for (int k = 0; operands[k]; k++) {
      if ((operands[k] == 'v' && !ref_is_const(in->arg[k])) || operands[k] == 'x')
        c->is_live[in->arg[k]] = 1;
      else if (operands[k] == 'm' && mem_space(in->arg[k]) == MEM_PRIVATE)
        c->is_live[mem_index(in->arg[k])] = 1;
    }
  }
}

static void copy_range(copier *c, range part) {
  for (uint32_t i = part.first; i < part.end;) {
    if (c->p->code[i].op >= VYRE_OP_IF) {
      i = copy_structure(c, i);
    } else {
      copy_value(c, i);
      i++;
    }
  }
}

// ---- declarations -------------------------------------------------------------------------------

static const char *new_name(const copier *c, const char *old, char out[LIMIT_NAME + 1]) {
  snprintf(out, LIMIT_NAME + 1, "%s%s", c->prefix ? c->prefix : "", old);
  return out;
}

static void copy_interface(copier *c) {
  const vyre_program *p = c->p;
  char name[LIMIT_NAME + 1];
  for (uint32_t i = 0, next = c->param_base; i < p->param_count; i++) {
    if (c->e->drops_param[i]) continue;
    vyre_build_param(c->b, new_name(c, p->params[i].name, name), p->params[i].type);
    c->params[i] = next++;
  }
  for (uint32_t i = 0, next = c->buffer_base; i < p->buffer_count; i++)
    if (!c->e->drops_buffer[i]) c->buffers[i] = next++;
  vyre_build_fast(c->b, p->fast_ulp);
  if (!c->e->has_shapes) copy_range(c, p->header);
  for (uint32_t i = 0; i < p->buffer_count; i++) {
    const buffer *old = &p->buffers[i];
    if (c->e->drops_buffer[i]) continue;
    ref length = 0;
    if (old->length && !c->e->has_shapes) length = map_value(c, old->length);
    if (old->is_transient && c->e->has_shapes)
      length = vyre_build_u32(c->b, (uint32_t)c->lengths[i]);
    if (old->is_transient)
      vyre_build_transient(c->b, new_name(c, old->name, name), old->type, length);
    else
      vyre_build_buffer(c->b, new_name(c, old->name, name), old->type, old->access, length);
  }
}

static bool uses_shared(const copier *c, const region *r, uint32_t array) {
  for (uint32_t i = r->body.first; i < r->body.end; i++)
    if (op_table[c->p->code[i].op].operands[0] == 'm' &&
        c->p->code[i].arg[0] == MEM_REF(MEM_SHARED, array))
      return true;
  return false;
}

static void copy_region(copier *c, uint32_t index, uint32_t *shared_count) {
  const region *r = &c->p->regions[index];
  char name[LIMIT_NAME + 1];
  vyre_build_region_begin(c->b, new_name(c, r->name, name));
  ref grid[3];
  if (!c->e->has_shapes) copy_range(c, r->grid_code);
  for (int k = 0; k < 3; k++)
    grid[k] = c->e->has_shapes ? vyre_build_u32(c->b, (uint32_t)c->e->grids[index][k])
                               : map_value(c, r->grid[k]);
  vyre_build_grid(c->b, r->rank, grid, c->e->has_shapes ? c->e->workgroups[index] : r->workgroup);
  c->shared_shift = *shared_count - r->shared.first;
  // The last arrays go when nobody uses them; the others would shift numbers.
  uint32_t end = r->shared.end;
  while (end > r->shared.first && !uses_shared(c, r, end - 1)) end--;
  for (uint32_t i = r->shared.first; i < end; i++, ++*shared_count)
    vyre_build_shared(c->b, c->p->shared[i].name, c->p->shared[i].type, c->p->shared[i].length);
  copy_range(c, r->body);
  vyre_build_region_end(c->b);
}

// ---- the whole ----------------------------------------------------------------------------------

static bool copy_inputs(const edit *e, const trial *from, trial *to) {
  const vyre_program *p = from->program;
  for (uint32_t i = 0; i < from->param_count; i++)
    if (!e->drops_param[i]) to->params[to->param_count++] = from->params[i];
  for (uint32_t i = 0, bound = 0; i < p->buffer_count; i++) {
    if (p->buffers[i].is_transient) continue;
    const vyre_span *old = &from->buffers[bound++];
    if (e->drops_buffer[i]) continue;
    void *data = malloc(old->size_bytes + 1);
    if (!data) return false;
    memcpy(data, old->data, old->size_bytes);
    to->buffers[to->buffer_count++] = (vyre_span){data, old->size_bytes};
  }
  return true;
}

static bool make_room(trial *t, uint32_t params, uint32_t buffers) {
  t->params = calloc(params + 1u, sizeof *t->params);
  t->buffers = calloc(buffers + 1u, sizeof *t->buffers);
  return t->params && t->buffers;
}

// Reads the old program; nothing is built yet.
static bool copier_init(copier *c) {
  const vyre_program *p = c->p;
  c->map = calloc(p->code_count + 1u, sizeof *c->map);
  c->is_live = calloc(p->code_count + 1u, 1);
  c->params = calloc(p->param_count + 1u, sizeof *c->params);
  c->buffers = calloc(p->buffer_count + 1u, sizeof *c->buffers);
  c->lengths = calloc(p->buffer_count + 1u, sizeof *c->lengths);
  if (!c->map || !c->is_live || !c->params || !c->buffers || !c->lengths) return false;
  c->failed |= !trial_extents(c->from, c->lengths, NULL);
  // Objects are looked up by lacks_object before they are copied: none is gone yet.
  for (uint32_t i = 0; i < p->code_count; i++) c->map[i] = 1;
  mark_live(c);
  memset(c->map, 0, p->code_count * sizeof *c->map);
  for (uint32_t i = 0; i < p->header.end; i++) c->is_live[i] = 1;
  for (uint32_t r = 0; r < p->region_count; r++)
    for (uint32_t i = p->regions[r].grid_code.first; i < p->regions[r].grid_code.end; i++)
      c->is_live[i] = 1;
  return true;
}

static void copier_fini(copier *c) {
  free(c->map);
  free(c->is_live);
  free(c->params);
  free(c->buffers);
  free(c->lengths);
}

bool edit_apply(const edit *e, const trial *from, trial *to) {
  copier c = {.e = e, .from = from, .p = from->program, .b = vyre_builder_new(from->program->name)};
  *to = (trial){0};
  bool ok = c.b && copier_init(&c) && make_room(to, from->param_count, from->buffer_count);
  if (ok) {
    uint32_t shared_count = 0;
    copy_interface(&c);
    for (uint32_t i = 0; i < c.p->region_count; i++)
      if (!e->drops_region[i]) copy_region(&c, i, &shared_count);
    memcpy(to->workgroup, from->workgroup, sizeof to->workgroup);
    ok = !c.failed && vyre_builder_finish(c.b, &to->program, NULL) == VYRE_OK &&
         copy_inputs(e, from, to);
  }
  if (!ok) trial_fini(to);
  vyre_builder_free(c.b);
  copier_fini(&c);
  return ok;
}

// ---- merging ------------------------------------------------------------------------------------

// How many of the trials fit into one program, and what they have together.
static uint32_t count_fitting(const trial *trials, uint32_t count, uint32_t *params,
                              uint32_t *buffers) {
  uint32_t n = 0, shared = 0;
  for (*params = *buffers = 0; n < count; n++) {
    const vyre_program *p = trials[n].program;
    if (*params + p->param_count > LIMIT_PARAMS || *buffers + p->buffer_count > LIMIT_BUFFERS ||
        shared + p->shared_count > LIMIT_SHARED_ARRAYS ||
        p->fast_ulp != trials[0].program->fast_ulp)
      break;
    *params += p->param_count;
    *buffers += p->buffer_count;
    shared += p->shared_count;
  }
  return n;
}

typedef struct part {
  edit edit;
  copier copier;
  char prefix[16];
} part;

static bool copy_parts(part *parts, const trial *trials, uint32_t count, vyre_builder *b,
                       trial *out) {
  uint32_t shared_count = 0, params = 0, buffers = 0;
  for (uint32_t n = 0; n < count; n++) {
    copier *c = &parts[n].copier;
    snprintf(parts[n].prefix, sizeof parts[n].prefix, "m%u_", n);
    *c = (copier){.e = &parts[n].edit, .from = &trials[n], .p = trials[n].program, .b = b};
    c->prefix = parts[n].prefix;
    c->param_base = params;
    c->buffer_base = buffers;
    if (!edit_init(&parts[n].edit, &trials[n]) || !copier_init(c)) return false;
    copy_interface(c);
    params += c->p->param_count;
    buffers += c->p->buffer_count;
    if (!copy_inputs(c->e, c->from, out)) return false;
  }
  for (uint32_t n = 0; n < count; n++)
    for (uint32_t i = 0; i < trials[n].program->region_count; i++)
      copy_region(&parts[n].copier, i, &shared_count);
  return vyre_builder_finish(b, &out->program, NULL) == VYRE_OK;
}

bool edit_merge(const trial *trials, uint32_t count, trial *out, uint32_t *merged) {
  uint32_t params, buffers;
  *out = (trial){0};
  *merged = count_fitting(trials, count, &params, &buffers);
  part *parts = calloc(*merged + 1u, sizeof *parts);
  vyre_builder *b = vyre_builder_new("merged");
  bool ok =
      parts && b && make_room(out, params, buffers) && copy_parts(parts, trials, *merged, b, out);
  if (!ok) trial_fini(out);
  for (uint32_t n = 0; parts && n < *merged; n++) {
    copier_fini(&parts[n].copier);
    edit_fini(&parts[n].edit);
  }
  free(parts);
  vyre_builder_free(b);
  return ok;
}
