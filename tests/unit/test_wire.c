// SPDX-License-Identifier: MIT
//
// The wire form: what is encoded comes back equal and gives the same bytes, every damaged file gets
// an error, and every spelling but the canonical one is refused.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../sample_programs.h"
#include "ir/builder.h"
#include "ir/limits.h"
#include "ir/wire.h"

typedef struct file {
  uint8_t *bytes;
  size_t size;
} file;

static file encode(const vyre_program *p) {
  file f = {0};
  void *bytes = NULL;
  vyre_error error;
  assert_int_equal(vyre_program_encode(p, &bytes, &f.size, &error), VYRE_OK);
  f.bytes = bytes;
  return f;
}

static vyre_program *built(vyre_program *p, const vyre_error *error) {
  if (!p) fail_msg("building failed: %s %s", error->code, error->message);
  return p;
}

// ---- equality -----------------------------------------------------------------------------------

static void assert_same_name(const char *a, const char *b) {
  if (!a || !b)
    assert_ptr_equal(a, b);
  else
    assert_string_equal(a, b);
}

static void assert_same_interface(const vyre_program *a, const vyre_program *b) {
  assert_string_equal(a->name, b->name);
  assert_int_equal(a->fast_ulp, b->fast_ulp);
  assert_int_equal(a->param_count, b->param_count);
  assert_int_equal(a->buffer_count, b->buffer_count);
  assert_int_equal(a->shared_count, b->shared_count);
  for (uint32_t i = 0; i < a->param_count; i++) {
    assert_string_equal(a->params[i].name, b->params[i].name);
    assert_int_equal(a->params[i].type, b->params[i].type);
  }
  for (uint32_t i = 0; i < a->buffer_count; i++) {
    const buffer *x = &a->buffers[i], *y = &b->buffers[i];
    assert_string_equal(x->name, y->name);
    assert_true(x->type == y->type && x->access == y->access && x->length == y->length);
    assert_int_equal(x->is_transient, y->is_transient);
  }
  for (uint32_t i = 0; i < a->shared_count; i++) {
    const shared_array *x = &a->shared[i], *y = &b->shared[i];
    assert_string_equal(x->name, y->name);
    assert_true(x->type == y->type && x->length == y->length && x->region == y->region);
  }
}

static void assert_same_regions(const vyre_program *a, const vyre_program *b) {
  assert_int_equal(a->region_count, b->region_count);
  assert_memory_equal(&a->header, &b->header, sizeof a->header);
  for (uint32_t i = 0; i < a->region_count; i++) {
    const region *x = &a->regions[i], *y = &b->regions[i];
    assert_string_equal(x->name, y->name);
    assert_int_equal(x->rank, y->rank);
    assert_memory_equal(x->grid, y->grid, sizeof x->grid);
    assert_memory_equal(x->workgroup, y->workgroup, sizeof x->workgroup);
    assert_memory_equal(&x->grid_code, &y->grid_code, sizeof x->grid_code);
    assert_memory_equal(&x->body, &y->body, sizeof x->body);
    assert_memory_equal(&x->shared, &y->shared, sizeof x->shared);
    assert_true(x->is_elastic == y->is_elastic && x->has_barrier == y->has_barrier);
    assert_int_equal(x->private_bytes, y->private_bytes);
  }
}

static void assert_same_program(const vyre_program *a, const vyre_program *b) {
  assert_same_interface(a, b);
  assert_same_regions(a, b);
  assert_int_equal(a->const_count, b->const_count);
  assert_int_equal(a->code_count, b->code_count);
  if (a->const_count) assert_memory_equal(a->consts, b->consts, a->const_count * sizeof(constant));
  assert_memory_equal(a->code, b->code, a->code_count * sizeof(inst));
  for (uint32_t i = 1; i < a->code_count; i++)
    assert_same_name(a->names ? a->names[i] : NULL, b->names ? b->names[i] : NULL);
  assert_memory_equal(&a->stats, &b->stats, sizeof a->stats);
  assert_memory_equal(program_fingerprint(a), program_fingerprint(b), HASH_BYTES);
}

