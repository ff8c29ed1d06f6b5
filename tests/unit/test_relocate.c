// SPDX-License-Identifier: MIT
//
// Relocations of every machine that the loader knows, each against what an assembler and a linker
// make of it, on whatever machine the test runs.
#include "backend/cpu/relocate.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

typedef struct sample {
  const elf_machine *machine;
  uint32_t type;
  uint64_t before, at, value;
  uint64_t after; // 0: refused
} sample;

// The instructions of arm64 with zero in the field, and as `ld` links them for these addresses.
#define BL          0x94000000u
#define B           0x14000000u
#define B_EQ        0x54000000u
#define TBZ         0x36000000u
#define LDR_LITERAL 0x58000000u
#define ADR         0x10000000u
#define ADRP        0x90000000u
#define ADD         0x91000000u
#define LDRB        0x39400000u
#define LDRH        0x79400000u
#define LDR_W       0xb9400000u
#define LDR_X       0xf9400000u
#define LDR_Q       0x3dc00000u
#define ARM(type)   &elf_aarch64, R_AARCH64_##type
#define X86(type)   &elf_x86_64, R_X86_64_##type

static const sample samples[] = {
    {X86(64), 0, 0x1000, 0x123456789abc, 0x123456789abc},
    {X86(PC64), 0, 0x1000, 0x800, (uint64_t)-0x800},
    {X86(PC32), 0, 0x1000, 0x800, 0xfffff800},
    {X86(PLT32), 0, 0x1000, 0x80000fff, 0x7fffffff},
    {X86(PLT32), 0, 0x1000, 0x80001000, 0},
    {X86(PC32), 0, 0x80000000, 0, 0x80000000},
    {X86(PC32), 0, 0x80000001, 0, 0},
    {X86(GOTPCREL), 0, 0, 0, 0},

    {ARM(ABS64), 0, 0x1000, 0x123456789abc, 0x123456789abc},
    {ARM(PREL64), 0, 0x1000, 0x800, (uint64_t)-0x800},
    {ARM(PREL32), 0, 0x1000, 0x800, 0xfffff800},
    {ARM(PREL32), 0, 0, 0x80000000, 0},
    {ARM(CALL26), BL, 0x1000, 0x1008, 0x94000002},
    {ARM(CALL26), BL, 0x1000, 0xffc, 0x97ffffff},
    {ARM(CALL26), BL, 0, 0x7fffffc, 0x95ffffff},
    {ARM(CALL26), BL, 0, 0x8000000, 0},
    {ARM(CALL26), BL, 0x8000000, 0, 0x96000000},
    {ARM(CALL26), BL, 0x8000004, 0, 0},
    {ARM(CALL26), BL, 0x1000, 0x1002, 0}, // not an instruction's place
    {ARM(JUMP26), B, 0x1000, 0x1010, 0x14000004},
    {ARM(CONDBR19), B_EQ, 0x1000, 0x1010, 0x54000080},
    {ARM(CONDBR19), B_EQ, 0, 0x100000, 0},
    {ARM(TSTBR14), TBZ, 0x1000, 0xff0, 0x3607ff80},
    {ARM(TSTBR14), TBZ, 0, 0x8000, 0},
    {ARM(LD_PREL_LO19), LDR_LITERAL, 0x1000, 0x1020, 0x58000100},
    {ARM(ADR_PREL_LO21), ADR, 0x1000, 0x1003, 0x70000000},
    {ARM(ADR_PREL_LO21), ADR, 0x1000, 0xfff, 0x70ffffe0},
    {ARM(ADR_PREL_LO21), ADR, 0, 0x100000, 0},
    {ARM(ADR_PREL_PG_HI21), ADRP, 0x1ffc, 0x3004, 0xd0000000},
    {ARM(ADR_PREL_PG_HI21), ADRP, 0x3004, 0x1ffc, 0xd0ffffe0},
    {ARM(ADR_PREL_PG_HI21), ADRP, 0xfff, 0xfffffabc, 0xf07fffe0},
    {ARM(ADR_PREL_PG_HI21), ADRP, 0, 0x100000000, 0},
    {ARM(ADD_ABS_LO12_NC), ADD, 0, 0x12345fff, 0x913ffc00},
    {ARM(LDST8_ABS_LO12_NC), LDRB, 0, 0x12345fff, 0x397ffc00},
    {ARM(LDST16_ABS_LO12_NC), LDRH, 0, 0x12345ffe, 0x795ffc00},
    {ARM(LDST16_ABS_LO12_NC), LDRH, 0, 0x12345fff, 0},
    {ARM(LDST32_ABS_LO12_NC), LDR_W, 0, 0x12345ffc, 0xb94ffc00},
    {ARM(LDST32_ABS_LO12_NC), LDR_W, 0, 0x12345ffe, 0},
    {ARM(LDST64_ABS_LO12_NC), LDR_X, 0, 0x12345ff8, 0xf947fc00},
    {ARM(LDST64_ABS_LO12_NC), LDR_X, 0, 0x12345ffc, 0},
    {ARM(LDST128_ABS_LO12_NC), LDR_Q, 0, 0x12345ff0, 0x3dc3fc00},
    {ARM(LDST128_ABS_LO12_NC), LDR_Q, 0, 0x12345ff8, 0},
    {ARM(ADR_GOT_PAGE), ADRP, 0, 0, 0},
};

static void relocations_are_what_a_linker_writes(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
    const sample *s = &samples[i];
    unsigned char place[16];
    memset(place, 0xa5, sizeof place);
    memcpy(place, &s->before, 8);
    unsigned bytes = s->machine->bytes(s->type);
    memset(place + bytes, 0xa5, sizeof place - bytes);
    bool is_done = s->machine->apply(s->type, place, s->at, s->value);
    if (is_done != (s->after != 0)) fail_msg("sample %zu: %d", i, is_done);
    for (unsigned k = bytes; k < sizeof place; k++) assert_int_equal(place[k], 0xa5);
    if (is_done && memcmp(place, &s->after, bytes)) {
      uint64_t got = 0;
      memcpy(&got, place, bytes);
      fail_msg("sample %zu: %llx", i, (unsigned long long)got);
    }
  }
}

// A field that was not empty is replaced, and the rest of the instruction stays.
static void fields_are_replaced(void **state) {
  (void)state;
  uint32_t call = 0x97ffffff, add = 0x913ffc21;
  assert_true(elf_aarch64.apply(R_AARCH64_CALL26, (unsigned char *)&call, 0x1000, 0x1008));
  assert_int_equal(call, 0x94000002);
  assert_true(elf_aarch64.apply(R_AARCH64_ADD_ABS_LO12_NC, (unsigned char *)&add, 0, 0x10));
  assert_int_equal(add, 0x91004021);
}

static void stubs_hold_the_whole_address(void **state) {
  (void)state;
  const elf_machine *const machines[] = {&elf_x86_64, &elf_aarch64};
  const uint64_t target = 0x1122334455667788, where[] = {6, 8};
  for (int i = 0; i < 2; i++) {
    unsigned char stub[STUB_BYTES] = {0};
    machines[i]->stub(stub, target);
    assert_memory_equal(stub + where[i], &target, 8);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(relocations_are_what_a_linker_writes),
      cmocka_unit_test(fields_are_replaced),
      cmocka_unit_test(stubs_hold_the_whole_address),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
