// SPDX-License-Identifier: MIT
//
// clcompare: runs one OpenCL kernel through an OpenCL driver and through every backend of vyre, on
// the same inputs, and compares all buffers bit for bit. Two NaNs are equal.
//
//   clcompare FILE[:KERNEL] --grid X[,Y[,Z]] [--workgroup X[,Y[,Z]]] [--ulp N] [--options "..."]
//             [--ignore NAME] [NAME=SPEC ...] [-- FILE[:KERNEL] ...]
//   clcompare --serve: reads such words line by line, quoted as for sh, and ends what it says of
//   each
//             with a line of \004 and the status, which golden waits for. To load a driver and its
//             library takes longer than most kernels.
//
// SPEC of a number or vector: 2.5 or 1,2,3,4. Of a buffer: COUNT elements, filled with
//   rand:COUNT[:LO:HI]  numbers, integers when the element is one; -4 to 4 unless given
//   bits:COUNT          any bits; floats are never NaN
//   iota:COUNT  zeros:COUNT  fill:COUNT:VALUE  list:V,V,V
//   f32:... i32:... and so on before these: the elements of a structure
// Of local memory: local:BYTES. Of an image: image:FORMAT:WIDTHxHEIGHT[:FILL], where FILL is one of
// the words above without COUNT. Of a sampler: sampler:linear:repeat.
//
// The driver runs with its optimiser and contraction off: PoCL's default miscompiles barriers
// inside of loops. Where there is no driver, or VYRE_CLCOMPARE is `alone`, the other backends are
// compared with ref alone, and that is said. The driver is slow to compile: of three kernels one,
// by its name, runs through vyre's own OpenCL C besides, or each where VYRE_CLCOMPARE is `all`.
#include "../cl_driver.h"

#include "base/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wordexp.h>

enum { MOST_ARGS = 32, MOST_BYTES = 1 << 26 };

_Noreturn static void stop(const char *what, const char *detail) {
  fprintf(stderr, "clcompare: %s%s%s\n", what, *detail ? ": " : "", detail);
  exit(2);
}

_Noreturn static void stop_error(const char *what, const vyre_error *e) {
  fprintf(stderr, "clcompare: %s: %s:%u:%u: %s\n%s\n", what, e->file, e->line, e->column,
          e->message, e->excerpt);
  exit(2);
}

// ---- arguments ----------------------------------------------------------------------------------

typedef struct argument {
  const vyre_source_arg *info;
  const char *spec;
  vyre_type scalar; // of its elements
  uint32_t lanes;
  bool is_ignored;
  image_spec image;     // of an image
  unsigned char *bytes; // a buffer's content, or a value
  size_t size;
} argument;

typedef struct job {
  const char *file, *kernel, *options;
  char *text;
  size_t text_size;
  size_t grid[3], workgroup[3];
  uint32_t rank;
  bool has_workgroup;
  double ulp;
  const vyre_source_entry *info;
  argument args[MOST_ARGS];
  uint32_t arg_count;
} job;

// The source of the last comparison: the next is often of another kernel of the same one.
static struct source {
  char *file, *options, *text;
  size_t size;
  vyre_source_entry *kernels;
  uint32_t count;
  cl_program program; // as the driver built it, or NULL
} source;

static const struct {
  const char *name;
  vyre_type type;
} type_names[] = {{"bool", VYRE_BOOL}, {"char", VYRE_I8},    {"uchar", VYRE_U8},
                  {"short", VYRE_I16}, {"ushort", VYRE_U16}, {"int", VYRE_I32},
                  {"uint", VYRE_U32},  {"long", VYRE_I64},   {"ulong", VYRE_U64},
                  {"float", VYRE_F32}, {"double", VYRE_F64}, {"half", VYRE_U16}};

static void read_type(argument *a) {
  a->scalar = VYRE_U8;
  a->lanes = (uint32_t)a->info->size_bytes;
  for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++) {
    size_t size = strlen(type_names[i].name);
    if (strncmp(a->info->type, type_names[i].name, size)) continue;
    const char *rest = a->info->type + size;
    if (*rest && (*rest < '0' || *rest > '9')) continue;
    a->scalar = type_names[i].type;
    a->lanes = *rest ? (uint32_t)atoi(rest) : 1;
    if (a->lanes == 3) a->lanes = 4; // in memory
  }
}

