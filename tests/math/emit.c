// SPDX-License-Identifier: MIT
//
// math_emit FILE: writes a C file with one function per mathematical operation and type, translated
// from the program that math_expand made of `out[i] = op(x[i], y[i])`. The C has one statement per
// operation of the IR and is compiled without contraction, so it computes the same bits.
#include "ir/builder.h"
#include "ir/math.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const TYPES[VYRE_TYPE_COUNT] = {
    [VYRE_BOOL] = "bool",   [VYRE_I32] = "int32_t",  [VYRE_U32] = "uint32_t",
    [VYRE_I64] = "int64_t", [VYRE_U64] = "uint64_t", [VYRE_F32] = "float",
    [VYRE_F64] = "double",
};

static const char PRELUDE[] =
    "// Made by tests/math/emit.c.\n"
    "#include \"math/expanded.h\"\n"
    "#include <string.h>\n"
    "#define CAST(name, to, from) \\\n"
    "  __attribute__((unused)) static inline to name(from x) { to y; memcpy(&y, &x, sizeof y); "
    "return y; }\n"
    "CAST(f32_of_u32, float, uint32_t) CAST(u32_of_f32, uint32_t, float)\n"
    "CAST(f32_of_i32, float, int32_t) CAST(i32_of_f32, int32_t, float)\n"
    "CAST(f64_of_u64, double, uint64_t) CAST(u64_of_f64, uint64_t, double)\n"
    "CAST(f64_of_i64, double, int64_t) CAST(i64_of_f64, int64_t, double)\n"
    "CAST(i32_of_u32, int32_t, uint32_t) CAST(u32_of_i32, uint32_t, int32_t)\n"
    "CAST(i64_of_u64, int64_t, uint64_t) CAST(u64_of_i64, uint64_t, int64_t)\n"
    "static inline uint32_t mulhi_u32(uint32_t x, uint32_t y) {\n"
    "  return (uint32_t)((uint64_t)x * y >> 32);\n}\n"
    "__extension__ typedef unsigned __int128 wide;\n"
    "static inline uint64_t mulhi_u64(uint64_t x, uint64_t y) {\n"
    "  return (uint64_t)((wide)x * y >> 64);\n}\n"
    "static inline uint32_t clz_u32(uint32_t x) { return x ? (uint32_t)__builtin_clz(x) : 32; }\n"
    "static inline uint64_t clz_u64(uint64_t x) { return x ? (uint64_t)__builtin_clzll(x) : 64; "
    "}\n";

static _Noreturn void die(const char *what, const char *detail) {
  fprintf(stderr, "math_emit: %s: %s\n", what, detail);
  exit(1);
}

static const char *type_of(const vyre_program *p, ref r) {
  const char *name = TYPES[ref_type(p, r)];
  return name ? name : "void";
}

// A reference as a C expression, in one of a few rotating buffers.
static const char *value(const vyre_program *p, ref r) {
  static char buffers[4][64];
  static unsigned next;
  char *s = buffers[next++ % 4];
  if (!ref_is_const(r)) {
    snprintf(s, sizeof buffers[0], "v%" PRIu32, r);
    return s;
  }
  const constant *c = &p->consts[ref_index(r)];
  const char *form = c->type == VYRE_F32    ? "f32_of_u32(0x%" PRIx64 "u)"
                     : c->type == VYRE_F64  ? "f64_of_u64(0x%" PRIx64 "u)"
                     : c->type == VYRE_U64  ? "UINT64_C(0x%" PRIx64 ")"
                     : c->type == VYRE_U32  ? "0x%" PRIx64 "u"
                     : c->type == VYRE_BOOL ? "%" PRIu64
                                            : "%" PRId64;
  snprintf(s, sizeof buffers[0], form, c->bits);
  return s;
}

static const char *infix_of(unsigned op) {
  switch (op) {
  case VYRE_OP_ADD: return "+";
  case VYRE_OP_SUB: return "-";
  case VYRE_OP_MUL: return "*";
  case VYRE_OP_DIV: return "/";
  case VYRE_OP_AND: return "&";
  case VYRE_OP_OR: return "|";
  case VYRE_OP_XOR: return "^";
  case VYRE_OP_EQ: return "==";
  case VYRE_OP_NE: return "!=";
  case VYRE_OP_LT: return "<";
  case VYRE_OP_GT: return ">";
  case VYRE_OP_GE: return ">=";
  default: return NULL;
  }
}

static const char *builtin_of(unsigned op) {
  switch (op) {
  case VYRE_OP_FMA: return "fma";
  case VYRE_OP_SQRT: return "sqrt";
  case VYRE_OP_TRUNC: return "trunc";
  case VYRE_OP_ABS: return "fabs";
  default: return NULL;
  }
}

