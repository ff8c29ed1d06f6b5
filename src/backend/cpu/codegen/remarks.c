// SPDX-License-Identifier: MIT
//
// What became of a region, for people: one line per fact, "region: fact".
#include "backend/cpu/codegen/lines.h"

static const char *const class_names[ACCESS_CLASSES] = {
    [ACCESS_UNIFORM] = "uniform",           [ACCESS_CONTIGUOUS] = "contiguous",
    [ACCESS_REVERSED] = "reversed",         [ACCESS_RECORD] = "of records, by shuffles",
    [ACCESS_STEPS] = "at equal distances",  [ACCESS_LANES] = "lane by lane",
    [ACCESS_PRIVATE] = "of private arrays", [ACCESS_ATOMIC] = "atomic",
};

static const char *const jam_reasons[] = {
    [JAM_CONTROL] = "rows are not jammed: control flow differs between them",
    [JAM_NO_LOADS] = "rows are not jammed: no loop loads the same vector for several rows",
    [JAM_REGISTERS] = "rows are not jammed: too few registers",
};

static void write_accesses(const kernel *k, strbuf *out) {
  const char *separator = ": accesses: ";
  bool has_any = false;
  for (int i = 0; i < ACCESS_CLASSES; i++) {
    if (!k->accesses[i]) continue;
    if (!has_any) strbuf_puts(out, k->region->name);
    strbuf_printf(out, "%s%u %s", separator, k->accesses[i], class_names[i]);
    separator = ", ";
    has_any = true;
  }
  if (!has_any) return;
  if (k->checked) strbuf_printf(out, "; %u compared with the bounds in each lane", k->checked);
  strbuf_putc(out, '\n');
}

static void write_masks(const kernel *k, const shapes *s, strbuf *out) {
  uint32_t ifs = 0, loops = 0;
  for (uint32_t i = k->region->body.first; i < k->region->body.end; i++) {
    unsigned op = k->p->code[i].op;
    if (!(block_at(s, i)->parts & AXIS_X)) continue;
    ifs += op == VYRE_OP_IF;
    loops += op == VYRE_OP_FOR || op == VYRE_OP_WHILE;
  }
  if (ifs + loops)
    strbuf_printf(out, "%s: under masks: %u ifs, %u loops\n", k->region->name, ifs, loops);
}

static void write_phases(const kernel *k, const plan *plan, strbuf *out) {
  const phases *ph = plan->phases;
  if (!ph->is_together) {
    strbuf_printf(out,
                  "%s: invocations run one by one from barrier to barrier: not proven that the "
                  "workgroup takes the same way\n",
                  k->region->name);
    return;
  }
  uint32_t count = 0, kept = 0;
  for (uint32_t i = 0; i < k->region->body.end - k->region->body.first; i++) {
    if (ph->phase[i] > count) count = ph->phase[i];
    kept += ph->is_crossing[i];
  }
  if (plan->apart)
    strbuf_printf(
        out,
        "%s: each workgroup asks first whether conditions around barriers hold for all of it\n",
        k->region->name);
  strbuf_printf(out, "%s: %u phases between barriers, %u values kept over them\n", k->region->name,
                count, kept);
  uint32_t lines = lines_count(k);
  if (lines)
    strbuf_printf(out, "%s: %u shared %s in registers over phases whose rows are known\n",
                  k->region->name, lines, lines == 1 ? "array is" : "arrays are");
}

void write_remarks(const kernel *k, const plan *plan) {
  strbuf *out = &k->u->remarks;
  const char *name = k->region->name;
  strbuf_printf(out, "%s: %u %s along %c\n", name, plan->width, plan->width == 1 ? "lane" : "lanes",
                "xyz"[k->region->lanes]);
  if (k->region->is_merged) strbuf_printf(out, "%s: each lane is a workgroup\n", name);
  write_accesses(k, out);
  if (k->across)
    strbuf_printf(out, "%s: %u of them read along a loop, which has sums side by side\n", name,
                  k->across);
  if (k->ahead)
    strbuf_printf(out, "%s: %u of them read for several iterations of a loop at once\n", name,
                  k->ahead);
  if (k->asides)
    strbuf_printf(out, "%s: without a jump: %u ifs by data, which write aside what is not kept\n",
                  name, k->asides);
  if (k->tally_count)
    strbuf_printf(out, "%s: several threads count into copies of %u %s\n", name, k->tally_count,
                  k->tally_count == 1 ? "buffer" : "buffers");
  if (plan->is_large)
    strbuf_printf(out, "%s: one lane: as vectors it would be too much code\n", name);
  const guards *g = plan->rows > 1 ? &plan->jam_guards : &plan->guards;
  if (g->count)
    strbuf_printf(out, "%s: checked before each row: %u accesses, %u conditions\n", name,
                  g->accesses, g->conditions);
  if (plan->rows > 1) strbuf_printf(out, "%s: %u rows jammed\n", name, plan->rows);
  if (plan->packing.count)
    strbuf_printf(out, "%s: %u loads that rows share are copied for each box first\n", name,
                  plan->packing.count);
  if (jam_reasons[plan->jam_reason])
    strbuf_printf(out, "%s: %s\n", name, jam_reasons[plan->jam_reason]);
  if (plan->width > 1) write_masks(k, g->count ? &plan->fast_shapes : &plan->shapes, out);
  if (plan->phases) write_phases(k, plan, out);
}
