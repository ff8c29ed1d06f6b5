// SPDX-License-Identifier: MIT
//
// Bytes to program. The decoder checks the frame and that the spelling is the canonical one; what
// the records mean is judged by the verifier, whose codes a hostile file meets like any other
// program. Memory is bounded by the input: a count is believed only while the bytes that remain can
// hold that many records.
//
// Failure is sticky: the first fault is kept, the cursor then stands at the end of its section and
// every further read gives 0, so that the code that fills records need not look.
#include "ir/wire.h"

#include "base/error.h"
#include "base/fpenv.h"
#include "ir/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Where the reading is. The loop over the code keeps its own in registers.
typedef struct cursor {
  const uint8_t *at, *end;
  const uint8_t *fault_at;
  const char *fault; // NULL while all is well
} cursor;

typedef struct decoder {
  cursor in; // of the section being read
  vyre_program *program;
  const uint8_t *file;
  uint32_t used_consts; // constants met so far; the next new one has this number
  bool is_out_of_memory;
  bool has_tunables;
} decoder;

static void fail(cursor *in, const char *what) {
  if (!in->fault) {
    in->fault = what;
    in->fault_at = in->at;
  }
  in->at = in->end;
}

static inline uint8_t read_byte(cursor *in) {
  if (in->at < in->end) return *in->at++;
  fail(in, "the section ends inside a record");
  return 0;
}

// Minimal LEB128 of 32 bits.
static inline uint32_t read_number(cursor *in) {
  uint64_t value = 0;
  for (int shift = 0; shift < 35 && in->at < in->end; shift += 7) {
    uint8_t byte = *in->at++;
    value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte & 0x80) continue;
    if ((shift && !byte) || value > UINT32_MAX) break;
    return (uint32_t)value;
  }
  fail(in, "a number is cut off, padded with zeros or above 4294967295");
  return 0;
}

// A count of records that take at least `record_bytes` each.
static uint32_t read_count(cursor *in, size_t record_bytes) {
  uint32_t count = read_number(in);
  if (count <= (size_t)(in->end - in->at) / record_bytes) return count;
  fail(in, "a count is larger than the section can hold");
  return 0;
}

// Points into the section, which must be the program's own copy.
static const char *read_name(cursor *in) {
  const char *name = (const char *)in->at;
  const uint8_t *stop = in->at < in->end ? memchr(in->at, 0, (size_t)(in->end - in->at)) : NULL;
  if (!stop) {
    fail(in, "a name has no end");
    return "";
  }
  in->at = stop + 1;
  return name;
}

// A reference of the interface. Constants are checked when their turn of use comes, values by the
// verifier.
static ref read_ref(cursor *in) {
  uint32_t number = read_number(in);
  return number & 1 ? REF_CONST | number >> 1 : number >> 1;
}

static void *alloc(decoder *d, size_t count, size_t size) {
  if (d->in.fault || d->is_out_of_memory) return NULL;
  void *memory = arena_alloc_array(&d->program->arena, count, size);
  d->is_out_of_memory = !memory;
  return memory;
}

// ---- interface ----------------------------------------------------------------------------------

static void read_params(decoder *d) {
  vyre_program *p = d->program;
  uint32_t count = read_count(&d->in, 2);
  p->params = alloc(d, count, sizeof *p->params);
  if (!p->params) return;
  p->param_count = count;
  for (uint32_t i = 0; i < count; i++) {
    p->params[i].type = (vyre_type)read_byte(&d->in);
    p->params[i].name = read_name(&d->in);
  }
}

static void read_buffers(decoder *d) {
  vyre_program *p = d->program;
  uint32_t count = read_count(&d->in, 4);
  p->buffers = alloc(d, count, sizeof *p->buffers);
  if (!p->buffers) return;
  p->buffer_count = count;
  for (uint32_t i = 0; i < count; i++) {
    buffer *b = &p->buffers[i];
    b->type = (vyre_type)read_byte(&d->in);
    unsigned flags = read_byte(&d->in);
    b->access = (vyre_access)(flags & WIRE_ACCESS_MASK);
    b->is_transient = (flags & WIRE_TRANSIENT) != 0;
    if (flags & ~(unsigned)(WIRE_ACCESS_MASK | WIRE_TRANSIENT) || !b->access)
      fail(&d->in, "a buffer has an unknown access");
    if (b->is_transient && b->access != VYRE_READWRITE)
      fail(&d->in, "a transient buffer is not readwrite");
    b->name = read_name(&d->in);
    b->length = read_ref(&d->in);
  }
}

