// SPDX-License-Identifier: MIT
//
// What stands around the operations: capabilities, float modes, the variables of the interface, and
// one entry point per region.
#include "backend/vulkan/emit.h"

#include "backend/spell/names.h"
#include "backend/traits.h"
#include "backend/vulkan/emitter.h"
#include "base/error.h"
#include "lower/lower.h"

#include <stdlib.h>
#include <string.h>

enum { VERSION_1_3 = 0x00010300, SIZE_CONSTANTS = 3 };

const vulkan_target vulkan_full_target = {
    .lower = {.name = "vulkan",
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
              .has_bit_counts = true,
              .has_small_buffers = true, // device.c sees to it
              .has_i64_atomics = true,
              .has_i64_extended_atomics = true,
              .pads_grid = true},
    .modes = {.keeps_subnormals = 6, .keeps_special = 6, .rounds_to_even = 6},
    .push_bytes = 128,
};

// ---- the module ---------------------------------------------------------------------------------

static void put_name(emitter *e, uint32_t id, const char *name) {
  if (e->has_names) spirv_put_text(&e->m, SECTION_NAMES, SpvOpName, &id, 1, name, NULL, 0);
}

// The workgroup: three specialisation constants, with the first region's extents where nobody
// specialises them.
static void put_sizes(emitter *e, const region *first) {
  uint32_t u32 = emitter_u32(e);
  for (uint32_t k = 0; k < SIZE_CONSTANTS; k++) {
    uint32_t extent = k < first->rank ? first->workgroup[k] : 1;
    e->size[k] = spirv_id(&e->m);
    spirv_put(&e->m, SECTION_GLOBALS, SpvOpSpecConstant, u32, e->size[k], extent);
    spirv_put(&e->m, SECTION_DECORATIONS, SpvOpDecorate, e->size[k], SpvDecorationSpecId, k);
  }
  uint32_t triple = spirv_declare(&e->m, SpvOpTypeVector, 0, u32, 3), all = spirv_id(&e->m);
  spirv_put(&e->m, SECTION_GLOBALS, SpvOpSpecConstantComposite, triple, all, e->size[0], e->size[1],
            e->size[2]);
  spirv_put(&e->m, SECTION_DECORATIONS, SpvOpDecorate, all, SpvDecorationBuiltIn,
            SpvBuiltInWorkgroupSize);
}

static uint32_t put_builtin(emitter *e, SpvBuiltIn what, const char *name) {
  uint32_t triple = spirv_declare(&e->m, SpvOpTypeVector, 0, emitter_u32(e), 3);
  uint32_t pointer = spirv_declare(&e->m, SpvOpTypePointer, 0, SpvStorageClassInput, triple);
  uint32_t made = spirv_id(&e->m);
  spirv_put(&e->m, SECTION_GLOBALS, SpvOpVariable, pointer, made, SpvStorageClassInput);
  spirv_put(&e->m, SECTION_DECORATIONS, SpvOpDecorate, made, SpvDecorationBuiltIn, what);
  put_name(e, made, name);
  return made;
}

static void begin_module(emitter *e, const region *first) {
  spirv_module *m = &e->m;
  spirv_require(m, SpvCapabilityShader);
  const vulkan_float_modes *modes = &e->t->modes;
  if (modes->keeps_subnormals) spirv_require(m, SpvCapabilityDenormPreserve);
  if (modes->keeps_special) spirv_require(m, SpvCapabilitySignedZeroInfNanPreserve);
  if (modes->rounds_to_even) spirv_require(m, SpvCapabilityRoundingModeRTE);
  if (modes->keeps_subnormals | modes->keeps_special | modes->rounds_to_even)
    spirv_extension(m, "SPV_KHR_float_controls");
  e->glsl = spirv_id(m);
  spirv_put_text(m, SECTION_IMPORTS, SpvOpExtInstImport, &e->glsl, 1, "GLSL.std.450", NULL, 0);
  spirv_put(m, SECTION_MODEL, SpvOpMemoryModel, SpvAddressingModelLogical, SpvMemoryModelGLSL450);
  put_sizes(e, first);
  e->group_id = put_builtin(e, SpvBuiltInWorkgroupId, "group_id");
  e->local_id = put_builtin(e, SpvBuiltInLocalInvocationId, "local_id");
}

