// SPDX-License-Identifier: MIT
//
// clGetKernelArgInfo, from how the source declares an argument.
#include "icd/info.h"
#include "icd/kernel.h"

#include <stdio.h>

static bool has_word(const char *text, const char *word) {
  size_t size = strlen(word);
  for (const char *at = text; (at = strstr(at, word)); at += size) {
    char before = at == text ? ' ' : at[-1], after = at[size];
    bool is_start = before == ' ' || before == '*' || before == '(';
    if (is_start && (after == ' ' || after == 0 || after == '*')) return true;
  }
  return false;
}

static bool is_pointer(const vyre_source_arg *a) {
  return a->space == VYRE_SPACE_GLOBAL || a->space == VYRE_SPACE_CONSTANT ||
         a->space == VYRE_SPACE_LOCAL;
}

static cl_uint address_of(const vyre_source_arg *a) {
  switch (a->space) {
  case VYRE_SPACE_GLOBAL:
  case VYRE_SPACE_IMAGE: return CL_KERNEL_ARG_ADDRESS_GLOBAL;
  case VYRE_SPACE_CONSTANT: return CL_KERNEL_ARG_ADDRESS_CONSTANT;
  case VYRE_SPACE_LOCAL: return CL_KERNEL_ARG_ADDRESS_LOCAL;
  case VYRE_SPACE_VALUE:
  case VYRE_SPACE_SAMPLER:
  case VYRE_SPACE_OTHER: return CL_KERNEL_ARG_ADDRESS_PRIVATE;
  }
  return CL_KERNEL_ARG_ADDRESS_PRIVATE;
}

cl_uint kernel_arg_access(const vyre_source_arg *a) {
  if (a->space != VYRE_SPACE_IMAGE) return CL_KERNEL_ARG_ACCESS_NONE;
  if (strstr(a->declared, "read_write")) return CL_KERNEL_ARG_ACCESS_READ_WRITE;
  if (strstr(a->declared, "write_only")) return CL_KERNEL_ARG_ACCESS_WRITE_ONLY;
  return CL_KERNEL_ARG_ACCESS_READ_ONLY;
}

static cl_kernel_arg_type_qualifier qualifiers_of(const vyre_source_arg *a) {
  cl_kernel_arg_type_qualifier made = CL_KERNEL_ARG_TYPE_NONE;
  if (!is_pointer(a)) return made; // of values they are the kernel's own affair
  if (a->is_const || a->space == VYRE_SPACE_CONSTANT) made |= CL_KERNEL_ARG_TYPE_CONST;
  if (has_word(a->declared, "volatile")) made |= CL_KERNEL_ARG_TYPE_VOLATILE;
  if (strstr(a->declared, "restrict")) made |= CL_KERNEL_ARG_TYPE_RESTRICT;
  return made;
}

// The type's own name, without qualifiers, and a star: what a typedef called it stays.
static void type_name(const vyre_source_arg *a, char *room, size_t size) {
  static const char *const left_out[] = {
      "__global", "__constant", "__local",     "__private",    "const",        "volatile",
      "restrict", "__restrict", "__read_only", "__write_only", "__read_write", "*__restrict"};
  size_t used = 0;
  room[0] = 0;
  for (const char *at = a->declared; *at;) {
    size_t length = strcspn(at, " *");
    bool is_left_out = !length;
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
      is_left_out |= strlen(left_out[i]) == length && !strncmp(left_out[i], at, length);
    if (!is_left_out)
      used +=
          (size_t)snprintf(room + used, size - used, "%s%.*s", used ? " " : "", (int)length, at);
    if (used >= size) return;
    at += length ? length : 1;
  }
  if (!strncmp(room, "signed ", 7)) memmove(room, room + 7, strlen(room + 7) + 1);
  if (!strncmp(room, "unsigned ", 9)) { // as OpenCL C abbreviates it
    memmove(room + 1, room + 9, strlen(room + 9) + 1);
    room[0] = 'u';
  }
  if (is_pointer(a)) strncat(room, "*", size - strlen(room) - 1);
}

cl_int clGetKernelArgInfo(cl_kernel k, cl_uint index, cl_kernel_arg_info what, size_t room,
                          void *value, size_t *size) {
  info i = {0};
  char name[512];
  if (!object_is(k, OBJECT_KERNEL)) return CL_INVALID_KERNEL;
  if (index >= k->arg_count) return CL_INVALID_ARG_INDEX;
  const char *options = k->program->options;
  if (k->program->source && !(options && strstr(options, "-cl-kernel-arg-info")))
    return CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
  const vyre_source_arg *a = &k->entry->about->args[index];
  switch (what) {
  case CL_KERNEL_ARG_ADDRESS_QUALIFIER: info_u32(&i, address_of(a)); break;
  case CL_KERNEL_ARG_ACCESS_QUALIFIER: info_u32(&i, kernel_arg_access(a)); break;
  case CL_KERNEL_ARG_TYPE_NAME:
    type_name(a, name, sizeof name);
    info_text(&i, name);
    break;
  case CL_KERNEL_ARG_TYPE_QUALIFIER: info_u64(&i, qualifiers_of(a)); break;
  case CL_KERNEL_ARG_NAME: info_text(&i, a->name); break;
  default: return CL_INVALID_VALUE;
  }
  return info_answer(&i, room, value, size);
}
