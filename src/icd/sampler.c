// SPDX-License-Identifier: MIT
#include "icd/sampler.h"

#include "icd/info.h"

#include <stdio.h>

void sampler_fini(void *handle) {
  object_drop(((cl_sampler)handle)->context);
}

static const char *addressing_word(cl_addressing_mode mode) {
  switch (mode) {
  case CL_ADDRESS_NONE: return "none";
  case CL_ADDRESS_CLAMP_TO_EDGE: return "clamp_to_edge";
  case CL_ADDRESS_CLAMP: return "clamp";
  case CL_ADDRESS_REPEAT: return "repeat";
  case CL_ADDRESS_MIRRORED_REPEAT: return "mirrored_repeat";
  default: return NULL;
  }
}

static cl_sampler make(cl_context context, cl_bool is_normalized, cl_addressing_mode addressing,
                       cl_filter_mode filter, cl_int *errcode) {
  bool is_filter = filter == CL_FILTER_NEAREST || filter == CL_FILTER_LINEAR;
  bool is_repeating = addressing == CL_ADDRESS_REPEAT || addressing == CL_ADDRESS_MIRRORED_REPEAT;
  if (!addressing_word(addressing) || !is_filter || is_normalized > CL_TRUE ||
      (is_repeating && !is_normalized))
    return icd_fail(errcode, CL_INVALID_VALUE);
  cl_sampler made = object_new(OBJECT_SAMPLER);
  if (!made) return icd_fail(errcode, CL_OUT_OF_HOST_MEMORY);
  made->context = object_hold(context);
  made->is_normalized = is_normalized;
  made->addressing = addressing;
  made->filter = filter;
  snprintf(made->text, sizeof made->text, "%s:%s:%s",
           filter == CL_FILTER_LINEAR ? "linear" : "nearest", addressing_word(addressing),
           is_normalized ? "normalized" : "unnormalized");
  icd_fail(errcode, CL_SUCCESS);
  return made;
}

cl_sampler clCreateSampler(cl_context context, cl_bool is_normalized, cl_addressing_mode addressing,
                           cl_filter_mode filter, cl_int *errcode) {
  if (!object_is(context, OBJECT_CONTEXT)) return icd_fail(errcode, CL_INVALID_CONTEXT);
  return make(context, is_normalized, addressing, filter, errcode);
}

cl_sampler clCreateSamplerWithProperties(cl_context context, const cl_sampler_properties *list,
                                         cl_int *errcode) {
  if (!object_is(context, OBJECT_CONTEXT)) return icd_fail(errcode, CL_INVALID_CONTEXT);
  cl_bool is_normalized = CL_TRUE;
  cl_addressing_mode addressing = CL_ADDRESS_CLAMP;
  cl_filter_mode filter = CL_FILTER_NEAREST;
  uint32_t count = 0;
  for (; list && list[count]; count += 2) {
    if (count + 3 > SAMPLER_MOST_PROPERTIES) return icd_fail(errcode, CL_INVALID_VALUE);
    for (uint32_t k = 0; k < count; k += 2)
      if (list[k] == list[count]) return icd_fail(errcode, CL_INVALID_VALUE);
    switch (list[count]) {
    case CL_SAMPLER_NORMALIZED_COORDS: is_normalized = (cl_bool)list[count + 1]; break;
    case CL_SAMPLER_ADDRESSING_MODE: addressing = (cl_addressing_mode)list[count + 1]; break;
    case CL_SAMPLER_FILTER_MODE: filter = (cl_filter_mode)list[count + 1]; break;
    default: return icd_fail(errcode, CL_INVALID_VALUE);
    }
  }
  cl_sampler made = make(context, is_normalized, addressing, filter, errcode);
  if (made && list) {
    made->list_count = count + 1;
    memcpy(made->list, list, made->list_count * sizeof *list);
  }
  return made;
}

cl_int clRetainSampler(cl_sampler sampler) {
  return object_retain(sampler, OBJECT_SAMPLER, CL_INVALID_SAMPLER);
}

cl_int clReleaseSampler(cl_sampler sampler) {
  return object_release(sampler, OBJECT_SAMPLER, CL_INVALID_SAMPLER);
}

cl_int clGetSamplerInfo(cl_sampler s, cl_sampler_info what, size_t room, void *value,
                        size_t *size) {
  info i = {0};
  if (!object_is(s, OBJECT_SAMPLER)) return CL_INVALID_SAMPLER;
  switch (what) {
  case CL_SAMPLER_REFERENCE_COUNT: info_u32(&i, object_count(s)); break;
  case CL_SAMPLER_CONTEXT: info_pointer(&i, s->context); break;
  case CL_SAMPLER_NORMALIZED_COORDS: info_u32(&i, s->is_normalized); break;
  case CL_SAMPLER_ADDRESSING_MODE: info_u32(&i, s->addressing); break;
  case CL_SAMPLER_FILTER_MODE: info_u32(&i, s->filter); break;
  case CL_SAMPLER_PROPERTIES: info_bytes(&i, s->list, s->list_count * sizeof *s->list); break;
  default: return CL_INVALID_VALUE;
  }
  return info_answer(&i, room, value, size);
}