// Recipes do no arithmetic on signed integers, which could overflow in C; they compare them.
static void check_types(const vyre_program *p, const inst *in) {
  unsigned t = ref_type(p, in->arg[0]);
  bool is_arithmetic = in->op <= VYRE_OP_ABS;
  if (is_arithmetic && type_is_int(t) && type_is_signed(t))
    die("signed arithmetic", "not translated");
  if (in->op == VYRE_OP_DIV && type_is_int(t)) die("integer division", "not translated");
}

static void emit_value(const vyre_program *p, uint32_t i) {
  const inst *in = &p->code[i];
  check_types(p, in);
  const char *x = value(p, in->arg[0]), *name = op_table[in->op].name;
  unsigned from = ref_type(p, in->arg[0]);
  const char *suffix = in->type == VYRE_F32 ? "f" : "";
  printf("  const %s v%" PRIu32 " = ", TYPES[in->type], i);
  if (infix_of(in->op))
    printf("%s %s %s", x, infix_of(in->op), value(p, in->arg[1]));
  else if (in->op == VYRE_OP_FMA)
    printf("__builtin_fma%s(%s, %s, %s)", suffix, x, value(p, in->arg[1]), value(p, in->arg[2]));
  else if (builtin_of(in->op) && type_is_float(in->type))
    printf("__builtin_%s%s(%s)", builtin_of(in->op), suffix, x);
  else if (in->op == VYRE_OP_NEG && type_is_float(in->type))
    printf("-%s", x);
  else if (in->op == VYRE_OP_NOT)
    printf("%c%s", in->type == VYRE_BOOL ? '!' : '~', x);
  else if (in->op == VYRE_OP_MIN || in->op == VYRE_OP_MAX)
    printf("%s %c %s ? %s : %s", x, in->op == VYRE_OP_MIN ? '<' : '>', value(p, in->arg[1]), x,
           value(p, in->arg[1]));
  else if (in->op == VYRE_OP_SHL || in->op == VYRE_OP_SHR)
    printf("%s %s (%s & %u)", x, in->op == VYRE_OP_SHL ? "<<" : ">>", value(p, in->arg[1]),
           type_bits(in->type) - 1);
  else if (in->op == VYRE_OP_SELECT)
    printf("%s ? %s : %s", x, value(p, in->arg[1]), value(p, in->arg[2]));
  else if (in->op == VYRE_OP_BITCAST)
    printf("%s_of_%s(%s)", type_table[in->type].name, type_table[from].name, x);
  else if (in->op == VYRE_OP_MULHI)
    printf("mulhi_%s(%s, %s)", type_table[in->type].name, x, value(p, in->arg[1]));
  else if (in->op == VYRE_OP_CLZ)
    printf("clz_%s(%s)", type_table[in->type].name, x);
  else if (in->op == VYRE_OP_CONVERT && type_is_int(from))
    printf("(%s)%s", TYPES[in->type], x);
  else
    die("operation not translated", name);
  printf(";\n");
}

static void emit_inst(const vyre_program *p, uint32_t i) {
  const inst *in = &p->code[i];
  switch (in->op) {
  case VYRE_OP_GLOBAL_ID: break;
  case VYRE_OP_LOAD:
    printf("  const %s v%" PRIu32 " = %c;\n", TYPES[in->type], i,
           mem_index(in->arg[0]) == 0 ? 'x' : 'y');
    break;
  case VYRE_OP_STORE: printf("  return %s;\n", value(p, in->arg[2])); break;
  case VYRE_OP_VAR:
    printf("  %s v%" PRIu32 " = %s;\n", type_of(p, in->arg[0]), i, value(p, in->arg[0]));
    break;
  case VYRE_OP_GET:
    printf("  const %s v%" PRIu32 " = v%" PRIu32 ";\n", TYPES[in->type], i, in->arg[0]);
    break;
  case VYRE_OP_SET: printf("  v%" PRIu32 " = %s;\n", in->arg[0], value(p, in->arg[1])); break;
  case VYRE_OP_IF: printf("  if (%s) {\n", value(p, in->arg[0])); break;
  case VYRE_OP_WHILE: printf("  for (;;) {\n"); break;
  case VYRE_OP_DO: printf("  if (!%s) break;\n", value(p, in->arg[0])); break;
  case VYRE_OP_END: printf("  }\n"); break;
  default: emit_value(p, i);
  }
}

static vyre_program *build(vyre_op op, vyre_type t) {
  vyre_builder *b = vyre_builder_new("f");
  unsigned arity = op_table[op].operand_count;
  vyre_mem x[2], out;
  for (unsigned i = 0; i < arity; i++) x[i] = vyre_build_buffer(b, i ? "y" : "x", t, VYRE_READ, 0);
  out = vyre_build_buffer(b, "out", t, VYRE_WRITE, 0);
  vyre_build_region_begin(b, "all");
  vyre_value n = vyre_build_len(b, out), id, args[2];
  vyre_build_grid(b, 1, &n, (uint32_t[3]){64, 1, 1});
  id = vyre_build_id(b, VYRE_OP_GLOBAL_ID, 0);
  for (unsigned i = 0; i < arity; i++) args[i] = vyre_build_load(b, x[i], id);
  vyre_build_store(b, out, id, vyre_build_op(b, op, VYRE_VOID, arity, args));
  vyre_build_region_end(b);
  vyre_program *program, *result;
  vyre_error error;
  if (vyre_builder_finish(b, &program, &error) || math_expand(program, &result, &error))
    die(op_table[op].name, error.message);
  vyre_builder_free(b);
  vyre_program_release(program);
  return result;
}

