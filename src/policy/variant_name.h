// SPDX-License-Identifier: MIT
//
// The name of a variant: all that it is made of, as a person reads it and as files and the store
// keep it. "cpu full release.3fa29c1b 8x8x1" is a full compile for this CPU of what the passes of
// the release profile made of the program, launched in workgroups of 8 x 8 x 1; the digits tell
// selections of one profile apart; " with TILE=8 UNROLL=2" behind it says which values tunables
// have, where these are not the program's own. The device, with its driver and compiler, and the
// build stand beside it. Plain values and pure functions: any thread.
#ifndef VYRE_POLICY_VARIANT_NAME_H
#define VYRE_POLICY_VARIANT_NAME_H

#include <vyre/vyre.h>

typedef enum variant_passes {
  PASSES_NONE,
  PASSES_RELEASE,
  PASSES_DATAFLOW,
  PASSES_MEGAKERNEL,
  PASSES_COUNT
} variant_passes;

unsigned variant_passes_profiles(variant_passes passes); // PASS_PROFILE_*, joined; 0 for none
bool variant_passes_read(const char *name, variant_passes *out); // "none", "release", ...

enum { VARIANT_CONFIGURATION = 128, VARIANT_TEXT = 256, BUILD_TEXT = 64 };

typedef struct variant_name {
  const char *backend;
  vyre_tier tier;
  variant_passes passes;
  uint32_t digest;    // of the program that the passes made; 0 without passes
  uint32_t shape[3];  // zeros: as declared
  uint32_t constants; // digest of the arguments that are constants; 0: none
  char configuration[VARIANT_CONFIGURATION]; // values of tunables; "": the program's own
} variant_name;

void variant_name_format(const variant_name *name, char out[VARIANT_TEXT]);
// The inverse; the backend's name goes to `backend`. False when the text is no name of a variant.
bool variant_name_parse(const char *text, char backend[VARIANT_TEXT], variant_name *out);

// "vyre 0.1.0, 2 cores": what figures depend on besides the device. Figures of another build are
// where to begin, no more.
void build_name(char out[BUILD_TEXT]);

#endif