static uint64_t random_state; // begins anew for each kernel

static uint64_t random_bits(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state * 0x2545f4914f6cdd1du;
}

static bool is_float(vyre_type t) {
  return t == VYRE_F32 || t == VYRE_F64;
}

static void put(unsigned char *at, vyre_type type, double value) {
  float narrow = (float)value;
  int64_t whole = value < 9.2e18 ? (int64_t)value : (int64_t)(uint64_t)value;
  switch (type) {
  case VYRE_F32: memcpy(at, &narrow, 4); return;
  case VYRE_F64: memcpy(at, &value, 8); return;
  case VYRE_BOOL: *at = value != 0; return;
  default: memcpy(at, &whole, vyre_type_size(type)); return;
  }
}

// Any bits but those of a NaN.
static void put_bits(unsigned char *at, vyre_type type) {
  uint64_t bits = random_bits();
  if (type == VYRE_F32 && (bits & 0x7f800000u) == 0x7f800000u) bits &= ~(uint64_t)0x7fffff;
  if (type == VYRE_F64 && (bits >> 52 & 0x7ff) == 0x7ff) bits &= ~(uint64_t)0 << 52;
  if (type == VYRE_BOOL) bits &= 1;
  memcpy(at, &bits, vyre_type_size(type));
}

static void fill(argument *a, const char *spec, size_t elements) {
  double lo = is_float(a->scalar) ? -4 : 0, hi = is_float(a->scalar) ? 4 : 100;
  size_t bytes = vyre_type_size(a->scalar);
  const char *colon = strchr(spec, ':'), *range = colon ? strchr(colon + 1, ':') : NULL;
  if (range) sscanf(range, ":%lf:%lf", &lo, &hi);
  for (size_t i = 0; i < elements; i++) {
    unsigned char *at = a->bytes + i * bytes;
    double part = (double)(random_bits() >> 11) * 0x1p-53;
    if (!strncmp(spec, "bits", 4))
      put_bits(at, a->scalar);
    else if (!strncmp(spec, "iota", 4))
      put(at, a->scalar, (double)i);
    else if (!strncmp(spec, "fill", 4))
      put(at, a->scalar, lo);
    else if (!strncmp(spec, "rand", 4))
      put(at, a->scalar, lo + part * (hi - lo));
    else if (strncmp(spec, "zeros", 5))
      stop("unknown spec", spec);
  }
}

static void fill_list(argument *a, const char *list) {
  size_t bytes = vyre_type_size(a->scalar), at = 0;
  for (char *end; *list && (at + 1) * bytes <= a->size; list = *end == ',' ? end + 1 : end, at++) {
    double value = strtod(list, &end);
    if (end == list) stop("not a number", list);
    if (!is_float(a->scalar) && strchr("0123456789-", *list)) {
      long long whole = strtoll(list, NULL, 0);
      memcpy(a->bytes + at * bytes, &whole, bytes);
    } else {
      put(a->bytes + at * bytes, a->scalar, value);
    }
  }
}

static size_t list_length(const char *list) {
  size_t count = 1;
  for (; *list; list++) count += *list == ',';
  return count;
}

static void make_buffer(argument *a) {
  const char *spec = a->spec, *colon = strchr(spec, ':');
  vyre_type forced = VYRE_VOID;
  char head[8] = {0};
  if (colon && colon - spec < 8) {
    memcpy(head, spec, (size_t)(colon - spec));
    forced = vyre_type_from_name(head);
  }
  size_t element = a->info->size_bytes;
  if (forced != VYRE_VOID) {
    a->scalar = forced;
    spec = colon + 1;
    colon = strchr(spec, ':');
  }
  if (!colon) stop("a buffer needs KIND:COUNT", a->info->name);
  bool is_list = !strncmp(spec, "list:", 5);
  size_t scalar = vyre_type_size(a->scalar);
  a->size = is_list ? list_length(colon + 1) * scalar : (size_t)atoll(colon + 1) * element;
  if (a->size == 0 || a->size > MOST_BYTES) stop("a bad count", a->spec);
  a->bytes = calloc(1, a->size + 64);
  if (is_list)
    fill_list(a, colon + 1);
  else
    fill(a, spec, a->size / scalar);
}

