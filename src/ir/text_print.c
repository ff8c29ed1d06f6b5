// SPDX-License-Identifier: MIT
//
// Printing undoes what the parser does: it has to find expressions in a list of operations. The
// list is read like the code of a stack machine. An unnamed value with one use waits on a stack; an
// operation whose waiting operands are, in their order, the topmost ones takes them into its text,
// because reading that text evaluates the operands in just this order, right before the operation.
// What is not taken in order is printed as `let $1 = ...`, and with it all that waits below, which
// comes earlier in the code. So the text always reads back as the same list.
#include "ir/op_groups.h"
#include "ir/text_printer.h"

#include "base/error.h"
#include "base/fpenv.h"
#include "ir/limits.h"
#include "ir/tunable.h"

#include <string.h>

// ---- statements ---------------------------------------------------------------------------------

static void line_begin(printer *pr, uint32_t op) {
  comments_before_op(pr, op, false);
  head_write(pr);
}

// `let` of a name or number is a copy of it.
static void put_definition(printer *pr, uint32_t op) {
  const inst *in = &pr->program->code[op];
  bool is_plain = in->op == VYRE_OP_COPY &&
                  (ref_is_const(in->arg[0]) || !(pr->ops[in->arg[0]].flags & OP_INLINE));
  const char *name = pr->program->names ? pr->program->names[op] : NULL;
  expression_infer(pr, op, false);
  pr->ops[op].number = name_declare(pr, name);
  line_puts(pr, "let ");
  name_put_op(pr, op);
  line_puts(pr, " = ");
  if (is_plain)
    expression_put_operand(pr, op, 0);
  else
    expression_put(pr, op);
}

static void put_let(printer *pr, uint32_t op) {
  pr->ops[op].flags &= (uint8_t)~OP_WAITS;
  if (pr->in_grid) {
    put_definition(pr, op);
    line_puts(pr, "; ");
    line_break_after(pr, 0);
    return;
  }
  line_begin(pr, op);
  put_definition(pr, op);
  line_put(pr, comment_after_op(pr, op));
}

// Prints what waits, up to a place on the stack.
static void print_waiting(printer *pr, size_t end) {
  while (pr->stack_done < end) put_let(pr, pr->stack.at[pr->stack_done++]);
  if (pr->stack_done == pr->stack.count) pr->stack.count = pr->stack_done = 0;
}

static bool fits_inside(const printer *pr, uint32_t op, int slot, uint32_t operand) {
  const vyre_program *p = pr->program;
  unsigned depth = expression_nesting(p, op) + pr->ops[operand].depth +
                   expression_needs_parens(p, op, slot, operand);
  return depth <= LIMIT_EXPRESSION;
}

static bool waits(const printer *pr, ref r) {
  return !ref_is_const(r) && r && (pr->ops[r].flags & OP_WAITS);
}

// How many operands can be taken: those are the topmost on the stack, in their order.
static size_t count_takeable(const printer *pr, const ref *operands, int count, uint32_t op) {
  for (size_t taken = (size_t)count; taken > 0; taken--) {
    if (pr->stack.count < pr->stack_done + taken) continue;
    size_t next = pr->stack.count - taken;
    bool fits = true;
    for (int k = 0; k < count; k++) {
      if (!waits(pr, operands[k]) || pr->ops[operands[k]].number < pr->stack.count - taken)
        continue;
      fits &= pr->ops[operands[k]].number == next++;
      fits &= !op || fits_inside(pr, op, k, operands[k]);
    }
    if (fits && next == pr->stack.count) return taken;
  }
  return 0;
}

// Takes what it can of the waiting operands, and prints the others. `op` is 0 for extents, which
// are in no operation.
static void take_operands(printer *pr, const ref *operands, int count, uint32_t op) {
  size_t taken = count_takeable(pr, operands, count, op), top = pr->stack.count - taken;
  size_t print_end = pr->stack_done;
  for (int k = 0; k < count; k++) {
    size_t place = waits(pr, operands[k]) ? pr->ops[operands[k]].number : SIZE_MAX;
    if (place < top && place + 1 > print_end) print_end = place + 1;
  }
  if (op && taken) pr->ops[op].first = pr->ops[pr->stack.at[top]].first;
  for (size_t i = top; i < pr->stack.count; i++) {
    op_state *s = &pr->ops[pr->stack.at[i]];
    s->flags = (uint8_t)((s->flags & ~OP_WAITS) | OP_INLINE);
  }
  pr->stack.count = top;
  print_waiting(pr, print_end);
}