static void read_regions(decoder *d) {
  vyre_program *p = d->program;
  p->header = (range){1, 1};
  uint64_t code = 1 + (uint64_t)read_number(&d->in), shared = 0;
  uint32_t count = read_count(&d->in, 11);
  if (code <= LIMIT_CODE) p->header.end = (uint32_t)code;
  p->regions = alloc(d, count, sizeof *p->regions);
  if (!p->regions) return;
  p->region_count = count;
  for (uint32_t i = 0; i < count; i++) {
    region *r = &p->regions[i];
    r->name = read_name(&d->in);
    r->rank = read_number(&d->in);
    for (int k = 0; k < 3; k++) r->grid[k] = read_ref(&d->in);
    for (int k = 0; k < 3; k++) r->workgroup[k] = read_number(&d->in);
    r->shared.first = (uint32_t)shared;
    r->shared.end = (uint32_t)(shared += read_number(&d->in));
    r->grid_code.first = (uint32_t)code;
    r->grid_code.end = r->body.first = (uint32_t)(code += read_number(&d->in));
    r->body.end = (uint32_t)(code += read_number(&d->in));
  }
  // Checked before anything is allocated by these sums, and before their lower halves are used.
  if (code > LIMIT_CODE) fail(&d->in, "there are more operations than a program may have");
  if (shared > (size_t)(d->in.end - d->in.at) / 2)
    fail(&d->in, "there are more shared arrays than bytes");
  p->code_count = (uint32_t)code;
  p->shared_count = (uint32_t)shared;
}

static void read_shared(decoder *d) {
  vyre_program *p = d->program;
  p->shared = alloc(d, p->shared_count, sizeof *p->shared);
  if (!p->shared) return;
  for (uint32_t i = 0; i < p->shared_count; i++) {
    p->shared[i].type = (vyre_type)read_byte(&d->in);
    p->shared[i].length = read_number(&d->in);
    p->shared[i].name = "";
  }
  for (uint32_t i = 0; i < p->region_count; i++)
    for (uint32_t k = p->regions[i].shared.first; k < p->regions[i].shared.end; k++)
      p->shared[k].region = i;
}

static void read_interface(decoder *d) {
  d->program->name = read_name(&d->in);
  d->program->fast_ulp = read_number(&d->in);
  read_params(d);
  read_buffers(d);
  read_regions(d);
  read_shared(d);
}

// ---- constants ----------------------------------------------------------------------------------

static uint64_t read_bits(cursor *in, unsigned type) {
  unsigned bytes = type < VYRE_TYPE_COUNT ? type_bytes(type) : 0;
  uint64_t bits = 0;
  for (unsigned i = 0; i < bytes; i++) bits |= (uint64_t)read_byte(in) << 8 * i;
  return bytes && type_is_int(type) ? type_canonical_bits((vyre_type)type, bits) : bits;
}

// Two equal constants would give one program two spellings. The table's hash starts from the file's
// checksum, so that nobody can make a file whose constants all collide.
static void check_distinct(decoder *d) {
  const vyre_program *p = d->program;
  size_t size = 64;
  while (size < 2 * (size_t)p->const_count) size *= 2;
  uint32_t *table = calloc(size, sizeof *table); // index + 1
  if (!table) {
    d->is_out_of_memory = true;
    return;
  }
  uint64_t key[3] = {wire_get_u64(d->file + WIRE_AT_CHECKSUM)};
  for (uint32_t i = 0; i < p->const_count && !d->in.fault; i++) {
    key[1] = p->consts[i].bits;
    key[2] = p->consts[i].type;
    size_t at = hash_fast(key, sizeof key) & (size - 1);
    for (; table[at]; at = (at + 1) & (size - 1)) {
      const constant *other = &p->consts[table[at] - 1];
      if (other->bits == key[1] && other->type == key[2]) fail(&d->in, "two constants are equal");
    }
    table[at] = i + 1;
  }
  free(table);
}

static void read_constants(decoder *d) {
  vyre_program *p = d->program;
  uint32_t count = read_count(&d->in, 1);
  if (count > LIMIT_CONSTS) fail(&d->in, "there are more constants than a program may have");
  p->consts = alloc(d, count, sizeof *p->consts);
  if (!p->consts) return;
  p->const_count = count;
  for (uint32_t i = 0; i < count; i++) {
    p->consts[i].type = read_byte(&d->in);
    p->consts[i].bits = read_bits(&d->in, p->consts[i].type);
  }
  if (!d->in.fault) check_distinct(d);
}

