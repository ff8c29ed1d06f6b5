// SPDX-License-Identifier: MIT
//
// Every rule of the verifier meets programs that break it, at each place that looks, and names the
// operation at fault. A rule that nothing here triggers fails the test.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "../raw_listing.h"
#include "ir/verify.h"

// What most cases share; their lines follow as the body of a region.
#define START                                                                                      \
  "program p\n"                                                                                    \
  "param n u32\n"                                                                                  \
  "param f f32\n"                                                                                  \
  "buffer x f32 readwrite\n"                                                                       \
  "buffer r u32 read\n"                                                                            \
  "buffer w u32 write\n"                                                                           \
  "buffer a u32 readwrite\n"                                                                       \
  "const u32 1\n"          /* c0 */                                                                \
  "const f32 0x3f800000\n" /* c1 */                                                                \
  "const bool 1\n"         /* c2 */                                                                \
  "const i64 -1\n"         /* c3 */
#define REGION  "region main 1 c0 c0 c0 64 1 1\n"
#define BODY    START REGION "body\nshared s u32 64\nshared t f32 64\n"
#define TUNABLE BODY "tunable t u32 0 4 8\nterm tunable u32 0\n"

typedef struct trigger {
  verify_code code;
  uint32_t fault; // the operation that is named; 0: none, or a declaration
  const char *listing;
} trigger;