static void assert_same_file(const file *a, const file *b) {
  assert_int_equal(a->size, b->size);
  assert_memory_equal(a->bytes, b->bytes, a->size);
}

// The text says the same program: parsing it gives the same bytes.
static void assert_same_through_text(const vyre_program *p, const file *f) {
  char *text = NULL;
  size_t size = 0;
  vyre_program *parsed = NULL;
  vyre_error error = {0};
  assert_int_equal(vyre_program_print(p, &text, &size, &error), VYRE_OK);
  if (vyre_program_parse(text, size, NULL, &parsed, &error) != VYRE_OK)
    fail_msg("%s %s\n%s\n%s", error.code, error.message, error.excerpt, text);
  file again = encode(parsed);
  assert_same_file(f, &again);
  vyre_free(again.bytes);
  vyre_free(text);
  vyre_program_release(parsed);
}

// Encodes, decodes, compares, encodes again; returns the bytes.
static file round_trip(const vyre_program *p) {
  file first = encode(p);
  assert_same_through_text(p, &first);
  vyre_program *copy = NULL;
  vyre_error error = {0};
  if (vyre_program_decode(first.bytes, first.size, &copy, &error) != VYRE_OK)
    fail_msg("%s %s", error.code, error.message);
  assert_same_program(p, copy);
  file second = encode(copy);
  assert_same_file(&first, &second);
  vyre_free(second.bytes);
  vyre_program_release(copy);
  return first;
}

static void test_round_trips(void **state) {
  (void)state;
  vyre_error error;
  vyre_program *(*samples[])(vyre_error *) = {sample_saxpy, sample_structure, sample_every_op};
  for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
    vyre_program *p = built(samples[i](&error), &error);
    vyre_free(round_trip(p).bytes);
    vyre_program_release(p);
  }
}

static void test_every_operation_is_in_the_sample(void **state) {
  (void)state;
  vyre_error error;
  vyre_program *p = built(sample_every_op(&error), &error);
  bool seen[VYRE_OP_COUNT] = {false};
  for (uint32_t i = 1; i < p->code_count; i++) seen[p->code[i].op] = true;
  for (int op = 1; op < VYRE_OP_COUNT; op++)
    if (!seen[op]) fail_msg("`%s` is in no round trip", op_table[op].name);
  vyre_program_release(p);
}

static void test_random_round_trips(void **state) {
  (void)state;
  vyre_error error;
  for (uint64_t seed = 1; seed <= 300; seed++) {
    vyre_program *p = built(sample_random(seed, (uint32_t)seed % 60, &error), &error);
    vyre_free(round_trip(p).bytes);
    vyre_program_release(p);
  }
}

// ---- fingerprint --------------------------------------------------------------------------------

typedef struct variation { // of the little program below
  const char *program, *param, *buffer, *region, *value, *shared;
  uint32_t constant, fast;
} variation;

static void fingerprint_of(const variation *v, uint8_t out[HASH_BYTES]) {
  vyre_builder *b = vyre_builder_new(v->program);
  vyre_build_fast(b, v->fast);
  vyre_build_param(b, v->param, VYRE_U32);
  vyre_mem x = vyre_build_buffer(b, v->buffer, VYRE_U32, VYRE_WRITE, 0);
  vyre_build_region_begin(b, v->region);
  vyre_build_grid(b, 1, (vyre_value[]){vyre_build_len(b, x)}, sample_workgroup);
  vyre_build_shared(b, v->shared, VYRE_U32, 4);
  vyre_value i = vyre_build_id(b, VYRE_OP_GLOBAL_ID, 0);
  vyre_build_name(b, i, v->value);
  vyre_build_store(b, x, i, vyre_build_u32(b, v->constant));
  vyre_build_region_end(b);
  vyre_error error;
  vyre_program *p = built(sample_finish(b, &error), &error);
  vyre_program_fingerprint(p, out);
  vyre_program_release(p);
}

