// SPDX-License-Identifier: MIT
#include "front/clang/intel.h"

#include <string.h>

const char *const intel_macros[] = {
    "-Dcl_intel_subgroups=1",
    "-Dcl_intel_subgroups_char=1",
    "-Dcl_intel_subgroups_short=1",
    "-Dcl_intel_subgroups_long=1",
    "-Dcl_intel_subgroup_local_block_io=1",
    "-Dcl_intel_required_subgroup_size=1",
    NULL,
};

static const char declarations[] =
    "#define VYRE_F __attribute__((overloadable, convergent))\n"
    "#define VYRE_MOVE(T) T VYRE_F intel_sub_group_shuffle(T, uint); \\\n"
    "  T VYRE_F intel_sub_group_shuffle_xor(T, uint); \\\n"
    "  T VYRE_F intel_sub_group_shuffle_down(T, T, uint); \\\n"
    "  T VYRE_F intel_sub_group_shuffle_up(T, T, uint); \\\n"
    "  T VYRE_F intel_sub_group_broadcast(T, uint);\n"
    "#define VYRE_MOVES(T) VYRE_MOVE(T) VYRE_MOVE(T##2) VYRE_MOVE(T##3) VYRE_MOVE(T##4) \\\n"
    "  VYRE_MOVE(T##8) VYRE_MOVE(T##16)\n"
    "VYRE_MOVES(char) VYRE_MOVES(uchar) VYRE_MOVES(short) VYRE_MOVES(ushort) VYRE_MOVES(int)\n"
    "VYRE_MOVES(uint) VYRE_MOVES(long) VYRE_MOVES(ulong) VYRE_MOVES(float) VYRE_MOVES(half)\n"
    "VYRE_MOVES(double)\n"
    "#define VYRE_OF(T, N) T VYRE_F intel_sub_group_reduce_##N(T); \\\n"
    "  T VYRE_F intel_sub_group_scan_inclusive_##N(T); \\\n"
    "  T VYRE_F intel_sub_group_scan_exclusive_##N(T);\n"
    "#define VYRE_FOLDS(T) VYRE_OF(T, add) VYRE_OF(T, min) VYRE_OF(T, max)\n"
    "VYRE_FOLDS(char) VYRE_FOLDS(uchar) VYRE_FOLDS(short) VYRE_FOLDS(ushort)\n"
    "#define VYRE_BLOCK(T, V, S) V VYRE_F intel_sub_group_block_read##S(const global T *); \\\n"
    "  V VYRE_F intel_sub_group_block_read##S(const local T *); \\\n"
    "  void VYRE_F intel_sub_group_block_write##S(global T *, V); \\\n"
    "  void VYRE_F intel_sub_group_block_write##S(local T *, V);\n"
    "#define VYRE_BLOCKS(T, S) VYRE_BLOCK(T, T##2, S##2) VYRE_BLOCK(T, T##4, S##4) \\\n"
    "  VYRE_BLOCK(T, T##8, S##8)\n"
    "VYRE_BLOCK(uint, uint, ) VYRE_BLOCKS(uint, ) VYRE_BLOCK(uint, uint, _ui)\n"
    "VYRE_BLOCKS(uint, _ui) VYRE_BLOCK(ushort, ushort, _us) VYRE_BLOCKS(ushort, _us)\n"
    "VYRE_BLOCK(ushort, ushort16, _us16) VYRE_BLOCK(uchar, uchar, _uc) VYRE_BLOCKS(uchar, _uc)\n"
    "VYRE_BLOCK(uchar, uchar16, _uc16) VYRE_BLOCK(ulong, ulong, _ul) VYRE_BLOCKS(ulong, _ul)\n";

const char *intel_declarations(const unit *u) {
  bool has_any = u->text && strstr(u->text, "intel_sub_group_") != NULL;
  return has_any ? declarations : "";
}
