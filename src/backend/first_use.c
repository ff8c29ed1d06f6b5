// SPDX-License-Identifier: MIT
#include "backend/first_use.h"

#include "backend/backend.h"
#include "base/error.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 512, MAX_BUFFERS = 4 };

// A program over ELEMENTS of each buffer, and the features that a failure takes away.
typedef struct exercise {
  const char *name, *needs, *text;
  bool is_float;
} exercise;

#define EACH "  let i = global_id.x\n"

static const exercise exercises[] = {
    {"integers",
     "div:i32 rem:i32 div:u32 rem:u32 shl:i32 shr:i32 shr:u32 mulhi:u32 clz:u32 ctz:u32 "
     "popcount:u32 rotl:u32 min:i32 max:u32 abs:i32",
     "program p()\nbuffer x: u32[] read\nbuffer y: u32[len(x)] read\n"
     "buffer r: u32[8 * len(x)] write\nregion ask grid(len(x)) {\n" EACH
     "  let a = x[i]\n  let b = y[i] % 100\n  let s = as_i32(a)\n  let t = as_i32(b) - 50\n"
     "  r[8 * i] = a / b ^ a % b\n  r[8 * i + 1] = as_u32(s / t) ^ as_u32(s % t)\n"
     "  r[8 * i + 2] = a << b ^ a >> b\n  r[8 * i + 3] = as_u32(s >> t) ^ as_u32(s << t)\n"
     "  r[8 * i + 4] = mulhi(a, y[i]) + rotl(a, b)\n"
     "  r[8 * i + 5] = clz(a >> b) + 100 * ctz(a << b) + 10000 * popcount(a)\n"
     "  r[8 * i + 6] = as_u32(min(s, t)) ^ max(a, b)\n  r[8 * i + 7] = as_u32(abs(s))\n}\n",
     false},
    {"wide integers", "add:i64 mul:i64 div:i64 shr:i64 shl:u64 convert:i64 lt:u64",
     "program p()\nbuffer x: i64[] read\nbuffer y: i64[len(x)] read\n"
     "buffer r: i64[2 * len(x)] write\nregion ask grid(len(x)) {\n" EACH
     "  let a = x[i]\n  let b = y[i] >> 20\n  r[2 * i] = a * b + a / b - (a >> (b & 63))\n"
     "  r[2 * i + 1] = i64(i32(a)) ^ as_i64(as_u64(b) << 7) + i64(as_u64(a) < as_u64(y[i]))\n}\n",
     false},
    {"small elements", "load:u8 store:u8 load:i16 store:i16 add:u8 mul:i16",
     "program p()\nbuffer x: u8[] readwrite\nbuffer y: i16[len(x)] readwrite\n"
     "region ask grid(len(x)) {\n" EACH "  let a = x[i]\n  x[i] = a * 3 + u8(y[i])\n"
     "  y[i] = y[i] * i16(a) - 7\n  x[i + len(x)] = 9\n}\n",
     false},
    {"control flow", "while break continue return array",
     "program p()\nbuffer x: u32[] read\nbuffer r: u32[len(x)] write\n"
     "region ask grid(len(x)) {\n" EACH "  var s: u32 = 0\n  array a: u32[5]\n"
     "  for k in 0..(x[i] % 40) {\n    if (x[i] >> (k % 31)) % 3 == 0 { continue }\n"
     "    var v: u32 = k\n    while v > 1 {\n      if v == 7 { break }\n"
     "      if v % 2 == 0 { v = v / 2 } else { v = v * 3 - 4 }\n      s = s + v\n"
     "      if s > 100000 { break }\n    }\n    a[k % 6] = s\n    if s % 1000 == 999 { break }\n  "
     "}\n"
     "  if s % 5 == 0 { r[i] = a[1]\n    return }\n  r[i] = s + a[s % 7]\n}\n",
     false},
    {"barriers", "barrier shared barrier-in-loop",
     "program p()\nbuffer x: u32[] read\nbuffer r: u32[] readwrite\n"
     "region ask grid(len(x)) workgroup(64) {\n  shared s: u32[64]\n" EACH
     "  let l = local_id.x\n  s[l] = x[i]\n  barrier\n  var step: u32 = 32\n"
     "  while step > 0 {\n    if l < step { s[l] = s[l] * 3 + s[l + step] }\n    barrier\n"
     "    step = step / 2\n  }\n  r[i] = s[0] + group_id.x\n}\n",
     false},
    {"atomics", "atomic:u32 atomic:i32",
     "program p()\nbuffer x: u32[] read\nbuffer r: u32[] readwrite\nbuffer q: i32[] readwrite\n"
     "region ask grid(len(x)) {\n" EACH "  atomic_add(r[x[i] % 16], x[i])\n"
     "  atomic_xor(r[16 + x[i] % 16], x[i])\n  atomic_max(r[32 + x[i] % 16], x[i])\n"
     "  atomic_min(q[x[i] % 16], as_i32(x[i]))\n  atomic_or(r[48 + x[i] % 16], x[i])\n}\n",
     false},
    {"regions", "region transient",
     "program p()\nbuffer x: u32[] read\nbuffer r: u32[len(x)] write\ntransient t: u32[len(x)]\n"
     "region a grid(len(x)) { t[global_id.x] = x[global_id.x] * 7 }\n"
     "region b grid(len(x)) { r[global_id.x] = t[len(x) - 1 - global_id.x] + 1 }\n",
     false},
    {"f32", "add:f32 mul:f32 div:f32 sqrt:f32 fma:f32 floor:f32 rint:f32 round:f32 convert:f32",
     "program p()\nbuffer x: u32[] read\nbuffer y: u32[len(x)] read\n"
     "buffer r: u32[8 * len(x)] write\nregion ask grid(len(x)) {\n" EACH
     "  let a = as_f32(x[i])\n  let b = as_f32(y[i])\n  let c = as_f32(x[i] ^ 0x400001)\n"
     "  r[8 * i] = as_u32(a + b) ^ as_u32(a - c)\n  r[8 * i + 1] = as_u32(a * b)\n"
     "  r[8 * i + 2] = as_u32(a / b)\n  r[8 * i + 3] = as_u32(sqrt(abs(a)))\n"
     "  r[8 * i + 4] = as_u32(fma(a, b, c)) + as_u32(a * b + c)\n"
     "  r[8 * i + 5] = as_u32(floor(c)) ^ as_u32(rint(c)) ^ as_u32(round(b)) ^ as_u32(ceil(a))\n"
     "  r[8 * i + 6] = as_u32(i32(a)) ^ u32(b) ^ as_u32(f32(x[i])) ^ as_u32(f32(as_i32(y[i])))\n"
     "  r[8 * i + 7] = as_u32(min(a, b)) ^ as_u32(max(b, c)) ^ u32(a < b)\n}\n",
     true},
    {"f64", "add:f64 mul:f64 div:f64 sqrt:f64 fma:f64 floor:f64 convert:f64",
     "program p()\nbuffer x: u64[] read\nbuffer y: u64[len(x)] read\n"
     "buffer r: u64[8 * len(x)] write\nregion ask grid(len(x)) {\n" EACH
     "  let a = as_f64(x[i])\n  let b = as_f64(y[i])\n  let c = as_f64(x[i] ^ 0x8000000000001)\n"
     "  r[8 * i] = as_u64(a + b) ^ as_u64(a - c)\n  r[8 * i + 1] = as_u64(a * b)\n"
     "  r[8 * i + 2] = as_u64(a / b)\n  r[8 * i + 3] = as_u64(sqrt(abs(a)))\n"
     "  r[8 * i + 4] = as_u64(fma(a, b, c)) + as_u64(a * b + c)\n"
     "  r[8 * i + 5] = as_u64(floor(c)) ^ as_u64(rint(c)) ^ as_u64(round(b))\n"
     "  r[8 * i + 6] = as_u64(i64(a)) ^ u64(b) ^ as_u64(f64(x[i])) ^ u64(as_u32(f32(a)))\n"
     "  r[8 * i + 7] = as_u64(min(a, b)) ^ as_u64(f64(as_f32(u32(y[i]))))\n}\n",
     true},
    {"f16", "load:f16 store:f16 add:f16 div:f16 convert:f16",
     "program p()\nbuffer x: u16[] read\nbuffer r: u16[4 * len(x)] write\n"
     "region ask grid(len(x)) {\n" EACH "  let a = as_f16(x[i])\n"
     "  let b = as_f16(x[len(x) - 1 - i])\n  r[4 * i] = as_u16(a + b)\n"
     "  r[4 * i + 1] = as_u16(a * b)\n  r[4 * i + 2] = as_u16(a / b)\n"
     "  r[4 * i + 3] = as_u16(f16(f32(a) * f32(0.333)))\n}\n",
     true},
    {"functions", "exp:f32 log:f32 sin:f32 pow:f32 exp:f64 sin:f64",
     "program p()\nbuffer x: u32[] read\nbuffer r: u32[4 * len(x)] write\n"
     "region ask grid(len(x)) {\n" EACH "  let a = as_f32(x[i] & 0xc3ffffff)\n"
     "  r[4 * i] = as_u32(exp(a))\n  r[4 * i + 1] = as_u32(log(abs(a)))\n"
     "  r[4 * i + 2] = as_u32(sin(a))\n  r[4 * i + 3] = as_u32(pow(abs(a), f32(0.7)))\n}\n",
     true},
    {"wide atomics", "atomic:u64 atomic:i64 atomic:f32",
     "program p()\nbuffer x: u64[] read\nbuffer r: u64[] readwrite\nbuffer q: f32[] readwrite\n"
     "region ask grid(len(x)) {\n" EACH "  atomic_add(r[x[i] % 16], x[i])\n"
     "  atomic_max(r[16 + x[i] % 16], x[i])\n  atomic_and(r[32 + x[i] % 16], x[i])\n"
     "  atomic_min(q[x[i] % 8], f32(x[i]))\n  atomic_max(q[8 + x[i] % 8], f32(x[i]))\n}\n",
     true},
};