static void test_fingerprint(void **state) {
  (void)state;
  const variation base = {"p", "n", "x", "r", "i", "s", 5, 0};
  uint8_t original[HASH_BYTES], other[HASH_BYTES], zero[HASH_BYTES] = {0};
  fingerprint_of(&base, original);
  assert_memory_not_equal(original, zero, HASH_BYTES);

  variation same = base;
  same.value = "another";
  same.shared = "t";
  fingerprint_of(&same, other);
  assert_memory_equal(original, other, HASH_BYTES);

  variation different[6] = {base, base, base, base, base, base};
  different[0].program = "q";
  different[1].param = "m";
  different[2].buffer = "y";
  different[3].region = "t";
  different[4].constant = 6;
  different[5].fast = 1;
  for (int i = 0; i < 6; i++) {
    fingerprint_of(&different[i], other);
    assert_memory_not_equal(original, other, HASH_BYTES);
  }
}

// The identity of a program outlives versions of vyre: a change here invalidates everything that
// was ever stored under a fingerprint, and needs another purpose in wire_encode.c.
static void test_fingerprint_is_stable(void **state) {
  (void)state;
  vyre_error error;
  vyre_program *p = built(sample_saxpy(&error), &error);
  char hex[HASH_HEX];
  hash_hex(program_fingerprint(p), hex);
  assert_string_equal(hex, "bcc2f7a82cbeaf44b0334944305ab3b1e3ae22b4a44eaf1912f221d0d4f55fa9");
  vyre_program_release(p);
}

// ---- damage -------------------------------------------------------------------------------------

// Whatever the bytes are: an error with a fix, or a program that has exactly these bytes.
static vyre_status decode_any(const uint8_t *bytes, size_t size) {
  // An exact copy, so that the sanitizer sees a read past the end.
  uint8_t *copy = malloc(size ? size : 1);
  memcpy(copy, bytes, size);
  vyre_program *p = NULL;
  vyre_error error = {0};
  vyre_status status = vyre_program_decode(copy, size, &p, &error);
  if (status == VYRE_OK) {
    file again = encode(p);
    assert_int_equal(again.size, size);
    assert_memory_equal(again.bytes, bytes, size);
    vyre_free(again.bytes);
    vyre_program_release(p);
  } else {
    assert_null(p);
    assert_int_equal(error.status, status);
    assert_non_null(strstr(error.message, "Fix: "));
    assert_int_equal(status == VYRE_ERROR_VERIFY, error.code[0] != 0);
    if (status != VYRE_ERROR_VERIFY) assert_int_equal(status, VYRE_ERROR_WIRE);
  }
  free(copy);
  return status;
}

static void damage(vyre_program *p) {
  file f = encode(p);
  for (size_t size = 0; size < f.size; size++)
    assert_int_equal(decode_any(f.bytes, size), VYRE_ERROR_WIRE);
  for (size_t bit = 0; bit < f.size * 8; bit++) {
    f.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    assert_int_equal(decode_any(f.bytes, f.size), VYRE_ERROR_WIRE);
    f.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
  }
  // Again with a checksum that matches, so that what lies behind it is reached.
  for (size_t bit = WIRE_AT_TABLE * 8; bit < f.size * 8; bit++) {
    f.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    wire_seal(f.bytes, f.size);
    decode_any(f.bytes, f.size);
    f.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
  }
  vyre_free(f.bytes);
  vyre_program_release(p);
}

static void test_damaged_files(void **state) {
  (void)state;
  vyre_error error;
  damage(built(sample_saxpy(&error), &error));
  damage(built(sample_structure(&error), &error));
  damage(built(sample_random(7, 4, &error), &error));
}

// ---- editing sections ---------------------------------------------------------------------------

static size_t section_offset(const file *f, int section) {
  size_t at = WIRE_AT_SECTIONS;
  for (int i = 0; i < section; i++) at += (size_t)wire_get_u64(f->bytes + WIRE_AT_TABLE + 8 * i);
  return at;
}

static size_t section_size(const file *f, int section) {
  return (size_t)wire_get_u64(f->bytes + WIRE_AT_TABLE + 8 * section);
}

