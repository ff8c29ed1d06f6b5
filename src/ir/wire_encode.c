// SPDX-License-Identifier: MIT
//
// Program to bytes. The same writer feeds a growing file (vyre_program_encode) or a hash
// (wire_fingerprint), through a small buffer, so that a fingerprint allocates nothing and cannot
// fail. It writes whatever the records hold, valid or not: judging is the decoder's work.
#include "ir/wire.h"

#include "base/error.h"
#include "base/fpenv.h"
#include "base/strbuf.h"

#include <string.h>

enum { SINK_BYTES = 1 << 14, MAX_RECORD = 64 }; // no operation or constant needs more than a record

typedef struct sink {
  strbuf *file; // one of the two is NULL
  hasher *hash;
  size_t size;
  uint8_t bytes[SINK_BYTES];
} sink;

static void flush(sink *s) {
  if (s->file)
    strbuf_add(s->file, (const char *)s->bytes, s->size);
  else
    hash_update(s->hash, s->bytes, s->size);
  s->size = 0;
}

// Makes room for one record.
static uint8_t *begin(sink *s) {
  if (s->size > SINK_BYTES - MAX_RECORD) flush(s);
  return s->bytes + s->size;
}

static void end(sink *s, const uint8_t *to) {
  s->size = (size_t)(to - s->bytes);
}

static uint8_t *write_number(uint8_t *to, uint32_t value) {
  while (value >= 0x80) {
    *to++ = (uint8_t)(value | 0x80);
    value >>= 7;
  }
  *to++ = (uint8_t)value;
  return to;
}

static void put_byte(sink *s, uint8_t byte) {
  uint8_t *to = begin(s);
  *to++ = byte;
  end(s, to);
}

static void put_number(sink *s, uint32_t value) {
  end(s, write_number(begin(s), value));
}

static void put_name(sink *s, const char *name) {
  for (; *name; name++) put_byte(s, (uint8_t)*name);
  put_byte(s, 0);
}

// A reference from the interface: the constant's or the operation's number.
static void put_ref(sink *s, ref r) {
  put_number(s, r << 1 | ref_is_const(r));
}

// ---- sections -----------------------------------------------------------------------------------

static void put_region(sink *s, const region *r) {
  put_name(s, r->name);
  put_number(s, r->rank);
  for (int i = 0; i < 3; i++) put_ref(s, r->grid[i]);
  for (int i = 0; i < 3; i++) put_number(s, r->workgroup[i]);
  put_number(s, r->shared.end - r->shared.first);
  put_number(s, r->grid_code.end - r->grid_code.first);
  put_number(s, r->body.end - r->body.first);
}

static void put_interface(sink *s, const vyre_program *p) {
  put_name(s, p->name);
  put_number(s, p->fast_ulp);
  put_number(s, p->param_count);
  for (uint32_t i = 0; i < p->param_count; i++) {
    put_byte(s, (uint8_t)p->params[i].type);
    put_name(s, p->params[i].name);
  }
  put_number(s, p->buffer_count);
  for (uint32_t i = 0; i < p->buffer_count; i++) {
    const buffer *b = &p->buffers[i];
    put_byte(s, (uint8_t)b->type);
    put_byte(s, (uint8_t)((unsigned)b->access | (b->is_transient ? WIRE_TRANSIENT : 0)));
    put_name(s, b->name);
    put_ref(s, b->length);
  }
  put_number(s, p->header.end - p->header.first);
  put_number(s, p->region_count);
  for (uint32_t i = 0; i < p->region_count; i++) put_region(s, &p->regions[i]);
  for (uint32_t i = 0; i < p->shared_count; i++) {
    put_byte(s, (uint8_t)p->shared[i].type);
    put_number(s, p->shared[i].length);
  }
}

static void put_bits(sink *s, unsigned type, uint64_t bits) {
  uint8_t *to = begin(s);
  unsigned bytes = type < VYRE_TYPE_COUNT ? type_bytes(type) : 0;
  for (unsigned k = 0; k < bytes; k++) *to++ = (uint8_t)(bits >> 8 * k);
  end(s, to);
}