// ---- running one --------------------------------------------------------------------------------

typedef struct memory {
  vyre_span spans[MAX_BUFFERS];
  uint32_t count;
} memory;

static void memory_fini(memory *m) {
  for (uint32_t i = 0; i < m->count; i++) free(m->spans[i].data);
}

// Ends of types, which chance hardly finds: of f64 and 64-bit integers, of f32 in pairs, of f16 in
// fours.
static const uint64_t hard_words[] = {
    0x0000000000000000, 0xffffffffffffffff, 0x8000000000000000, 0x7fffffffffffffff,
    0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000001, 0x0000000000000001,
    0x800fffffffffffff, 0x43e0000000000000, 0xc3e0000000000000, 0x43f0000000000000,
    0x41e0000000000000, 0xbfe0000000000000, 0x7f800000ff800000, 0x7fc00001ff800001,
    0x0000000180000001, 0x007fffff80800000, 0x4f000000cf000000, 0x4f8000005f000000,
    0x3f000000bfc00000, 0x4b0000014effffff, 0x7c00fc007e000001, 0x80007bff04003801,
};

static uint64_t next_word(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  const uint64_t count = sizeof hard_words / sizeof *hard_words, choice = *state >> 40;
  return choice % 3 ? *state ^ *state >> 33 : hard_words[choice / 3 % count];
}