static void make_value(argument *a) {
  a->size = a->info->size_bytes;
  a->bytes = calloc(1, a->size + 64);
  const char *spec = a->spec, *colon = strchr(spec, ':');
  if (colon) { // the fields of a structure: i32:4/f32:0.5
    size_t at = 0;
    while (*spec) {
      char head[8] = {0};
      colon = strchr(spec, ':');
      if (!colon || colon - spec >= 8) stop("a bad value", a->spec);
      memcpy(head, spec, (size_t)(colon - spec));
      vyre_type type = vyre_type_from_name(head);
      size_t bytes = vyre_type_size(type);
      if (!bytes) stop("an unknown type", head);
      at = (at + bytes - 1) / bytes * bytes;
      put(a->bytes + at, type, strtod(colon + 1, (char **)&spec));
      at += bytes;
      if (*spec == '/') spec++;
    }
    return;
  }
  fill_list(a, spec);
  if (list_length(spec) == 1) // one number for all lanes
    for (uint32_t i = 1; i < a->lanes; i++)
      memcpy(a->bytes + i * vyre_type_size(a->scalar), a->bytes, vyre_type_size(a->scalar));
}

static void make_image(argument *a) {
  if (!read_image_spec(a->spec, &a->image)) stop("no image", a->spec);
  a->scalar = a->image.word;
  a->size = image_elements(&a->image) * vyre_type_size(a->scalar);
  a->bytes = calloc(1, a->size + 64);
  fill(a, a->image.fill, image_elements(&a->image));
}

static void prepare_args(job *j) {
  if (j->info->arg_count > MOST_ARGS) stop("too many arguments", "");
  for (uint32_t i = 0; i < j->info->arg_count; i++) {
    argument *a = &j->args[i];
    a->info = &j->info->args[i];
    if (!a->spec) stop("no value for", a->info->name);
    read_type(a);
    if (a->info->space == VYRE_SPACE_IMAGE)
      make_image(a);
    else if (a->info->space == VYRE_SPACE_SAMPLER)
      a->size = 0; // made for the driver
    else if (a->info->space == VYRE_SPACE_LOCAL)
      a->size = (size_t)atoll(strchr(a->spec, ':') + 1);
    else if (a->info->space == VYRE_SPACE_VALUE)
      make_value(a);
    else
      make_buffer(a);
  }
}

static bool is_buffer(const argument *a) {
  return a->info->space == VYRE_SPACE_GLOBAL || a->info->space == VYRE_SPACE_CONSTANT ||
         a->info->space == VYRE_SPACE_IMAGE;
}

// ---- vyre ---------------------------------------------------------------------------------------

static vyre_program *make_program(const job *j) {
  vyre_source_local locals[MOST_ARGS];
  vyre_source_format formats[MOST_ARGS];
  vyre_source_options options = {.entry = j->info->name,
                                 .build_options = j->options,
                                 .locals = locals,
                                 .formats = formats,
                                 .rank = j->rank};
  for (uint32_t i = 0; i < j->info->arg_count; i++) {
    const argument *a = &j->args[i];
    const char *name = a->info->name;
    if (a->info->space == VYRE_SPACE_LOCAL)
      locals[options.local_count++] = (vyre_source_local){name, a->size};
    if (a->info->space == VYRE_SPACE_IMAGE)
      formats[options.format_count++] = (vyre_source_format){name, a->image.format};
    if (a->info->space == VYRE_SPACE_SAMPLER)
      formats[options.format_count++] = (vyre_source_format){name, strchr(a->spec, ':') + 1};
  }
  for (int i = 0; i < 3 && j->has_workgroup; i++) options.workgroup[i] = (uint32_t)j->workgroup[i];
  vyre_error error = {0};
  vyre_program *program;
  if (vyre_program_from("opencl", j->text, j->text_size, j->file, &options, &program, &error))
    stop_error("vyre", &error);
  return program;
}