// Replaces `removed` bytes at `at` of a section, and makes length and checksum right again.
static file edit(const file *f, int section, size_t at, size_t removed, const void *bytes,
                 size_t added) {
  size_t cut = section_offset(f, section) + at;
  assert_true(at + removed <= section_size(f, section));
  file made = {malloc(f->size - removed + added), f->size - removed + added};
  memcpy(made.bytes, f->bytes, cut);
  if (added) memcpy(made.bytes + cut, bytes, added);
  memcpy(made.bytes + cut + added, f->bytes + cut + removed, f->size - cut - removed);
  wire_put_u64(made.bytes + WIRE_AT_TABLE + 8 * section,
               section_size(f, section) - removed + added);
  wire_seal(made.bytes, made.size);
  return made;
}

static void assert_refused(const file *f, const char *expected) {
  vyre_program *p = NULL;
  vyre_error error = {0};
  assert_int_not_equal(vyre_program_decode(f->bytes, f->size, &p, &error), VYRE_OK);
  if (!strstr(error.message, expected) && strcmp(error.code, expected) != 0)
    fail_msg("expected \"%s\" but got %s \"%s\"", expected, error.code, error.message);
}

static void test_truncated_sections(void **state) {
  (void)state;
  vyre_error error;
  vyre_program *p = built(sample_structure(&error), &error);
  file f = encode(p);
  for (int section = 0; section < WIRE_SECTION_COUNT; section++) {
    size_t size = section_size(&f, section);
    for (size_t keep = 0; keep < size; keep++) {
      file cut = edit(&f, section, keep, size - keep, NULL, 0);
      assert_int_equal(decode_any(cut.bytes, cut.size), VYRE_ERROR_WIRE);
      free(cut.bytes);
    }
  }
  vyre_free(f.bytes);
  vyre_program_release(p);
}

// Any number replaced by the largest, and by one that asks for more than the file can hold.
static void test_oversized_numbers(void **state) {
  (void)state;
  vyre_error error;
  vyre_program *p = built(sample_structure(&error), &error);
  file f = encode(p);
  const char *numbers[] = {"\xff\xff\xff\xff\x0f", "\x80\x80\x80\x08", "\xff\x7f"};
  for (int section = 0; section < WIRE_SECTION_COUNT; section++)
    for (size_t at = 0; at < section_size(&f, section); at++)
      for (size_t k = 0; k < 3; k++) {
        file big = edit(&f, section, at, 1, numbers[k], strlen(numbers[k]));
        decode_any(big.bytes, big.size);
        free(big.bytes);
      }
  vyre_free(f.bytes);
  vyre_program_release(p);
}

// ---- the canonical form -------------------------------------------------------------------------

// The program that the cases below spoil.
static vyre_program *small_program(vyre_error *error) {
  vyre_builder *b = vyre_builder_new("p");
  vyre_mem x = vyre_build_buffer(b, "x", VYRE_U32, VYRE_READWRITE, 0);
  vyre_build_region_begin(b, "r");
  vyre_build_grid(b, 1, (vyre_value[]){vyre_build_u32(b, 8)}, (uint32_t[]){1, 1, 1});
  vyre_build_shared(b, "s", VYRE_U8, 4);
  vyre_value i = vyre_build_id(b, VYRE_OP_GLOBAL_ID, 0);
  vyre_build_name(b, i, "i");
  vyre_build_store(b, x, i, vyre_build_u32(b, 5));
  vyre_build_f32(b, 1.0f); // not used, so not stored
  vyre_build_store(b, x, i, vyre_build_u32(b, 6));
  vyre_build_region_end(b);
  return sample_finish(b, error);
}

