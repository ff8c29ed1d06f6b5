// SPDX-License-Identifier: MIT
#include "backend/cpu/codegen/target.h"

#include "backend/llvm/machine.h"

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// LLVM's C interface does not say what a CPU's name implies. These are the names that set a width;
// a name that is not here is taken at its baseline, plus the features that are spelled out. Only
// speed depends on it.
typedef struct cpu_level {
  const char *name;
  const char *features;
} cpu_level;

#define V2 "+sse4.1"
#define V3 V2 ",+avx,+avx2,+fma,+f16c"
#define V4 V3 ",+avx512f,+avx512vl,+avx512bw,+avx512dq"
static const cpu_level levels[] = {
    {"x86-64-v2", V2},      {"nehalem", V2},
    {"westmere", V2},       {"sandybridge", V2 ",+avx"},
    {"x86-64-v3", V3},      {"haswell", V3},
    {"broadwell", V3},      {"skylake", V3},
    {"znver1", V3},         {"znver2", V3},
    {"znver3", V3},         {"alderlake", V3},
    {"x86-64-v4", V4},      {"znver4", V4},
    {"znver5", V4},         {"skylake-avx512", V4},
    {"cascadelake", V4},    {"icelake-client", V4},
    {"icelake-server", V4}, {"sapphirerapids", V4},
};

// The last mention of a feature counts.
static bool has_feature(const char *features, const char *name, bool otherwise) {
  size_t size = strlen(name);
  for (const char *at = features; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
    if ((at[0] == '+' || at[0] == '-') && !strncmp(at + 1, name, size) &&
        (at[1 + size] == ',' || !at[1 + size]))
      otherwise = at[0] == '+';
  return otherwise;
}

// Every CPU of arm64 has NEON: fma, rounding and conversions of f16 are among its instructions.
static void find_arm64_facts(target *t) {
  t->vector_bits = 128;
  t->has_fma = t->has_rounding = t->converts_f16 = true;
}

static void find_facts(target *t, const char *triple, const char *cpu, const char *features) {
  if (!strncmp(triple, "aarch64", 7) || !strncmp(triple, "arm64", 5)) {
    find_arm64_facts(t);
    return;
  }
  const char *implied = "";
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
    if (!strcmp(levels[i].name, cpu)) implied = levels[i].features;
#define HAS(name) has_feature(features, name, has_feature(implied, name, false))
  bool wide = HAS("avx2");
  t->has_predicates = HAS("avx512f") && HAS("avx512vl") && HAS("avx512bw") && HAS("avx512dq");
  t->vector_bits = t->has_predicates ? 512 : wide ? 256 : 128;
  t->has_masked_moves = HAS("avx");
  t->has_fma = HAS("fma");
  t->has_rounding = HAS("sse4.1") || HAS("avx");
  t->converts_f16 = HAS("f16c");
#undef HAS
}

// LLVM's words for the host, asked for once: to ask a virtual CPU takes 0.1 ms.
static char *host_triple, *host_cpu, *host_features;

static void initialize_once(void) {
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeAsmPrinter();
  LLVMInitializeNativeAsmParser();
  host_triple = LLVMGetDefaultTargetTriple();
  host_cpu = LLVMGetHostCPUName();
  host_features = LLVMGetHostCPUFeatures();
}

static pthread_once_t initialized = PTHREAD_ONCE_INIT;

vyre_status target_open(const cpu_options *options, target *out, vyre_error *error) {
  pthread_once(&initialized, initialize_once);
  *out = (target){0};
  machine_options how = {.triple = host_triple,
                         .cpu = options->cpu ? options->cpu : host_cpu,
                         .features = options->features ? options->features
                                     : options->cpu    ? ""
                                                       : host_features,
                         .is_quick = options->tier == VYRE_TIER_QUICK};
  find_facts(out, how.triple, how.cpu, how.features);
  out->gathers = out->has_predicates ? options->gathers : GATHERS_NEVER;
  return machine_open(&how, &out->machine, error);
}

void target_close(target *t) {
  machine_close(t->machine);
  t->machine = NULL;
}

const char *target_llvm_version(void) {
  return LLVM_VERSION_STRING;
}

void target_host(char **cpu, char **features) {
  pthread_once(&initialized, initialize_once);
  *cpu = strdup(host_cpu);
  *features = strdup(host_features);
}