// ---- code ---------------------------------------------------------------------------------------

// Constants are numbered in the order of their first use, which also proves each number in range.
static inline void use_constant(cursor *in, uint32_t index, uint32_t *used, uint32_t count) {
  if (index < *used) return;
  if (index == *used && index < count)
    ++*used;
  else
    fail(in, "constants are not numbered in the order of their first use");
}

// The first operand, where it is not a value.
static inline uint32_t read_first(cursor *in, char kind, uint32_t at) {
  uint32_t number = read_number(in), space = number & 3, index = number >> 2;
  switch (kind) {
  case 'x': return at - number;
  case 'm': return MEM_REF(space, mem_index(space == MEM_PRIVATE ? at - index : index));
  default: return number;
  }
}

static void read_code(decoder *d, range part) {
  cursor in = d->in;
  uint32_t used = d->used_consts, const_count = d->program->const_count;
  inst *to = d->program->code + part.first;
  for (uint32_t i = part.first; i < part.end; i++, to++) {
    to->op = read_byte(&in);
    to->type = read_byte(&in);
    const op_info *op = &op_table[to->op < VYRE_OP_COUNT ? to->op : VYRE_OP_NONE];
    int slot = op_first_value(op);
    if (slot && op->operand_count) to->arg[0] = read_first(&in, op->operands[0], i);
    for (; slot < op->operand_count; slot++) {
      uint32_t number = read_number(&in);
      if (number & 1) use_constant(&in, number >> 1, &used, const_count);
      to->arg[slot] = number & 1 ? REF_CONST | number >> 1 : (i - (number >> 1)) & ~REF_CONST;
    }
  }
  d->in = in;
  d->used_consts = used;
}

static void use_ref(decoder *d, ref r) {
  if (!ref_is_const(r)) return;
  use_constant(&d->in, ref_index(r), &d->used_consts, d->program->const_count);
}

static bool is_one(const vyre_program *p, ref r) {
  if (!ref_is_const(r) || ref_index(r) >= p->const_count) return false;
  const constant *c = &p->consts[ref_index(r)];
  return c->type == VYRE_U32 && c->bits == 1;
}

static void check_grid(decoder *d, const region *r) {
  for (uint32_t k = 0; k < 3; k++) {
    use_ref(d, r->grid[k]);
    if (r->rank >= 1 && k >= r->rank && !is_one(d->program, r->grid[k]))
      fail(&d->in, "an extent past the rank of its grid is not the constant 1");
  }
}

static void read_all_code(decoder *d) {
  vyre_program *p = d->program;
  if (!d->in.fault && p->code_count - 1 > (size_t)(d->in.end - d->in.at) / 2)
    fail(&d->in, "there are more operations than the section can hold");
  p->code = alloc(d, p->code_count, sizeof *p->code);
  if (!p->code) return;
  read_code(d, p->header);
  for (uint32_t i = 0; i < p->buffer_count; i++) use_ref(d, p->buffers[i].length);
  for (uint32_t i = 0; i < p->region_count; i++) {
    read_code(d, p->regions[i].grid_code);
    check_grid(d, &p->regions[i]);
    read_code(d, p->regions[i].body);
  }
  if (d->used_consts < p->const_count) fail(&d->in, "a constant is not used");
}

// ---- names --------------------------------------------------------------------------------------

static void read_value_names(decoder *d) {
  vyre_program *p = d->program;
  uint32_t count = read_count(&d->in, 2), last = 0;
  if (!count) return;
  p->names = alloc(d, p->code_count, sizeof *p->names);
  for (uint32_t i = 0; p->names && i < count && !d->in.fault; i++) {
    uint32_t gap = read_number(&d->in);
    bool is_there = gap > 0 && gap < p->code_count - last;
    last = is_there ? last + gap : last;
    // Statements have no names: no text could show one.
    if (!is_there || p->code[last].type == VYRE_VOID)
      fail(&d->in, "a name is of no value");
    else
      p->names[last] = read_name(&d->in);
  }
}

// ---- tunables -----------------------------------------------------------------------------------

