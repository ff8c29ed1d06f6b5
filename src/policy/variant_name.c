// SPDX-License-Identifier: MIT
#include "policy/variant_name.h"

#include "base/pool.h"
#include "opt/pass.h"

#include <stdio.h>
#include <string.h>

static const struct {
  const char *name;
  unsigned profiles;
} passes_table[PASSES_COUNT] = {
    [PASSES_NONE] = {"none", 0},
    [PASSES_RELEASE] = {"release", PASS_PROFILE_RELEASE},
    [PASSES_DATAFLOW] = {"dataflow", PASS_PROFILE_RELEASE | PASS_PROFILE_DATAFLOW},
    [PASSES_MEGAKERNEL] = {"megakernel",
                           PASS_PROFILE_RELEASE | PASS_PROFILE_DATAFLOW | PASS_PROFILE_MEGAKERNEL},
};

static const char WITH[] = " with ";

static const char *variant_passes_name(variant_passes passes) {
  return passes_table[passes].name;
}

unsigned variant_passes_profiles(variant_passes passes) {
  return passes_table[passes].profiles;
}

void variant_name_format(const variant_name *n, char out[VARIANT_TEXT]) {
  char digest[16] = "", shape[40] = "as-declared", constants[16] = "";
  if (n->digest) snprintf(digest, sizeof digest, ".%08x", n->digest);
  if (n->shape[0]) snprintf(shape, sizeof shape, "%ux%ux%u", n->shape[0], n->shape[1], n->shape[2]);
  if (n->constants) snprintf(constants, sizeof constants, " for.%08x", n->constants);
  snprintf(out, VARIANT_TEXT, "%.20s %s %s%s %s%s%s%s", n->backend,
           n->tier == VYRE_TIER_QUICK ? "quick" : "full", variant_passes_name(n->passes), digest,
           shape, constants, n->configuration[0] ? WITH : "", n->configuration);
}

bool variant_passes_read(const char *name, variant_passes *out) {
  int at = 0;
  while (at < PASSES_COUNT && strcmp(passes_table[at].name, name)) at++;
  *out = (variant_passes)at;
  return at < PASSES_COUNT;
}

static bool parse_passes(char *text, variant_name *out) {
  char *dot = strchr(text, '.');
  if (dot) *dot = 0;
  if (dot && sscanf(dot + 1, "%8x", &out->digest) != 1) return false;
  return variant_passes_read(text, &out->passes);
}

bool variant_name_parse(const char *text, char backend[VARIANT_TEXT], variant_name *out) {
  char tier[VARIANT_TEXT], passes[VARIANT_TEXT], shape[VARIANT_TEXT];
  *out = (variant_name){.backend = backend};
  if (strlen(text) >= VARIANT_TEXT ||
      sscanf(text, "%s %s %s %s for.%8x", backend, tier, passes, shape, &out->constants) < 4)
    return false;
  const char *with = strstr(text, WITH);
  if (with && strlen(with + sizeof WITH - 1) >= sizeof out->configuration) return false;
  if (with) memcpy(out->configuration, with + sizeof WITH - 1, strlen(with) - sizeof WITH + 2);
  bool is_quick = !strcmp(tier, "quick");
  out->tier = is_quick ? VYRE_TIER_QUICK : VYRE_TIER_FULL;
  bool is_shape = !strcmp(shape, "as-declared") ||
                  sscanf(shape, "%4ux%4ux%4u", &out->shape[0], &out->shape[1], &out->shape[2]) == 3;
  return (is_quick || !strcmp(tier, "full")) && is_shape && parse_passes(passes, out);
}

void build_name(char out[BUILD_TEXT]) {
  uint32_t cores = pool_cpu_count();
  snprintf(out, BUILD_TEXT, "vyre %s, %u core%s", vyre_version(), cores, cores == 1 ? "" : "s");
}