static const trigger triggers[] = {
    {VERIFY_V001, 1, BODY "op if void c2\n"},
    {VERIFY_V001, 2, BODY "op if void c2\nop for u32 c0 c0 c0\nop if void c2\nop end void\n"},
    {VERIFY_V001, 1, BODY "op end void\n"},
    {VERIFY_V001, 1, START "op end void\n" REGION},
    {VERIFY_V002, 1, BODY "op else void\n"},
    {VERIFY_V002, 2, BODY "op for u32 c0 c0 c0\nop else void\nop end void\n"},
    {VERIFY_V002, 3, BODY "op if void c2\nop else void\nop else void\nop end void\n"},
    {VERIFY_V003, 1, BODY "op do void c2\n"},
    {VERIFY_V003, 2, BODY "op while void\nop end void\n"},
    {VERIFY_V003, 3, BODY "op while void\nop do void c2\nop do void c2\nop end void\n"},
    {VERIFY_V003, 2, BODY "op if void c2\nop do void c2\nop end void\n"},
    {VERIFY_V004, 1, BODY "op break void\n"},
    {VERIFY_V004, 2, BODY "op if void c2\nop continue void\nop end void\n"},
    {VERIFY_V004, 2, BODY "op while void\nop break void\nop do void c2\nop end void\n"},
    {VERIFY_V005, 129, BODY "repeat 129 op if void c2\nrepeat 129 op end void\n"},
    // A value: none, itself, a later one, past the end, of a closed block, a statement, a variable,
    // of the grid; a constant that is not there.
    {VERIFY_V006, 1, BODY "op copy u32 0\n"},
    {VERIFY_V006, 1, BODY "op copy u32 %1\n"},
    {VERIFY_V006, 1, BODY "op copy u32 %2\nop copy u32 c0\n"},
    {VERIFY_V006, 1, BODY "op copy u32 %1000000\n"},
    {VERIFY_V006, 4, BODY "op if void c2\nop copy u32 c0\nop end void\nop copy u32 %2\n"},
    {VERIFY_V006, 4,
     BODY "op if void c2\nop copy u32 c0\nop else void\nop copy u32 %2\nop end void\n"},
    {VERIFY_V006, 3, BODY "op for u32 c0 c0 c0\nop end void\nop copy u32 %1\n"},
    {VERIFY_V006, 5,
     BODY "op while void\nop copy u32 c0\nop do void c2\nop end void\nop copy u32 %2\n"},
    {VERIFY_V006, 2, BODY "op barrier void\nop copy u32 %1\n"},
    {VERIFY_V006, 2, BODY "op var u32 c0\nop copy u32 %1\n"},
    {VERIFY_V006, 2, START "op param u32 0\n" REGION "body\nop copy u32 %1\n"},
    {VERIFY_V006, 1, BODY "op copy u32 c4\n"},
    {VERIFY_V006, 0, START "region main 1 %1 c0 c0 64 1 1\nbody\nop copy u32 c0\n"},
    {VERIFY_V006, 0, START "region main 1 c9 c0 c0 64 1 1\n"},
    {VERIFY_V006, 0, START "buffer y f32 read %9\n" REGION},
    {VERIFY_V007, 1, BODY "op get u32 0\n"},
    {VERIFY_V007, 1, BODY "op get u32 %1\n"},
    {VERIFY_V007, 2, BODY "op copy u32 c0\nop get u32 %1\n"},
    {VERIFY_V007, 4, BODY "op if void c2\nop var u32 c0\nop end void\nop set void %2 c0\n"},
    {VERIFY_V007, 1, BODY "op get u32 0xffffffff\n"},
    {VERIFY_V008, 1, BODY "op load f32 b4 c0\n"},
    {VERIFY_V008, 1, BODY "op load u32 s2 c0\n"},
    {VERIFY_V008, 1, BODY "op load u32 a0 c0\n"},
    {VERIFY_V008, 1, BODY "op load u32 a7 c0\n"},
    {VERIFY_V008, 2, BODY "op copy u32 c0\nop load u32 a1 c0\n"},
    {VERIFY_V008, 1, BODY "op load u32 0xc0000000 c0\n"},
    {VERIFY_V008, 1, BODY "op len u32 4\n"},
    {VERIFY_V008, 1, BODY "region next 1 c0 c0 c0 1 1 1\nbody\nop load u32 s0 c0\n"},
    {VERIFY_V008, 1, START "op load u32 s0 c0\n" REGION "body\nshared s u32 64\n"},
    {VERIFY_V009, 1, BODY "op param u32 2\n"},
    {VERIFY_V010, 1, BODY "op global_id u32 3\n"},
    {VERIFY_V010, 1, BODY "op local_size u32 0xffffffff\n"},
    {VERIFY_V011, 1, BODY "op #0 void\n"},
    {VERIFY_V011, 1, BODY "op #200 void\n"},
    {VERIFY_V011, 1, BODY "op #255 void\n"},
    {VERIFY_V011, 1, START "op #255 void\n" REGION},
    {VERIFY_V012, 1, BODY "op copy #13 c0\n"},
    {VERIFY_V012, 1, BODY "op convert void c0\n"},
    {VERIFY_V012, 1, BODY "op bitcast void c0\n"},
    {VERIFY_V012, 1, BODY "op array void 4\n"},
    {VERIFY_V012, 0, START "param g void\n" REGION},
    {VERIFY_V012, 0, START "param g #13\n" REGION},
    {VERIFY_V012, 0, START "buffer g #255 read\n" REGION},
    {VERIFY_V012, 0, BODY "shared g void 4\n"},
    {VERIFY_V020, 1, BODY "op add u32 c0 c1\n"},
    {VERIFY_V020, 1, BODY "op fma f32 c1 c1 c0\n"},
    {VERIFY_V020, 1, BODY "op select u32 c2 c0 c1\n"},
    {VERIFY_V020, 1, BODY "op for u32 c0 c0 c3\nop end void\n"},
    {VERIFY_V021, 1, BODY "op add bool c2 c2\n"},
    {VERIFY_V021, 1, BODY "op rem f32 c1 c1\n"},
    {VERIFY_V021, 1, BODY "op and f32 c1 c1\n"},
    {VERIFY_V021, 1, BODY "op sqrt u32 c0\n"},
    {VERIFY_V021, 1, BODY "op lt bool c2 c2\n"},
    {VERIFY_V021, 1, BODY "op for f32 c1 c1 c1\nop end void\n"},
    {VERIFY_V022, 1, BODY "op add f32 c0 c0\n"},
    {VERIFY_V022, 1, BODY "op eq u32 c0 c0\n"},
    {VERIFY_V022, 1, BODY "op select f32 c2 c0 c0\n"},
    {VERIFY_V022, 1, BODY "op copy f32 c0\n"},
    {VERIFY_V022, 1, BODY "op param f32 0\n"},
    {VERIFY_V022, 1, BODY "op len i32 0\n"},
    {VERIFY_V022, 1, BODY "op global_id i32 0\n"},
    {VERIFY_V022, 1, BODY "op load u32 b0 c0\n"},
    {VERIFY_V022, 1, BODY "op store f32 b0 c0 c1\n"},
    {VERIFY_V022, 1, BODY "op atomic_add i32 b3 c0 c0\n"},
    {VERIFY_V022, 1, BODY "op var f32 c0\n"},
    {VERIFY_V022, 2, BODY "op var u32 c0\nop get f32 %1\n"},
    {VERIFY_V022, 2, BODY "op var u32 c0\nop set u32 %1 c0\n"},
    {VERIFY_V022, 1, BODY "op if u32 c2\nop end void\n"},
    {VERIFY_V022, 1, BODY "op for i32 c0 c0 c0\nop end void\n"},
    {VERIFY_V022, 1, BODY "op barrier u32\n"},
    {VERIFY_V023, 1, BODY "op if void c0\nop end void\n"},
    {VERIFY_V023, 2, BODY "op while void\nop do void c0\nop end void\n"},
    {VERIFY_V023, 1, BODY "op select u32 c0 c0 c0\n"},
    {VERIFY_V024, 1, BODY "op load f32 b0 c1\n"},
    {VERIFY_V024, 1, BODY "op store void b0 c2 c1\n"},
    {VERIFY_V024, 1, BODY "op atomic_add u32 b3 c1 c0\n"},
    {VERIFY_V025, 1, BODY "op store void b0 c0 c0\n"},
    {VERIFY_V025, 1, BODY "op atomic_add u32 b3 c0 c1\n"},
    {VERIFY_V025, 1, BODY "op atomic_cas u32 b3 c0 c0 c1\n"},
    {VERIFY_V025, 1, BODY "op store void s0 c0 c1\n"},
    {VERIFY_V026, 1, BODY "op atomic_and f32 b0 c0 c1\n"},
    {VERIFY_V026, 1, BODY "op atomic_xor f32 s1 c0 c1\n"},
    {VERIFY_V027, 1, BODY "op bitcast i64 c0\n"},
    {VERIFY_V027, 1, BODY "op bitcast bool c2\n"},
    {VERIFY_V028, 2, BODY "op var u32 c0\nop set void %1 c1\n"},
    {VERIFY_V029, 1, BODY "op for i64 c3 c3 c3\nop end void\n"},
    {VERIFY_V029, 2, BODY "op copy u32 c0\nop for u32 c0 c0 %1\nop end void\n"},
    {VERIFY_V029, 1, BODY "const u32 0\nop for u32 c0 c0 c4\nop end void\n"},
    {VERIFY_V030, 0, START "const bool 2\n" REGION},
    {VERIFY_V030, 0, START "const f32 0x7fc00001\n" REGION},
    {VERIFY_V030, 0, START "const i8 255\n" REGION},
    {VERIFY_V030, 0, START "const u8 256\n" REGION},
    {VERIFY_V030, 0, START "const void 0\n" REGION},
    {VERIFY_V030, 0, START "const #13 0\n" REGION},
    {VERIFY_V040, 1, BODY "op load u32 b2 c0\n"},
    {VERIFY_V041, 1, BODY "op store void b1 c0 c0\n"},
    {VERIFY_V042, 2, BODY "op array u32 4\nop atomic_add u32 a1 c0 c0\n"},
    {VERIFY_V043, 1, BODY "op atomic_add u32 b1 c0 c0\n"},
    {VERIFY_V043, 1, BODY "op atomic_add u32 b2 c0 c0\n"},
    {VERIFY_V044, 1, BODY "op array u32 0\n"},
    {VERIFY_V044, 0, BODY "shared e u32 0\n"},
    {VERIFY_V045, 0, BODY "shared e u8 262144\n"},
    {VERIFY_V045, 0, BODY "shared e f64 0xffffffff\n"},
    {VERIFY_V046, 0, BODY "op array u8 262145\n"},
    {VERIFY_V046, 0, BODY "op array f64 0xffffffff\nop array f64 0xffffffff\n"},
    {VERIFY_V047, 0, START "buffer t u32 readwrite transient\n" REGION},
    {VERIFY_V060, 0, START},
    {VERIFY_V061, 0, START "region main 0 c0 c0 c0 64 1 1\n"},
    {VERIFY_V061, 0, START "region main 4 c0 c0 c0 64 1 1\n"},
    {VERIFY_V062, 0, START "region main 1 c0 c0 c0 64 0 1\n"},
    {VERIFY_V062, 0, START "region main 1 c0 c0 c0 1025 1 1\n"},
    {VERIFY_V062, 0, START "region main 1 c0 c0 c0 32 32 2\n"},
    {VERIFY_V062, 0, START "region main 1 c0 c0 c0 0x80000000 0x80000000 0x80000000\n"},
    {VERIFY_V063, 0, START "region main 1 c1 c0 c0 64 1 1\n"},
    {VERIFY_V063, 0, START "region main 3 c0 c0 c2 64 1 1\n"},
    {VERIFY_V063, 0, START "buffer y f32 read c1\n" REGION},
    {VERIFY_V064, 1, START "op load u32 b1 c0\n" REGION},
    {VERIFY_V064, 1, START "op global_size u32 0\n" REGION},
    {VERIFY_V064, 1, START REGION "op global_id u32 0\n"},
    {VERIFY_V064, 1, START REGION "op exp f32 c1\n"},
    {VERIFY_V064, 1, START REGION "op if void c2\nop end void\n"},
    {VERIFY_V065, 1, START "op len u32 4\nbuffer y u32 read c0\n" REGION},
    {VERIFY_V066, 4,
     BODY "op local_id u32 0\nop lt bool %1 c0\nop if void %2\nop barrier void\nop end void\n"},
    {VERIFY_V066, 5,
     BODY "op local_id u32 0\nop lt bool %1 c0\nop if void %2\nop else void\nop barrier void\n"
          "op end void\n"},
    {VERIFY_V066, 6,
     BODY "op local_id u32 0\nop lt bool %1 c0\nop if void %2\nop return void\nop end void\n"
          "op barrier void\n"},
    {VERIFY_V066, 7,
     BODY "op local_id u32 0\nop lt bool %1 c0\nop if void c2\nop barrier void\nop if void %2\n"
          "op if void c2\nop barrier void\nrepeat 3 op end void\n"},
    {VERIFY_V080, 0, START "param n i32\n" REGION},
    {VERIFY_V080, 0, START "buffer x i32 read\n" REGION},
    {VERIFY_V080, 0, START "param x i32\n" REGION},
    {VERIFY_V080, 0, START REGION REGION},
    {VERIFY_V081, 0, "program 9p\nconst u32 1\n" REGION},
    {VERIFY_V081, 0, "program\nconst u32 1\n" REGION},
    {VERIFY_V081, 0, START "param a-b i32\n" REGION},
    {VERIFY_V081, 0, START "buffer a:b i32 read\n" REGION},
    {VERIFY_V081, 0, START "region \x1b[2J 1 c0 c0 c0 64 1 1\n"},
    {VERIFY_V081, 0, BODY "shared 9 u8 1\n"},
    {VERIFY_V081, 1, BODY "op copy u32 c0\nname 1 x+y\n"},
    {VERIFY_V082, 0, "program p 1048577\nconst u32 1\n" REGION},
    {VERIFY_V090, 1, BODY "op stop_asked bool\n"},
    {VERIFY_V090, 1, BODY "op load_inside f32 b0 c0\n"},
    {VERIFY_V090, 1, BODY "op store_inside void b0 c0 c1\n"},
    {VERIFY_V090, 1, BODY "op div_nonzero u32 c0 c0\n"},
    {VERIFY_V090, 1, BODY "lowered\nop div_nonzero f32 c1 c1\n"},
    {VERIFY_V090, 1, BODY "lowered\nop convert_inside f32 c0\n"},
    {VERIFY_V090, 1, BODY "lowered\nop bitcast_any f32 c0\n"},

    {VERIFY_V080, 0, BODY "tunable x u32 0 4\n"},
    {VERIFY_V081, 0, BODY "tunable a-b u32 0 4\n"},
    {VERIFY_V100, 0, BODY "tunable t #0 0 4\n"},
    {VERIFY_V100, 0, BODY "tunable t #77 0 4\n"},
    {VERIFY_V100, 0, BODY "tunable t u32 0\n"},
    {VERIFY_V100, 0, BODY "tunable t u32 1 4\n"},
    {VERIFY_V100, 0, BODY "tunable t u32 0 4 8 4\n"},
    {VERIFY_V100, 0, BODY "tunable t u8 0 256\n"},
    {VERIFY_V101, 0, TUNABLE "term number u32 9\nterm gt bool\nwhere 0 0 3\n"},
    {VERIFY_V102, 0, TUNABLE "where 0 0 1\n"},                    // no bool
    {VERIFY_V102, 0, TUNABLE "where 0 0 2\n"},                    // past the terms
    {VERIFY_V102, 0, TUNABLE "term gt bool\nwhere 0 0 2\n"},      // an operand is missing
    {VERIFY_V102, 0, TUNABLE "term number u32 1\nwhere 0 0 2\n"}, // one is left over
    {VERIFY_V102, 0, TUNABLE "term number i32 1\nterm gt bool\nwhere 0 0 3\n"},
    {VERIFY_V102, 0, TUNABLE "term number u32 1\nterm gt u32\nwhere 0 0 3\n"},
    {VERIFY_V102, 0, TUNABLE "term number u32 1\nterm load bool\nwhere 0 0 3\n"},
    {VERIFY_V102, 0, TUNABLE "term number bool 1\nterm number bool 1\nterm eq bool\nwhere 0 1 4\n"},
    {VERIFY_V102, 0, TUNABLE "term number #0 1\nterm gt bool\nwhere 0 0 3\n"},
    {VERIFY_V102, 0, TUNABLE "term number u8 256\nterm gt bool\nwhere 0 0 3\n"},
    {VERIFY_V102, 0, TUNABLE "term tunable u32 1\nterm eq bool\nwhere 0 0 3\ntunable u u32 0 4\n"},
    {VERIFY_V102, 0, TUNABLE "use 4 0 0 0 0\n"},
    {VERIFY_V103, 0, TUNABLE "use 0 9 0 0 1\n"}, // no such operation
    {VERIFY_V103, 0, TUNABLE "use 0 0 0 0 1\n"},
    {VERIFY_V103, 0, TUNABLE "use 1 0 0 0 1\n"},
    {VERIFY_V103, 0, TUNABLE "use 2 0 0 0 1\n"}, // a buffer as bound
    {VERIFY_V103, 0, TUNABLE "use 2 9 0 0 1\n"},
    {VERIFY_V103, 0, TUNABLE "use 3 0 1 0 1\n"}, // past the rank
    {VERIFY_V103, 0, TUNABLE "use 4 0 0 0 1\n"}, // another number
    {VERIFY_V103, 0, TUNABLE "use 4 0 3 0 1\n"},
    {VERIFY_V103, 0, TUNABLE "use 4 1 0 0 1\n"},
    {VERIFY_V103, 0, TUNABLE "use 5 0 0 0 1\n"}, // no such array
    {VERIFY_V103, 0, TUNABLE "use 6 0 0 0 1\n"}, // no such kind
    {VERIFY_V103, 0,
     BODY "op array u32 4\ntunable t u32 0 4\nterm tunable u32 0\n"
          "use 1 1 0 0 1\nuse 1 1 0 0 1\n"}, // twice
    {VERIFY_V103, 0,
     BODY "op copy u32 c0\ntunable t u32 0 1\nterm tunable u32 0\n"
          "term number u32 0\nterm add u32\nuse 0 1 0 0 3\n"}, // no formula here
};

