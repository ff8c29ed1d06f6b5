// SPDX-License-Identifier: MIT
//
// The calls of an OpenCL driver that clcompare makes, looked up in the loader at run time, and what
// an image is to them: the words of NAME=image:FORMAT:EXTENTS[:FILL] and NAME=sampler:WORDS.
#ifndef VYRE_TESTS_CL_DRIVER_H
#define VYRE_TESTS_CL_DRIVER_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <vyre/vyre.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLS(X)                                                                                   \
  X(clGetPlatformIDs)                                                                              \
  X(clGetDeviceIDs)                                                                                \
  X(clCreateContext)                                                                               \
  X(clCreateCommandQueue)                                                                          \
  X(clCreateProgramWithSource)                                                                     \
  X(clBuildProgram)                                                                                \
  X(clGetProgramBuildInfo)                                                                         \
  X(clCreateKernel)                                                                                \
  X(clCreateBuffer)                                                                                \
  X(clCreateImage)                                                                                 \
  X(clCreateSampler)                                                                               \
  X(clSetKernelArg)                                                                                \
  X(clEnqueueNDRangeKernel)                                                                        \
  X(clEnqueueReadBuffer)                                                                           \
  X(clEnqueueReadImage)                                                                            \
  X(clFinish)

typedef struct driver {
#define MEMBER(name) __typeof__(&name) name;
  CALLS(MEMBER)
#undef MEMBER
} driver;

// Drivers compile slowly, and sanitizers see nothing of them.
static bool is_alone(void) {
  const char *setting = getenv("VYRE_CLCOMPARE");
  return setting && !strcmp(setting, "alone");
}

static bool open_driver(driver *d) {
  if (is_alone()) return false;
  setenv("POCL_SIGFPE_HANDLER", "0", 0);
  void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return false;
#define FIND(name)                                                                                 \
  *(void **)&d->name = dlsym(library, #name);                                                      \
  if (!d->name) return false;
  CALLS(FIND)
#undef FIND
  return true;
}

// ---- images -------------------------------------------------------------------------------------

typedef struct image_spec { // rgba_unorm8:7x5:bits
  char format[32];
  const char *fill;
  size_t extents[3]; // width first; 1 where there is none
  cl_image_format driver;
  vyre_type word;
  size_t words; // of a pixel
} image_spec;

static const struct {
  const char *name;
  cl_channel_order order;
  size_t words;
} image_orders[] = {{"r", CL_R, 1},
                    {"a", CL_A, 1},
                    {"rg", CL_RG, 2},
                    {"ra", CL_RA, 2},
                    {"rgb", CL_RGB, 3},
                    {"rgba", CL_RGBA, 4},
                    {"bgra", CL_BGRA, 4},
                    {"argb", CL_ARGB, 4},
                    {"intensity", CL_INTENSITY, 1},
                    {"luminance", CL_LUMINANCE, 1}};

static const struct {
  const char *name;
  cl_channel_type type;
  vyre_type word;
} image_types[] = {
    {"unorm8", CL_UNORM_INT8, VYRE_U8},   {"unorm16", CL_UNORM_INT16, VYRE_U16},
    {"snorm8", CL_SNORM_INT8, VYRE_I8},   {"snorm16", CL_SNORM_INT16, VYRE_I16},
    {"i8", CL_SIGNED_INT8, VYRE_I8},      {"i16", CL_SIGNED_INT16, VYRE_I16},
    {"i32", CL_SIGNED_INT32, VYRE_I32},   {"u8", CL_UNSIGNED_INT8, VYRE_U8},
    {"u16", CL_UNSIGNED_INT16, VYRE_U16}, {"u32", CL_UNSIGNED_INT32, VYRE_U32},
    {"f16", CL_HALF_FLOAT, VYRE_U16},     {"f32", CL_FLOAT, VYRE_F32},
};

// False when the words say no image.
static bool read_image_spec(const char *text, image_spec *out) {
  char order[16], type[16];
  int used = 0;
  *out = (image_spec){.extents = {1, 1, 1}};
  if (sscanf(text, "image:%15[a-z]_%15[a-z0-9]:%n", order, type, &used) != 2 || !used) return false;
  snprintf(out->format, sizeof out->format, "%s_%s", order, type);
  const char *at = text + used;
  for (int k = 0; k < 3; k++) {
    char *end;
    out->extents[k] = strtoul(at, &end, 10);
    if (end == at || !out->extents[k]) return false;
    at = end;
    if (*at != 'x') break;
    at++;
  }
  out->fill = *at == ':' ? at + 1 : "zeros";
  for (size_t i = 0; i < sizeof image_orders / sizeof *image_orders; i++)
    if (!strcmp(image_orders[i].name, order)) {
      out->driver.image_channel_order = image_orders[i].order;
      out->words = image_orders[i].words;
    }
  for (size_t i = 0; i < sizeof image_types / sizeof *image_types; i++)
    if (!strcmp(image_types[i].name, type)) {
      out->driver.image_channel_data_type = image_types[i].type;
      out->word = image_types[i].word;
    }
  return out->words && out->word != VYRE_VOID;
}

static size_t image_elements(const image_spec *s) {
  return s->extents[0] * s->extents[1] * s->extents[2] * s->words;
}

// By the name of its type: image2d_array_t.
static cl_image_desc image_desc(const image_spec *s, const char *type) {
  bool is_array = strstr(type, "array") != NULL;
  cl_image_desc d = {.image_width = s->extents[0], .image_height = s->extents[1]};
  if (!strncmp(type, "image1d", 7)) {
    d.image_type = is_array ? CL_MEM_OBJECT_IMAGE1D_ARRAY : CL_MEM_OBJECT_IMAGE1D;
    if (is_array) d.image_array_size = s->extents[1];
  } else if (!strncmp(type, "image2d", 7)) {
    d.image_type = is_array ? CL_MEM_OBJECT_IMAGE2D_ARRAY : CL_MEM_OBJECT_IMAGE2D;
    if (is_array) d.image_array_size = s->extents[2];
  } else {
    d.image_type = CL_MEM_OBJECT_IMAGE3D;
    d.image_depth = s->extents[2];
  }
  return d;
}

// Which extent a parameter of the program is, by the end of its name.
static size_t image_extent(const image_spec *s, const char *type, const char *end) {
  bool is_flat = !strncmp(type, "image1d", 7);
  if (!strcmp(end, ".width")) return s->extents[0];
  if (!strcmp(end, ".height") || is_flat) return s->extents[1];
  return s->extents[2];
}

static cl_sampler make_sampler(const driver *d, cl_context context, const char *words) {
  cl_addressing_mode mode = strstr(words, "mirrored_repeat") ? CL_ADDRESS_MIRRORED_REPEAT
                            : strstr(words, "repeat")        ? CL_ADDRESS_REPEAT
                            : strstr(words, "none")          ? CL_ADDRESS_NONE
                            : strstr(words, "clamp") && !strstr(words, "clamp_to_edge")
                                ? CL_ADDRESS_CLAMP
                                : CL_ADDRESS_CLAMP_TO_EDGE;
  bool is_normalized = strstr(words, "normalized") && !strstr(words, "unnormalized");
  cl_int code;
  cl_sampler made =
      d->clCreateSampler(context, is_normalized, mode,
                         strstr(words, "linear") ? CL_FILTER_LINEAR : CL_FILTER_NEAREST, &code);
  return code == CL_SUCCESS ? made : NULL;
}

#endif