static const uint8_t small_interface[] = {
    'p', 0, 0,   0,         // 0: name, fast, no parameters
    1,   7, 3,   'x', 0, 0, // 4: a u32 buffer, readwrite, as bound
    0,   1, 'r', 0,   1,    // 10: no header code; a region of rank 1
    1,   3, 3,   1,   1, 1, // 15: grid c0 c1 c1, workgroup
    1,   0, 3,   3,   4,    // 21: 1 shared array, 0 and 3 operations; u8[4]
};
static const uint8_t small_constants[] = {
    4,             // 0
    7, 8, 0, 0, 0, // 1: u32 8
    7, 1, 0, 0, 0, // 6
    7, 5, 0, 0, 0, // 11
    7, 6, 0, 0, 0, // 16
};
static const uint8_t small_code[] = {
    VYRE_OP_GLOBAL_ID, 7, 0,       // 0
    VYRE_OP_STORE,     0, 0, 2, 5, // 3: buffer 0, the value 1 back, c2
    VYRE_OP_STORE,     0, 0, 4, 7, // 8
};
static const uint8_t small_names[] = {
    's', 0, 1, 1, 'i', 0, // the shared array; 1 name: operation 1
};

static void assert_section(const file *f, int section, const uint8_t *bytes, size_t size) {
  assert_int_equal(section_size(f, section), size);
  assert_memory_equal(f->bytes + section_offset(f, section), bytes, size);
}

// The bytes of a file are a promise: files of today are read by the vyre of tomorrow.
static void test_exact_bytes(void **state) {
  (void)state;
  vyre_error error;
  vyre_program *p = built(small_program(&error), &error);
  file f = round_trip(p);
  assert_memory_equal(f.bytes, "\x89VYR\x01\x00\x00\x00", 8);
  assert_section(&f, WIRE_INTERFACE, small_interface, sizeof small_interface);
  assert_section(&f, WIRE_CONSTANTS, small_constants, sizeof small_constants);
  assert_section(&f, WIRE_CODE, small_code, sizeof small_code);
  assert_section(&f, WIRE_NAMES, small_names, sizeof small_names);
  // Computed by another implementation of BLAKE3 from what docs/WIRE.md says.
  char hex[HASH_HEX];
  hash_hex(f.bytes + WIRE_AT_CHECKSUM, hex);
  assert_string_equal(hex, "bf803b510ed2507d7fbd6a584eb79b55fcb0e700575d1a8fb12ee788c2ad0fd8");
  vyre_free(f.bytes);
  vyre_program_release(p);
}

typedef struct spoiling {
  int section;
  size_t at, removed;
  const char *bytes;
  size_t added;
  const char *expected; // part of the message, or the verifier's code
  size_t told;          // the place in the section behind what is wrong; 0: the message has none
} spoiling;

#define BYTES(text) text, sizeof text - 1