// A program parameter is an argument, or a part of one in its order, aligned to its own size.
static vyre_scalar find_param(const job *j, const vyre_param_info *p, size_t *at,
                              const argument **last) {
  size_t size = vyre_type_size(p->type);
  vyre_scalar s = {p->type, 0};
  bool is_grid = !strncmp(p->name, "grid_", 5) && strchr("xyz", p->name[5]) &&
                 strspn(p->name + 6, "_") == strlen(p->name + 6) && p->type == VYRE_U32;
  if (is_grid) return (vyre_scalar){p->type, j->grid[p->name[5] - 'x']};
  for (uint32_t i = 0; i < j->info->arg_count; i++) {
    const argument *a = &j->args[i];
    size_t name = strlen(a->info->name);
    if (strncmp(a->info->name, p->name, name) || (p->name[name] && p->name[name] != '.')) continue;
    if (a->info->space == VYRE_SPACE_IMAGE)
      return (vyre_scalar){p->type, image_extent(&a->image, a->info->type, p->name + name)};
    if (a->info->space != VYRE_SPACE_VALUE) continue;
    if (*last != a) *at = 0;
    *last = a;
    *at = (*at + size - 1) / size * size;
    if (*at + size > a->size) stop("a parameter outside of its argument", p->name);
    memcpy(&s.bits, a->bytes + *at, size);
    *at += size;
    return s;
  }
  stop("an unknown parameter", p->name);
}

static bool run_backend(const job *j, vyre_program *program, const char *backend,
                        unsigned char **out) {
  vyre_error error = {0};
  vyre_executable *executable;
  if (vyre_compile(program, backend, NULL, &executable, &error)) {
    printf("%s: %s: not run: %s\n", j->info->name, backend, error.message);
    return false;
  }
  vyre_scalar params[256];
  vyre_span spans[MOST_ARGS];
  size_t at = 0;
  const argument *last = NULL;
  uint32_t param_count = vyre_program_param_count(program), span_count = 0;
  for (uint32_t i = 0; i < param_count; i++) {
    vyre_param_info info = vyre_program_param(program, i);
    params[i] = find_param(j, &info, &at, &last);
  }
  for (uint32_t i = 0; i < j->info->arg_count; i++) {
    const argument *a = &j->args[i];
    if (!is_buffer(a)) continue;
    out[i] = malloc(a->size + 64);
    memcpy(out[i], a->bytes, a->size);
    spans[span_count++] = (vyre_span){out[i], a->size};
  }
  vyre_dispatch_args args = {
      .params = params, .param_count = param_count, .buffers = spans, .buffer_count = span_count};
  // With a time limit OpenCL would compile kernels that poll a flag besides; conformance has those.
  if (strcmp(backend, "opencl")) args.timeout_ns = 60000000000u;
  if (vyre_dispatch(executable, &args, NULL, &error)) stop_error(backend, &error);
  vyre_executable_release(executable);
  return true;
}

// ---- OpenCL -------------------------------------------------------------------------------------

static void check(cl_int code, const char *what) {
  if (code == CL_SUCCESS) return;
  char text[32];
  snprintf(text, sizeof text, "error %d", code);
  stop(what, text);
}

static cl_program build_new(const job *j, driver *d, cl_context context, cl_device_id device) {
  // The line directive keeps the source's own numbers.
  const char *texts[] = {"#pragma OPENCL FP_CONTRACT OFF\n#line 1\n", j->text};
  size_t sizes[] = {strlen(texts[0]), j->text_size};
  cl_int code;
  cl_program program = d->clCreateProgramWithSource(context, 2, texts, sizes, &code);
  check(code, "clCreateProgramWithSource");
  char options[1000], folder[500];
  snprintf(folder, sizeof folder, "%s", j->file);
  char *slash = strrchr(folder, '/');
  if (slash) *slash = 0;
  snprintf(options, sizeof options, "-cl-opt-disable -w %s%s %s", slash ? "-I" : "",
           slash ? folder : "", j->options);
  if (d->clBuildProgram(program, 1, &device, options, NULL, NULL) != CL_SUCCESS) {
    static char log[20000];
    d->clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
    stop("the driver refuses the source", log);
  }
  return program;
}

static cl_program build(driver *d, cl_context context, cl_device_id device, const job *j) {
  if (!source.program) source.program = build_new(j, d, context, device);
  return source.program;
}

static cl_mem make_memory(const driver *d, cl_context context, const argument *a) {
  cl_mem_flags flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
  cl_int code;
  cl_mem made;
  if (a->info->space == VYRE_SPACE_IMAGE) {
    cl_image_desc desc = image_desc(&a->image, a->info->type);
    made = d->clCreateImage(context, flags, &a->image.driver, &desc, a->bytes, &code);
  } else {
    made = d->clCreateBuffer(context, flags, a->size, a->bytes, &code);
  }
  check(code, "clCreateBuffer or clCreateImage");
  return made;
}

