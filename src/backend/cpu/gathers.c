// SPDX-License-Identifier: MIT
//
// Both ways load elements of a table that is in the first cache, by indices that were just computed
// in vectors, as generated code has them: with a gather, and by taking the vector of indices
// apart; all lanes, and those that a mask chooses. The least of many short runs counts, each of
// which is too short for the system to come between often.
#include "backend/cpu/gathers.h"

#include "backend/cache.h"
#include "backend/cpu/host.h"
#include "base/environment.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include "base/clock.h"

#include <immintrin.h>

enum { COUNT = 512, TABLE = 4096, LANES = 16, ROUNDS = 200 };

typedef struct sample {
  uint32_t index[COUNT];
  float table[TABLE], out[COUNT];
} sample;

typedef void load_all(sample *s);

#define LOADED_16(t, a)                                                                            \
  _mm512_setr_ps(t[a[0]], t[a[1]], t[a[2]], t[a[3]], t[a[4]], t[a[5]], t[a[6]], t[a[7]], t[a[8]],  \
                 t[a[9]], t[a[10]], t[a[11]], t[a[12]], t[a[13]], t[a[14]], t[a[15]])

// As an array that a compiler cannot take from where it came.
typedef union taken_apart {
  __m512i all;
  uint32_t lane[LANES];
} taken_apart;

__attribute__((target("avx512f"), noinline)) static void gather_all(sample *s) {
  for (uint32_t i = 0; i < COUNT; i += LANES) {
    __m512i at = _mm512_loadu_si512(s->index + i);
    _mm512_storeu_ps(s->out + i, _mm512_i32gather_ps(at, s->table, 4));
  }
}

__attribute__((target("avx512f"), noinline)) static void load_each(sample *s) {
  for (uint32_t i = 0; i < COUNT; i += LANES) {
    taken_apart at = {.all = _mm512_loadu_si512(s->index + i)};
    __asm__ volatile("" : "+m"(at));
    _mm512_storeu_ps(s->out + i, LOADED_16(s->table, at.lane));
  }
}

__attribute__((target("avx512f"), noinline)) static void gather_chosen(sample *s) {
  for (uint32_t i = 0; i < COUNT; i += LANES) {
    __m512i at = _mm512_loadu_si512(s->index + i);
    __mmask16 inside = _mm512_cmplt_epu32_mask(at, _mm512_set1_epi32(TABLE));
    __m512 v = _mm512_mask_i32gather_ps(_mm512_setzero_ps(), inside, at, s->table, 4);
    _mm512_storeu_ps(s->out + i, v);
  }
}

__attribute__((target("avx512f"), noinline)) static void load_chosen(sample *s) {
  for (uint32_t i = 0; i < COUNT; i += LANES) {
    __m512i all = _mm512_loadu_si512(s->index + i);
    __mmask16 inside = _mm512_cmplt_epu32_mask(all, _mm512_set1_epi32(TABLE));
    taken_apart at = {.all = _mm512_maskz_mov_epi32(inside, all)};
    __asm__ volatile("" : "+m"(at));
    _mm512_storeu_ps(s->out + i, _mm512_maskz_mov_ps(inside, LOADED_16(s->table, at.lane)));
  }
}

// Whether one way takes at most `percent` of the time of another.
static bool is_faster(sample *s, load_all *one, load_all *other, uint64_t percent) {
  load_all *both[2] = {one, other};
  uint64_t least[2] = {UINT64_MAX, UINT64_MAX};
  for (int i = 0; i < 2 * ROUNDS; i++) {
    uint64_t start = clock_stamp();
    both[i % 2](s);
    uint64_t time = clock_stamp() - start;
    if (time < least[i % 2]) least[i % 2] = time;
  }
  return least[0] * 100 <= least[1] * percent;
}

// Gathers that are made of many small steps hold up what stands beside them, and single loads do
// not: where nothing else is saved they have to be clearly faster (AES on Zen 4 is 1.3 times as
// fast with single loads, though gathers alone take 0.86 of their time).
static cpu_gathers measure(void) {
  if (!__builtin_cpu_supports("avx512f")) return GATHERS_NEVER;
  sample *s = calloc(1, sizeof *s);
  if (!s) return GATHERS_NEVER;
  for (uint32_t i = 0, x = 1; i < COUNT; i++) {
    x = x * 1664525u + 1013904223u;
    s->index[i] = (x >> 16) % TABLE;
  }
  cpu_gathers found = is_faster(s, gather_all, load_each, 75)         ? GATHERS_ALWAYS
                      : is_faster(s, gather_chosen, load_chosen, 100) ? GATHERS_CHOSEN
                                                                      : GATHERS_NEVER;
  free(s);
  return found;
}
#else
static cpu_gathers measure(void) {
  return GATHERS_NEVER;
}
#endif

static const char *const names[] = {"never", "chosen", "always"};
enum { NAMES = sizeof names / sizeof *names };

static cpu_gathers answer;

static void find_once(void) {
  char host[HOST_TEXT];
  cache_key key;
  void *kept;
  size_t size;
  host_describe(host);
  cache_key_init(&key, "gathers");
  cache_key_add_string(&key, host);
  if (cache_load(&key, &kept, &size)) {
    for (int i = 0; i < NAMES; i++)
      if (size == strlen(names[i]) && !memcmp(kept, names[i], size)) answer = (cpu_gathers)i;
    free(kept);
    return;
  }
  answer = measure();
  cache_store(&key, names[answer], strlen(names[answer]));
}

cpu_gathers host_gathers(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  for (int i = 0; i < NAMES; i++)
    if (environment_is("VYRE_CPU_GATHERS", names[i])) return (cpu_gathers)i;
  pthread_once(&once, find_once);
  return answer;
}