static void take_inst_operands(printer *pr, uint32_t op) {
  const inst *in = &pr->program->code[op];
  const char *letters = op_table[in->op].operands;
  ref operands[4] = {0};
  int count = (int)strlen(letters);
  for (int k = 0; k < count; k++)
    if (letters[k] == 'v') operands[k] = in->arg[k];
  take_operands(pr, operands, count, op);
  unsigned depth = 0;
  for (int k = 0; k < count; k++) {
    ref r = operands[k];
    if (!r || ref_is_const(r) || !(pr->ops[r].flags & OP_INLINE)) continue;
    unsigned inner = pr->ops[r].depth + (unsigned)expression_needs_parens(pr->program, op, k, r);
    if (inner > depth) depth = inner;
  }
  pr->ops[op].depth = (uint16_t)(depth + expression_nesting(pr->program, op));
}

// ---- blocks -------------------------------------------------------------------------------------

static void push_block(printer *pr, print_block b) {
  b.scope = (uint32_t)pr->scope.count;
  if (!vec_push(&pr->blocks, b)) pr->failed = true;
}

// Writes the line that opens a block.
static void put_opening(printer *pr, uint32_t op) {
  line_puts(pr, " {");
  line_put(pr, comment_after_op(pr, op));
  pr->is_after_open = true;
  pr->indent++;
}

static void put_if(printer *pr, uint32_t op) {
  const inst *code = pr->program->code;
  uint32_t end = code[op].arg[2];
  bool is_joined = pr->head == HEAD_ELSE && code[pr->head_op].arg[2] == end + 1 &&
                   !comments_are_due(pr, op) && !comments_touch(pr, end + 1, end + 1);
  if (is_joined) {
    pr->head = HEAD_NONE;
    comments_before_op(pr, op, false); // blank lines
    pr->wants_blank = false;
    line_puts(pr, "} else ");
  } else {
    line_begin(pr, op);
  }
  expression_infer(pr, op, true);
  line_puts(pr, "if ");
  expression_put_operand(pr, op, 0);
  bool has_blank = pr->wants_blank && !pr->is_after_open && pr->out.size;
  print_block b = {.is_joined = is_joined, .begin = pr->out.size + has_blank};
  uint64_t lines = pr->lines;
  put_opening(pr, op);
  b.may_be_short = !is_joined && !code[op].arg[1] && pr->lines == lines + 1 && pr->is_last_plain;
  b.body = pr->out.size;
  b.lines = pr->lines;
  push_block(pr, b);
}

static void put_else(printer *pr, uint32_t op) {
  comments_before_op(pr, op, false);
  pr->indent--;
  scope_end(pr, pr->blocks.at[pr->blocks.count - 1].scope);
  pr->head = HEAD_ELSE;
  pr->head_op = op;
  if (comments_touch(pr, op, op)) head_write(pr);
}

static void put_for(printer *pr, uint32_t op) {
  line_begin(pr, op);
  expression_infer(pr, op, true);
  size_t scope = pr->scope.count;
  uint32_t number = name_declare(pr, pr->program->names ? pr->program->names[op] : NULL);
  pr->ops[op].number = number;
  line_puts(pr, "for ");
  name_put_op(pr, op);
  line_puts(pr, " in ");
  expression_put_operand(pr, op, 0);
  line_puts(pr, "..");
  expression_put_operand(pr, op, 1);
  if (expression_has_step(pr, op)) {
    line_puts(pr, " by ");
    expression_put_operand(pr, op, 2);
  }
  put_opening(pr, op);
  push_block(pr, (print_block){0});
  if (!pr->failed) pr->blocks.at[pr->blocks.count - 1].scope = (uint32_t)scope;
}

