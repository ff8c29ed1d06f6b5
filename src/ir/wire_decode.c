// SPDX-License-Identifier: MIT
//
// Bytes to program. The decoder checks the frame and that the spelling is the canonical one; what
// the records mean is judged by the verifier, whose codes a hostile file meets like any other
// program. Memory is bounded by the input: a count is believed only while the bytes that remain can
// hold that many records.
//
// Failure is sticky: the first mistake is kept, the reader then stands at the end of its section
// and every further read gives 0, so that the code that fills records need not look.
#include "ir/wire.h"

#include "base/error.h"
#include "ir/limits.h"

#include <stdlib.h>
#include <string.h>

typedef struct decoder {
  vyre_program *program;
  const uint8_t *file;
  const uint8_t *at, *end; // of the section being read
  const uint8_t *section;  // where it began, maybe in a copy,
  size_t section_offset;   // and where that is in the file
  uint32_t used_consts;    // constants met so far; the next new one has this number
  vyre_status status;
  vyre_error *error;
} decoder;

#define FIX_COPY "Fix: get an unharmed copy of the file, or write it again with `vyre convert`"

// The message names the byte that was read last.
static void fail(decoder *d, const char *what) {
  if (d->status != VYRE_OK) return;
  d->status = error_set(d->error, VYRE_ERROR_WIRE, "the wire file is wrong at byte %zu: %s. %s",
                        d->section_offset + (size_t)(d->at - d->section), what, FIX_COPY);
  d->at = d->end;
}

static void fail_memory(decoder *d) {
  if (d->status == VYRE_OK) d->status = error_out_of_memory(d->error);
  d->at = d->end;
}

static uint8_t read_byte(decoder *d) {
  if (d->at < d->end) return *d->at++;
  fail(d, "the section ends inside a record");
  return 0;
}

static uint32_t read_long_number(decoder *d) {
  uint64_t value = 0;
  for (int shift = 0; shift < 35; shift += 7) {
    if (d->at == d->end) break;
    uint8_t byte = *d->at++;
    value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte & 0x80) continue;
    if (!byte || value > UINT32_MAX) break;
    return (uint32_t)value;
  }
  fail(d, "a number is cut off, padded with zeros or above 4294967295");
  return 0;
}

static inline uint32_t read_number(decoder *d) {
  if (d->at < d->end && *d->at < 0x80) return *d->at++;
  return read_long_number(d);
}

// A count of records that take at least `record_bytes` each.
static uint32_t read_count(decoder *d, size_t record_bytes) {
  uint32_t count = read_number(d);
  if (count <= (size_t)(d->end - d->at) / record_bytes) return count;
  fail(d, "a count is larger than the section can hold");
  return 0;
}

// Points into the section, which must be the program's own copy.
static const char *read_name(decoder *d) {
  const char *name = (const char *)d->at;
  const uint8_t *stop = d->at < d->end ? memchr(d->at, 0, (size_t)(d->end - d->at)) : NULL;
  if (!stop) {
    fail(d, "a name has no end");
    return "";
  }
  d->at = stop + 1;
  return name;
}

// A reference of the interface. What it refers to is the verifier's business, except that it must
// be able to look: see read_code for constants.
static ref read_ref(decoder *d) {
  uint32_t number = read_number(d);
  return number & 1 ? REF_CONST | number >> 1 : number >> 1;
}

static void *alloc(decoder *d, size_t count, size_t size) {
  void *memory = d->status == VYRE_OK ? arena_alloc_array(&d->program->arena, count, size) : NULL;
  if (!memory) fail_memory(d);
  return memory;
}

// ---- interface ----------------------------------------------------------------------------------

static void read_params(decoder *d) {
  vyre_program *p = d->program;
  uint32_t count = read_count(d, 2);
  p->params = alloc(d, count, sizeof *p->params);
  if (!p->params) return;
  p->param_count = count;
  for (uint32_t i = 0; i < count; i++) {
    p->params[i].type = (vyre_type)read_byte(d);
    p->params[i].name = read_name(d);
  }
}

static void read_buffers(decoder *d) {
  vyre_program *p = d->program;
  uint32_t count = read_count(d, 4);
  p->buffers = alloc(d, count, sizeof *p->buffers);
  if (!p->buffers) return;
  p->buffer_count = count;
  for (uint32_t i = 0; i < count; i++) {
    buffer *b = &p->buffers[i];
    b->type = (vyre_type)read_byte(d);
    unsigned flags = read_byte(d);
    b->access = (vyre_access)(flags & WIRE_ACCESS_MASK);
    b->is_transient = (flags & WIRE_TRANSIENT) != 0;
    if (flags & ~(unsigned)(WIRE_ACCESS_MASK | WIRE_TRANSIENT) || !b->access)
      fail(d, "a buffer has an unknown access");
    if (b->is_transient && b->access != VYRE_READWRITE)
      fail(d, "a transient buffer is not readwrite");
    b->name = read_name(d);
    b->length = read_ref(d);
  }
}

