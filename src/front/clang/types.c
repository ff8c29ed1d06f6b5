// SPDX-License-Identifier: MIT
#include "front/clang/types.h"

#include "ir/types.h"

#include <string.h>

enum { FIRST_SLOTS = 1024 }; // a power of two; the table doubles when half of it is taken

// An array in registers or in the interface of a kernel is taken apart into this many leaves.
enum { MOST_LEAVES = 1 << 16 };

struct type_table {
  ctype **slot;
  uint32_t count, capacity;
  ctype *scalars[VYRE_TYPE_COUNT];
  ctype *sampler;
  ctype *vectors[VYRE_TYPE_COUNT][17];
};

static struct type_table *table(unit *u) {
  if (!u->types) u->types = UNIT_NEW(u, struct type_table);
  return u->types;
}

addr_space space_of_number(unsigned number) {
  switch (number) {
  case 1: return SPACE_GLOBAL;
  case 2: return SPACE_LOCAL;
  case 3: return SPACE_CONSTANT;
  case 5: return SPACE_GENERIC;
  default: return SPACE_PRIVATE;
  }
}

vyre_type type_unsigned(unsigned bytes) {
  return bytes == 1 ? VYRE_U8 : bytes == 2 ? VYRE_U16 : bytes == 4 ? VYRE_U32 : VYRE_U64;
}

vyre_type type_signed(unsigned bytes) {
  return bytes == 1 ? VYRE_I8 : bytes == 2 ? VYRE_I16 : bytes == 4 ? VYRE_I32 : VYRE_I64;
}

vyre_type type_promote(vyre_type t) {
  return t == VYRE_BOOL || (type_is_int(t) && type_bits(t) < 32) ? VYRE_I32 : t;
}

vyre_type type_common(vyre_type a, vyre_type b) {
  if (type_is_float(a) && type_is_float(b)) return type_bits(a) > type_bits(b) ? a : b;
  if (type_is_float(a) || type_is_float(b)) return type_is_float(a) ? a : b;
  a = type_promote(a);
  b = type_promote(b);
  if (type_bits(a) != type_bits(b)) return type_bits(a) > type_bits(b) ? a : b;
  return type_is_signed(a) ? b : a;
}

bool type_is_arithmetic(const ctype *type) {
  return type->kind == T_SCALAR || type->kind == T_VECTOR;
}

const ctype *type_scalar(unit *u, vyre_type scalar) {
  ctype **at = &table(u)->scalars[scalar];
  if (*at) return *at;
  *at = UNIT_NEW(u, ctype);
  **at = (ctype){.kind = T_SCALAR,
                 .scalar = scalar,
                 .size = type_bytes(scalar),
                 .align = type_bytes(scalar),
                 .spelling = vyre_type_name(scalar)};
  type_leaves(u, *at, NO_PLACE);
  return *at;
}

static const ctype *type_sampler(unit *u) {
  ctype **at = &table(u)->sampler;
  if (*at) return *at;
  *at = UNIT_NEW(u, ctype);
  **at = (ctype){.kind = T_SCALAR,
                 .scalar = VYRE_U32,
                 .is_sampler = true,
                 .size = 4,
                 .align = 4,
                 .spelling = "sampler_t"};
  type_leaves(u, *at, NO_PLACE);
  return *at;
}

const ctype *type_pointer(unit *u, const ctype *to, addr_space space, bool is_const) {
  ctype *made = UNIT_NEW(u, ctype);
  *made = (ctype){.kind = T_POINTER,
                  .space = space,
                  .is_const = is_const,
                  .element = to,
                  .size = 8,
                  .align = 8,
                  .spelling = unit_printf(u, "%s *", to->spelling)};
  type_leaves(u, made, NO_PLACE);
  return made;
}

const ctype *type_vector(unit *u, const ctype *element, uint32_t lanes) {
  ctype **at = &table(u)->vectors[element->scalar][lanes];
  if (*at) return *at;
  *at = UNIT_NEW(u, ctype);
  uint64_t size = element->size * (uint64_t)(lanes == 3 ? 4 : lanes);
  **at = (ctype){.kind = T_VECTOR,
                 .scalar = element->scalar,
                 .count = lanes,
                 .element = element,
                 .size = size,
                 .align = size,
                 .spelling = unit_printf(u, "%s x %u", element->spelling, lanes)};
  type_leaves(u, *at, NO_PLACE);
  return *at;
}