static void put_while(printer *pr, uint32_t op) {
  line_begin(pr, op);
  push_block(pr, (print_block){0});
  pr->head = HEAD_WHILE;
  pr->head_op = op;
  if (comments_touch(pr, op, op)) head_write(pr);
}

static void put_do(printer *pr, uint32_t op) {
  bool is_simple = pr->head == HEAD_WHILE && !comments_are_due(pr, op);
  expression_infer(pr, op, true);
  if (is_simple) {
    bool wants_blank = pr->wants_blank;
    comments_before_op(pr, op, false); // blank lines inside of the condition
    pr->wants_blank = wants_blank;
    pr->head = HEAD_NONE;
    line_puts(pr, "while ");
    expression_put_operand(pr, op, 0);
    put_opening(pr, op);
    return;
  }
  line_begin(pr, op);
  line_puts(pr, "do ");
  expression_put_operand(pr, op, 0);
  line_put(pr, comment_after_op(pr, op));
}

// An if of one short statement goes on one line: the two that were printed are put together.
static bool make_short(printer *pr, const print_block *b) {
  enum { SHORT = 80 };
  if (!b->may_be_short || pr->lines != b->lines + 1 || !pr->is_last_plain || pr->out.failed)
    return false;
  size_t statement = b->body;
  while (pr->out.at[statement] == ' ') statement++;
  size_t size = pr->out.size - 1 - statement;
  if (b->body - 1 - b->begin + 1 + size + 2 > SHORT) return false;
  pr->out.at[b->body - 1] = ' ';
  memmove(pr->out.at + b->body, pr->out.at + statement, size);
  pr->out.size = b->body + size;
  strbuf_puts(&pr->out, " }");
  pr->lines--;
  pr->is_last_plain = false;
  return true;
}

static void put_end(printer *pr, uint32_t op) {
  print_block b = pr->blocks.at[--pr->blocks.count];
  if (!pr->is_silent) {
    bool has_comments = comments_are_due(pr, op);
    comments_before_op(pr, op, false);
    head_write(pr); // an empty else
    pr->indent--;
    pr->wants_blank = false;
    const char *comment = comment_after_op(pr, op);
    if (!has_comments && make_short(pr, &b)) {
      if (comment) strbuf_putc(&pr->out, ' ');
      if (comment) strbuf_puts(&pr->out, comment);
      strbuf_putc(&pr->out, '\n');
    } else {
      line_close(pr, comment);
    }
    pr->is_after_open = false;
  }
  pr->is_silent = b.is_joined;
  scope_end(pr, b.scope);
}

// ---- code ---------------------------------------------------------------------------------------

static void put_var(printer *pr, uint32_t op) {
  const inst *in = &pr->program->code[op];
  const char *type = type_table[in->type].name;
  bool is_var = in->op == VYRE_OP_VAR;
  line_begin(pr, op);
  expression_infer(pr, op, true);
  line_puts(pr, is_var ? "var " : "array ");
  pr->ops[op].number = name_declare(pr, pr->program->names ? pr->program->names[op] : NULL);
  name_put_op(pr, op);
  line_puts(pr, ": ");
  line_puts(pr, type);
  if (is_var) {
    line_puts(pr, " = ");
    expression_put_operand(pr, op, 0);
  } else {
    line_puts(pr, "[");
    formula_put_or_number(pr, USE_ARRAY, op, 0, in->arg[0]);
    line_puts(pr, "]");
  }
  line_put(pr, comment_after_op(pr, op));
}

static void put_simple(printer *pr, uint32_t op) {
  const inst *in = &pr->program->code[op];
  line_begin(pr, op);
  expression_infer(pr, op, true);
  switch ((vyre_op)in->op) {
  case VYRE_OP_STORE:
    expression_put_element(pr, op);
    line_puts(pr, " = ");
    expression_put_operand(pr, op, 2);
    break;
  case VYRE_OP_SET:
    name_put_op(pr, in->arg[0]);
    line_puts(pr, " = ");
    expression_put_operand(pr, op, 1);
    break;
  case OPS_ATOMIC: expression_put(pr, op); break;
  case OPS_STRUCTURE: line_puts(pr, op_table[in->op].name); break;
  case OPS_COMPUTED: // values and declarations are no simple statements
  case OPS_LAUNCH:
  case VYRE_OP_LOAD:
  case VYRE_OP_VAR:
  case VYRE_OP_GET:
  case VYRE_OP_ARRAY:
  case OPS_NONE: break;
  }
  line_put(pr, comment_after_op(pr, op));
}

