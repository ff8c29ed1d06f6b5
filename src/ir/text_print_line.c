// SPDX-License-Identifier: MIT
//
// Lines of the printed text: indentation, breaks in long ones, blank lines, comments.
#include "ir/text_printer.h"

enum { WIDTH = 100, INDENT = 2, CONTINUATION = 4 };

// ---- the line being written ---------------------------------------------------------------------

void line_puts(printer *pr, const char *text) {
  for (const char *c = text; *c; c++) {
    if (*c == '(' || *c == '[') pr->depth++;
    if (*c == ')' || *c == ']') pr->depth--;
  }
  strbuf_puts(&pr->line, text);
}

// A shallow place is better than a deep one, a loose operator better than a tight one.
void line_break_after(printer *pr, int binding) {
  line_break b = {(uint32_t)pr->line.size, pr->depth * 16 + (uint32_t)binding};
  if (!vec_push(&pr->breaks, b)) pr->failed = true;
}

static void put_part(printer *pr, size_t column, size_t begin, size_t end) {
  while (end > begin && pr->line.at[end - 1] == ' ') end--;
  for (size_t i = 0; i < column; i++) strbuf_putc(&pr->out, ' ');
  if (end > begin) strbuf_add(&pr->out, pr->line.at + begin, end - begin);
}

// The best place for a break in the part that begins here; SIZE_MAX when there is none.
static size_t find_break(const printer *pr, size_t next, size_t begin, size_t room) {
  size_t best = SIZE_MAX;
  for (; next < pr->breaks.count; next++) {
    const line_break *b = &pr->breaks.at[next];
    if (b->at - begin > room && best != SIZE_MAX) break;
    if (best == SIZE_MAX || b->weight <= pr->breaks.at[best].weight) best = next;
    if (b->at - begin > room) break;
  }
  return best;
}

void line_put(printer *pr, const char *comment) {
  if (pr->wants_blank && !pr->is_after_open && pr->out.size) strbuf_putc(&pr->out, '\n');
  pr->wants_blank = pr->is_after_open = false;
  size_t column = (size_t)pr->indent * INDENT, begin = 0, next = 0;
  while (pr->line.size - begin + column > WIDTH) {
    size_t best = find_break(pr, next, begin, WIDTH - column);
    if (best == SIZE_MAX) break;
    put_part(pr, column, begin, pr->breaks.at[best].at);
    strbuf_putc(&pr->out, '\n');
    begin = pr->breaks.at[best].at;
    next = best + 1;
    column = (size_t)pr->indent * INDENT + CONTINUATION;
    pr->lines++;
  }
  put_part(pr, column, begin, pr->line.size);
  if (comment) strbuf_putc(&pr->out, ' ');
  if (comment) strbuf_puts(&pr->out, comment);
  strbuf_putc(&pr->out, '\n');
  pr->lines++;
  pr->is_last_plain = !comment;
  pr->line.size = pr->breaks.count = 0;
  pr->depth = 0;
}

void line_close(printer *pr, const char *comment) {
  pr->wants_blank = false;
  line_puts(pr, "}");
  line_put(pr, comment);
  pr->is_last_plain = false;
}

// ---- comments -----------------------------------------------------------------------------------

void head_write(printer *pr) {
  if (pr->head == HEAD_NONE) return;
  // The line that is being made comes after; heads are written before anything is put into it.
  line_puts(pr, pr->head == HEAD_ELSE ? "} else {" : "while {");
  if (pr->head == HEAD_ELSE) pr->wants_blank = false;
  pr->head = HEAD_NONE;
  line_put(pr, comment_after_op(pr, pr->head_op));
  pr->is_after_open = true;
  pr->indent++;
}

static bool is_due(const comment *c, uint32_t op, bool with_after) {
  return c->anchor < op || (c->anchor == op && (with_after || c->kind == COMMENT_BEFORE_OP));
}

bool comments_are_due(const printer *pr, uint32_t op) {
  for (size_t i = pr->op_cursor; i < pr->op_comments.count; i++) {
    if (!is_due(pr->op_comments.at[i], op, false)) return false;
    if (pr->op_comments.at[i]->text[0]) return true;
  }
  return false;
}

bool comments_touch(const printer *pr, uint32_t first, uint32_t last) {
  size_t low = pr->op_cursor, high = pr->op_comments.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (pr->op_comments.at[middle]->anchor < first)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < pr->op_comments.count && pr->op_comments.at[low]->anchor <= last; low++)
    if (pr->op_comments.at[low]->text[0]) return true;
  return false;
}

static void put_comment(printer *pr, const comment *c) {
  if (!c->text[0]) {
    pr->wants_blank = true;
    return;
  }
  head_write(pr);
  strbuf_puts(&pr->line, c->text);
  line_put(pr, NULL);
  pr->is_last_plain = false;
}

void comments_before_op(printer *pr, uint32_t op, bool with_after) {
  while (pr->op_cursor < pr->op_comments.count &&
         is_due(pr->op_comments.at[pr->op_cursor], op, with_after))
    put_comment(pr, pr->op_comments.at[pr->op_cursor++]);
}

const char *comment_after_op(printer *pr, uint32_t op) {
  if (pr->op_cursor == pr->op_comments.count) return NULL;
  const comment *c = pr->op_comments.at[pr->op_cursor];
  if (c->kind != COMMENT_AFTER_OP || c->anchor != op) return NULL;
  pr->op_cursor++;
  return c->text;
}

void comments_before_item(printer *pr) {
  while (pr->item_cursor < pr->item_comments.count) {
    const comment *c = pr->item_comments.at[pr->item_cursor];
    bool due = c->anchor < pr->item || (c->anchor == pr->item && c->kind == COMMENT_BEFORE_ITEM);
    if (!due) return;
    put_comment(pr, c);
    pr->item_cursor++;
  }
}

// Ends the item.
const char *comment_after_item(printer *pr) {
  uint32_t item = pr->item++;
  if (pr->item_cursor == pr->item_comments.count) return NULL;
  const comment *c = pr->item_comments.at[pr->item_cursor];
  if (c->kind != COMMENT_AFTER_ITEM || c->anchor != item) return NULL;
  pr->item_cursor++;
  return c->text;
}
