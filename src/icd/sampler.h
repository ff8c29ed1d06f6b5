// SPDX-License-Identifier: MIT
//
// Samplers: a constant of the programs that are made for it.
#ifndef VYRE_ICD_SAMPLER_H
#define VYRE_ICD_SAMPLER_H

#include "icd/context.h"
#include "icd/object.h"

enum { SAMPLER_MOST_PROPERTIES = 8, SAMPLER_TEXT = 64 };

struct _cl_sampler {
  object base;
  cl_context context; // held
  cl_bool is_normalized;
  cl_addressing_mode addressing;
  cl_filter_mode filter;
  cl_sampler_properties list[SAMPLER_MOST_PROPERTIES];
  uint32_t list_count;
  char text[SAMPLER_TEXT]; // as the frontend takes it
};

void sampler_fini(void *sampler);

#endif