static bool can_wait(const printer *pr, uint32_t op) {
  const vyre_program *p = pr->program;
  return pr->ops[op].uses == 1 && !(p->names && p->names[op]) && p->code[op].op != VYRE_OP_FOR;
}

static void print_op(printer *pr, uint32_t op) {
  const inst *in = &pr->program->code[op];
  pr->ops[op].first = op;
  take_inst_operands(pr, op);
  if (can_wait(pr, op)) {
    pr->ops[op].flags |= OP_WAITS;
    pr->ops[op].number = (uint32_t)pr->stack.count;
    if (!vec_push(&pr->stack, op)) pr->failed = true;
    return;
  }
  print_waiting(pr, pr->stack.count);
  switch ((vyre_op)in->op) {
  case VYRE_OP_IF: put_if(pr, op); return;
  case VYRE_OP_ELSE: put_else(pr, op); return;
  case VYRE_OP_FOR: put_for(pr, op); return;
  case VYRE_OP_WHILE: put_while(pr, op); return;
  case VYRE_OP_DO: put_do(pr, op); return;
  case VYRE_OP_END: put_end(pr, op); return;
  case VYRE_OP_VAR:
  case VYRE_OP_ARRAY: put_var(pr, op); return;
  case OPS_COMPUTED:
  case OPS_LAUNCH:
  case OPS_MEMORY:
  case VYRE_OP_GET:
  case VYRE_OP_SET:
  case VYRE_OP_BREAK:
  case VYRE_OP_CONTINUE:
  case VYRE_OP_RETURN:
  case VYRE_OP_BARRIER:
  case OPS_NONE: break;
  }
  bool is_named = pr->program->names && pr->program->names[op];
  bool is_statement = in->type == VYRE_VOID || (op_is_atomic(in->op) && !pr->ops[op].uses);
  if (is_statement && !is_named)
    put_simple(pr, op);
  else
    put_let(pr, op);
}

static void print_code(printer *pr, range part) {
  for (uint32_t i = part.first; i < part.end && !pr->failed; i++) print_op(pr, i);
}

// ---- declarations -------------------------------------------------------------------------------

static void put_program(printer *pr) {
  const vyre_program *p = pr->program;
  comments_before_item(pr);
  line_puts(pr, "program ");
  line_puts(pr, p->name);
  line_puts(pr, "(");
  for (uint32_t i = 0; i < p->param_count; i++) {
    if (i) line_puts(pr, ", ");
    if (i) line_break_after(pr, 0);
    pr->param_numbers[i] = name_declare(pr, p->params[i].name);
    name_put(pr, p->params[i].name, pr->param_numbers[i]);
    line_puts(pr, ": ");
    line_puts(pr, type_table[p->params[i].type].name);
  }
  line_puts(pr, ")");
  if (p->fast_ulp) strbuf_printf(&pr->line, " fast(%u)", p->fast_ulp);
  line_put(pr, comment_after_item(pr));
  for (uint32_t i = 0; i < p->tunable_count; i++) tunable_put_declaration(pr, i);
  // All names of buffers are taken from the start: a length may mention one further down.
  for (uint32_t i = 0; i < p->buffer_count; i++)
    pr->buffer_numbers[i] = name_declare(pr, p->buffers[i].name);
}