// A formula; what it means is judged by the verifier. Room for terms was made for as many as the
// section has bytes.
static range read_terms(decoder *d, formula_term *terms) {
  vyre_program *p = d->program;
  uint32_t first = p->term_count, count = read_count(&d->in, 2);
  for (uint32_t i = 0; i < count && !d->in.fault; i++) {
    formula_term *t = &terms[p->term_count++];
    t->op = read_byte(&d->in);
    if (t->op == TERM_TUNABLE) {
      t->tunable = read_number(&d->in);
      if (t->tunable < p->tunable_count) t->type = (uint8_t)p->tunables[t->tunable].type;
      continue;
    }
    t->type = read_byte(&d->in);
    if (t->op == VYRE_OP_NONE) t->bits = read_bits(&d->in, t->type);
  }
  return (range){first, p->term_count};
}

static void read_declared(decoder *d, tunable *t, formula_term *terms) {
  t->type = (vyre_type)read_byte(&d->in);
  t->name = read_name(&d->in);
  t->count = read_count(&d->in, 1);
  uint64_t *values = alloc(d, t->count, sizeof *values);
  t->values = values;
  if (!values) return;
  for (uint32_t i = 0; i < t->count; i++) values[i] = read_bits(&d->in, t->type);
  t->chosen = read_number(&d->in);
  t->where = read_terms(d, terms);
}

static void read_uses(decoder *d, formula_term *terms) {
  vyre_program *p = d->program;
  uint32_t count = read_count(&d->in, 4);
  tunable_use *uses = alloc(d, count, sizeof *uses);
  if (!uses) return;
  for (uint32_t i = 0; i < count && !d->in.fault; i++) {
    uses[i].kind = read_byte(&d->in);
    uses[i].at = read_number(&d->in);
    uses[i].slot = read_number(&d->in);
    uses[i].terms = read_terms(d, terms);
  }
  p->uses = uses;
  p->use_count = count;
}

static void read_tunables(decoder *d) {
  vyre_program *p = d->program;
  size_t left = (size_t)(d->in.end - d->in.at);
  uint32_t count = read_count(&d->in, 5);
  if (!count) fail(&d->in, "version 2 has tunables, and there are none");
  tunable *tunables = alloc(d, count, sizeof *tunables);
  formula_term *terms = alloc(d, left / 2 + 1, sizeof *terms);
  if (!tunables || !terms) return;
  p->tunables = tunables;
  p->terms = terms;
  for (uint32_t i = 0; i < count && !d->in.fault && !d->is_out_of_memory; i++) {
    p->tunable_count = i + 1; // its own condition may name it
    read_declared(d, &tunables[i], terms);
  }
  if (!d->in.fault && !d->is_out_of_memory) read_uses(d, terms);
}

static void read_names(decoder *d) {
  vyre_program *p = d->program;
  for (uint32_t i = 0; i < p->shared_count; i++) p->shared[i].name = read_name(&d->in);
  read_value_names(d);
  if (d->has_tunables) read_tunables(d);
}

// ---- frame --------------------------------------------------------------------------------------

#define FIX_COPY "Fix: get an unharmed copy of the file, or write it again with `vyre convert`"

static vyre_status check_header(const uint8_t *file, size_t size, vyre_error *error) {
  if (!wire_has_magic(file, size))
    return error_set(error, VYRE_ERROR_WIRE,
                     "these bytes are not a vyre wire file: it begins with 89 56 59 52. Fix: pass "
                     "a .vyreb file; a .vyre text is parsed, not decoded");
  if (size < WIRE_AT_SECTIONS)
    return error_set(error, VYRE_ERROR_WIRE, "the wire file is cut off after %zu bytes. %s", size,
                     FIX_COPY);
  unsigned version = file[WIRE_AT_VERSION] | (unsigned)file[WIRE_AT_VERSION + 1] << 8;
  if (version != WIRE_VERSION && version != WIRE_VERSION_TUNABLE)
    return error_set(
        error, VYRE_ERROR_WIRE,
        "the wire file has version %u and this vyre reads versions %d and %d. Fix: use "
        "the vyre that wrote it, or convert the program to text there",
        version, WIRE_VERSION, WIRE_VERSION_TUNABLE);
  if (file[WIRE_AT_FLAGS] || file[WIRE_AT_FLAGS + 1])
    return error_set(error, VYRE_ERROR_WIRE, "the wire file has flags that mean nothing. %s",
                     FIX_COPY);
  if (wire_get_u64(file + WIRE_AT_LENGTH) != size - WIRE_AT_TABLE)
    return error_set(error, VYRE_ERROR_WIRE,
                     "the wire file is %zu bytes long and its header says otherwise: it is cut off "
                     "or has something after its end. %s",
                     size, FIX_COPY);
  return VYRE_OK;
}