static vyre_program *listed(const char *listing) {
  char *text = strdup(listing);
  vyre_program *p = raw_parse(text);
  free(text);
  if (!p) fail_msg("bad listing:\n%s", listing);
  return p;
}

static void assert_trigger(const trigger *t) {
  vyre_program *p = listed(t->listing);
  vyre_error error = {0};
  uint32_t fault = 0;
  vyre_status status = program_freeze(p, &fault, &error);
  if (status != VYRE_ERROR_VERIFY || strcmp(error.code, verify_rules[t->code].code) != 0)
    fail_msg("%s expected, but %s %s:\n%s", verify_rules[t->code].code, error.code,
             status == VYRE_OK ? "accepted" : error.message, t->listing);
  if (fault & (FAULT_TUNABLE | FAULT_BUFFER | FAULT_REGION)) fault = 0;
  if (fault != t->fault)
    fail_msg("%s names operation %u instead of %u:\n%s", error.code, fault, t->fault, t->listing);
  const char *fix = strstr(error.message, ". Fix: ");
  if (!fix || strlen(fix) < 12) fail_msg("no fix in \"%s\"", error.message);
  for (const char *c = error.message; *c; c++)
    if (*c < ' ' || *c > '~') fail_msg("%s repeats a byte that a terminal acts on", error.code);
  vyre_program_release(p);
}