static void read_memory(const driver *d, cl_command_queue queue, cl_mem from, const argument *a,
                        unsigned char *to) {
  const size_t origin[3] = {0};
  check(a->info->space == VYRE_SPACE_IMAGE
            ? d->clEnqueueReadImage(queue, from, CL_TRUE, origin, a->image.extents, 0, 0, to, 0,
                                    NULL, NULL)
            : d->clEnqueueReadBuffer(queue, from, CL_TRUE, 0, a->size, to, 0, NULL, NULL),
        "clEnqueueReadBuffer or clEnqueueReadImage");
}

// Of all comparisons of a process.
static driver d;
static cl_device_id device;
static cl_context context;
static cl_command_queue queue;

static bool begin_driver(void) {
  cl_platform_id platform;
  cl_uint count = 0;
  if (context) return true;
  if (!open_driver(&d) || d.clGetPlatformIDs(1, &platform, &count) || !count) return false;
  if (d.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)) return false;
  cl_int code;
  context = d.clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  check(code, "clCreateContext");
  queue = d.clCreateCommandQueue(context, device, 0, &code);
  check(code, "clCreateCommandQueue");
  return true;
}

static bool run_driver(const job *j, unsigned char **out) {
  cl_int code;
  if (!begin_driver()) return false;
  cl_kernel kernel = d.clCreateKernel(build(&d, context, device, j), j->info->name, &code);
  check(code, "clCreateKernel");
  cl_mem buffers[MOST_ARGS] = {0};
  for (uint32_t i = 0; i < j->info->arg_count; i++) {
    const argument *a = &j->args[i];
    if (is_buffer(a)) {
      buffers[i] = make_memory(&d, context, a);
      code = d.clSetKernelArg(kernel, i, sizeof(cl_mem), &buffers[i]);
    } else if (a->info->space == VYRE_SPACE_SAMPLER) {
      cl_sampler sampler = make_sampler(&d, context, a->spec);
      code = d.clSetKernelArg(kernel, i, sizeof sampler, &sampler);
    } else {
      code = d.clSetKernelArg(kernel, i, a->size, a->bytes);
    }
    check(code, "clSetKernelArg");
  }
  const size_t *local = j->has_workgroup ? j->workgroup : NULL;
  check(d.clEnqueueNDRangeKernel(queue, kernel, j->rank, NULL, j->grid, local, 0, NULL, NULL),
        "clEnqueueNDRangeKernel");
  check(d.clFinish(queue), "clFinish");
  for (uint32_t i = 0; i < j->info->arg_count; i++) {
    if (!buffers[i]) continue;
    out[i] = malloc(j->args[i].size + 64);
    read_memory(&d, queue, buffers[i], &j->args[i], out[i]);
  }
  return true;
}

// ---- comparison ---------------------------------------------------------------------------------

// Floats in the order of their values, so that neighbours differ by one.
static int64_t ordered(const unsigned char *at, vyre_type type) {
  if (type == VYRE_F32) {
    int32_t bits;
    memcpy(&bits, at, 4);
    return bits < 0 ? INT32_MIN - (int64_t)bits : bits;
  }
  int64_t bits;
  memcpy(&bits, at, 8);
  return bits < 0 ? (int64_t)((uint64_t)INT64_MIN - (uint64_t)bits) : bits;
}

static double number_at(const unsigned char *at, vyre_type type) {
  float f;
  double d = 0;
  int64_t i = 0;
  if (type == VYRE_F32) return memcpy(&f, at, 4), f;
  if (type == VYRE_F64) return memcpy(&d, at, 8), d;
  memcpy(&i, at, vyre_type_size(type));
  if (type == VYRE_I8) i = (int8_t)i;
  if (type == VYRE_I16) i = (int16_t)i;
  if (type == VYRE_I32) i = (int32_t)i;
  return (double)i;
}

