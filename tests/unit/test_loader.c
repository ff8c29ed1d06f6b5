// SPDX-License-Identifier: MIT
//
// The ELF loader runs what a compiler made, and refuses every truncation and every flipped bit that
// would make it read or write outside of the object.
#include "backend/cpu/loader.h"
#include "backend/cpu/relocate.h"
#include "base/file.h"
#include "../scratch_dir.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char source[] =
    "float fmaf(float, float, float);\n"
    "void *memset(void *, int, unsigned long);\n"
    "static int table[4] = {3, 1, 4, 1};\n"
    "static int zeros[100];\n"
    "int *pointer = &table[2];\n"
    "int read_table(int i) { return table[i & 3] + zeros[i] + *pointer; }\n"
    "float call(float x) { return fmaf(x, x, 1.0f); }\n"
    "double constant(double x) { return x * 1.2345678901234567; }\n"
    "void clear(char *p, unsigned long n) { memset(p, 7, n); }\n";

static char *object;
static size_t object_size;

static int compile(const char *text, char **out, size_t *size) {
  char command[1000];
  if (file_replace(scratch_path("a.c"), text, strlen(text), NULL) != VYRE_OK) return 1;
  snprintf(command, sizeof command,
           "%s -O1 -c -fPIE -fno-builtin -fno-asynchronous-unwind-tables -fno-stack-protector "
           "%s/a.c -o %s/a.o",
           getenv("CC") ? getenv("CC") : "cc", scratch_dir, scratch_dir);
  return system(command) || file_read(scratch_path("a.o"), 1 << 20, out, size, NULL) != VYRE_OK;
}

static void *function(const loaded_object *o, const char *name) {
  void *found = loader_find(o, name);
  assert_non_null(found);
  return found;
}

static void runs_code_with_data_and_calls(void **state) {
  (void)state;
  loaded_object *o;
  vyre_error error = {0};
  if (loader_open(object, object_size, &o, &error) != VYRE_OK) fail_msg("%s", error.message);
  int (*read_table)(int);
  float (*call)(float);
  double (*constant)(double);
  void (*clear)(char *, unsigned long);
  *(void **)&read_table = function(o, "read_table");
  *(void **)&call = function(o, "call");
  *(void **)&constant = function(o, "constant");
  *(void **)&clear = function(o, "clear");
  assert_int_equal(read_table(0), 3 + 0 + 4);
  assert_true(call(3.0f) == 10.0f);
  assert_true(constant(2.0) == 2.0 * 1.2345678901234567);
  char bytes[10] = {0};
  clear(bytes, 9);
  assert_int_equal(bytes[8], 7);
  assert_int_equal(bytes[9], 0);
  assert_null(loader_find(o, "absent"));
  loader_close(o);
}

static void refuses_unknown_calls(void **state) {
  (void)state;
  char *other;
  size_t size;
  loaded_object *o;
  vyre_error error;
  assert_int_equal(
      compile("int system(const char *); int f(void) { return system(\"\"); }", &other, &size), 0);
  assert_int_equal(loader_open(other, size, &o, &error), VYRE_ERROR_BACKEND);
  assert_non_null(strstr(error.message, "`system`"));
  free(other);
}

static void truncations_are_refused(void **state) {
  (void)state;
  for (size_t size = 0; size < object_size; size++) {
    loaded_object *o;
    vyre_status status = loader_open(object, size, &o, NULL);
    if (status == VYRE_OK) loader_close(o); // the tail may hold nothing that is needed
  }
}

// The cache has a checksum, so this cannot happen by accident; it must still not corrupt memory.
static void flipped_bits_do_no_harm(void **state) {
  (void)state;
  char *copy = malloc(object_size);
  for (size_t bit = 0; bit < object_size * 8; bit += 3) {
    memcpy(copy, object, object_size);
    copy[bit / 8] ^= (char)(1 << bit % 8);
    loaded_object *o;
    if (loader_open(copy, object_size, &o, NULL) == VYRE_OK) loader_close(o);
  }
  free(copy);
}

// ---- objects that lie ---------------------------------------------------------------------------

#if defined(__aarch64__)
enum { LONG_RELOCATION = R_AARCH64_ABS64, LONG_RELATIVE = R_AARCH64_PREL64 };
#else
enum { LONG_RELOCATION = R_X86_64_64, LONG_RELATIVE = R_X86_64_PC64 };
#endif

typedef struct image { // a copy of the object, to be changed
  unsigned char *at;
  Elf64_Ehdr *header;
  Elf64_Shdr *sections, *symbols, *strings, *rela, *target; // target: what rela is about
  Elf64_Rela *first;                                        // of four bytes
} image;

static image copy_object(void) {
  image m = {.at = malloc(object_size)};
  memcpy(m.at, object, object_size);
  m.header = (Elf64_Ehdr *)m.at;
  m.sections = (Elf64_Shdr *)(m.at + m.header->e_shoff);
  for (unsigned i = 0; i < m.header->e_shnum; i++) {
    Elf64_Shdr *s = &m.sections[i];
    if (s->sh_type == SHT_SYMTAB) m.symbols = s, m.strings = &m.sections[s->sh_link];
    if (s->sh_type != SHT_RELA || !(m.sections[s->sh_info].sh_flags & SHF_ALLOC) || m.rela)
      continue;
    m.rela = s;
    m.target = &m.sections[s->sh_info];
    m.first = (Elf64_Rela *)(m.at + s->sh_offset);
  }
  assert_non_null(m.rela);
  assert_int_equal(elf_host()->bytes(ELF64_R_TYPE(m.first->r_info)), 4);
  return m;
}

#define LIE(name, code)                                                                            \
  static void name(image *m) {                                                                     \
    code;                                                                                          \
  }