static const spoiling spoilings[] = {
    // Numbers: padded, too long, too large.
    {WIRE_INTERFACE, 2, 1, BYTES("\x80\x00"), "padded with zeros", 4},
    {WIRE_INTERFACE, 2, 1, BYTES("\x80\x80\x80\x80\x80\x01"), "padded with zeros", 7},
    {WIRE_INTERFACE, 2, 1, BYTES("\xff\xff\xff\xff\x1f"), "above 4294967295", 7},
    {WIRE_INTERFACE, 2, 1, BYTES("\xff\xff\xff\xff\x0f"), "V082", 0},
    {WIRE_CODE, 2, 1, BYTES("\x80\x00"), "padded with zeros", 4},
    // Sections: bytes after the last record, missing ones.
    {WIRE_INTERFACE, 26, 0, BYTES("\x00"), "after its last record", 26},
    {WIRE_CONSTANTS, 21, 0, BYTES("\x00"), "after its last record", 21},
    {WIRE_CODE, 13, 0, BYTES("\x00"), "after its last record", 13},
    {WIRE_NAMES, 6, 0, BYTES("\x00"), "after its last record", 6},
    {WIRE_INTERFACE, 25, 1, BYTES(""), "more shared arrays than bytes", 24},
    {WIRE_CODE, 0, 13, BYTES(""), "more operations than the section can hold", 0},
    // Interface.
    {WIRE_INTERFACE, 3, 1, BYTES("\x7f"), "count is larger", 4},
    {WIRE_INTERFACE, 4, 1, BYTES("\x7f"), "count is larger", 5},
    {WIRE_INTERFACE, 11, 1, BYTES("\x7f"), "count is larger", 12},
    {WIRE_INTERFACE, 6, 1, BYTES("\x00"), "unknown access", 7},
    {WIRE_INTERFACE, 6, 1, BYTES("\x0b"), "unknown access", 7},
    {WIRE_INTERFACE, 6, 1, BYTES("\x83"), "unknown access", 7},
    {WIRE_INTERFACE, 6, 1, BYTES("\x05"), "not readwrite", 7},
    {WIRE_INTERFACE, 16, 1, BYTES("\x01"), "past the rank", 0},
    {WIRE_INTERFACE, 16, 1, BYTES("\x00"), "past the rank", 0},
    {WIRE_INTERFACE, 21, 1, BYTES("\x02"), "more shared arrays", 24},
    {WIRE_INTERFACE, 23, 1, BYTES("\x04"), "ends inside a record", 0},
    {WIRE_INTERFACE, 23, 1, BYTES("\x02"), "constant is not used", 0},
    {WIRE_INTERFACE, 10, 1, BYTES("\x01"), "ends inside a record", 0},
    {WIRE_INTERFACE, 23, 1, BYTES("\xff\xff\xff\xff\x0f"), "more operations than a program may",
     28},
    {WIRE_INTERFACE, 10, 1, BYTES("\xff\xff\xff\xff\x0f"), "more operations than a program may",
     28},
    // Constants: equal, unused, out of order, out of range.
    {WIRE_CONSTANTS, 17, 1, BYTES("\x05"), "two constants are equal", 0},
    {WIRE_CONSTANTS, 0, 1, BYTES("\x7f"), "count is larger", 1},
    {WIRE_CONSTANTS, 1, 5, BYTES("\x01\x02"), "V030", 0},
    {WIRE_CONSTANTS, 1, 5, BYTES("\x0a\x01\x00\xc0\x7f"), "V030", 0},
    {WIRE_CONSTANTS, 1, 5, BYTES("\x00"), "V030", 0},
    {WIRE_CONSTANTS, 1, 5, BYTES("\x0c\x01\x7e"), "V030", 0},
    {WIRE_CONSTANTS, 1, 5, BYTES("\x0d"), "V030", 0},
    {WIRE_CODE, 7, 1, BYTES("\x07"), "order of their first use", 8},
    {WIRE_CODE, 12, 1, BYTES("\x05"), "constant is not used", 0},
    {WIRE_CODE, 12, 1, BYTES("\x09"), "order of their first use", 0},
    {WIRE_INTERFACE, 15, 1, BYTES("\x03"), "order of their first use", 0},
    {WIRE_INTERFACE, 9, 1, BYTES("\x03"), "order of their first use", 0},
    // Operations: what the verifier judges, with its codes.
    {WIRE_CODE, 0, 3, BYTES("\x00\x07"), "V011", 0},
    {WIRE_CODE, 0, 3, BYTES("\xff\x07"), "V011", 0},
    {WIRE_CODE, 1, 1, BYTES("\x0d"), "V012", 0},
    {WIRE_CODE, 1, 1, BYTES("\x17"), "V012", 0},
    {WIRE_CODE, 2, 1, BYTES("\x03"), "V010", 0},
    {WIRE_CODE, 6, 1, BYTES("\x00"), "V006", 0},
    {WIRE_CODE, 6, 1, BYTES("\x04"), "V006", 0},
    {WIRE_CODE, 6, 1, BYTES("\xfe\xff\xff\xff\x0f"), "V006", 0},
    {WIRE_CODE, 5, 1, BYTES("\x04"), "V008", 0},
    {WIRE_CODE, 5, 1, BYTES("\x03"), "V008", 0},
    {WIRE_CODE, 5, 1, BYTES("\x05"), "V008", 0},
    {WIRE_CODE, 5, 1, BYTES("\x06"), "V008", 0},
    // Names: of no operation, twice, without end, more than there are.
    {WIRE_NAMES, 3, 1, BYTES("\x00"), "of no value", 4},
    {WIRE_NAMES, 3, 1, BYTES("\x04"), "of no value", 4},
    {WIRE_NAMES, 3, 1, BYTES("\x02"), "of no value", 4},
    {WIRE_NAMES, 3, 1, BYTES("\xff\xff\xff\xff\x0f"), "of no value", 8},
    {WIRE_NAMES, 2, 4, BYTES("\x02\x01i\x00\x00j\x00"), "of no value", 7},
    {WIRE_NAMES, 2, 1, BYTES("\x03"), "count is larger", 3},
    {WIRE_NAMES, 5, 1, BYTES(""), "a name has no end", 4},
    {WIRE_NAMES, 4, 1, BYTES("\xff"), "V081", 0},
    {WIRE_NAMES, 4, 1, BYTES(""), "V081", 0},
    {WIRE_NAMES, 0, 1, BYTES("-"), "V081", 0},
};