// ---- buffers ------------------------------------------------------------------------------------

static void bind(emitter *e, uint32_t variable, uint32_t binding) {
  spirv_put(&e->m, SECTION_DECORATIONS, SpvOpDecorate, variable, SpvDecorationDescriptorSet, 0);
  spirv_put(&e->m, SECTION_DECORATIONS, SpvOpDecorate, variable, SpvDecorationBinding, binding);
}

static uint32_t put_variable(emitter *e, uint32_t storage, uint32_t type) {
  uint32_t pointer = spirv_declare(&e->m, SpvOpTypePointer, 0, storage, type);
  uint32_t made = spirv_id(&e->m);
  spirv_put(&e->m, SECTION_GLOBALS, SpvOpVariable, pointer, made, storage);
  return made;
}

// A struct whose members are at these offsets, decorated when it is new.
static uint32_t block_type(emitter *e, uint32_t member, uint32_t count) {
  uint32_t *members = malloc((count + 1u) * sizeof *members);
  bool is_new = false;
  if (!members) {
    e->m.failed = true;
    return 0;
  }
  for (uint32_t i = 0; i < count; i++) members[i] = member;
  uint32_t made = spirv_declare_words(&e->m, SpvOpTypeStruct, 0, members, count, &is_new);
  free(members);
  if (!is_new) return made;
  spirv_put(&e->m, SECTION_DECORATIONS, SpvOpDecorate, made, SpvDecorationBlock);
  for (uint32_t i = 0; i < count; i++)
    spirv_put(&e->m, SECTION_DECORATIONS, SpvOpMemberDecorate, made, i, SpvDecorationOffset, 4 * i);
  return made;
}

static void require_small_storage(emitter *e, uint32_t bytes) {
  spirv_require(&e->m, bytes == 1 ? SpvCapabilityStorageBuffer8BitAccess
                                  : SpvCapabilityStorageBuffer16BitAccess);
  if (bytes == 1 && !e->has_8_bits) spirv_extension(&e->m, "SPV_KHR_8bit_storage");
  e->has_8_bits |= bytes == 1;
}

static void put_buffer(emitter *e, uint32_t i) {
  vyre_type t = emitter_declared(e, MEM_REF(MEM_BUFFER, i));
  bool is_new = false;
  if (type_bytes(t) < 4) require_small_storage(e, type_bytes(t));
  uint32_t element = emitter_memory(e, t);
  uint32_t array = spirv_declare_words(&e->m, SpvOpTypeRuntimeArray, 0, &element, 1, &is_new);
  if (is_new)
    spirv_put(&e->m, SECTION_DECORATIONS, SpvOpDecorate, array, SpvDecorationArrayStride,
              type_bytes(t));
  uint32_t made = put_variable(e, SpvStorageClassStorageBuffer, block_type(e, array, 1));
  bind(e, made, i);
  // Nobody binds what is written twice. What a workgroup hands on at a barrier has to be seen.
  spirv_put(&e->m, SECTION_DECORATIONS, SpvOpDecorate, made, SpvDecorationRestrict);
  if (!(e->accesses[i] & OPF_WRITES))
    spirv_put(&e->m, SECTION_DECORATIONS, SpvOpDecorate, made, SpvDecorationNonWritable);
  else if ((e->accesses[i] & OPF_READS) && e->r->has_barrier)
    spirv_put(&e->m, SECTION_DECORATIONS, SpvOpDecorate, made, SpvDecorationCoherent);
  put_name(e, made, e->p->buffers[i].name);
  e->buffers[i] = made;
}

static void put_stop_flag(emitter *e) {
  e->stop = put_variable(e, SpvStorageClassStorageBuffer, block_type(e, emitter_u32(e), 1));
  bind(e, e->stop, vulkan_stop_binding(e->p));
  spirv_put(&e->m, SECTION_DECORATIONS, SpvOpDecorate, e->stop, SpvDecorationCoherent);
  put_name(e, e->stop, "stop");
}

