// SPDX-License-Identifier: MIT
//
// Messages of the parser. They are made once per call, so they may take their time: a name that is
// not known is compared with all that could be meant.
#include "ir/text_parser.h"

#include "base/edit_distance.h"
#include "ir/limits.h"

#include <stdio.h>
#include <string.h>

bool parser_fail(parser *p, text_code code, uint32_t offset, const char *format, ...) {
  if (p->status != VYRE_OK) return false;
  vyre_error *error = p->options->mistake ? &p->scratch : p->error;
  va_list args;
  va_start(args, format);
  p->status = error_setv(error, text_rules[code].status, format, args);
  va_end(args);
  error_code(error, text_rules[code].code);
  error_place(error, p->file, p->text, p->size, offset);
  p->is_quiet = false;
  p->fault = offset;
  return false;
}

bool parser_fail_quietly(parser *p) {
  if (p->status == VYRE_OK) {
    p->status = VYRE_ERROR_SYNTAX;
    p->is_quiet = true;
  }
  return false;
}

// A function that is called twice has its mistakes once.
static bool is_new(parser *p) {
  uint64_t place = (uint64_t)p->source << 32 | p->fault;
  for (size_t i = 0; i < p->told.count; i++)
    if (p->told.at[i] == place) return false;
  return vec_push(&p->told, place);
}

bool parser_recover(parser *p) {
  bool is_memory = p->status == VYRE_ERROR_MEMORY;
  if (!p->options->mistake || p->status == VYRE_OK || is_memory || !p->builder) return false;
  if (!p->is_quiet && is_new(p)) {
    if (!p->mistakes++ && p->error) *p->error = p->scratch;
    if (!p->is_silent) p->options->mistake(p->options->data, &p->scratch);
  }
  p->is_broken = true;
  if (p->call) p->call->is_broken = true;
  if (p->mistakes >= TEXT_MOST_MISTAKES) return false;
  p->status = VYRE_OK;
  p->is_quiet = false;
  return true;
}

bool parser_fail_memory(parser *p) {
  if (p->status != VYRE_ERROR_MEMORY) p->status = error_out_of_memory(p->error);
  return false;
}

enum { SHOWN = 40 }; // bytes of a name or number in a message

const char *parser_describe_token(const parser *p, char *buffer) {
  const token *t = &p->token;
  if (t->kind == TOKEN_END) return "the end of the text";
  if (t->kind == TOKEN_NEWLINE) return "the end of the line";
  int size = t->size < SHOWN ? (int)t->size : SHOWN;
  snprintf(buffer, SHOWN + 8, "`%.*s%s`", size, p->text + t->offset, t->size > SHOWN ? "..." : "");
  return buffer;
}

bool parser_fail_expected(parser *p, const char *wanted, const char *fix) {
  char buffer[SHOWN + 8];
  return parser_fail(p, TEXT_P010, p->token.offset, "%s was expected here, not %s. Fix: %s", wanted,
                     parser_describe_token(p, buffer), fix);
}

// What could stand where the unknown name stands.
static bool is_candidate(const parser *p, const symbol *s, text_code code) {
  uint32_t function;
  switch (code) {
  case TEXT_P033: return s->is_type;
  case TEXT_P034:
    return (s->function != VYRE_OP_NONE && s->word == WORD_NONE) || s->sugar ||
           function_find(p, (uint32_t)(s - p->symbols.list.at), &function);
  default:
    return parser_named(p, s) != NAME_NONE || s->word == WORD_CONSTANT || s->word == WORD_AXIS;
  }
}

static uint32_t common_prefix(const symbol *a, const symbol *b) {
  uint32_t i = 0;
  while (i < a->size && i < b->size && a->text[i] == b->text[i]) i++;
  return i;
}

// The nearest one, and of those the one that begins most alike.
static const symbol *find_near(const parser *p, const symbol *unknown, text_code code) {
  size_t least = unknown->size < 4 ? 1 : 2;
  const symbol *near = NULL;
  for (size_t i = 0; i < p->symbols.list.count; i++) {
    const symbol *s = &p->symbols.list.at[i];
    if (s == unknown || !is_candidate(p, s, code)) continue;
    if (s->size > unknown->size + least || unknown->size > s->size + least) continue;
    size_t d = edit_distance(unknown->text, unknown->size, s->text, s->size);
    if (d > least || d >= unknown->size) continue;
    if (near && d == least && common_prefix(s, unknown) <= common_prefix(near, unknown)) continue;
    near = s;
    least = d;
  }
  return near;
}

// Words of other languages, and what is written here instead.
typedef struct foreign_word {
  const char *text, *advice;
} foreign_word;