static void read_regions(decoder *d) {
  vyre_program *p = d->program;
  p->header = (range){1, 1};
  uint64_t code = 1 + (uint64_t)read_number(d), shared = 0;
  uint32_t count = read_count(d, 11);
  if (code <= LIMIT_CODE) p->header.end = (uint32_t)code;
  p->regions = alloc(d, count, sizeof *p->regions);
  if (!p->regions) return;
  p->region_count = count;
  for (uint32_t i = 0; i < count; i++) {
    region *r = &p->regions[i];
    r->name = read_name(d);
    r->rank = read_number(d);
    for (int k = 0; k < 3; k++) r->grid[k] = read_ref(d);
    for (int k = 0; k < 3; k++) r->workgroup[k] = read_number(d);
    r->shared.first = (uint32_t)shared;
    r->shared.end = (uint32_t)(shared += read_number(d));
    r->grid_code.first = (uint32_t)code;
    r->grid_code.end = r->body.first = (uint32_t)(code += read_number(d));
    r->body.end = (uint32_t)(code += read_number(d));
  }
  // Checked before anything is allocated by these sums, and before their lower halves are used.
  if (code > LIMIT_CODE) fail(d, "there are more operations than a program may have");
  if (shared > (size_t)(d->end - d->at) / 2) fail(d, "there are more shared arrays than bytes");
  p->code_count = (uint32_t)code;
  p->shared_count = (uint32_t)shared;
}

static void read_shared(decoder *d) {
  vyre_program *p = d->program;
  p->shared = alloc(d, p->shared_count, sizeof *p->shared);
  if (!p->shared) return;
  for (uint32_t i = 0; i < p->shared_count; i++) {
    p->shared[i].type = (vyre_type)read_byte(d);
    p->shared[i].length = read_number(d);
    p->shared[i].name = "";
  }
  for (uint32_t i = 0; i < p->region_count; i++)
    for (uint32_t k = p->regions[i].shared.first; k < p->regions[i].shared.end; k++)
      p->shared[k].region = i;
}

static void read_interface(decoder *d) {
  d->program->name = read_name(d);
  d->program->fast_ulp = read_number(d);
  read_params(d);
  read_buffers(d);
  read_regions(d);
  read_shared(d);
}

// ---- constants ----------------------------------------------------------------------------------

static uint64_t read_bits(decoder *d, unsigned type) {
  unsigned bytes = type < VYRE_TYPE_COUNT ? type_bytes(type) : 0;
  uint64_t bits = 0;
  for (unsigned i = 0; i < bytes; i++) bits |= (uint64_t)read_byte(d) << 8 * i;
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
    fail_memory(d);
    return;
  }
  uint64_t key[3] = {wire_get_u64(d->file + WIRE_AT_CHECKSUM)};
  for (uint32_t i = 0; i < p->const_count && d->status == VYRE_OK; i++) {
    key[1] = p->consts[i].bits;
    key[2] = p->consts[i].type;
    size_t at = hash_fast(key, sizeof key) & (size - 1);
    for (; table[at]; at = (at + 1) & (size - 1)) {
      const constant *other = &p->consts[table[at] - 1];
      if (other->bits == key[1] && other->type == key[2]) fail(d, "two constants are equal");
    }
    table[at] = i + 1;
  }
  free(table);
}

static void read_constants(decoder *d) {
  vyre_program *p = d->program;
  uint32_t count = read_count(d, 1);
  if (count > LIMIT_CONSTS) fail(d, "there are more constants than a program may have");
  p->consts = alloc(d, count, sizeof *p->consts);
  if (!p->consts) return;
  p->const_count = count;
  for (uint32_t i = 0; i < count; i++) {
    p->consts[i].type = read_byte(d);
    p->consts[i].bits = read_bits(d, p->consts[i].type);
  }
  if (d->status == VYRE_OK) check_distinct(d);
}

// ---- code ---------------------------------------------------------------------------------------

// Constants are numbered in the order of their first use, which also proves each number in range.
static void use_constant(decoder *d, uint32_t index) {
  if (index < d->used_consts) return;
  if (index == d->used_consts && index < d->program->const_count)
    d->used_consts++;
  else
    fail(d, "constants are not numbered in the order of their first use");
}

static uint32_t read_value(decoder *d, uint32_t at) {
  uint32_t number = read_number(d);
  if (!(number & 1)) return (at - (number >> 1)) & ~REF_CONST;
  use_constant(d, number >> 1);
  return REF_CONST | number >> 1;
}

// The first operand, where it is not a value.
static uint32_t read_first(decoder *d, char kind, uint32_t at) {
  uint32_t number = read_number(d), space = number & 3, index = number >> 2;
  switch (kind) {
  case 'x': return at - number;
  case 'm': return MEM_REF(space, mem_index(space == MEM_PRIVATE ? at - index : index));
  default: return number;
  }
}