static void put_buffer(printer *pr, uint32_t index) {
  static const char *const accesses[] = {"", " read", " write", " readwrite"};
  const buffer *b = &pr->program->buffers[index];
  comments_before_item(pr);
  line_puts(pr, b->is_transient ? "transient " : "buffer ");
  name_put(pr, b->name, pr->buffer_numbers[index]);
  line_puts(pr, ": ");
  line_puts(pr, type_table[b->type].name);
  line_puts(pr, "[");
  if (b->length) expression_put_extent(pr, b->length, USE_LENGTH, index, 0);
  line_puts(pr, "]");
  if (!b->is_transient) line_puts(pr, accesses[b->access]);
  line_put(pr, comment_after_item(pr));
}

// Prints the buffers, in their order, whose length is computed by now.
static void put_ready_buffers(printer *pr, uint32_t *next, uint32_t done) {
  const vyre_program *p = pr->program;
  for (; *next < p->buffer_count; ++*next) {
    ref length = p->buffers[*next].length;
    if (length && !ref_is_const(length)) {
      if (length >= done) return;
      take_operands(pr, &length, 1, 0);
      print_waiting(pr, pr->stack.count);
    }
    put_buffer(pr, *next);
  }
}

static void put_header(printer *pr) {
  const vyre_program *p = pr->program;
  size_t scope = pr->scope.count;
  uint32_t next = 0;
  put_ready_buffers(pr, &next, p->header.first);
  for (uint32_t i = p->header.first; i < p->header.end && !pr->failed; i++) {
    print_op(pr, i);
    put_ready_buffers(pr, &next, i + 1);
  }
  print_waiting(pr, pr->stack.count);
  scope_end(pr, scope);
}

static void put_workgroup(printer *pr, uint32_t index) {
  const region *r = &pr->program->regions[index];
  const uint32_t *w = r->workgroup, usual[3] = {TEXT_WORKGROUP, 1, 1};
  uint32_t last = 0;
  bool is_usual = true;
  for (uint32_t i = 0; i < 3; i++) {
    if (w[i] == usual[i] && !tunable_find_use(pr->program, USE_WORKGROUP, index, i)) continue;
    is_usual = false;
    last = i;
  }
  if (is_usual) return;
  if (last + 1 < r->rank) last = r->rank - 1;
  for (uint32_t i = 0; i <= last; i++) {
    line_puts(pr, i ? ", " : " workgroup(");
    formula_put_or_number(pr, USE_WORKGROUP, index, i, w[i]);
  }
  line_puts(pr, ")");
}

static void put_region_head(printer *pr, uint32_t index) {
  const region *r = &pr->program->regions[index];
  pr->wants_blank = true;
  comments_before_item(pr);
  line_puts(pr, "region ");
  line_puts(pr, r->name);
  line_puts(pr, " grid(");
  size_t scope = pr->scope.count;
  pr->in_grid = true;
  print_code(pr, r->grid_code);
  take_operands(pr, r->grid, (int)r->rank, 0);
  print_waiting(pr, pr->stack.count);
  pr->in_grid = false;
  for (uint32_t i = 0; i < r->rank; i++) {
    if (i) line_puts(pr, ", ");
    if (i) line_break_after(pr, 0);
    expression_put_extent(pr, r->grid[i], USE_GRID, index, i);
  }
  line_puts(pr, ")");
  scope_end(pr, scope);
  put_workgroup(pr, index);
  line_puts(pr, " {");
  line_put(pr, comment_after_item(pr));
  pr->is_after_open = true;
}

static void put_region(printer *pr, uint32_t index) {
  const region *r = &pr->program->regions[index];
  pr->unnamed = 0;
  put_region_head(pr, index);
  pr->indent = 1;
  size_t scope = pr->scope.count;
  for (uint32_t i = r->shared.first; i < r->shared.end; i++) {
    const shared_array *s = &pr->program->shared[i];
    comments_before_item(pr);
    pr->shared_numbers[i] = name_declare(pr, s->name);
    line_puts(pr, "shared ");
    name_put(pr, s->name, pr->shared_numbers[i]);
    strbuf_printf(&pr->line, ": %s[", type_table[s->type].name);
    formula_put_or_number(pr, USE_SHARED, i, 0, s->length);
    line_puts(pr, "]");
    line_put(pr, comment_after_item(pr));
  }
  print_code(pr, r->body);
  print_waiting(pr, pr->stack.count);
  comments_before_op(pr, r->body.end - 1, true);
  comments_before_item(pr);
  pr->indent = 0;
  line_close(pr, comment_after_item(pr));
  scope_end(pr, scope);
}

