// SPDX-License-Identifier: MIT
#include "cli/run_steps.h"

#include "base/error.h"
#include "base/hash.h"
#include "ir/limits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int find(const bindings *b, const char *name) {
  for (uint32_t i = 0; i < b->buffer_count; i++)
    if (!strcmp(b->buffers[i].info.name, name)) return (int)i;
  return -1;
}

static uint32_t handle_of(const bindings *b, int buffer) {
  uint32_t k = 0;
  for (int i = 0; i < buffer; i++) k += !b->buffers[i].info.is_transient;
  return k;
}

vyre_status run_steps_check(const run_steps *s, bindings *b, vyre_error *error) {
  for (size_t i = 0; i < s->swaps.count; i++) {
    const run_swap *at = &s->swaps.at[i];
    const named_buffer *x = bind_find(b, at->a, error), *y = x ? bind_find(b, at->b, error) : NULL;
    if (!x || !y) return error->status;
    if (x != y && x->info.type == y->info.type && x->count == y->count) continue;
    return error_set(error, VYRE_ERROR_BINDING,
                     "`%s` and `%s` cannot change places. Fix: swap two buffers of one type and "
                     "length",
                     at->a, at->b);
  }
  return VYRE_OK;
}

void run_steps_swap(const run_steps *s, const bindings *b, vyre_buffer **handles) {
  for (size_t i = 0; i < s->swaps.count; i++) {
    uint32_t x = handle_of(b, find(b, s->swaps.at[i].a));
    uint32_t y = handle_of(b, find(b, s->swaps.at[i].b));
    vyre_buffer *kept = handles[x];
    handles[x] = handles[y];
    handles[y] = kept;
  }
}

// ---- checkpoints --------------------------------------------------------------------------------

static bool is_swapped(const run_steps *s, const char *name) {
  for (size_t i = 0; i < s->swaps.count; i++)
    if (!strcmp(s->swaps.at[i].a, name) || !strcmp(s->swaps.at[i].b, name)) return true;
  return false;
}

// What one step leaves to the next: all that is written, or that changes its place.
static uint32_t collect(const run_steps *s, const bindings *b, vyre_buffer **handles,
                        vyre_checkpoint_buffer out[LIMIT_BUFFERS]) {
  uint32_t count = 0;
  for (uint32_t i = 0, k = 0; i < b->buffer_count; i++) {
    const vyre_buffer_info *info = &b->buffers[i].info;
    if (info->is_transient) continue;
    if (info->access != VYRE_READ || is_swapped(s, info->name))
      out[count++] = (vyre_checkpoint_buffer){info->name, handles[k]};
    k++;
  }
  return count;
}

// The program, what it was given as parameters and lengths, and the swaps: with others, what is in
// the buffers would be the beginning of something else.
static void make_label(const run_steps *s, const bindings *b, char out[HASH_HEX + 280]) {
  uint8_t hash[HASH_BYTES];
  char hex[HASH_HEX];
  hasher h;
  hash_init(&h);
  vyre_program_fingerprint(b->program, hash);
  hash_update(&h, hash, sizeof hash);
  for (uint32_t i = 0; i < b->param_count; i++)
    hash_update(&h, &b->params[i].bits, sizeof b->params[i].bits);
  for (uint32_t i = 0; i < b->buffer_count; i++)
    hash_update(&h, &b->buffers[i].count, sizeof b->buffers[i].count);
  for (size_t i = 0; i < s->swaps.count; i++) {
    uint32_t two[2] = {(uint32_t)find(b, s->swaps.at[i].a), (uint32_t)find(b, s->swaps.at[i].b)};
    hash_update(&h, two, sizeof two);
  }
  hash_final(&h, hash);
  hash_hex(hash, hex);
  snprintf(out, HASH_HEX + 280, "%.180s %s", vyre_program_name(b->program), hex);
}

vyre_status run_steps_resume(run_steps *s, vyre_runtime *rt, const bindings *b,
                             vyre_buffer **handles, vyre_error *error) {
  vyre_checkpoint_buffer all[LIMIT_BUFFERS];
  char label[HASH_HEX + 280];
  uint32_t count = collect(s, b, handles, all);
  make_label(s, b, label);
  vyre_status status = vyre_checkpoint_load(rt, s->folder, label, &s->first, all, count, error);
  if (status != VYRE_OK || s->first <= s->count) return status;
  return error_set(error, VYRE_ERROR_ARGUMENT,
                   "the checkpoint in `%s` is of step %" PRIu64 ", beyond --steps %" PRIu64
                   ". Fix: ask for as many steps, or for more",
                   s->folder, s->first, s->count);
}

vyre_status run_steps_save(const run_steps *s, vyre_runtime *rt, const bindings *b,
                           vyre_buffer **handles, uint64_t done, vyre_error *error) {
  vyre_checkpoint_buffer all[LIMIT_BUFFERS];
  char label[HASH_HEX + 280];
  bool is_time = done == s->count || (s->every && done % s->every == 0);
  if (!s->folder || !is_time) return VYRE_OK;
  uint32_t count = collect(s, b, handles, all);
  make_label(s, b, label);
  return vyre_checkpoint_save(rt, s->folder, label, done, all, count, error);
}
