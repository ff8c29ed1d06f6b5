// SPDX-License-Identifier: MIT
#include "backend/opencl/emit_state.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

// Keywords, types, qualifiers, macros, and the built-in functions that emitted code calls. Other
// built-in functions may be hidden by a variable of their name.
static const char *const reserved[] = {
    "auto",
    "break",
    "case",
    "char",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "typedef",
    "union",
    "unsigned",
    "void",
    "volatile",
    "while",
    "bool",
    "true",
    "false",
    "uchar",
    "ushort",
    "uint",
    "ulong",
    "half",
    "size_t",
    "ptrdiff_t",
    "intptr_t",
    "uintptr_t",
    "kernel",
    "global",
    "local",
    "constant",
    "private",
    "generic",
    "read_only",
    "write_only",
    "read_write",
    "image1d_t",
    "image2d_t",
    "image3d_t",
    "sampler_t",
    "event_t",
    "pipe",
    "queue_t",
    "complex",
    "imaginary",
    "quad",
    "main",
    "vec_step",
    "typeof",
    "asm",
    "min",
    "max",
    "mul_hi",
    "rotate",
    "popcount",
    "clz",
    "fma",
    "sqrt",
    "floor",
    "ceil",
    "trunc",
    "round",
    "rint",
    "fabs",
    "barrier",
    "get_local_id",
    "get_group_id",
    "get_global_id",
    "get_num_groups",
    "as_float",
    "as_double",
    "as_int",
    "as_uint",
    "as_long",
    "as_ulong",
    "as_char",
    "as_uchar",
    "as_short",
    "as_ushort",
    "atomic_add",
    "atomic_sub",
    "atomic_min",
    "atomic_max",
    "atomic_and",
    "atomic_or",
    "atomic_xor",
    "atomic_xchg",
    "atomic_cmpxchg",
    "atom_add",
    "atom_sub",
    "atom_min",
    "atom_max",
    "atom_and",
    "atom_or",
    "atom_xor",
    "atom_xchg",
    "atom_cmpxchg",
    "NAN",
    "INFINITY",
    "NULL",
    "HUGE_VAL",
    "MAXFLOAT",
    "HUGE_VALF",
    "kernel_exec",
    "printf",
    "copysign",
    "linux",
    "unix",
    "i386",
};

static bool is_reserved(const char *name) {
  for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
    if (!strcmp(name, reserved[i])) return true;
  // Vector types (float4), macros of the language (CLK_..., FLT_MAX, M_PI) and of vendors.
  size_t letters = strcspn(name, "0123456789");
  static const char *const scalars[] = {"char", "uchar", "short", "ushort", "int",  "uint",
                                        "long", "ulong", "float", "double", "half", "bool"};
  for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++)
    if (strlen(scalars[i]) == letters && !strncmp(name, scalars[i], letters)) return true;
  static const char *const prefixes[] = {"__",   "CL",    "FLT_",  "DBL_",  "FP_", "M_",
                                         "INT_", "LONG_", "UINT_", "vyre_", "cl_", "convert_"};
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
    if (!strncmp(name, prefixes[i], strlen(prefixes[i]))) return true;
  return name[0] == '_' && (isupper((unsigned char)name[1]) || name[1] == '_');
}

static size_t find_slot(const name_set *set, const char *name) {
  size_t i = hash_fast(name, strlen(name)) & (set->capacity - 1);
  while (set->slots[i] && strcmp(set->slots[i], name)) i = (i + 1) & (set->capacity - 1);
  return i;
}

static bool grow(name_set *set) {
  name_set bigger = {.capacity = set->capacity ? set->capacity * 2 : 64};
  bigger.slots = calloc(bigger.capacity, sizeof *bigger.slots);
  if (!bigger.slots) return false;
  for (size_t i = 0; i < set->capacity; i++)
    if (set->slots[i]) bigger.slots[find_slot(&bigger, set->slots[i])] = set->slots[i];
  free(set->slots);
  set->slots = bigger.slots;
  set->capacity = bigger.capacity;
  return true;
}

const char *names_take(name_set *set, const char *wanted, const char *fallback) {
  enum { MAX = 300 };
  char name[MAX];
  snprintf(name, MAX - 16, "%s", wanted && *wanted ? wanted : fallback);
  for (char *c = name; *c; c++)
    if (!isalnum((unsigned char)*c) || (unsigned char)*c > 127) *c = '_';
  if (set->failed || (set->count * 2 >= set->capacity && !grow(set))) {
    set->failed = true;
    return "";
  }
  size_t stem = strlen(name);
  if (is_reserved(name)) {
    if (name[0] == '_' || !strncmp(name, "vyre_", 5)) {
      memmove(name + 1, name, stem + 1);
      name[0] = 'n';
    } else {
      memcpy(name + stem, "_", 2);
    }
    stem = strlen(name);
  }
  for (unsigned n = 2; set->slots[find_slot(set, name)]; n++)
    snprintf(name + stem, MAX - stem, "_%u", n);
  const char *kept = arena_copy_string(&set->arena, name, strlen(name));
  if (!kept) {
    set->failed = true;
    return "";
  }
  set->slots[find_slot(set, name)] = kept;
  set->count++;
  return kept;
}

void names_fini(name_set *set) {
  arena_free(&set->arena);
  free(set->slots);
  *set = (name_set){0};
}
