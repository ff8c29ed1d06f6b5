// SPDX-License-Identifier: MIT
#include "backend/cpu/host.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>

static void read_brand(char brand[49]) {
  memset(brand, 0, 49);
  for (uint32_t i = 0; i < 3; i++) {
    uint32_t r[4] = {0};
    if (!__get_cpuid(0x80000002u + i, &r[0], &r[1], &r[2], &r[3])) return;
    memcpy(brand + 16 * i, r, sizeof r);
  }
}

void host_name(char out[HOST_TEXT]) {
  char brand[49];
  read_brand(brand);
  const char *first = brand + strspn(brand, " ");
  snprintf(out, HOST_TEXT, "%s", *first ? first : "x86-64");
  for (size_t n = strlen(out); n && out[n - 1] == ' ';) out[--n] = 0;
}

void host_describe(char out[HOST_TEXT]) {
  uint32_t r[4] = {0}, basic[4] = {0}, extended[4] = {0}, xcr = 0;
  host_name(out);
  __get_cpuid(1, &basic[0], &basic[1], &basic[2], &basic[3]);
  __get_cpuid_count(7, 0, &extended[0], &extended[1], &extended[2], &extended[3]);
  __get_cpuid(0x80000001u, &r[0], &r[1], &r[2], &r[3]);
  // What the system saves over a context switch decides which registers may be used.
  if (basic[2] & bit_OSXSAVE) __asm__("xgetbv" : "=a"(xcr) : "c"(0) : "edx");
  size_t n = strlen(out);
  snprintf(out + n, HOST_TEXT - n, " / %08x-%08x-%08x-%08x-%08x-%08x-%08x-%08x", basic[0], basic[2],
           basic[3], extended[1], extended[2], extended[3], r[2], xcr);
}
#else
void host_name(char out[HOST_TEXT]) {
  snprintf(out, HOST_TEXT, "unknown CPU");
}

void host_describe(char out[HOST_TEXT]) {
  host_name(out);
}
#endif

uint64_t host_cache_bytes(void) {
  const long usual = 32l << 20, most = 64l << 20;
  long bytes = -1;
#if defined(_SC_LEVEL3_CACHE_SIZE)
  bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
  return (uint64_t)(bytes <= 0 ? usual : bytes > most ? most : bytes);
}