static void put_constants(sink *s, const vyre_program *p) {
  put_number(s, p->const_count);
  for (uint32_t i = 0; i < p->const_count; i++) {
    put_byte(s, (uint8_t)p->consts[i].type);
    put_bits(s, p->consts[i].type, p->consts[i].bits);
  }
}

// What an operand is on the wire: values, variables and private arrays by how far back they were
// made, so that nearby ones, the most, take one byte. The differences wrap, so that every operand
// has one spelling, also one that the verifier will refuse.
static uint32_t value_number(ref r, uint32_t at) {
  return ref_is_const(r) ? r << 1 | 1 : (at - r) << 1;
}

static uint32_t first_number(char kind, uint32_t arg, uint32_t at) {
  switch (kind) {
  case 'x': return at - arg;
  case 'm': return (mem_space(arg) == MEM_PRIVATE ? at - arg : arg) << 2 | mem_space(arg);
  default: return arg;
  }
}

static void put_code(sink *s, const vyre_program *p) {
  for (uint32_t i = 1; i < p->code_count; i++) {
    const inst *in = &p->code[i];
    const op_info *op = &op_table[in->op < OP_COUNT ? in->op : VYRE_OP_NONE];
    uint8_t *to = begin(s);
    *to++ = in->op;
    *to++ = in->type;
    if (p->target) *to++ = in->promised_by != 0; // fingerprints only: no file has these
    int slot = op_first_value(op);
    if (slot && op->operand_count)
      to = write_number(to, first_number(op->operands[0], in->arg[0], i));
    for (; slot < op->operand_count; slot++) to = write_number(to, value_number(in->arg[slot], i));
    end(s, to);
  }
}

static void put_names(sink *s, const vyre_program *p) {
  for (uint32_t i = 0; i < p->shared_count; i++) put_name(s, p->shared[i].name);
  uint32_t count = 0, last = 0;
  for (uint32_t i = 1; p->names && i < p->code_count; i++) count += p->names[i] != NULL;
  put_number(s, count);
  for (uint32_t i = 1; p->names && i < p->code_count; i++) {
    if (!p->names[i]) continue;
    put_number(s, i - last);
    put_name(s, p->names[i]);
    last = i;
  }
}

// ---- tunables -----------------------------------------------------------------------------------

static void put_terms(sink *s, const vyre_program *p, range terms) {
  put_number(s, terms.end - terms.first);
  for (uint32_t i = terms.first; i < terms.end; i++) {
    const formula_term *t = &p->terms[i];
    put_byte(s, t->op);
    if (t->op == TERM_TUNABLE) {
      put_number(s, t->tunable);
      continue;
    }
    put_byte(s, t->type);
    if (t->op == VYRE_OP_NONE) put_bits(s, t->type, t->bits);
  }
}

static void put_tunables(sink *s, const vyre_program *p) {
  put_number(s, p->tunable_count);
  for (uint32_t i = 0; i < p->tunable_count; i++) {
    const tunable *t = &p->tunables[i];
    put_byte(s, (uint8_t)t->type);
    put_name(s, t->name);
    put_number(s, t->count);
    for (uint32_t k = 0; k < t->count; k++) put_bits(s, t->type, t->values[k]);
    put_number(s, t->chosen);
    put_terms(s, p, t->where);
  }
  put_number(s, p->use_count);
  for (uint32_t i = 0; i < p->use_count; i++) {
    put_byte(s, (uint8_t)p->uses[i].kind);
    put_number(s, p->uses[i].at);
    put_number(s, p->uses[i].slot);
    put_terms(s, p, p->uses[i].terms);
  }
}

static void put_section(sink *s, const vyre_program *p, wire_section section) {
  switch (section) {
  case WIRE_INTERFACE: put_interface(s, p); break;
  case WIRE_CONSTANTS: put_constants(s, p); break;
  case WIRE_CODE: put_code(s, p); break;
  default:
    put_names(s, p);
    if (p->tunable_count) put_tunables(s, p);
    break;
  }
  flush(s);
}

// ---- files --------------------------------------------------------------------------------------

bool wire_has_magic(const void *data, size_t size) {
  return size >= sizeof wire_magic && !memcmp(data, wire_magic, sizeof wire_magic);
}