static void test_other_spellings_are_refused(void **state) {
  (void)state;
  vyre_error error;
  vyre_program *p = built(small_program(&error), &error);
  file f = encode(p);
  for (size_t i = 0; i < sizeof spoilings / sizeof *spoilings; i++) {
    const spoiling *s = &spoilings[i];
    file spoiled = edit(&f, s->section, s->at, s->removed, s->bytes, s->added);
    char place[40];
    snprintf(place, sizeof place, "at byte %zu:", section_offset(&f, s->section) + s->told);
    assert_refused(&spoiled, s->expected);
    if (s->told) assert_refused(&spoiled, place);
    free(spoiled.bytes);
  }
  vyre_free(f.bytes);
  vyre_program_release(p);
}

static void test_header(void **state) {
  (void)state;
  vyre_error error;
  vyre_program *p = built(small_program(&error), &error);
  const file f = encode(p);
  const struct {
    size_t at;
    uint8_t value;
    const char *expected;
  } cases[] = {
      {0, 'V', "not a vyre wire file"},     {WIRE_AT_VERSION, 3, "version 3"},
      {WIRE_AT_VERSION + 1, 1, "version"},  {WIRE_AT_FLAGS, 1, "flags"},
      {WIRE_AT_FLAGS + 1, 128, "flags"},    {WIRE_AT_LENGTH, 1, "header says otherwise"},
      {WIRE_AT_CHECKSUM, 0xaa, "checksum"}, {f.size - 1, 1, "checksum"},
      {WIRE_AT_VERSION, 2, "cut off"}, // there are no tunables behind the names
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint8_t old = f.bytes[cases[i].at];
    f.bytes[cases[i].at] = cases[i].value;
    assert_refused(&f, cases[i].expected);
    f.bytes[cases[i].at] = old;
  }
  // Section lengths that end past the file, or before it.
  for (int i = 0; i < WIRE_SECTION_COUNT; i++)
    for (int k = 0; k < 3; k++) {
      uint64_t old = wire_get_u64(f.bytes + WIRE_AT_TABLE + 8 * i);
      uint64_t other = k == 0 ? UINT64_MAX : k == 1 ? f.size : 0;
      wire_put_u64(f.bytes + WIRE_AT_TABLE + 8 * i, other);
      wire_seal(f.bytes, f.size);
      assert_refused(&f, "do not add up");
      wire_put_u64(f.bytes + WIRE_AT_TABLE + 8 * i, old);
    }
  vyre_free(f.bytes);
  vyre_program_release(p);
}

static void test_null_arguments(void **state) {
  (void)state;
  vyre_error error;
  vyre_program *p = built(small_program(&error), &error), *out = p;
  void *bytes = NULL;
  size_t size = 0;
  assert_int_equal(vyre_program_encode(NULL, &bytes, &size, &error), VYRE_ERROR_ARGUMENT);
  assert_int_equal(vyre_program_encode(p, NULL, &size, &error), VYRE_ERROR_ARGUMENT);
  assert_int_equal(vyre_program_encode(p, &bytes, NULL, &error), VYRE_ERROR_ARGUMENT);
  assert_int_equal(vyre_program_decode(NULL, 4, &out, &error), VYRE_ERROR_ARGUMENT);
  assert_int_equal(vyre_program_decode("", 0, NULL, &error), VYRE_ERROR_ARGUMENT);
  assert_int_equal(vyre_program_decode(NULL, 0, &out, NULL), VYRE_ERROR_WIRE);
  assert_null(out);
  vyre_program_release(p);
}