// ---- regions ------------------------------------------------------------------------------------

static void add_fact(emitter *e, vulkan_fact_kind kind, uint32_t index, uint32_t part) {
  vulkan_fact wanted = {(uint8_t)kind, (uint8_t)part, (uint16_t)index};
  for (size_t i = 0; i < e->facts.count; i++)
    if (!memcmp(&e->facts.at[i], &wanted, sizeof wanted)) return;
  if (!vec_push(&e->facts, wanted)) e->m.failed = true;
}

// What the region reads of the launch, and which buffers it touches.
static void collect(emitter *e) {
  e->facts.count = 0;
  memset(e->uses, 0, sizeof e->uses);
  if (e->t->hides_floats) add_fact(e, FACT_OF_ZERO, 0, 0);
  for (uint32_t i = e->r->body.first; i < e->r->body.end; i++) {
    const inst *in = &e->p->code[i];
    uint32_t n = in->arg[0];
    bool is_inside = n < e->r->rank;
    if (in->op == VYRE_OP_PARAM) {
      add_fact(e, FACT_OF_PARAM, n, 0);
      if (type_bits(in->type) == 64) add_fact(e, FACT_OF_PARAM, n, 1);
    } else if (in->op == OP_PARAM_WORD) {
      add_fact(e, FACT_OF_PARAM, n, (uint32_t)e->p->consts[ref_index(in->arg[1])].bits);
    } else if (in->op == VYRE_OP_LEN) {
      add_fact(e, FACT_OF_LENGTH, n, 0);
    } else if (in->op == VYRE_OP_GLOBAL_SIZE || in->op == VYRE_OP_GROUP_COUNT) {
      if (is_inside) add_fact(e, FACT_OF_GRID, n, 0);
    } else if (in->op == VYRE_OP_GLOBAL_ID || in->op == VYRE_OP_GROUP_ID) {
      if (is_inside) add_fact(e, FACT_OF_BASE, n, 0);
    }
    if (op_table[in->op].operands[0] == 'm' && mem_space(n) == MEM_BUFFER)
      e->uses[mem_index(n)] |= (uint8_t)(op_table[in->op].flags & (OPF_READS | OPF_WRITES));
  }
}

// Facts are pushed where they fit, and are in a uniform buffer otherwise.
static void put_facts(emitter *e) {
  uint32_t count = (uint32_t)e->facts.count;
  bool is_pushed = 4 * count <= e->t->push_bytes;
  e->fact_class = is_pushed ? SpvStorageClassPushConstant : SpvStorageClassUniform;
  if (!count) return;
  e->fact_block = put_variable(e, e->fact_class, block_type(e, emitter_u32(e), count));
  if (!is_pushed) bind(e, e->fact_block, vulkan_uniform_binding(e->p));
  put_name(e, e->fact_block, "launch");
}

static void put_shared(emitter *e) {
  for (uint32_t i = e->r->shared.first; i < e->r->shared.end; i++) {
    const shared_array *s = &e->p->shared[i];
    if (type_bytes(s->type) < 4)
      spirv_require(&e->m, type_bytes(s->type) == 1 ? SpvCapabilityInt8 : SpvCapabilityInt16);
    vyre_type declared = emitter_declared(e, MEM_REF(MEM_SHARED, i));
    uint32_t array = spirv_declare(&e->m, SpvOpTypeArray, 0, emitter_memory(e, declared),
                                   emitter_number(e, s->length));
    e->shared[i] = put_variable(e, SpvStorageClassWorkgroup, array);
    put_name(e, e->shared[i], s->name);
  }
}

static void put_float_mode(emitter *e, uint32_t entry, SpvExecutionMode mode, uint8_t widths) {
  for (uint32_t k = 0; k < 3; k++)
    if (widths >> k & 1) spirv_put(&e->m, SECTION_MODES, SpvOpExecutionMode, entry, mode, 16u << k);
}