bool wire_find_sections(const uint8_t *file, size_t size, wire_offsets offsets) {
  offsets[0] = WIRE_AT_SECTIONS;
  for (int i = 0; i < WIRE_SECTION_COUNT; i++) {
    uint64_t length = wire_get_u64(file + WIRE_AT_TABLE + 8 * i);
    if (length > size - offsets[i]) return false;
    offsets[i + 1] = offsets[i] + (size_t)length;
  }
  return offsets[WIRE_SECTION_COUNT] == size;
}

// The version of what is hashed: it changes when the same program would give other bytes.
#define FINGERPRINT_PURPOSE "vyre program fingerprint 1"

void wire_fingerprint(const vyre_program *program, uint8_t out[HASH_BYTES]) {
  hasher hash;
  hash_init_for(&hash, FINGERPRINT_PURPOSE);
  sink s;
  s.file = NULL;
  s.hash = &hash;
  s.size = 0;
  for (int section = 0; section < WIRE_NAMES; section++)
    put_section(&s, program, (wire_section)section);
  hash_final(&hash, out);
}

void wire_file_fingerprint(const uint8_t *file, const wire_offsets offsets,
                           uint8_t out[HASH_BYTES]) {
  hasher hash;
  hash_init_for(&hash, FINGERPRINT_PURPOSE);
  hash_update(&hash, file + offsets[WIRE_INTERFACE], offsets[WIRE_NAMES] - offsets[WIRE_INTERFACE]);
  hash_final(&hash, out);
}

void wire_checksum(const uint8_t *file, const wire_offsets offsets,
                   const uint8_t fingerprint[HASH_BYTES], uint8_t out[HASH_BYTES]) {
  hasher hash;
  hash_init(&hash);
  hash_update(&hash, file + offsets[WIRE_NAMES], offsets[WIRE_SECTION_COUNT] - offsets[WIRE_NAMES]);
  hash_update(&hash, file + WIRE_AT_TABLE, WIRE_AT_SECTIONS - WIRE_AT_TABLE);
  hash_update(&hash, fingerprint, HASH_BYTES);
  hash_final(&hash, out);
}

void wire_seal(uint8_t *file, size_t size) {
  wire_offsets offsets;
  uint8_t fingerprint[HASH_BYTES];
  wire_put_u64(file + WIRE_AT_LENGTH, size - WIRE_AT_TABLE);
  if (!wire_find_sections(file, size, offsets)) return;
  wire_file_fingerprint(file, offsets, fingerprint);
  wire_checksum(file, offsets, fingerprint, file + WIRE_AT_CHECKSUM);
}

vyre_status vyre_program_encode(const vyre_program *program, void **out, size_t *size,
                                vyre_error *error) {
  FPENV_SCOPE;
  if (!program || !out || !size)
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "vyre_program_encode was called with NULL. Fix: pass a program and where the "
                     "bytes and their number go");
  *out = NULL;
  *size = 0;
  if (program->target)
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "a lowered program has no wire form. Fix: encode the one it was made from");
  uint8_t head[WIRE_AT_SECTIONS] = {0};
  memcpy(head, wire_magic, sizeof wire_magic);
  head[WIRE_AT_VERSION] = program->tunable_count ? WIRE_VERSION_TUNABLE : WIRE_VERSION;
  strbuf file = {0};
  strbuf_add(&file, (const char *)head, sizeof head);
  sink s;
  s.file = &file;
  s.hash = NULL;
  s.size = 0;
  wire_offsets offsets = {sizeof head};
  for (int section = 0; section < WIRE_SECTION_COUNT; section++) {
    put_section(&s, program, (wire_section)section);
    offsets[section + 1] = file.size;
  }
  uint8_t *bytes = (uint8_t *)strbuf_take(&file, size);
  if (!bytes) return error_out_of_memory(error);
  for (int i = 0; i < WIRE_SECTION_COUNT; i++)
    wire_put_u64(bytes + WIRE_AT_TABLE + 8 * i, offsets[i + 1] - offsets[i]);
  wire_put_u64(bytes + WIRE_AT_LENGTH, *size - WIRE_AT_TABLE);
  wire_checksum(bytes, offsets, program_fingerprint(program), bytes + WIRE_AT_CHECKSUM);
  *out = bytes;
  return VYRE_OK;
}