// ---- from clang ---------------------------------------------------------------------------------

static vyre_type scalar_of_kind(enum CXTypeKind kind) {
  switch (kind) {
  case CXType_Bool: return VYRE_BOOL;
  case CXType_Char_S:
  case CXType_SChar: return VYRE_I8;
  case CXType_Char_U:
  case CXType_UChar: return VYRE_U8;
  case CXType_Short: return VYRE_I16;
  case CXType_UShort: return VYRE_U16;
  case CXType_Int: return VYRE_I32;
  case CXType_UInt: return VYRE_U32;
  case CXType_Long:
  case CXType_LongLong: return VYRE_I64;
  case CXType_ULong:
  case CXType_ULongLong: return VYRE_U64;
  case CXType_Half:
  case CXType_Float16: return VYRE_F16;
  case CXType_Float: return VYRE_F32;
  case CXType_Double: return VYRE_F64;
  default: return VYRE_VOID;
  }
}

typedef struct field_list {
  CXCursor *at;
  unsigned count, capacity;
} field_list;

static enum CXVisitorResult count_field(CXCursor cursor, CXClientData data) {
  (void)cursor;
  ((field_list *)data)->count++;
  return CXVisit_Continue;
}

static enum CXVisitorResult keep_field(CXCursor cursor, CXClientData data) {
  field_list *list = data;
  if (list->count < list->capacity) list->at[list->count++] = cursor;
  return CXVisit_Continue;
}

// clang names a member without a name after its type and place: "(anonymous union at a.cl:3:5)".
const char *type_field_name(unit *u, CXCursor cursor) {
  const char *name = unit_string(u, clang_getCursorSpelling(cursor));
  return strchr(name, '(') ? "" : name;
}

static void fill_record(unit *u, ctype *made, CXType type, uint32_t offset) {
  CXCursor declaration = clang_getTypeDeclaration(type);
  bool is_union = clang_getCursorKind(declaration) == CXCursor_UnionDecl;
  made->kind = is_union ? T_UNION : T_STRUCT;
  field_list list = {0};
  clang_Type_visitFields(type, count_field, &list);
  list.at = UNIT_ARRAY(u, list.count, CXCursor);
  list.capacity = list.count;
  list.count = 0;
  clang_Type_visitFields(type, keep_field, &list);
  made->fields = UNIT_ARRAY(u, list.count, field);
  for (unsigned i = 0; i < list.count; i++) {
    if (clang_Cursor_isBitField(list.at[i]))
      unit_fail(u, VYRE_ERROR_UNSUPPORTED, offset,
                "`%s` has a bit-field, `%s`. Fix: use a whole integer with masks and shifts",
                made->spelling, unit_string(u, clang_getCursorSpelling(list.at[i])));
    long long bits = clang_Cursor_getOffsetOfField(list.at[i]);
    made->fields[i] =
        (field){type_field_name(u, list.at[i]), type_of(u, clang_getCursorType(list.at[i]), offset),
                bits < 0 ? 0 : (uint64_t)bits / 8};
  }
  made->field_count = list.count;
}

static void fill_array(unit *u, ctype *made, CXType type, uint32_t offset) {
  made->kind = T_ARRAY;
  made->element = type_of(u, clang_getArrayElementType(type), offset);
  long long count = type.kind == CXType_ConstantArray ? clang_getArraySize(type) : 0;
  if (count < 0 || count > UINT32_MAX)
    unit_fail(u, VYRE_ERROR_LIMIT, offset, "an array of %lld elements. Fix: use a smaller one",
              count);
  made->count = (uint32_t)count;
  made->size = made->element->size * made->count;
  made->align = made->element->align;
}

static void fill_pointer(unit *u, ctype *made, CXType type, uint32_t offset) {
  CXType to = clang_getPointeeType(type);
  made->kind = T_POINTER;
  made->element = type_of(u, to, offset);
  CXType plain = clang_getCanonicalType(to);
  // The qualifiers of an array are found on its elements.
  unsigned space = clang_getAddressSpace(plain);
  bool is_const = clang_isConstQualifiedType(plain);
  while (plain.kind == CXType_ConstantArray || plain.kind == CXType_IncompleteArray) {
    plain = clang_getCanonicalType(clang_getArrayElementType(plain));
    if (!space) space = clang_getAddressSpace(plain);
    is_const |= clang_isConstQualifiedType(plain) != 0;
  }
  made->space = space_of_number(space);
  made->is_const = is_const;
  type_leaves(u, made, offset);
}