static bool memory_init(memory *m, const vyre_program *p) {
  *m = (memory){0};
  uint64_t state = 0x2545f4914f6cdd1d;
  for (uint32_t i = 0; i < p->buffer_count; i++) {
    if (p->buffers[i].is_transient) continue;
    size_t elements = p->buffers[i].access == VYRE_WRITE ? 8 * ELEMENTS : ELEMENTS;
    vyre_span *s = &m->spans[m->count++];
    *s = (vyre_span){malloc(elements * 8), elements * type_bytes(p->buffers[i].type)};
    if (!s->data) return false;
    bool is_zero = p->buffers[i].access == VYRE_WRITE;
    for (size_t k = 0; k < elements; k++) {
      uint64_t word = is_zero ? 0 : next_word(&state);
      memcpy((char *)s->data + 8 * k, &word, 8);
    }
  }
  return true;
}

static bool memory_is_same(const memory *a, const memory *b) {
  for (uint32_t i = 0; i < a->count; i++)
    if (memcmp(a->spans[i].data, b->spans[i].data, a->spans[i].size_bytes)) return false;
  return true;
}

static vyre_dispatch_args memory_args(const memory *m) {
  return (vyre_dispatch_args){.buffers = m->spans, .buffer_count = m->count};
}

// What a device declines it need not do.
static vyre_status ask_reference(vyre_program *p, const vyre_dispatch_args *args,
                                 vyre_error *error) {
  vyre_executable *e;
  vyre_status status = vyre_compile(p, backend_oracle()->id, NULL, &e, error);
  if (status != VYRE_OK) return status;
  status = vyre_dispatch(e, args, NULL, error);
  vyre_executable_release(e);
  return status;
}