static bool equal(const unsigned char *x, const unsigned char *y, vyre_type type, double ulp) {
  if (!memcmp(x, y, vyre_type_size(type))) return true;
  if (!is_float(type)) return false;
  double a = number_at(x, type), b = number_at(y, type);
  if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
  if (ulp == 0) return false;
  // As integers: of 64 bits a double loses the last ones.
  int64_t m = ordered(x, type), n = ordered(y, type);
  uint64_t distance = m > n ? (uint64_t)m - (uint64_t)n : (uint64_t)n - (uint64_t)m;
  return (double)distance <= ulp;
}

static int compare(const job *j, const char *name, unsigned char *const *want,
                   unsigned char *const *got, double ulp) {
  int wrong = 0;
  for (uint32_t i = 0; i < j->info->arg_count; i++) {
    const argument *a = &j->args[i];
    if (!is_buffer(a) || a->is_ignored) continue;
    size_t bytes = vyre_type_size(a->scalar);
    for (size_t at = 0; at + bytes <= a->size; at += bytes) {
      if (equal(want[i] + at, got[i] + at, a->scalar, ulp)) continue;
      if (wrong++ < 5)
        printf("%s: %s: %s[%zu] is %.17g, not %.17g\n", j->info->name, name, a->info->name,
               at / bytes, number_at(got[i] + at, a->scalar), number_at(want[i] + at, a->scalar));
    }
  }
  return wrong;
}

static void read_extents(const char *text, size_t out[3], uint32_t *rank) {
  unsigned long x[3] = {1, 1, 1};
  int n = sscanf(text, "%lu,%lu,%lu", &x[0], &x[1], &x[2]);
  if (n < 1) stop("bad extents", text);
  for (int i = 0; i < 3; i++) out[i] = x[i];
  if (rank) *rank = (uint32_t)n;
}

static void read_words(job *j, int argc, char **argv, const char **specs, int *spec_count) {
  j->options = "";
  for (int i = 1; i < argc; i++) {
    char *word = argv[i], *next = i + 1 < argc ? argv[i + 1] : NULL;
    if (!strncmp(word, "--", 2) && !next) stop("no value for", word);
    if (!strcmp(word, "--grid"))
      read_extents(argv[++i], j->grid, &j->rank);
    else if (!strcmp(word, "--workgroup"))
      read_extents(argv[++i], j->workgroup, NULL), j->has_workgroup = true;
    else if (!strcmp(word, "--ulp"))
      j->ulp = atof(argv[++i]);
    else if (!strcmp(word, "--options"))
      j->options = argv[++i];
    else if (!strcmp(word, "--ignore") || strchr(word, '='))
      specs[(*spec_count)++] = strchr(word, '=') ? word : argv[++i];
    else if (!j->file)
      j->file = word;
    else
      stop("what is", word);
  }
  if (!j->file || !j->rank) stop("usage: clcompare FILE[:KERNEL] --grid X NAME=SPEC ...", "");
  char *colon = strrchr((char *)(uintptr_t)j->file, ':');
  if (colon) {
    *colon = 0;
    j->kernel = colon + 1;
  }
}

static void read_source(job *j) {
  vyre_error error = {0};
  if (file_read(j->file, MOST_BYTES, &j->text, &j->text_size, &error)) stop_error("vyre", &error);
  bool is_same = source.file && !strcmp(source.file, j->file) && source.size == j->text_size &&
                 !memcmp(source.text, j->text, j->text_size) && !strcmp(source.options, j->options);
  if (is_same) return;
  vyre_free(source.kernels);
  free(source.file), free(source.options), free(source.text);
  source = (struct source){.file = strdup(j->file), .options = strdup(j->options)};
  source.text = malloc(j->text_size + 1);
  if (!source.file || !source.options || !source.text) stop("out of memory", "");
  memcpy(source.text, j->text, j->text_size);
  source.size = j->text_size;
  if (vyre_source_entries("opencl", j->text, j->text_size, j->file, j->options, &source.kernels,
                          &source.count, &error))
    stop_error("vyre", &error);
}