static void put_entry(emitter *e, uint32_t entry, const char *name) {
  const uint32_t head[] = {SpvExecutionModelGLCompute, entry};
  const uint32_t interface[] = {e->group_id, e->local_id};
  spirv_put_text(&e->m, SECTION_ENTRIES, SpvOpEntryPoint, head, 2, name, interface, 2);
  const uint32_t *w = e->r->workgroup, rank = e->r->rank;
  spirv_put(&e->m, SECTION_MODES, SpvOpExecutionMode, entry, SpvExecutionModeLocalSize, w[0],
            rank > 1 ? w[1] : 1, rank > 2 ? w[2] : 1);
  put_float_mode(e, entry, SpvExecutionModeDenormPreserve, e->t->modes.keeps_subnormals);
  put_float_mode(e, entry, SpvExecutionModeSignedZeroInfNanPreserve, e->t->modes.keeps_special);
  put_float_mode(e, entry, SpvExecutionModeRoundingModeRTE, e->t->modes.rounds_to_even);
}

static void emit_region(emitter *e, uint32_t index, const char *name) {
  e->r = &e->p->regions[index];
  uint32_t none = spirv_declare_words(&e->m, SpvOpTypeVoid, 0, NULL, 0, NULL);
  uint32_t type = spirv_declare(&e->m, SpvOpTypeFunction, 0, none), entry = spirv_id(&e->m);
  collect(e);
  for (uint32_t i = 0; i < e->p->buffer_count; i++)
    if (e->uses[i] && !e->buffers[i]) put_buffer(e, i);
  put_facts(e);
  put_shared(e);
  put_entry(e, entry, name);
  emitter_read_facts(e);
  emitter_begin_code(e);
  flow_begin_turns(e);
  for (uint32_t i = e->r->body.first; i < e->r->body.end && !e->m.failed; i++)
    emitter_operation(e, i);
  emitter_end_code(e);
  spirv_end_function(&e->m, entry, none, type);
}

// ---- emissions ----------------------------------------------------------------------------------

static bool emitter_init(emitter *e, const vyre_program *lowered, const vulkan_target *target) {
  *e = (emitter){.p = lowered, .t = target};
  uint32_t buffers = lowered->buffer_count;
  e->values = calloc(lowered->code_count + 1u, sizeof *e->values);
  e->shared = calloc(lowered->shared_count + 1u, sizeof *e->shared);
  e->holds_bits = calloc(buffers + lowered->shared_count + 1u, sizeof *e->holds_bits);
  if (!e->values || !e->shared || !e->holds_bits) return false;
  for (uint32_t i = 1; i < lowered->code_count; i++) {
    const inst *in = &lowered->code[i];
    if (op_table[in->op].operands[0] != 'm' || mem_space(in->arg[0]) == MEM_PRIVATE) continue;
    uint32_t at = mem_index(in->arg[0]);
    bool is_shared = mem_space(in->arg[0]) == MEM_SHARED;
    if (op_is_atomic(in->op)) e->holds_bits[at + (is_shared ? buffers : 0)] = true;
    if (!is_shared) e->accesses[at] |= (uint8_t)(op_table[in->op].flags & (OPF_READS | OPF_WRITES));
  }
  return true;
}

static void emitter_fini(emitter *e) {
  spirv_fini(&e->m);
  vec_free(&e->facts);
  vec_free(&e->fact_values);
  vec_free(&e->hidden);
  free(e->values);
  free(e->shared);
  free(e->holds_bits);
}

static void emitter_begin_module(emitter *e, uint32_t first) {
  spirv_fini(&e->m);
  memset(e->buffers, 0, sizeof e->buffers);
  e->has_8_bits = false;
  begin_module(e, &e->p->regions[first]);
  if (e->p->target->polls_stop) put_stop_flag(e);
}

