// SPDX-License-Identifier: MIT
//
// random_footprint COUNT SEED: random programs, cut into boxes; every access that the reference
// makes has to be in the footprint of its box. Prints the first that is not, and the count.
#include "../footprint_check.h"

#include "conform/generate.h"
#include "conform/shapes.h"

#include <inttypes.h>

static const uint64_t FUEL = 3000000;

int main(int argc, char **argv) {
  uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
  uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
  uint64_t accesses = 0, wrong = 0, tight = 0, loose = 0;
  for (uint64_t i = 0; i < count; i++) {
    trial t;
    check c;
    vyre_error error;
    uint64_t own = seed + i;
    vyre_status status =
        own % 2 ? shapes_trial(&(shapes_options){.seed = own}, &t, NULL, &error)
                : generate_trial(&(generate_options){.seed = own, .with_math = own % 4 == 0}, &t,
                                 &error);
    if (status != VYRE_OK) {
      printf("seed %" PRIu64 ": %s\n", own, error.message);
      return 2;
    }
    if (!check_trial(&t, own, FUEL, &c)) {
      printf("seed %" PRIu64 ": out of memory\n", own);
      return 2;
    }
    if (c.wrong && wrong++ < 5) {
      char *text = NULL;
      printf("seed %" PRIu64 ": %s\n", own, c.text);
      if (vyre_program_print(t.program, &text, NULL, &error) == VYRE_OK && wrong == 1) puts(text);
      vyre_free(text);
    }
    accesses += c.accesses;
    tight += c.tight;
    loose += c.loose;
    trial_fini(&t);
  }
  printf("%" PRIu64 " programs, %" PRIu64 " accesses, %" PRIu64 " of %" PRIu64
         " written sets are parts, %" PRIu64 " wrong\n",
         count, accesses, tight, tight + loose, wrong);
  return wrong != 0;
}
