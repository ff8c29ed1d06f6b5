// SPDX-License-Identifier: MIT
#include "profile/record.h"

static uint64_t saturate(record_wide x) {
  return x > UINT64_MAX ? UINT64_MAX : (uint64_t)x;
}

static uint64_t mean(record_wide sum, uint64_t count) {
  return count ? saturate(sum / count) : 0;
}

region_record record_from_sums(const record_sums *s) {
  return (region_record){
      .dispatch_count = s->count,
      .kernel_ns_total = saturate(s->ns),
      .kernel_ns_max = s->max_ns,
      .bytes_total = saturate(s->bytes),
      .mean_kernel_ns = mean(s->ns, s->count),
      .mean_bytes = mean(s->bytes, s->count),
  };
}

static record_wide widen(uint64_t total, uint64_t mean, uint64_t count) {
  return total < UINT64_MAX ? total : (record_wide)mean * count;
}

record_sums record_to_sums(const region_record *r) {
  return (record_sums){
      .count = r->dispatch_count,
      .max_ns = r->kernel_ns_max,
      .ns = widen(r->kernel_ns_total, r->mean_kernel_ns, r->dispatch_count),
      .bytes = widen(r->bytes_total, r->mean_bytes, r->dispatch_count),
  };
}