// What the region at work came to, and its module.
static bool take_shader(emitter *e, const char *name, vulkan_shader *out) {
  uint32_t used = 0;
  for (uint32_t i = 0; i < e->p->buffer_count; i++) used += e->uses[i] != 0;
  *out = (vulkan_shader){.entry = strdup(name), .fact_count = (uint32_t)e->facts.count};
  out->uses = malloc((used + 1u) * sizeof *out->uses);
  out->facts = malloc((out->fact_count + 1u) * sizeof *out->facts);
  out->code = spirv_finish(&e->m, VERSION_1_3, &out->words);
  if (!out->entry || !out->uses || !out->facts || !out->code) return false;
  for (uint32_t i = 0; i < e->p->buffer_count; i++)
    if (e->uses[i])
      out->uses[out->use_count++] =
          (vulkan_use){(uint16_t)i, (e->uses[i] & OPF_READS) != 0, (e->uses[i] & OPF_WRITES) != 0};
  if (out->fact_count) memcpy(out->facts, e->facts.at, out->fact_count * sizeof *out->facts);
  out->has_uniform = out->fact_count && e->fact_class == SpvStorageClassUniform;
  return true;
}

bool vulkan_is_long(const vyre_program *p, const region *r, const vulkan_target *target) {
  return traits_is_long(p, r) || (target->most_turns && traits_trips(p, r) > target->most_turns);
}

static bool emit_shaders(emitter *e, const vyre_program *program, vulkan_source *out) {
  name_set names = {0};
  out->shaders = calloc(program->region_count + 1u, sizeof *out->shaders);
  bool ok = out->shaders != NULL;
  for (uint32_t i = 0; i < program->region_count && ok; i++) {
    const char *name = names_take(&names, program->regions[i].name, "region");
    emitter_begin_module(e, i);
    emit_region(e, i, name);
    ok = take_shader(e, name, &out->shaders[out->shader_count++]) && !names.failed;
    if (ok) out->shaders[i].has_loop = vulkan_is_long(program, &program->regions[i], e->t);
  }
  names_fini(&names);
  return ok;
}

static uint32_t *emit_all(emitter *e, size_t *words) {
  name_set names = {0};
  e->has_names = true;
  emitter_begin_module(e, 0);
  for (uint32_t i = 0; i < e->p->region_count; i++)
    emit_region(e, i, names_take(&names, e->p->regions[i].name, "region"));
  uint32_t *code = names.failed ? NULL : spirv_finish(&e->m, VERSION_1_3, words);
  names_fini(&names);
  return code;
}

static vyre_status lower(const vyre_program *program, const vulkan_target *target, bool is_polled,
                         vyre_program **out, vyre_error *error) {
  lower_target wanted = target->lower;
  wanted.polls_stop = is_polled;
  return lower_program(program, &wanted, out, error);
}

vyre_status vulkan_emit(const vyre_program *program, const vulkan_target *target, bool is_polled,
                        vulkan_source *out, vyre_error *error) {
  vyre_program *lowered;
  emitter *e = malloc(sizeof *e);
  *out = (vulkan_source){.is_polled = is_polled};
  if (!e) return error_out_of_memory(error);
  vyre_status status = lower(program, target, is_polled, &lowered, error);
  if (status == VYRE_OK) {
    bool ok = emitter_init(e, lowered, target) && emit_shaders(e, program, out);
    emitter_fini(e);
    vyre_program_release(lowered);
    if (!ok) {
      vulkan_source_fini(out);
      status = error_out_of_memory(error);
    }
  }
  free(e);
  return status;
}

vyre_status vulkan_emit_module(const vyre_program *program, const vulkan_target *target,
                               bool is_polled, uint32_t **code, size_t *words, vyre_error *error) {
  vyre_program *lowered;
  emitter *e = malloc(sizeof *e);
  *code = NULL;
  if (!e) return error_out_of_memory(error);
  vyre_status status = lower(program, target, is_polled, &lowered, error);
  if (status == VYRE_OK) {
    if (emitter_init(e, lowered, target)) *code = emit_all(e, words);
    emitter_fini(e);
    vyre_program_release(lowered);
    if (!*code) status = error_out_of_memory(error);
  }
  free(e);
  return status;
}

void vulkan_source_fini(vulkan_source *s) {
  for (uint32_t i = 0; i < s->shader_count; i++) {
    free(s->shaders[i].entry);
    free(s->shaders[i].code);
    free(s->shaders[i].uses);
    free(s->shaders[i].facts);
  }
  free(s->shaders);
  *s = (vulkan_source){0};
}
