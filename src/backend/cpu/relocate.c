// SPDX-License-Identifier: MIT
#include "backend/cpu/relocate.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

static bool fits(int64_t value, unsigned bits) {
  int64_t limit = (int64_t)1 << (bits - 1);
  return value >= -limit && value < limit;
}

static bool put_word(unsigned char *place, int64_t value) {
  if (!fits(value, 32)) return false;
  memcpy(place, &(int32_t){(int32_t)value}, 4);
  return true;
}

static bool put_long(unsigned char *place, uint64_t value) {
  memcpy(place, &value, 8);
  return true;
}

// ---- x86-64 -------------------------------------------------------------------------------------

static unsigned x86_64_bytes(uint32_t type) {
  switch (type) {
  case R_X86_64_64:
  case R_X86_64_PC64: return 8;
  case R_X86_64_PC32:
  case R_X86_64_PLT32: return 4;
  default: return 0;
  }
}

static bool x86_64_apply(uint32_t type, unsigned char *place, uint64_t at, uint64_t value) {
  switch (type) {
  case R_X86_64_64: return put_long(place, value);
  case R_X86_64_PC64: return put_long(place, value - at);
  case R_X86_64_PC32:
  case R_X86_64_PLT32: return put_word(place, (int64_t)(value - at));
  default: return false;
  }
}

static void x86_64_stub(unsigned char out[STUB_BYTES], uint64_t target) {
  static const unsigned char jump[] = {0xff, 0x25, 0, 0, 0, 0}; // jmp *0(%rip)
  memcpy(out, jump, sizeof jump);
  memcpy(out + sizeof jump, &target, sizeof target);
}

const elf_machine elf_x86_64 = {EM_X86_64, x86_64_bytes, x86_64_apply, x86_64_stub};

// ---- arm64 --------------------------------------------------------------------------------------
//
// An address is made from a page (`adrp`, relative to the page of the instruction) and the twelve
// bits below it, which an `add` or the access itself has.

static unsigned aarch64_bytes(uint32_t type) {
  switch (type) {
  case R_AARCH64_ABS64:
  case R_AARCH64_PREL64: return 8;
  case R_AARCH64_PREL32:
  case R_AARCH64_LD_PREL_LO19:
  case R_AARCH64_ADR_PREL_LO21:
  case R_AARCH64_ADR_PREL_PG_HI21:
  case R_AARCH64_ADD_ABS_LO12_NC:
  case R_AARCH64_LDST8_ABS_LO12_NC:
  case R_AARCH64_LDST16_ABS_LO12_NC:
  case R_AARCH64_LDST32_ABS_LO12_NC:
  case R_AARCH64_LDST64_ABS_LO12_NC:
  case R_AARCH64_LDST128_ABS_LO12_NC:
  case R_AARCH64_TSTBR14:
  case R_AARCH64_CONDBR19:
  case R_AARCH64_JUMP26:
  case R_AARCH64_CALL26: return 4;
  default: return 0;
  }
}

// Writes `bits` of the value from `first` on into the instruction.
static void put_field(unsigned char *place, uint64_t value, unsigned first, unsigned bits) {
  uint32_t instruction, mask = ((uint32_t)1 << bits) - 1;
  memcpy(&instruction, place, 4);
  instruction = (instruction & ~(mask << first)) | ((uint32_t)value & mask) << first;
  memcpy(place, &instruction, 4);
}

// A distance in instructions.
static bool put_branch(unsigned char *place, int64_t relative, unsigned first, unsigned bits) {
  if (relative & 3 || !fits(relative, bits + 2)) return false;
  put_field(place, (uint64_t)relative >> 2, first, bits);
  return true;
}

// The 21 bits of `adr` and `adrp`: the low two apart from the rest.
static bool put_address(unsigned char *place, int64_t value) {
  if (!fits(value, 21)) return false;
  put_field(place, (uint64_t)value, 29, 2);
  put_field(place, (uint64_t)value >> 2, 5, 19);
  return true;
}

// The bits below the page, in units of what is loaded or stored.
static bool put_offset(unsigned char *place, uint64_t value, unsigned shift) {
  if (value & (((uint64_t)1 << shift) - 1)) return false;
  put_field(place, (value & 0xfff) >> shift, 10, 12);
  return true;
}

static bool aarch64_apply(uint32_t type, unsigned char *place, uint64_t at, uint64_t value) {
  int64_t relative = (int64_t)(value - at);
  switch (type) {
  case R_AARCH64_ABS64: return put_long(place, value);
  case R_AARCH64_PREL64: return put_long(place, value - at);
  case R_AARCH64_PREL32: return put_word(place, relative);
  case R_AARCH64_LD_PREL_LO19:
  case R_AARCH64_CONDBR19: return put_branch(place, relative, 5, 19);
  case R_AARCH64_TSTBR14: return put_branch(place, relative, 5, 14);
  case R_AARCH64_JUMP26:
  case R_AARCH64_CALL26: return put_branch(place, relative, 0, 26);
  case R_AARCH64_ADR_PREL_LO21: return put_address(place, relative);
  case R_AARCH64_ADR_PREL_PG_HI21: {
    int64_t pages = (int64_t)((value & ~(uint64_t)0xfff) - (at & ~(uint64_t)0xfff));
    return put_address(place, pages / 4096);
  }
  case R_AARCH64_ADD_ABS_LO12_NC:
  case R_AARCH64_LDST8_ABS_LO12_NC: return put_offset(place, value, 0);
  case R_AARCH64_LDST16_ABS_LO12_NC: return put_offset(place, value, 1);
  case R_AARCH64_LDST32_ABS_LO12_NC: return put_offset(place, value, 2);
  case R_AARCH64_LDST64_ABS_LO12_NC: return put_offset(place, value, 3);
  case R_AARCH64_LDST128_ABS_LO12_NC: return put_offset(place, value, 4);
  default: return false;
  }
}

static void aarch64_stub(unsigned char out[STUB_BYTES], uint64_t target) {
  static const uint32_t jump[] = {0x58000050, 0xd61f0200}; // ldr x16, .+8; br x16
  memcpy(out, jump, sizeof jump);
  memcpy(out + sizeof jump, &target, sizeof target);
}

const elf_machine elf_aarch64 = {EM_AARCH64, aarch64_bytes, aarch64_apply, aarch64_stub};

// ---- the host -----------------------------------------------------------------------------------

const elf_machine *elf_host(void) {
#if defined(__x86_64__)
  return &elf_x86_64;
#elif defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  return &elf_aarch64;
#else
  return NULL;
#endif
}
