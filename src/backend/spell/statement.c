// SPDX-License-Identifier: MIT
//
// Statements, a line each. A while whose condition needs statements of its own is one without end
// that is left where the condition fails.
#include "backend/spell/table.h"

#include <inttypes.h>
#include <stdarg.h>

// ---- lines --------------------------------------------------------------------------------------

static void begin(speller *s) {
  for (uint32_t i = 0; i < s->indent; i++) strbuf_puts(&s->text, "  ");
}

static void finish(speller *s, const char *end) {
  strbuf_puts(&s->text, end);
  strbuf_putc(&s->text, '\n');
}

void spell_line(speller *s, const char *format, ...) {
  va_list args;
  va_start(args, format);
  begin(s);
  strbuf_vprintf(&s->text, format, args);
  finish(s, "");
  va_end(args);
}

// ---- values and variables -----------------------------------------------------------------------

bool spell_is_value(const inst *in) {
  return in->type != VYRE_VOID && in->op != VYRE_OP_VAR && in->op != VYRE_OP_ARRAY &&
         !op_is_structure(in->op);
}

// `const T x = ` where it is made, `s->x = ` in a frame.
static void begin_value(speller *s, uint32_t op, const char *qualifier) {
  begin(s);
  if (!s->is_framed)
    strbuf_printf(&s->text, "%s%s ", qualifier, spell_type(s, (vyre_type)s->p->code[op].type));
  spell_name(s, op);
  strbuf_puts(&s->text, " = ");
}

static void put_value(speller *s, uint32_t op) {
  const spelling *how = &spellings[s->p->code[op].op];
  uint32_t at = spell_offset(s, op);
  if (s->is_inline[at]) return;
  if (s->use_count[at])
    begin_value(s, op, "const ");
  else if (op_is((vyre_op)s->p->code[op].op, OPF_WRITES))
    begin(s);
  else
    return;
  how->put(s, op, how->text);
  finish(s, ";");
}

void put_var(speller *s, uint32_t op, const char *text) {
  (void)text;
  begin_value(s, op, "");
  spell_whole(s, s->p->code[op].arg[0]);
  finish(s, ";");
}

void put_set(speller *s, uint32_t op, const char *text) {
  (void)text;
  begin(s);
  spell_name(s, s->p->code[op].arg[0]);
  strbuf_puts(&s->text, " = ");
  spell_whole(s, s->p->code[op].arg[1]);
  finish(s, ";");
}

void put_array(speller *s, uint32_t op, const char *text) {
  const inst *in = &s->p->code[op];
  const char *name = s->value_names[spell_offset(s, op)];
  (void)text;
  if (s->is_framed)
    spell_line(s, "memset(s->%s, 0, sizeof s->%s);", name, name);
  else
    spell_line(s, "%s %s[%u] = {0};", spell_memory_type(s, (vyre_type)in->type), name, in->arg[0]);
}

void put_store(speller *s, uint32_t op, const char *text) {
  (void)text;
  begin(s);
  spell_element(s, &s->p->code[op]);
  strbuf_puts(&s->text, " = ");
  spell_whole(s, s->p->code[op].arg[2]);
  finish(s, ";");
}

// ---- structure ----------------------------------------------------------------------------------

void put_if(speller *s, uint32_t op, const char *text) {
  (void)text;
  begin(s);
  strbuf_puts(&s->text, "if (");
  spell_whole(s, s->p->code[op].arg[0]);
  finish(s, ") {");
  s->indent++;
}

void put_else(speller *s, uint32_t op, const char *text) {
  (void)op;
  (void)text;
  s->indent--;
  spell_line(s, "} else {");
  s->indent++;
}

void put_for(speller *s, uint32_t op, const char *text) {
  const inst *in = &s->p->code[op];
  (void)text;
  begin(s);
  strbuf_puts(&s->text, "for (");
  if (!s->is_framed) strbuf_printf(&s->text, "%s ", spell_type(s, (vyre_type)in->type));
  spell_name(s, op);
  strbuf_puts(&s->text, " = ");
  spell_operand(s, in->arg[0]);
  strbuf_puts(&s->text, "; ");
  spell_name(s, op);
  strbuf_puts(&s->text, " < ");
  spell_operand(s, in->arg[1]);
  strbuf_puts(&s->text, "; ");
  spell_name(s, op);
  strbuf_printf(&s->text, " += %" PRIu64 ") {\n", s->p->consts[ref_index(in->arg[2])].bits);
  s->indent++;
}

static bool has_plain_condition(const speller *s, uint32_t opener) {
  for (uint32_t i = opener + 1; i < s->p->code[opener].arg[1]; i++)
    if (!s->is_inline[spell_offset(s, i)]) return false;
  return true;
}

void put_while(speller *s, uint32_t op, const char *text) {
  const inst *in = &s->p->code[op];
  (void)text;
  begin(s);
  strbuf_puts(&s->text, "while (");
  if (has_plain_condition(s, op))
    spell_whole(s, s->p->code[in->arg[1]].arg[0]);
  else
    strbuf_puts(&s->text, "true");
  finish(s, ") {");
  s->indent++;
}

void put_do(speller *s, uint32_t op, const char *text) {
  const inst *in = &s->p->code[op];
  (void)text;
  if (has_plain_condition(s, in->arg[1])) return;
  begin(s);
  strbuf_puts(&s->text, "if (!");
  spell_operand(s, in->arg[0]);
  finish(s, ") break;");
}

void put_end(speller *s, uint32_t op, const char *text) {
  (void)op;
  (void)text;
  s->indent--;
  spell_line(s, "}");
}

void put_jump(speller *s, uint32_t op, const char *text) {
  (void)op;
  spell_line(s, "%s", text);
}

void put_return(speller *s, uint32_t op, const char *text) {
  (void)op;
  (void)text;
  s->d->leave(s);
}

void put_barrier(speller *s, uint32_t op, const char *text) {
  (void)op;
  (void)text;
  s->d->barrier(s);
}

// ---- all ----------------------------------------------------------------------------------------

void spell_code(speller *s) {
  for (uint32_t i = s->part.first; i < s->part.end; i++) {
    const inst *in = &s->p->code[i];
    if (spell_is_value(in))
      put_value(s, i);
    else
      spellings[in->op].put(s, i, spellings[in->op].text);
  }
}

void spell_declarations(speller *s) {
  for (uint32_t i = s->part.first; i < s->part.end; i++) {
    const inst *in = &s->p->code[i];
    const char *name = s->value_names[spell_offset(s, i)];
    vyre_type t = (vyre_type)in->type;
    if (!name || (spell_is_value(in) && !s->use_count[spell_offset(s, i)])) continue;
    if (in->op == VYRE_OP_ARRAY)
      spell_line(s, "%s %s[%u];", spell_memory_type(s, t), name, in->arg[0]);
    else
      spell_line(s, "%s %s;", spell_type(s, t), name);
  }
}