static vyre_status try_one(const first_use *how, const exercise *x, bool *is_right,
                           vyre_error *error) {
  memory expected = {0}, found = {0};
  vyre_program *p;
  *is_right = true;
  vyre_status status = vyre_program_parse(x->text, strlen(x->text), x->name, &p, error);
  if (status != VYRE_OK) return status;
  if (!memory_init(&expected, p) || !memory_init(&found, p)) status = error_out_of_memory(error);
  vyre_dispatch_args wanted = memory_args(&expected), given = memory_args(&found);
  if (status == VYRE_OK) status = ask_reference(p, &wanted, error);
  if (status == VYRE_OK) {
    vyre_status of_device = how->ask(how->device, p, &given, error);
    *is_right = of_device == VYRE_ERROR_UNSUPPORTED ||
                (of_device == VYRE_OK && memory_is_same(&expected, &found));
    if (how->must_answer || of_device == VYRE_ERROR_MEMORY || how->is_lost(how->device))
      status = of_device;
  }
  memory_fini(&expected);
  memory_fini(&found);
  vyre_program_release(p);
  return status;
}

// ---- all ----------------------------------------------------------------------------------------

enum { COUNT = sizeof exercises / sizeof *exercises };
static_assert((int)COUNT <= (int)FIRST_USE_MOST, "the caller's room");

vyre_status first_use_run(const first_use *how, conformance_failure failures[FIRST_USE_MOST],
                          uint32_t *count, vyre_error *error) {
  vyre_status status = VYRE_OK;
  *count = 0;
  for (uint32_t i = 0; i < COUNT && status == VYRE_OK; i++) {
    bool is_right;
    if (exercises[i].is_float && !how->has_floats) continue;
    status = try_one(how, &exercises[i], &is_right, error);
    if (status != VYRE_OK || is_right) continue;
    conformance_failure *f = &failures[(*count)++];
    *f = (conformance_failure){0};
    snprintf(f->row, sizeof f->row, "first-use/%s", exercises[i].name);
    snprintf(f->detail, sizeof f->detail, "its answers differed when it was first used");
    if (!features_parse(exercises[i].needs, VYRE_VOID, &f->needs))
      VYRE_BUG("first_use", "`%s` needs what there is not", exercises[i].name);
  }
  return status;
}

const char *first_use_version(void) {
  return "3";
}

// Beside what `vyre conform` found before, which is not forgotten.
vyre_status first_use_record(const char *adapter, const conformance_failure *failures,
                             uint32_t count, vyre_error *error) {
  conformance_failure *old = NULL;
  uint32_t old_count = 0, all = count;
  vyre_status status = conformance_load(adapter, &old, &old_count, error);
  if (status != VYRE_OK) return status;
  conformance_failure *both = calloc(old_count + count, sizeof *both);
  if (both) memcpy(both, failures, count * sizeof *both);
  for (uint32_t i = 0; i < old_count && both; i++) {
    bool is_again = false;
    for (uint32_t k = 0; k < count; k++) is_again |= !strcmp(old[i].row, failures[k].row);
    if (!is_again) both[all++] = old[i];
  }
  status = both ? conformance_record(adapter, both, all, error) : error_out_of_memory(error);
  free(both);
  free(old);
  return status;
}