static void read_code(decoder *d, range part) {
  for (uint32_t i = part.first; i < part.end; i++) {
    inst *in = &d->program->code[i];
    in->op = read_byte(d);
    in->type = read_byte(d);
    const op_info *op = &op_table[in->op < VYRE_OP_COUNT ? in->op : VYRE_OP_NONE];
    int slot = op_first_value(op);
    if (slot && op->operand_count) in->arg[0] = read_first(d, op->operands[0], i);
    for (; slot < op->operand_count; slot++) in->arg[slot] = read_value(d, i);
  }
}

static void use_ref(decoder *d, ref r) {
  if (ref_is_const(r)) use_constant(d, ref_index(r));
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
      fail(d, "an extent past the rank of its grid is not the constant 1");
  }
}

static void read_all_code(decoder *d) {
  vyre_program *p = d->program;
  if (d->status == VYRE_OK && p->code_count - 1 > (size_t)(d->end - d->at) / 2)
    fail(d, "there are more operations than the section can hold");
  p->code = alloc(d, p->code_count, sizeof *p->code);
  if (!p->code) return;
  read_code(d, p->header);
  for (uint32_t i = 0; i < p->buffer_count; i++) use_ref(d, p->buffers[i].length);
  for (uint32_t i = 0; i < p->region_count; i++) {
    read_code(d, p->regions[i].grid_code);
    check_grid(d, &p->regions[i]);
    read_code(d, p->regions[i].body);
  }
  if (d->used_consts < p->const_count) fail(d, "a constant is not used");
}

// ---- names --------------------------------------------------------------------------------------

static void read_names(decoder *d) {
  vyre_program *p = d->program;
  for (uint32_t i = 0; i < p->shared_count; i++) p->shared[i].name = read_name(d);
  uint32_t count = read_count(d, 2), last = 0;
  if (!count || d->status != VYRE_OK) return;
  p->names = alloc(d, p->code_count, sizeof *p->names);
  for (uint32_t i = 0; p->names && i < count && d->status == VYRE_OK; i++) {
    uint32_t gap = read_number(d);
    if (gap == 0 || gap >= p->code_count - last)
      fail(d, "a name is of no operation");
    else
      p->names[last += gap] = read_name(d);
  }
}

// ---- frame --------------------------------------------------------------------------------------

static vyre_status check_header(const uint8_t *file, size_t size, vyre_error *error) {
  if (!wire_has_magic(file, size))
    return error_set(error, VYRE_ERROR_WIRE,
                     "these bytes are not a vyre wire file: it begins with 89 56 59 52. Fix: pass "
                     "a .vyreb file; a .vyre text is parsed, not decoded");
  if (size < WIRE_AT_SECTIONS)
    return error_set(error, VYRE_ERROR_WIRE, "the wire file is cut off after %zu bytes. %s", size,
                     FIX_COPY);
  unsigned version = file[WIRE_AT_VERSION] | (unsigned)file[WIRE_AT_VERSION + 1] << 8;
  if (version != WIRE_VERSION)
    return error_set(error, VYRE_ERROR_WIRE,
                     "the wire file has version %u and this vyre reads version %d. Fix: use the "
                     "vyre that wrote it, or convert the program to text there",
                     version, WIRE_VERSION);
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
static void read_section(decoder *d, const size_t *offset, void (*read)(decoder *), bool keep) {
  if (d->status != VYRE_OK) return;
  size_t length = offset[1] - offset[0];
  d->at = d->file + offset[0];
  if (keep) {
    uint8_t *copy = arena_alloc_array(&d->program->arena, length, 1);
    d->at = copy && length ? memcpy(copy, d->at, length) : copy;
  }
  d->section = d->at;
  d->section_offset = offset[0];
  d->end = d->at ? d->at + length : NULL;
  if (!d->at) fail_memory(d);
  read(d);
  if (d->at != d->end) fail(d, "a section has bytes after its last record");
}

vyre_status vyre_program_decode(const void *data, size_t size, vyre_program **out,
                                vyre_error *error) {
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
  decoder d = {.program = program_new(), .file = data, .error = error};
  if (!d.program) return error_out_of_memory(error);
  read_section(&d, &offsets[WIRE_INTERFACE], read_interface, true);
  read_section(&d, &offsets[WIRE_CONSTANTS], read_constants, false);
  read_section(&d, &offsets[WIRE_CODE], read_all_code, false);
  read_section(&d, &offsets[WIRE_NAMES], read_names, true);
  if (d.status == VYRE_OK) d.status = program_check(d.program, NULL, error);
  if (d.status != VYRE_OK) {
    vyre_program_release(d.program);
    return d.status;
  }
  memcpy(d.program->fingerprint, fingerprint, HASH_BYTES);
  *out = d.program;
  return VYRE_OK;
}