static void find_kernel(job *j, const char *const *specs, int spec_count) {
  read_source(j);
  for (uint32_t i = 0; i < source.count; i++)
    if (!j->kernel || !strcmp(source.kernels[i].name, j->kernel)) j->info = &source.kernels[i];
  if (!j->info) stop("no such kernel", j->kernel ? j->kernel : "");
  for (int s = 0; s < spec_count; s++) {
    const char *equals = strchr(specs[s], '=');
    size_t size = equals ? (size_t)(equals - specs[s]) : strlen(specs[s]);
    bool found = false;
    for (uint32_t i = 0; i < j->info->arg_count; i++) {
      if (strlen(j->info->args[i].name) != size || strncmp(j->info->args[i].name, specs[s], size))
        continue;
      found = true;
      if (equals)
        j->args[i].spec = equals + 1;
      else
        j->args[i].is_ignored = true;
    }
    if (!found) stop("no such argument", specs[s]);
  }
  if (!j->info->workgroup[0] || j->has_workgroup) return;
  for (int i = 0; i < 3; i++) j->workgroup[i] = j->info->workgroup[i];
  j->has_workgroup = true;
}

// Whether the kernel is one of those that run on vyre's backend for OpenCL.
static bool is_for_opencl(const job *j) {
  const char *setting = getenv("VYRE_CLCOMPARE");
  uint32_t hash = 2166136261u;
  for (const char *p = j->info->name; *p; p++) hash = (hash ^ (unsigned char)*p) * 16777619u;
  return !is_alone() && ((setting && !strcmp(setting, "all")) || (hash >> 16) % 3 == 0);
}

// One comparison of the words from argv[1] on; whether it found a difference.
static bool compare_one(int argc, char **argv) {
  static job j;
  j = (job){0};
  random_state = 0x9e3779b97f4a7c15u;
  const char *specs[2 * MOST_ARGS];
  int spec_count = 0, wrong = 0;
  if (argc > 2 * MOST_ARGS) stop("too many words", "");
  read_words(&j, argc, argv, specs, &spec_count);
  find_kernel(&j, specs, spec_count);
  prepare_args(&j);
  unsigned char *want[MOST_ARGS] = {0}, *ref[MOST_ARGS] = {0};
  bool has_driver = run_driver(&j, want);
  vyre_program *program = make_program(&j);
  if (!run_backend(&j, program, "ref", ref)) return true;
  if (has_driver) wrong += compare(&j, "ref", want, ref, j.ulp);
  char ran[200] = "ref";
  for (uint32_t b = 0; b < vyre_backend_count(); b++) {
    const char *name = vyre_backend_name(b);
    unsigned char *got[MOST_ARGS] = {0};
    vyre_error ignored;
    uint32_t devices;
    if (!strcmp(name, "opencl") && !is_for_opencl(&j)) continue;
    if (!strcmp(name, "ref") || vyre_backend_devices(name, NULL, 0, &devices, &ignored)) continue;
    if (!devices || !run_backend(&j, program, name, got)) continue;
    wrong += compare(&j, name, ref, got, 0); // backends agree bit for bit
    snprintf(ran + strlen(ran), sizeof ran - strlen(ran), " %s", name);
    for (int i = 0; i < MOST_ARGS; i++) free(got[i]);
  }
  vyre_program_release(program);
  printf("%s: %s, compared %s%s\n", j.info->name, wrong ? "WRONG" : "ok",
         has_driver ? "the driver, " : "without a driver ", ran);
  for (int i = 0; i < MOST_ARGS; i++) free(want[i]), free(ref[i]), free(j.args[i].bytes);
  free(j.text);
  return wrong != 0;
}

static int compare_all(int argc, char **argv) {
  int wrong = 0;
  for (int first = 0, end; first < argc; first = end) {
    for (end = first + 1; end < argc && strcmp(argv[end], "--");) end++;
    wrong |= compare_one(end - first, argv + first);
    fflush(stdout);
  }
  return wrong;
}

static int serve(void) {
  char *line = NULL;
  size_t room = 0;
  for (ssize_t size; (size = getline(&line, &room, stdin)) > 0;) {
    if (line[size - 1] == '\n') line[size - 1] = 0;
    wordexp_t words;
    if (wordexp(line, &words, WRDE_NOCMD | WRDE_UNDEF)) stop("cannot split", line);
    int status = compare_all((int)words.we_wordc, words.we_wordv);
    printf("\004%d\n", status);
    fflush(stdout);
    wordfree(&words);
  }
  free(line);
  return 0;
}

int main(int argc, char **argv) {
  setenv("VYRE_CACHE", "off", 0); // nobody runs it again, and PoCL compiles once more to store it
  return argc == 2 && !strcmp(argv[1], "--serve") ? serve() : compare_all(argc, argv);
}