// ---- the whole ----------------------------------------------------------------------------------

static void count_use(printer *pr, ref r) {
  if (r && !ref_is_const(r) && pr->ops[r].uses < 2) pr->ops[r].uses++;
}

static void count_uses(printer *pr) {
  const vyre_program *p = pr->program;
  for (uint32_t i = 1; i < p->code_count; i++) {
    const char *letters = op_table[p->code[i].op].operands;
    for (int k = 0; letters[k]; k++)
      if (letters[k] == 'v') count_use(pr, p->code[i].arg[k]);
  }
  for (uint32_t i = 0; i < p->buffer_count; i++) count_use(pr, p->buffers[i].length);
  for (uint32_t i = 0; i < p->region_count; i++)
    for (uint32_t k = 0; k < p->regions[i].rank; k++) count_use(pr, p->regions[i].grid[k]);
}

static bool sort_comments(printer *pr) {
  for (uint32_t i = 0; i < pr->program->comment_count; i++) {
    const comment *c = &pr->program->comments[i];
    bool ok = c->kind <= COMMENT_AFTER_OP ? vec_push(&pr->op_comments, c)
                                          : vec_push(&pr->item_comments, c);
    if (!ok) return false;
  }
  return true;
}

static bool printer_init(printer *pr) {
  const vyre_program *p = pr->program;
  pr->ops = calloc(p->code_count + 1u, sizeof *pr->ops);
  pr->param_numbers = calloc(p->param_count + 1u, sizeof(uint32_t));
  pr->buffer_numbers = calloc(p->buffer_count + 1u, sizeof(uint32_t));
  pr->shared_numbers = calloc(p->shared_count + 1u, sizeof(uint32_t));
  pr->tunable_numbers = calloc(p->tunable_count + 1u, sizeof(uint32_t));
  pr->number_at = calloc(p->const_count + 1u, sizeof(uint32_t));
  pr->number_size = calloc(p->const_count + 1u, sizeof(uint32_t));
  return symbols_init(&pr->symbols) && pr->ops && pr->param_numbers && pr->buffer_numbers &&
         pr->shared_numbers && pr->tunable_numbers && pr->number_at && pr->number_size &&
         sort_comments(pr);
}

static void printer_fini(printer *pr) {
  strbuf_fini(&pr->out);
  strbuf_fini(&pr->line);
  strbuf_fini(&pr->numbers);
  vec_free(&pr->breaks);
  vec_free(&pr->op_comments);
  vec_free(&pr->item_comments);
  symbols_fini(&pr->symbols);
  vec_free(&pr->scope);
  vec_free(&pr->blocks);
  vec_free(&pr->stack);
  vec_free(&pr->items);
  free(pr->ops);
  free(pr->param_numbers);
  free(pr->buffer_numbers);
  free(pr->shared_numbers);
  free(pr->tunable_numbers);
  free(pr->number_at);
  free(pr->number_size);
}

static void print_program(printer *pr) {
  count_uses(pr);
  tunable_mark_operands(pr);
  put_program(pr);
  put_header(pr);
  for (uint32_t i = 0; i < pr->program->region_count && !pr->failed; i++) put_region(pr, i);
  comments_before_item(pr);
}

vyre_status vyre_program_print(const vyre_program *program, char **out, size_t *size,
                               vyre_error *error) {
  FPENV_SCOPE;
  if (!program || !out)
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "vyre_program_print was called with NULL. Fix: pass a program and where the "
                     "text goes");
  *out = NULL;
  if (program->target)
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "a lowered program has no text form. Fix: print the one it was made from");
  printer pr = {.program = program};
  if (printer_init(&pr))
    print_program(&pr);
  else
    pr.failed = true;
  if (!pr.failed && !pr.line.failed && !pr.numbers.failed) *out = strbuf_take(&pr.out, size);
  printer_fini(&pr);
  return *out ? VYRE_OK : error_out_of_memory(error);
}