static void emit_body(const vyre_program *p) {
  range body = p->regions[0].body;
  for (uint32_t i = body.first; i < body.end; i++) emit_inst(p, i);
  printf("}\n");
}

// The function without the blocks of its ifs, which it only reports.
static void emit_usual(const vyre_program *p, const char *name, const char *type) {
  range body = p->regions[0].body;
  printf("static inline %s usual_%s(%s x, int32_t *is_rare) {\n", type, name, type);
  for (uint32_t i = body.first; i < body.end; i++) {
    if (p->code[i].op != VYRE_OP_IF) {
      emit_inst(p, i);
      continue;
    }
    printf("  *is_rare |= %s;\n", value(p, p->code[i].arg[0]));
    i = p->code[i].arg[2];
  }
  printf("}\n");
}

// What a vectorising backend does with an if that no lane takes: it is skipped.
static void emit_blocked_loop(const char *name) {
  printf("  for (size_t k = 0; k < n; k += 64) {\n"
         "    size_t end = n - k < 64 ? n : k + 64;\n    int32_t is_rare = 0;\n"
         "    for (size_t i = k; i < end; i++) r[i] = usual_%s(a[i], &is_rare);\n"
         "    if (is_rare)\n      for (size_t i = k; i < end; i++) r[i] = %s(a[i]);\n  }\n}\n",
         name, name);
}

static bool has_op(const vyre_program *p, vyre_op op) {
  for (uint32_t i = 1; i < p->code_count; i++)
    if (p->code[i].op == op) return true;
  return false;
}

static unsigned emit_function(vyre_op op, vyre_type t) {
  vyre_program *p = build(op, t);
  char name[32];
  snprintf(name, sizeof name, "%s_%s", op_table[op].name, type_table[t].name);
  const char *type = TYPES[t];
  bool is_binary = op_table[op].operand_count == 2;
  printf("\nstatic inline %s %s(%s x%s%s%s) {\n", type, name, type, is_binary ? ", " : "",
         is_binary ? type : "", is_binary ? " y" : "");
  emit_body(p);
  bool is_blocked = has_op(p, VYRE_OP_IF) && !is_binary;
  if (is_blocked) emit_usual(p, name, type);
  printf("static void run_%s(size_t n, const void *x, const void *y, void *out) {\n", name);
  printf("  const %s *restrict a = x, *restrict b = y;\n  %s *restrict r = out;\n  (void)b;\n",
         type, type);
  if (is_blocked)
    emit_blocked_loop(name);
  else
    printf("  for (size_t i = 0; i < n; i++) r[i] = %s(a[i]%s);\n}\n", name,
           is_binary ? ", b[i]" : "");
  range body = p->regions[0].body;
  unsigned count = body.end - body.first - 2 - op_table[op].operand_count;
  vyre_program_release(p);
  return count;
}

int main(int argc, char **argv) {
  if (argc != 2 || !freopen(argv[1], "w", stdout)) die("usage", "math_emit FILE");
  unsigned counts[VYRE_OP_COUNT][2] = {{0}};
  fputs(PRELUDE, stdout);
  for (int op = 1; op < VYRE_OP_COUNT; op++)
    for (int k = 0; k < 2; k++)
      if (op_is((vyre_op)op, OPF_MATH))
        counts[op][k] = emit_function((vyre_op)op, k ? VYRE_F64 : VYRE_F32);
  printf("\nconst expanded expanded_functions[] = {\n");
  size_t total = 0;
  for (int op = 1; op < VYRE_OP_COUNT; op++)
    for (int k = 0; k < 2; k++) {
      if (!op_is((vyre_op)op, OPF_MATH)) continue;
      const char *name = op_table[op].name, *t = k ? "f64" : "f32";
      printf("  {\"%s\", %d, %d, %u, %u, run_%s_%s},\n", name, op, k ? VYRE_F64 : VYRE_F32,
             op_table[op].operand_count, counts[op][k], name, t);
      total++;
    }
  printf("};\nconst size_t expanded_count = %zu;\n", total);
  printf("const expanded *expanded_find(vyre_op op, vyre_type type) {\n"
         "  for (size_t i = 0; i < expanded_count; i++)\n"
         "    if (expanded_functions[i].op == op && expanded_functions[i].type == type)\n"
         "      return &expanded_functions[i];\n"
         "  return 0;\n}\n");
  return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