// Images of several samples have no place in OpenCL C 1.2, and are not read.
static bool fill_image(ctype *made, enum CXTypeKind kind) {
#define KINDS(shape)                                                                               \
  CXType_OCLImage##shape##RO, CXType_OCLImage##shape##WO, CXType_OCLImage##shape##RW
  static const struct {
    enum CXTypeKind kinds[3];
    uint8_t axes;
    bool is_layered, is_depth;
  } images[] = {
      {{KINDS(1d)}, 1, false, false},         {{KINDS(1dArray)}, 1, true, false},
      {{KINDS(1dBuffer)}, 1, false, false},   {{KINDS(2d)}, 2, false, false},
      {{KINDS(2dArray)}, 2, true, false},     {{KINDS(2dDepth)}, 2, false, true},
      {{KINDS(2dArrayDepth)}, 2, true, true}, {{KINDS(3d)}, 3, false, false},
  };
#undef KINDS
  for (size_t i = 0; i < sizeof images / sizeof *images; i++)
    for (int k = 0; k < 3; k++)
      if (images[i].kinds[k] == kind) {
        made->kind = T_IMAGE;
        made->axes = images[i].axes;
        made->is_layered = images[i].is_layered;
        made->is_depth = images[i].is_depth;
        return true;
      }
  return false;
}

static void fill(unit *u, ctype *made, CXType type, uint32_t offset) {
  vyre_type scalar = scalar_of_kind(type.kind);
  if (scalar != VYRE_VOID) {
    made->kind = T_SCALAR;
    made->scalar = scalar;
    return;
  }
  switch (type.kind) {
  case CXType_Void: made->kind = T_VOID; return;
  case CXType_Pointer: fill_pointer(u, made, type, offset); return;
  case CXType_ConstantArray:
  case CXType_IncompleteArray: fill_array(u, made, type, offset); return;
  case CXType_Record: fill_record(u, made, type, offset); return;
  case CXType_FunctionProto:
  case CXType_FunctionNoProto: made->kind = T_FUNCTION; return;
  case CXType_OCLEvent: made->kind = T_EVENT; return;
  default:
    if (!fill_image(made, type.kind)) made->kind = T_OTHER;
    return;
  }
}

// Enums are their integers, vectors of one shape are one type: only those are looked up by shape.
static const ctype *shared_type(unit *u, CXType type, uint32_t offset) {
  if (type.kind == CXType_Atomic) return type_of(u, clang_Type_getValueType(type), offset);
  if (type.kind == CXType_Enum)
    return type_of(u, clang_getEnumDeclIntegerType(clang_getTypeDeclaration(type)), offset);
  vyre_type scalar = scalar_of_kind(type.kind);
  if (scalar != VYRE_VOID) return type_scalar(u, scalar);
  if (type.kind == CXType_OCLSampler) return type_sampler(u);
  if (type.kind == CXType_ExtVector || type.kind == CXType_Vector) {
    const ctype *element = type_of(u, clang_getElementType(type), offset);
    long long count = clang_getNumElements(type);
    if (element->kind == T_SCALAR && count >= 2 && count <= 16)
      return type_vector(u, element, (uint32_t)count);
  }
  return NULL;
}

static ctype **type_slot(ctype **slots, uint32_t capacity, const void *key) {
  uint32_t at = (uint32_t)(((uintptr_t)key >> 4) * 2654435761u) & (capacity - 1);
  while (slots[at] && slots[at]->key != key) at = (at + 1) & (capacity - 1);
  return &slots[at];
}

static void grow_types(unit *u, struct type_table *t) {
  uint32_t capacity = t->capacity ? t->capacity * 2 : FIRST_SLOTS;
  ctype **slots = UNIT_ARRAY(u, capacity, ctype *);
  for (uint32_t i = 0; i < t->capacity; i++)
    if (t->slot[i]) *type_slot(slots, capacity, t->slot[i]->key) = t->slot[i];
  t->slot = slots;
  t->capacity = capacity;
}

