// SPDX-License-Identifier: MIT
#include "backend/cpu/loader.h"

#include "backend/cpu/debugger.h"
#include "backend/cpu/relocate.h"
#include "base/error.h"

#include <elf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MAX_SECTIONS = 512, PAGE = 4096 };

struct loaded_object {
  unsigned char *base; // the mapping
  size_t mapped;
  unsigned char *image; // the object file, with the addresses where its sections are
  size_t size;
  void *debugger;                 // registration
  uint64_t address[MAX_SECTIONS]; // of each section in the mapping; 0: not loaded
};

// What generated code may call. Everything else in an object is a reason to refuse it.
typedef struct known_symbol {
  const char *name;
  void (*function)(void);
} known_symbol;

#define KNOWN(name)                                                                                \
  { #name, (void (*)(void))name }
static const known_symbol known_symbols[] = {
    KNOWN(memcpy), KNOWN(memset), KNOWN(memmove), KNOWN(fma),   KNOWN(fmaf),   KNOWN(floor),
    KNOWN(floorf), KNOWN(ceil),   KNOWN(ceilf),   KNOWN(trunc), KNOWN(truncf), KNOWN(rint),
    KNOWN(rintf),  KNOWN(round),  KNOWN(roundf),  KNOWN(fminf), KNOWN(fmaxf), // LLVM's of two f16
                                                                              // of which it knows
                                                                              // that neither is NaN
};

static uint64_t find_known(const char *name) {
  for (size_t i = 0; i < sizeof known_symbols / sizeof *known_symbols; i++)
    if (!strcmp(known_symbols[i].name, name)) return (uint64_t)(uintptr_t)known_symbols[i].function;
  return 0;
}

static vyre_status bad_object(vyre_error *error, const char *what) {
  return error_set(error, VYRE_ERROR_BACKEND,
                   "a compiled object is malformed (%s). Fix: remove the code cache "
                   "(`vyre cache clear`) so that it is compiled again",
                   what);
}

// ---- reading ------------------------------------------------------------------------------------

// A view of the object whose parts were checked to lie inside of it.
typedef struct view {
  const unsigned char *at;
  size_t size;
  const elf_machine *machine; // what the object is for: the host
  const Elf64_Ehdr *header;
  Elf64_Shdr *sections;
  const Elf64_Sym *symbols;
  size_t symbol_count;
  const char *strings;
  size_t string_bytes;
} view;

static bool is_inside(const view *v, uint64_t offset, uint64_t bytes) {
  return offset <= v->size && bytes <= v->size - offset;
}

static bool read_symbols(view *v) {
  for (unsigned i = 0; i < v->header->e_shnum; i++) {
    const Elf64_Shdr *s = &v->sections[i];
    if (s->sh_type != SHT_SYMTAB) continue;
    if (s->sh_link >= v->header->e_shnum || s->sh_offset % _Alignof(Elf64_Sym)) return false;
    const Elf64_Shdr *strings = &v->sections[s->sh_link];
    if (strings->sh_type != SHT_STRTAB || strings->sh_size == 0 ||
        v->at[strings->sh_offset + strings->sh_size - 1])
      return false;
    v->symbols = (const Elf64_Sym *)(v->at + s->sh_offset);
    v->symbol_count = s->sh_size / sizeof(Elf64_Sym);
    v->strings = (const char *)v->at + strings->sh_offset;
    v->string_bytes = strings->sh_size;
    return true;
  }
  return false;
}

static bool read_object(view *v) {
  if (v->size < sizeof(Elf64_Ehdr)) return false;
  v->header = (const Elf64_Ehdr *)v->at;
  const Elf64_Ehdr *h = v->header;
  v->machine = elf_host();
  if (!v->machine || memcmp(h->e_ident, ELFMAG, SELFMAG) || h->e_ident[EI_CLASS] != ELFCLASS64 ||
      h->e_type != ET_REL || h->e_machine != v->machine->number ||
      h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shnum > MAX_SECTIONS ||
      h->e_shoff % _Alignof(Elf64_Shdr) ||
      !is_inside(v, h->e_shoff, h->e_shnum * sizeof(Elf64_Shdr)))
    return false;
  v->sections = (Elf64_Shdr *)(v->at + h->e_shoff);
  for (unsigned i = 0; i < h->e_shnum; i++) {
    const Elf64_Shdr *s = &v->sections[i];
    if (s->sh_type != SHT_NOBITS && !is_inside(v, s->sh_offset, s->sh_size)) return false;
    if (s->sh_type == SHT_NOBITS && s->sh_size > (1u << 24)) return false;
    if (s->sh_addralign > PAGE || (s->sh_addralign & (s->sh_addralign - 1))) return false;
  }
  return read_symbols(v);
}

static const char *symbol_name(const view *v, const Elf64_Sym *s) {
  return s->st_name < v->string_bytes ? v->strings + s->st_name : "";
}

// ---- placing ------------------------------------------------------------------------------------

// Sections that live in memory, one after the other, then one stub per symbol for calls to
// functions that are further away than a relative call reaches.
static size_t layout(const view *v, uint64_t offset[MAX_SECTIONS], size_t *stubs) {
  size_t at = 0;
  for (unsigned i = 0; i < v->header->e_shnum; i++) {
    const Elf64_Shdr *s = &v->sections[i];
    if (!(s->sh_flags & SHF_ALLOC)) continue;
    size_t align = s->sh_addralign > 64 ? s->sh_addralign : 64;
    at = (at + align - 1) / align * align;
    offset[i] = at + 1; // 0 means: not loaded
    at += s->sh_size;
  }
  *stubs = (at + 63) / 64 * 64;
  return *stubs + v->symbol_count * STUB_BYTES;
}

static void copy_sections(const view *v, loaded_object *o, const uint64_t offset[MAX_SECTIONS]) {
  for (unsigned i = 0; i < v->header->e_shnum; i++) {
    Elf64_Shdr *s = &v->sections[i];
    if (!offset[i]) continue;
    unsigned char *to = o->base + offset[i] - 1;
    o->address[i] = (uint64_t)(uintptr_t)to;
    if (s->sh_type != SHT_NOBITS) memcpy(to, v->at + s->sh_offset, s->sh_size);
    s->sh_addr = o->address[i]; // for the debugger
  }
}

// ---- relocating ---------------------------------------------------------------------------------

// Where a symbol is; 0 when it is unknown. Functions of the process are reached through a stub.
static uint64_t symbol_address(const view *v, loaded_object *o, uint32_t index, size_t stubs) {
  const Elf64_Sym *s = &v->symbols[index];
  if (s->st_shndx != SHN_UNDEF) {
    if (s->st_shndx >= v->header->e_shnum || !o->address[s->st_shndx]) return 0;
    if (s->st_value > v->sections[s->st_shndx].sh_size) return 0;
    return o->address[s->st_shndx] + s->st_value;
  }
  uint64_t target = find_known(symbol_name(v, s));
  if (!target) return 0;
  unsigned char *stub = o->base + stubs + (size_t)index * STUB_BYTES;
  v->machine->stub(stub, target);
  return (uint64_t)(uintptr_t)stub;
}

static vyre_status relocate_section(const view *v, loaded_object *o, const Elf64_Shdr *table,
                                    size_t stubs, vyre_error *error) {
  const Elf64_Rela *r = (const Elf64_Rela *)(v->at + table->sh_offset);
  if (table->sh_offset % _Alignof(Elf64_Rela)) return bad_object(error, "alignment");
  uint64_t size = v->sections[table->sh_info].sh_size;
  for (size_t i = 0; i < table->sh_size / sizeof *r; i++) {
    uint32_t symbol = ELF64_R_SYM(r[i].r_info);
    uint32_t type = ELF64_R_TYPE(r[i].r_info);
    unsigned bytes = v->machine->bytes(type);
    if (!bytes) return bad_object(error, "relocation type");
    if (symbol >= v->symbol_count || r[i].r_offset > size || size - r[i].r_offset < bytes)
      return bad_object(error, "relocation");
    uint64_t address = symbol_address(v, o, symbol, stubs);
    if (!address)
      return error_set(error, VYRE_ERROR_BACKEND,
                       "a compiled object calls `%.60s`, which is not known. Fix: report this with "
                       "the program that caused it",
                       symbol_name(v, &v->symbols[symbol]));
    unsigned char *place = (unsigned char *)(uintptr_t)o->address[table->sh_info] + r[i].r_offset;
    if (!v->machine->apply(type, place, (uint64_t)(uintptr_t)place,
                           address + (uint64_t)r[i].r_addend))
      return bad_object(error, "relocation distance");
  }
  return VYRE_OK;
}

static vyre_status relocate(const view *v, loaded_object *o, size_t stubs, vyre_error *error) {
  for (unsigned i = 0; i < v->header->e_shnum; i++) {
    const Elf64_Shdr *s = &v->sections[i];
    if (s->sh_type == SHT_REL) return bad_object(error, "relocations without addends");
    if (s->sh_type != SHT_RELA) continue;
    if (s->sh_info >= v->header->e_shnum) return bad_object(error, "section number");
    if (!o->address[s->sh_info]) continue; // debug information stays relative
    vyre_status status = relocate_section(v, o, s, stubs, error);
    if (status != VYRE_OK) return status;
  }
  return VYRE_OK;
}

// ---- life ---------------------------------------------------------------------------------------

static vyre_status map_object(loaded_object *o, vyre_error *error) {
  view v = {.at = o->image, .size = o->size};
  if (!read_object(&v)) return bad_object(error, "header");
  uint64_t offset[MAX_SECTIONS] = {0};
  size_t stubs, bytes = layout(&v, offset, &stubs);
  o->mapped = (bytes + PAGE) / PAGE * PAGE;
  void *base = mmap(NULL, o->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return error_out_of_memory(error);
  o->base = base;
  copy_sections(&v, o, offset);
  vyre_status status = relocate(&v, o, stubs, error);
  if (status != VYRE_OK) return status;
  __builtin___clear_cache((char *)o->base, (char *)o->base + o->mapped); // nothing on x86
  if (mprotect(o->base, o->mapped, PROT_READ | PROT_EXEC))
    return error_set(error, VYRE_ERROR_BACKEND,
                     "the system refuses executable memory. Fix: allow it for this process, or use "
                     "another backend");
  o->debugger = debugger_add(o->image, o->size);
  return VYRE_OK;
}

vyre_status loader_open(const void *object, size_t size, loaded_object **out, vyre_error *error) {
  *out = NULL;
  loaded_object *o = calloc(1, sizeof *o);
  unsigned char *image = malloc(size + 1);
  if (!o || !image) {
    free(o);
    free(image);
    return error_out_of_memory(error);
  }
  o->image = memcpy(image, object, size);
  o->size = size;
  vyre_status status = map_object(o, error);
  if (status == VYRE_OK)
    *out = o;
  else
    loader_close(o);
  return status;
}

void *loader_find(const loaded_object *o, const char *symbol) {
  view v = {.at = o->image, .size = o->size};
  if (!read_object(&v)) return NULL;
  for (size_t i = 1; i < v.symbol_count; i++) {
    const Elf64_Sym *s = &v.symbols[i];
    if (ELF64_ST_TYPE(s->st_info) != STT_FUNC || s->st_shndx >= v.header->e_shnum) continue;
    if (!o->address[s->st_shndx] || strcmp(symbol_name(&v, s), symbol)) continue;
    return (void *)(uintptr_t)(o->address[s->st_shndx] + s->st_value);
  }
  return NULL;
}

void loader_close(loaded_object *o) {
  if (!o) return;
  debugger_remove(o->debugger);
  if (o->base) munmap(o->base, o->mapped);
  free(o->image);
  free(o);
}