static const foreign_word foreign_words[] = {
    {"float", "write f32"},
    {"double", "write f64"},
    {"half", "write f32"},
    {"char", "write i8"},
    {"uchar", "write u8"},
    {"short", "write i16"},
    {"ushort", "write u16"},
    {"int", "write i32"},
    {"uint", "write u32"},
    {"unsigned", "write u32"},
    {"long", "write i64"},
    {"ulong", "write u64"},
    {"size_t", "write u64"},
    {"float2", "write f32x2"},
    {"float3", "write f32x3"},
    {"float4", "write f32x4"},
    {"vec2", "write f32x2"},
    {"vec3", "write f32x3"},
    {"vec4", "write f32x4"},
    {"int4", "write i32x4"},
    {"uint4", "write u32x4"},
    {"get_global_id", "write global_id.x, .y or .z"},
    {"get_local_id", "write local_id.x, .y or .z"},
    {"get_group_id", "write group_id.x, .y or .z"},
    {"get_global_size", "write global_size.x, .y or .z"},
    {"get_local_size", "write local_size.x, .y or .z"},
    {"get_num_groups", "write group_count.x, .y or .z"},
    {"threadIdx.x", "write local_id.x"},
    {"blockIdx.x", "write group_id.x"},
    {"blockDim.x", "write local_size.x"},
    {"gridDim.x", "write group_count.x"},
    {"__syncthreads", "write barrier, without parentheses"},
    {"fabs", "write abs(x)"},
    {"fabsf", "write abs(x)"},
    {"fmin", "write min(a, b)"},
    {"fminf", "write min(a, b)"},
    {"fmax", "write max(a, b)"},
    {"fmaxf", "write max(a, b)"},
    {"mad", "write fma(a, b, c), or a * b + c"},
    {"sqrtf", "write sqrt(x)"},
    {"rsqrt", "write 1.0 / sqrt(x)"},
    {"expf", "write exp(x)"},
    {"logf", "write log(x)"},
    {"sinf", "write sin(x)"},
    {"cosf", "write cos(x)"},
    {"powf", "write pow(x, y)"},
    {"atomicAdd", "write atomic_add(x[i], v)"},
    {"atomic_inc", "write atomic_add(x[i], 1)"},
    {"printf", "write it as a statement: printf(\"%d\", i)"},
    {"print", "write printf(\"%d\", i)"},
    {"sizeof", "write the number of bytes"},
    {"length", "write len(x) for a buffer, or give it a vector: length(v)"},
};

// "global_id" without an axis, "load" and "convert": what is meant is known.
static const char *find_advice(const symbol *s) {
  for (size_t i = 0; i < sizeof foreign_words / sizeof *foreign_words; i++)
    if (strlen(foreign_words[i].text) == s->size &&
        !memcmp(foreign_words[i].text, s->text, s->size))
      return foreign_words[i].advice;
  vyre_op op = op_from_name(s->text, s->size);
  if (op_table[op].rule == RULE_AXIS) return "name an axis, as in global_id.x";
  switch (op) {
  case VYRE_OP_CONVERT: return "write the type, as in f32(x)";
  case VYRE_OP_BITCAST: return "write the type, as in as_u32(x)";
  case VYRE_OP_LOAD: return "write the element, as in x[i]";
  case VYRE_OP_STORE: return "assign to the element, as in x[i] = v";
  default: return NULL; // its name is what is written
  }
}

static const char *advise_past(const symbol *s) {
  switch ((name_past)s->past) {
  case PAST_BLOCK:
    return "was declared in a block that has ended. Fix: declare it before that block; carry a "
           "value out in a `var`";
  case PAST_REGION:
    return "was declared in a region that has ended. Fix: declare it here, too; carry values from "
           "region to region in a transient buffer";
  case PAST_HEADER:
    return "was declared for the lengths of buffers, and has ended with them. Fix: declare it "
           "again where it is used, in a grid as grid(let n = ...; n)";
  case PAST_NONE: break;
  }
  return NULL;
}

bool parser_fail_unknown(parser *p, text_code code, uint32_t symbol_number, uint32_t offset) {
  const symbol *s = &p->symbols.list.at[symbol_number];
  const char *what = code == TEXT_P033   ? "is no type"
                     : code == TEXT_P034 ? "is no function"
                                         : "is not declared";
  int shown = s->size < SHOWN ? (int)s->size : SHOWN;
  const symbol *near = find_near(p, s, code);
  const char *advice = find_advice(s), *past = code == TEXT_P030 ? advise_past(s) : NULL;
  uint32_t function;
  if (past) return parser_fail(p, code, offset, "`%.*s` %s", shown, s->text, past);
  if (advice)
    return parser_fail(p, code, offset, "`%.*s` %s. Fix: %s", shown, s->text, what, advice);
  if (code == TEXT_P030 && p->declaring == symbol_number + 1)
    return parser_fail(p, code, offset,
                       "`%.*s` is used in its own value. Fix: use what is declared before it",
                       shown, s->text);
  if (code == TEXT_P030 && function_find(p, symbol_number, &function))
    return parser_fail(p, code, offset, "`%.*s` is a function. Fix: call it, as in %.*s(x)", shown,
                       s->text, shown, s->text);
  if (code == TEXT_P034 && parser_named(p, s) != NAME_NONE)
    return parser_fail(p, code, offset,
                       "`%.*s` is no function. Fix: write an operator between a value and `(`; an "
                       "element is x[i]",
                       shown, s->text);
  if (code == TEXT_P034 && s->called)
    return parser_fail(p, code, offset,
                       "`%.*s` is declared further down. Fix: declare it above what calls it",
                       shown, s->text);
  if (near)
    return parser_fail(p, code, offset, "`%.*s` %s. Fix: did you mean `%.*s`?", shown, s->text,
                       what, (int)near->size, near->text);
  return parser_fail(
      p, code, offset, "`%.*s` %s. Fix: %s", shown, s->text, what,
      code == TEXT_P033   ? "use bool, i8 to i64, u8 to u64, f16, f32 or f64, or as many of "
                            "these as in f32x3"
      : code == TEXT_P034 ? "declare it with `fn`, or call an operation of docs/IR.md"
                          : "declare it with `let` or `var`, as a parameter or a "
                            "buffer");
}
