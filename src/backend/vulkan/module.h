// SPDX-License-Identifier: MIT
//
// A SPIR-V module under construction: instructions in the sections that the format orders them by,
// numbers for results, and types, constants and capabilities that are declared once. It knows
// nothing of programs. Out of memory is remembered in `failed`, so that whoever emits looks once,
// at the end. The owner ends it with spirv_fini. One thread.
#ifndef VYRE_BACKEND_VULKAN_MODULE_H
#define VYRE_BACKEND_VULKAN_MODULE_H

#include "base/vec.h"

#include <spirv/unified1/GLSL.std.450.h>
#include <spirv/unified1/spirv.h>

#include <stdint.h>

typedef enum spirv_section {
  SECTION_CAPABILITIES,
  SECTION_EXTENSIONS,
  SECTION_IMPORTS,
  SECTION_MODEL,
  SECTION_ENTRIES,
  SECTION_MODES,
  SECTION_NAMES,
  SECTION_DECORATIONS,
  SECTION_GLOBALS, // types, constants, variables of the module
  SECTION_FUNCTIONS,
  // Of the function at work: spirv_end_function joins them.
  SECTION_LOCALS,
  SECTION_ENTRY, // what is computed once, before everything else
  SECTION_BODY,
  SECTION_COUNT
} spirv_section;

typedef vec(uint32_t) spirv_words;

typedef struct spirv_module {
  spirv_words sections[SECTION_COUNT];
  uint32_t bound;  // the last number that was given
  uint32_t *known; // what was declared once: section << 28 | offset + 1, open addressing
  uint32_t known_count, known_capacity;
  bool is_at_entry; // spirv_make writes to SECTION_ENTRY
  bool failed;
} spirv_module;

void spirv_fini(spirv_module *m);

static inline uint32_t spirv_id(spirv_module *m) {
  return ++m->bound;
}

// One instruction. The macro counts its operands.
void spirv_put_words(spirv_module *m, spirv_section to, SpvOp op, const uint32_t *words,
                     uint32_t count);
#define spirv_put(m, to, op, ...)                                                                  \
  spirv_put_words(m, to, op, (const uint32_t[]){__VA_ARGS__},                                      \
                  sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
// One that has words, a text and words again.
void spirv_put_text(spirv_module *m, spirv_section to, SpvOp op, const uint32_t *before,
                    uint32_t before_count, const char *text, const uint32_t *after,
                    uint32_t after_count);

// An instruction of the function's body with a result, whose number is returned.
uint32_t spirv_make_words(spirv_module *m, SpvOp op, uint32_t type, const uint32_t *words,
                          uint32_t count);
#define spirv_make(m, op, type, ...)                                                               \
  spirv_make_words(m, op, type, (const uint32_t[]){__VA_ARGS__},                                   \
                   sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

// A type (type 0) or a constant: the same number for the same words. *is_new may be NULL.
uint32_t spirv_declare_words(spirv_module *m, SpvOp op, uint32_t type, const uint32_t *words,
                             uint32_t count, bool *is_new);
#define spirv_declare(m, op, type, ...)                                                            \
  spirv_declare_words(m, op, type, (const uint32_t[]){__VA_ARGS__},                                \
                      sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), NULL)
void spirv_require(spirv_module *m, SpvCapability capability); // once
void spirv_extension(spirv_module *m, const char *name);       // once, if the caller sees to it

// A function without parameters: its first block begins with the variables of SECTION_LOCALS and
// goes on with SECTION_ENTRY and SECTION_BODY, which ends with a terminator.
void spirv_end_function(spirv_module *m, uint32_t function, uint32_t result, uint32_t type);

// The words of the whole module, malloc'ed; NULL when out of memory.
uint32_t *spirv_finish(spirv_module *m, uint32_t version, size_t *count);

#endif
