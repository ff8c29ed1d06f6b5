// SPDX-License-Identifier: MIT
#include "backend/cpu/host.h"

#include <pthread.h>
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

static void describe(char out[HOST_TEXT]) {
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

bool host_runs(const char *cpu) {
  bool v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
  bool v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
            __builtin_cpu_supports("bmi2");
  bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return (v2 && !strcmp(cpu, "x86-64-v2")) || (v3 && !strcmp(cpu, "x86-64-v3")) ||
         (v4 && !strcmp(cpu, "x86-64-v4"));
}
#else
#include <sys/auxv.h>
#include <sys/utsname.h>

// What /proc/cpuinfo says behind `key` of the first CPU; "" where it says nothing.
static void read_field(const char *key, char *out, size_t size) {
  *out = 0;
  FILE *f = fopen("/proc/cpuinfo", "re");
  char line[256];
  while (f && !*out && fgets(line, sizeof line, f)) {
    const char *colon = strchr(line, ':');
    if (!colon || strncmp(line, key, strlen(key))) continue;
    colon += 1 + strspn(colon + 1, " \t");
    snprintf(out, size, "%.*s", (int)strcspn(colon, "\n"), colon);
  }
  if (f) fclose(f);
}

void host_name(char out[HOST_TEXT]) {
  struct utsname name = {0};
  char model[64], maker[16], part[16];
  (void)uname(&name);
  read_field("model name", model, sizeof model);
  read_field("CPU implementer", maker, sizeof maker);
  read_field("CPU part", part, sizeof part);
  if (*model && !*part)
    snprintf(out, HOST_TEXT, "%.32s (%s)", name.machine, model);
  else if (*part)
    snprintf(out, HOST_TEXT, "%.32s CPU %s of maker %s", name.machine, part, maker);
  else
    snprintf(out, HOST_TEXT, "%.32s CPU", *name.machine ? name.machine : "unknown");
}

static void describe(char out[HOST_TEXT]) {
  host_name(out);
  size_t n = strlen(out);
  snprintf(out + n, HOST_TEXT - n, " / %016lx-%016lx", getauxval(AT_HWCAP), getauxval(AT_HWCAP2));
}

bool host_runs(const char *cpu) {
  (void)cpu;
  return false;
}
#endif

static char description[HOST_TEXT];
static pthread_once_t described = PTHREAD_ONCE_INIT;

static void describe_once(void) {
  describe(description);
}

// A virtual machine is left for each question to the CPU: that was half of a load from the cache.
void host_describe(char out[HOST_TEXT]) {
  pthread_once(&described, describe_once);
  memcpy(out, description, HOST_TEXT);
}

uint64_t host_cache_bytes(void) {
  const long usual = 32l << 20, most = 64l << 20;
  long bytes = -1;
#if defined(_SC_LEVEL3_CACHE_SIZE)
  bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
  return (uint64_t)(bytes <= 0 ? usual : bytes > most ? most : bytes);
}