LIE(wrong_magic, m->at[0] = 0)
LIE(wrong_class, m->header->e_ident[EI_CLASS] = ELFCLASS32)
LIE(wrong_type, m->header->e_type = ET_EXEC)
LIE(wrong_machine, m->header->e_machine = EM_386)
LIE(wrong_entry_size, m->header->e_shentsize++)
LIE(too_many_sections, m->header->e_shnum = 0xff00)
LIE(one_section_beyond, m->header->e_shoff += sizeof(Elf64_Shdr))
LIE(crooked_sections, m->header->e_shoff -= 4)
LIE(section_beyond, m->target->sh_offset = object_size - m->target->sh_size + 1)
LIE(section_wraps, m->target->sh_offset = UINT64_MAX - m->target->sh_size + 1)
LIE(odd_alignment, m->target->sh_addralign = 3)
LIE(wide_alignment, m->target->sh_addralign = 8192)
LIE(no_symbols, m->symbols->sh_type = SHT_NOTE)
LIE(no_such_strings, m->symbols->sh_link = m->header->e_shnum)
LIE(crooked_symbols, m->symbols->sh_offset -= 4)
LIE(empty_strings, m->strings->sh_size = 0)
LIE(endless_strings, m->at[m->strings->sh_offset + m->strings->sh_size - 1] = 'x')
LIE(strings_without_bytes, m->strings->sh_type = SHT_NOBITS; m->strings->sh_offset = 1ull << 40)
LIE(bss_too_large, m->target->sh_type = SHT_NOBITS; m->target->sh_size = (1u << 24) + 1)
LIE(relocation_at_the_end, m->first->r_offset = m->target->sh_size)
LIE(relocation_over_the_end, m->first->r_offset = m->target->sh_size - 3)
LIE(relocation_beyond, m->first->r_offset = UINT64_MAX - 2)
LIE(long_relocation_over_the_end,
    m->first->r_info = ELF64_R_INFO(ELF64_R_SYM(m->first->r_info), LONG_RELOCATION);
    m->first->r_offset = m->target->sh_size - 7)
LIE(long_relative_over_the_end,
    m->first->r_info = ELF64_R_INFO(ELF64_R_SYM(m->first->r_info), LONG_RELATIVE);
    m->first->r_offset = m->target->sh_size - 7)
LIE(no_such_symbol, m->first->r_info = ELF64_R_INFO(m->symbols->sh_size / sizeof(Elf64_Sym),
                                                    ELF64_R_TYPE(m->first->r_info)))
LIE(no_such_relocation, m->first->r_info |= 250)
LIE(too_far, m->first->r_addend = 1ll << 40)
LIE(no_addends, m->rela->sh_type = SHT_REL)
LIE(crooked_relocations, m->rela->sh_offset -= 4)
LIE(no_such_target, m->rela->sh_info = m->header->e_shnum)
LIE(symbol_beyond_its_section,
    ((Elf64_Sym *)(m->at + m->symbols->sh_offset))[ELF64_R_SYM(m->first->r_info)] = ((Elf64_Sym){
        .st_shndx = m->rela->sh_info, .st_value = m->target->sh_size + 1}))

static void objects_that_lie_are_refused(void **state) {
  (void)state;
  static void (*const lies[])(image *) = {wrong_magic,
                                          wrong_class,
                                          wrong_type,
                                          wrong_machine,
                                          wrong_entry_size,
                                          too_many_sections,
                                          one_section_beyond,
                                          crooked_sections,
                                          section_beyond,
                                          section_wraps,
                                          odd_alignment,
                                          wide_alignment,
                                          no_symbols,
                                          no_such_strings,
                                          crooked_symbols,
                                          empty_strings,
                                          endless_strings,
                                          strings_without_bytes,
                                          bss_too_large,
                                          relocation_at_the_end,
                                          relocation_over_the_end,
                                          relocation_beyond,
                                          long_relocation_over_the_end,
                                          long_relative_over_the_end,
                                          no_such_symbol,
                                          no_such_relocation,
                                          too_far,
                                          no_addends,
                                          crooked_relocations,
                                          no_such_target,
                                          symbol_beyond_its_section};
  for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
    image m = copy_object();
    lies[i](&m);
    loaded_object *o;
    vyre_error error = {0};
    if (loader_open(m.at, object_size, &o, &error) != VYRE_ERROR_BACKEND)
      fail_msg("lie %zu was believed", i);
    // Not because of what follows from the lie: names that nobody knows.
    bool is_unknown = strstr(error.message, "is not known") != NULL;
    assert_int_equal(is_unknown, lies[i] == symbol_beyond_its_section);
    assert_non_null(strstr(error.message, "Fix:"));
    assert_null(o);
    free(m.at);
  }
}

// Up to the last byte, relocations are allowed.
static void a_relocation_may_end_its_section(void **state) {
  (void)state;
  image m = copy_object();
  m.first->r_offset = m.target->sh_size - 4;
  loaded_object *o;
  assert_int_equal(loader_open(m.at, object_size, &o, NULL), VYRE_OK);
  loader_close(o);
  free(m.at);
}

int main(void) {
  if (scratch_dir_make(NULL) || compile(source, &object, &object_size)) {
    puts("cannot compile the test's object");
    return 2;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(runs_code_with_data_and_calls),
      cmocka_unit_test(refuses_unknown_calls),
      cmocka_unit_test(truncations_are_refused),
      cmocka_unit_test(flipped_bits_do_no_harm),
      cmocka_unit_test(objects_that_lie_are_refused),
      cmocka_unit_test(a_relocation_may_end_its_section),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  free(object);
  return scratch_dir_remove(NULL) ? 2 : failed;
}
