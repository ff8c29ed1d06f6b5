// SPDX-License-Identifier: MIT
#include "opt/fuse.h"

#include "base/error.h"
#include "base/strbuf.h"
#include "ir/limits.h"
#include "analysis/bounds.h"
#include "opt/effects.h"

#include <stdlib.h>

enum { TOUCHED = 1, WRITTEN = 2, ELSEWHERE = 4 }; // ELSEWHERE: not only at the global id

static void note_accesses(const vyre_program *p, const region *r, uint8_t noted[LIMIT_BUFFERS]) {
  for (uint32_t i = r->body.first; i < r->body.end; i++) {
    const inst *in = &p->code[i];
    uint32_t mem;
    if (!effects_memory(in, &mem) || mem_space(mem) != MEM_BUFFER) continue;
    bool is_own = r->rank == 1 && !op_is_atomic(in->op) && bounds_global_axis(p, in->arg[1]) == 0;
    noted[mem_index(mem)] |=
        (uint8_t)(TOUCHED | (effects_writes(in) ? WRITTEN : 0) | (is_own ? 0 : ELSEWHERE));
  }
}

bool fuse_is_independent(const vyre_program *p, const region *a, const region *b) {
  uint8_t first[LIMIT_BUFFERS] = {0}, second[LIMIT_BUFFERS] = {0};
  note_accesses(p, a, first);
  note_accesses(p, b, second);
  for (uint32_t i = 0; i < p->buffer_count; i++) {
    if (!first[i] || !second[i]) continue;
    unsigned both = first[i] | second[i];
    if ((both & WRITTEN) && (both & ELSEWHERE)) return false;
  }
  return true;
}

void fuse_copy_body(rewriter *rw, uint32_t index) {
  range body = rw->from->regions[index].body;
  for (uint32_t i = body.first; i < body.end; i++) rewrite_keep(rw, i);
}

// "a.b.c"; NULL when that is too long for a name, and the regions stay apart.
static char *joined_name(const vyre_program *p, uint32_t first, uint32_t end) {
  strbuf name = {0};
  for (uint32_t i = first; i < end; i++)
    strbuf_printf(&name, "%s%s", i > first ? "." : "", p->regions[i].name);
  if (name.size > LIMIT_NAME) strbuf_fini(&name);
  return name.size ? strbuf_take(&name, NULL) : NULL;
}

static uint32_t find_end(const pass_run *run, const fuse_plan *plan, uint32_t first) {
  const vyre_program *p = run->program;
  uint32_t end = first + 1;
  uint64_t private_bytes = p->regions[first].private_bytes;
  while (end < p->region_count && run->selected[first] && run->selected[end]) {
    private_bytes += p->regions[end].private_bytes;
    if (private_bytes > LIMIT_PRIVATE_BYTES || !plan->may_join(p, first, end)) break;
    end++;
  }
  return end;
}

static void join_regions(rewriter *rw, const fuse_plan *plan, const char *name, uint32_t first,
                         uint32_t end) {
  plan->begin(rw, name, first, end);
  for (uint32_t i = first; i < end; i++) plan->body(rw, i);
  vyre_build_region_end(rw->to);
  rw->changed = true;
}

vyre_status fuse_regions(const pass_run *run, const fuse_plan *plan, vyre_program **out,
                         vyre_error *error) {
  const vyre_program *p = run->program;
  rewriter rw = {.from = p, .scratch = run->scratch};
  rw.map = arena_alloc_array(run->scratch, p->code_count, sizeof *rw.map);
  rw.to = vyre_builder_new("");
  if (!rw.map || !rw.to) {
    vyre_builder_free(rw.to);
    return error_out_of_memory(error);
  }
  builder_copy_interface(rw.to, p);
  for (uint32_t first = 0, end; first < p->region_count; first = end) {
    end = find_end(run, plan, first);
    char *name = end > first + 1 ? joined_name(p, first, end) : NULL;
    if (name) {
      join_regions(&rw, plan, name, first, end);
    } else {
      end = first + 1;
      builder_copy_region(rw.to, p, first, rw.map);
    }
    free(name);
  }
  vyre_status status = rw.changed ? vyre_builder_finish(rw.to, out, error) : VYRE_OK;
  vyre_builder_free(rw.to);
  return status;
}