const ctype *type_of(unit *u, CXType any, uint32_t offset) {
  CXType type = clang_getUnqualifiedType(clang_getCanonicalType(any));
  const ctype *shared = shared_type(u, type, offset);
  if (shared) return shared;
  struct type_table *t = table(u);
  if (2 * t->count >= t->capacity) grow_types(u, t);
  ctype **slot = type_slot(t->slot, t->capacity, type.data[0]);
  if (*slot) return *slot;
  t->count++;
  ctype *made = *slot = UNIT_NEW(u, ctype);
  made->key = type.data[0];
  made->spelling = unit_string(u, clang_getTypeSpelling(any));
  long long size = clang_Type_getSizeOf(type), align = clang_Type_getAlignOf(type);
  made->size = size > 0 ? (uint64_t)size : 0;
  made->align = align > 0 ? (uint64_t)align : 1;
  fill(u, made, type, offset);
  return made;
}

// ---- leaves -------------------------------------------------------------------------------------

typedef struct leaf_list {
  unit *u;
  leaf *at;
  uint32_t count, capacity, place;
} leaf_list;

static void add_leaf(leaf_list *l, uint64_t offset, const ctype *type, const char *suffix) {
  if (l->count >= MOST_LEAVES)
    unit_fail(l->u, VYRE_ERROR_LIMIT, l->place,
              "a value has more than %d parts. Fix: use a smaller array or structure", MOST_LEAVES);
  leaf made = {offset, type, suffix};
  UNIT_PUSH(l->u, l->at, l->count, l->capacity, made);
}

// The fields of a structure without a name are those of the one around it; the words of a union
// without a name are told apart by where it is.
static const char *field_suffix(unit *u, const field *f, uint64_t offset, const char *suffix) {
  if (*f->name) return unit_printf(u, "%s.%s", suffix, f->name);
  if (f->type->kind != T_UNION) return suffix;
  return unit_printf(u, "%s.at%llu", suffix, (unsigned long long)(offset + f->offset));
}

static void add_leaves(leaf_list *l, const ctype *type, uint64_t offset, const char *suffix) {
  static const char *const xyzw[] = {".x", ".y", ".z", ".w"};
  switch (type->kind) {
  case T_SCALAR:
  case T_POINTER: add_leaf(l, offset, type, suffix); return;
  case T_IMAGE: // points to its pixels
    add_leaf(l, offset, type_pointer(l->u, type_scalar(l->u, VYRE_U8), SPACE_GLOBAL, false),
             suffix);
    return;
  case T_VECTOR:
    for (uint32_t i = 0; i < type->count; i++)
      add_leaf(l, offset + i * type->element->size, type->element,
               type->count <= 4 ? unit_printf(l->u, "%s%s", suffix, xyzw[i])
                                : unit_printf(l->u, "%s.s%x", suffix, i));
    return;
  case T_ARRAY:
    for (uint32_t i = 0; i < type->count; i++)
      add_leaves(l, type->element, offset + i * type->element->size,
                 unit_printf(l->u, "%s_%u", suffix, i));
    return;
  case T_STRUCT:
    for (uint32_t i = 0; i < type->field_count; i++)
      add_leaves(l, type->fields[i].type, offset + type->fields[i].offset,
                 field_suffix(l->u, &type->fields[i], offset, suffix));
    return;
  case T_UNION: {
    unsigned bytes = type->align < 8 ? (unsigned)type->align : 8;
    const ctype *word = type_scalar(l->u, type_unsigned(bytes));
    for (uint64_t at = 0; at + bytes <= type->size; at += bytes)
      add_leaf(l, offset + at, word, unit_printf(l->u, "%s.w%u", suffix, (unsigned)(at / bytes)));
    return;
  }
  case T_VOID:
  case T_EVENT: return;
  default:
    unit_fail(l->u, VYRE_ERROR_UNSUPPORTED, l->place,
              "a value of type `%s` is not supported. Fix: pass the data in a buffer instead",
              type->spelling);
  }
}

const leaf *type_leaves(unit *u, const ctype *type, uint32_t offset) {
  if (type->leaves) return type->leaves;
  leaf_list l = {.u = u, .place = offset};
  add_leaves(&l, type, 0, "");
  ctype *own = (ctype *)(uintptr_t)type; // filled once, by the one thread of the unit
  own->leaves = l.at ? l.at : UNIT_NEW(u, leaf);
  own->leaf_count = l.count;
  return own->leaves;
}