// Finds the sections, proves them undamaged, and gives the fingerprint of the program they hold.
static vyre_status check_sections(const uint8_t *file, size_t size, wire_offsets offsets,
                                  uint8_t fingerprint[HASH_BYTES], vyre_error *error) {
  if (!wire_find_sections(file, size, offsets))
    return error_set(error, VYRE_ERROR_WIRE,
                     "the section lengths of the wire file do not add up to its size. %s",
                     FIX_COPY);
  uint8_t sum[HASH_BYTES];
  wire_file_fingerprint(file, offsets, fingerprint);
  wire_checksum(file, offsets, fingerprint, sum);
  if (memcmp(sum, file + WIRE_AT_CHECKSUM, sizeof sum) != 0)
    return error_set(error, VYRE_ERROR_WIRE,
                     "the checksum of the wire file does not match: it was damaged. %s", FIX_COPY);
  return VYRE_OK;
}

// Reads one section to its last byte. Sections with names are read from a copy that the program
// keeps, so that a name is a pointer into it.
static vyre_status read_section(decoder *d, const size_t *offset, void (*read)(decoder *),
                                bool keep, vyre_error *error) {
  size_t length = offset[1] - offset[0];
  const uint8_t *from = d->file + offset[0];
  if (keep) {
    uint8_t *copy = arena_alloc_array(&d->program->arena, length, 1);
    if (!copy) return error_out_of_memory(error);
    from = length ? memcpy(copy, from, length) : copy;
  }
  d->in = (cursor){.at = from, .end = from + length};
  read(d);
  if (d->in.at != d->in.end) fail(&d->in, "a section has bytes after its last record");
  if (d->in.fault)
    return error_set(error, VYRE_ERROR_WIRE, "the wire file is wrong at byte %zu: %s. %s",
                     offset[0] + (size_t)(d->in.fault_at - from), d->in.fault, FIX_COPY);
  return d->is_out_of_memory ? error_out_of_memory(error) : VYRE_OK;
}

// A file has no lines to point at, so the message names the operation by its number.
static vyre_status verify(vyre_program *p, vyre_error *error) {
  uint32_t fault = 0;
  vyre_status status = program_freeze(p, &fault, error);
  if (status != VYRE_ERROR_VERIFY || !error || !fault || fault >= p->code_count) return status;
  char message[sizeof error->message];
  memcpy(message, error->message, sizeof message);
  int size = snprintf(error->message, sizeof message, "operation %u: ", fault);
  snprintf(error->message + size, sizeof message - (size_t)size, "%s", message);
  return status;
}

static vyre_status read_all(decoder *d, const wire_offsets offsets, vyre_error *error) {
  static const struct {
    void (*read)(decoder *);
    bool keep;
  } sections[WIRE_SECTION_COUNT] = {
      [WIRE_INTERFACE] = {read_interface, true},
      [WIRE_CONSTANTS] = {read_constants, false},
      [WIRE_CODE] = {read_all_code, false},
      [WIRE_NAMES] = {read_names, true},
  };
  vyre_status status = VYRE_OK;
  for (int i = 0; i < WIRE_SECTION_COUNT && status == VYRE_OK; i++)
    status = read_section(d, &offsets[i], sections[i].read, sections[i].keep, error);
  return status == VYRE_OK ? verify(d->program, error) : status;
}

vyre_status vyre_program_decode(const void *data, size_t size, vyre_program **out,
                                vyre_error *error) {
  FPENV_SCOPE;
  if (!out || (!data && size))
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "vyre_program_decode was called with NULL. Fix: pass the bytes and where the "
                     "program goes");
  *out = NULL;
  wire_offsets offsets;
  uint8_t fingerprint[HASH_BYTES];
  vyre_status status = check_header(data, size, error);
  if (status == VYRE_OK) status = check_sections(data, size, offsets, fingerprint, error);
  if (status != VYRE_OK) return status;
  decoder d = {.program = program_new(), .file = data};
  d.has_tunables = d.file[WIRE_AT_VERSION] == WIRE_VERSION_TUNABLE;
  if (!d.program) return error_out_of_memory(error);
  status = read_all(&d, offsets, error);
  if (status != VYRE_OK) {
    vyre_program_release(d.program);
    return status;
  }
  program_set_fingerprint(d.program, fingerprint);
  *out = d.program;
  return VYRE_OK;
}
