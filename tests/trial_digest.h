// SPDX-License-Identifier: MIT
//
// One number for all that a backend sees of a trial: the program, its parameters, the bytes of its
// buffers and the launch. A seed that somebody wrote down means the same trial on every machine and
// after every change but one of the generator, and that one says so by changing the numbers that
// tests expect.
#ifndef VYRE_TESTS_TRIAL_DIGEST_H
#define VYRE_TESTS_TRIAL_DIGEST_H

#include "conform/trial.h"
#include "ir/program.h"

static uint64_t digest_add(uint64_t digest, const void *data, size_t size) {
  const unsigned char *bytes = data;
  for (size_t i = 0; i < size; i++) digest = (digest ^ bytes[i]) * 0x100000001b3u;
  return digest;
}

static uint64_t digest_trial(uint64_t digest, const trial *t) {
  digest = digest_add(digest, program_fingerprint(t->program), 32);
  for (uint32_t i = 0; i < t->param_count; i++)
    digest = digest_add(digest, &t->params[i].bits, sizeof t->params[i].bits);
  for (uint32_t i = 0; i < t->buffer_count; i++) {
    digest = digest_add(digest, &t->buffers[i].size_bytes, sizeof t->buffers[i].size_bytes);
    digest = digest_add(digest, t->buffers[i].data, t->buffers[i].size_bytes);
  }
  return digest_add(digest, t->workgroup, sizeof t->workgroup);
}

#endif