static void test_every_rule(void **state) {
  (void)state;
  bool triggered[VERIFY_COUNT] = {false};
  for (size_t i = 0; i < sizeof triggers / sizeof *triggers; i++) {
    assert_trigger(&triggers[i]);
    triggered[triggers[i].code] = true;
  }
  for (int code = 0; code < VERIFY_COUNT; code++)
    if (!triggered[code]) fail_msg("nothing triggers %s", verify_rules[code].code);
}

// Golden tests show each message to people as the command prints it: from a text, or from a listing
// where no text can say it.
static void test_every_rule_has_a_golden_test(void **state) {
  (void)state;
  for (int code = 0; code < VERIFY_COUNT; code++) {
    bool found = false;
    for (int i = 0; i < 2; i++) {
      char path[4096];
      snprintf(path, sizeof path, "%s/tests/golden/verify/%s.%s", VYRE_SOURCE_DIR,
               verify_rules[code].code, i ? "raw" : "vyre");
      found |= access(path, R_OK) == 0;
    }
    if (!found) fail_msg("tests/golden/verify has no %s", verify_rules[code].code);
  }
}

// What the triggers are made of is valid, so that each of them fails for its own reason; and so are
// the neighbours of what the rules refuse.
static void test_valid_programs(void **state) {
  (void)state;
  static const char *const valid[] = {
      START REGION,
      BODY,
      TUNABLE "term number u32 9\nterm lt bool\nwhere 0 0 3\n",
      BODY "op array u32 8\nop copy u32 c0\ntunable t u32 1 0 1\nterm tunable u32 0\n"
           "term number u32 7\nterm add u32\nuse 0 2 0 0 1\nuse 1 1 0 0 3\n",
      BODY "repeat 128 op if void c2\nrepeat 128 op end void\n",
      BODY "op while void\nop copy bool c2\nop do void %2\nop copy bool %2\nop break void\n"
           "op end void\n",
      BODY "op for u32 c0 c0 c0\nop copy u32 %1\nop continue void\nop end void\n",
      BODY "op if void c2\nop copy u32 c0\nop else void\nop copy u32 c0\nop copy u32 %4\n"
           "op end void\n",
      START "region main 3 c0 c0 c0 1024 1 1\nbody\nshared e u8 262144\nop array u8 262144\n",
      START "region main 1 %1 c0 c0 8 8 16\nop len u32 0\nbody\nop global_size u32 2\n",
      START "op len u32 0\nop mul u32 %1 %1\nbuffer y f32 write %2\n" REGION
            "op len u32 4\nbody\nop store void b4 c0 c1\n",
      START REGION "region n 1 c0 c0 c0 1 1 1\n",
      BODY "op local_id u32 0\nop param u32 0\nop lt bool %1 %2\nop if void %3\nop barrier void\n"
           "op end void\n",
      BODY "op array f32 4\nop store void a1 c3 c1\nop load f32 a1 c0\nname 3 sum.0_x\n"
           "name 1 sum\n",
      ("program p 1048576\nconst u32 1\n" REGION),
      BODY "lowered\nop stop_asked bool\nop load_inside f32 b0 c0\nop div_nonzero u32 c0 c0\n",
      BODY "lowered\nrepeat 136 op if void c2\nrepeat 136 op end void\n",
  };
  for (size_t i = 0; i < sizeof valid / sizeof *valid; i++) {
    vyre_program *p = listed(valid[i]);
    vyre_error error = {0};
    if (program_freeze(p, NULL, &error) != VYRE_OK)
      fail_msg("%s %s:\n%s", error.code, error.message, valid[i]);
    vyre_program_release(p);
  }
}

// Conditions that hold for every invocation, each of them tried 1,024 times over 60 operations, in
// their thousands: a program like this is not looked at for ever.
static void test_many_conditions(void **state) {
  (void)state;
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  assert_non_null(out);
  fprintf(out, "program p\nconst u32 1\nregion main 1 c0 c0 c0 1024 1 1\nbody\n"
               "op local_id u32 0\n");
  for (int i = 1; i < 60; i++) fprintf(out, "op add u32 %%%d c0\n", i);
  for (int i = 0, at = 61; i < 20000; i++, at += 4)
    fprintf(out, "op ge bool %%60 c0\nop if void %%%d\nop barrier void\nop end void\n", at);
  fclose(out);
  vyre_program *p = listed(text);
  vyre_error error = {0};
  assert_int_equal(program_freeze(p, NULL, &error), VYRE_OK);
  vyre_program_release(p);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_rule),
      cmocka_unit_test(test_every_rule_has_a_golden_test),
      cmocka_unit_test(test_valid_programs),
      cmocka_unit_test(test_many_conditions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