// ---- limits -------------------------------------------------------------------------------------

static vyre_program *nested(uint32_t depth, vyre_error *error) {
  vyre_builder *b = vyre_builder_new("deep");
  vyre_build_region_begin(b, "r");
  vyre_build_grid(b, 1, (vyre_value[]){vyre_build_u32(b, 1)}, (uint32_t[]){1, 1, 1});
  for (uint32_t i = 0; i < depth; i++) vyre_build_if(b, vyre_build_bool(b, true));
  for (uint32_t i = 0; i < depth; i++) vyre_build_end(b);
  vyre_build_region_end(b);
  return sample_finish(b, error);
}

static void test_deep_nesting(void **state) {
  (void)state;
  vyre_error error;
  vyre_program *p = built(nested(LIMIT_DEPTH, &error), &error);
  file f = round_trip(p);
  // One more block around the innermost: IF c1 and END are 3 and 2 bytes, and 128 of each fill the
  // section. The body's count is the last number of the interface.
  uint8_t opening[3], closing[2] = {VYRE_OP_END, VYRE_VOID};
  memcpy(opening, f.bytes + section_offset(&f, WIRE_CODE), sizeof opening);
  file more = edit(&f, WIRE_CODE, 3 * LIMIT_DEPTH, 0, closing, sizeof closing);
  file deeper = edit(&more, WIRE_CODE, 3 * LIMIT_DEPTH, 0, opening, sizeof opening);
  size_t last = section_size(&f, WIRE_INTERFACE);
  assert_memory_equal(f.bytes + section_offset(&f, WIRE_INTERFACE) + last - 2, "\x80\x02", 2);
  file deepest = edit(&deeper, WIRE_INTERFACE, last - 2, 2, "\x82\x02", 2);
  assert_refused(&deepest, "V005");
  free(more.bytes);
  free(deeper.bytes);
  free(deepest.bytes);
  vyre_free(f.bytes);
  vyre_program_release(p);
}

// A constant more than the pool may have, each of them used: the decoder says no by the count
// alone.
static void test_many_constants(void **state) {
  (void)state;
  vyre_builder *b = vyre_builder_new("many");
  vyre_mem x = vyre_build_buffer(b, "x", VYRE_U32, VYRE_WRITE, 0);
  vyre_build_region_begin(b, "r");
  vyre_build_grid(b, 1, (vyre_value[]){vyre_build_u32(b, 1)}, (uint32_t[]){1, 1, 1});
  for (uint32_t i = 0; i < 20000; i++)
    vyre_build_store(b, x, vyre_build_u32(b, i), vyre_build_u32(b, i * 7919));
  vyre_build_region_end(b);
  vyre_error error;
  vyre_program *p = built(sample_finish(b, &error), &error);
  vyre_free(round_trip(p).bytes);
  vyre_program_release(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_trips),
      cmocka_unit_test(test_every_operation_is_in_the_sample),
      cmocka_unit_test(test_random_round_trips),
      cmocka_unit_test(test_fingerprint),
      cmocka_unit_test(test_fingerprint_is_stable),
      cmocka_unit_test(test_damaged_files),
      cmocka_unit_test(test_truncated_sections),
      cmocka_unit_test(test_oversized_numbers),
      cmocka_unit_test(test_exact_bytes),
      cmocka_unit_test(test_other_spellings_are_refused),
      cmocka_unit_test(test_header),
      cmocka_unit_test(test_null_arguments),
      cmocka_unit_test(test_deep_nesting),
      cmocka_unit_test(test_many_constants),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
