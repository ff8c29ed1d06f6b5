// SPDX-License-Identifier: MIT
#include "backend/cuda/build.h"

#include "backend/cache.h"
#include "base/error.h"
#include "base/module.h"
#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>

// ---- cache entries ------------------------------------------------------------------------------

// A header, the kernels, their arguments, the image. The cache has checked that they are whole and
// ours; what they say is looked at all the same.
typedef struct stored_header {
  uint32_t kernel_count, argument_count; // of all kernels
  uint64_t image_bytes;
} stored_header;

typedef struct stored_kernel {
  char entry[64];
  uint32_t dynamic_shared, argument_count;
} stored_kernel;

static void make_key(cache_key *key, const cuda_build *b, const vyre_program *p, bool is_quick) {
  const cuda_device *d = b->device;
  cache_key_init(key, "cuda");
  cache_key_add_number(key, CUDA_ABI_VERSION);
  cache_key_add_string(key, vyre_version());
  cache_key_add_number(key, module_stamp("libvyre-llvm.so"));
  cache_key_add_string(key, d->name);
  cache_key_add_number(key, (uint64_t)(100 * d->major + d->minor));
  cache_key_add_number(key, (uint64_t)d->api.version);
  cache_key_add(key, program_fingerprint(p), HASH_BYTES);
  cache_key_add_number(key, b->is_polled);
  cache_key_add_number(key, is_quick);
}

static void store(const cache_key *key, const cuda_code *code, const void *image, size_t size) {
  strbuf out = {0};
  stored_header head = {.kernel_count = code->kernel_count, .image_bytes = size};
  for (uint32_t i = 0; i < code->kernel_count; i++)
    head.argument_count += code->kernels[i].argument_count;
  strbuf_add(&out, (const char *)&head, sizeof head);
  for (uint32_t i = 0; i < code->kernel_count; i++) {
    const cuda_kernel *k = &code->kernels[i];
    stored_kernel row = {.dynamic_shared = k->dynamic_shared, .argument_count = k->argument_count};
    memcpy(row.entry, k->entry, sizeof row.entry);
    strbuf_add(&out, (const char *)&row, sizeof row);
  }
  for (uint32_t i = 0; i < code->kernel_count; i++)
    strbuf_add(&out, (const char *)code->kernels[i].arguments,
               code->kernels[i].argument_count * sizeof(cuda_argument));
  strbuf_add(&out, image, size);
  if (!out.failed) cache_store(key, out.at, out.size);
  strbuf_fini(&out);
}

static bool is_argument_valid(const cuda_argument *a, const vyre_program *p) {
  uint32_t limit = 0;
  switch ((cuda_fact)a->kind) {
  case CUDA_BUFFER:
  case CUDA_LENGTH: limit = p->buffer_count; break;
  case CUDA_PARAM: limit = p->param_count; break;
  case CUDA_GRID:
  case CUDA_BASE: limit = 3; break;
  case CUDA_STOP: limit = 1; break;
  case CUDA_FACTS: break;
  }
  return a->index < limit && a->bytes && a->bytes <= 8;
}

static bool unpack_kernel(cuda_kernel *out, const stored_kernel *row, const cuda_argument *from,
                          const vyre_program *p) {
  if (row->argument_count > CUDA_MOST_ARGUMENTS || row->entry[sizeof row->entry - 1]) return false;
  memcpy(out->entry, row->entry, sizeof out->entry);
  out->dynamic_shared = row->dynamic_shared;
  out->argument_count = row->argument_count;
  out->arguments = malloc((row->argument_count + 1u) * sizeof *out->arguments);
  if (!out->arguments) return false;
  memcpy(out->arguments, from, row->argument_count * sizeof *out->arguments);
  for (uint32_t i = 0; i < row->argument_count; i++)
    if (!is_argument_valid(&out->arguments[i], p)) return false;
  return true;
}

// *image points into the entry.
static bool unpack(const char *data, size_t size, const vyre_program *p, cuda_code *out,
                   const char **image) {
  stored_header head;
  if (size < sizeof head) return false;
  memcpy(&head, data, sizeof head);
  uint64_t kernels = (uint64_t)head.kernel_count * sizeof(stored_kernel);
  uint64_t arguments = (uint64_t)head.argument_count * sizeof(cuda_argument);
  if (head.kernel_count != p->region_count || !head.image_bytes || head.image_bytes > size ||
      sizeof head + kernels + arguments + head.image_bytes != size)
    return false;
  const char *row_at = data + sizeof head, *argument_at = row_at + kernels;
  *image = argument_at + arguments;
  out->kernels = calloc(head.kernel_count + 1u, sizeof *out->kernels);
  if (!out->kernels) return false;
  uint32_t left = head.argument_count;
  for (uint32_t i = 0; i < head.kernel_count; i++) {
    stored_kernel row;
    memcpy(&row, row_at + i * sizeof row, sizeof row);
    out->kernel_count = i + 1;
    if (row.argument_count > left) return false;
    cuda_argument all[CUDA_MOST_ARGUMENTS];
    if (row.argument_count > CUDA_MOST_ARGUMENTS) return false;
    memcpy(all, argument_at, row.argument_count * sizeof *all);
    if (!unpack_kernel(&out->kernels[i], &row, all, p)) return false;
    argument_at += row.argument_count * sizeof *all;
    left -= row.argument_count;
  }
  return left == 0;
}

// ---- modules ------------------------------------------------------------------------------------

static void drop_module(cuda_build *b) {
  if (b->module) b->device->api.ModuleUnload(b->module);
  b->module = NULL;
}

// How many threads a workgroup may have is asked at once: drivers load lazily.
static cu_result find_function(cuda_build *b, uint32_t i) {
  const cuda_kernel *k = &b->code.kernels[i];
  const cuda_api *api = &b->device->api;
  int most = 0;
  cu_result code = api->ModuleGetFunction(&b->functions[i], b->module, k->entry);
  if (code == CU_SUCCESS)
    code = api->FuncGetAttribute(&most, CU_FUNC_MAX_THREADS_PER_BLOCK, b->functions[i]);
  if (code == CU_SUCCESS && k->dynamic_shared)
    code = api->FuncSetAttribute(b->functions[i], CU_FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                 (int)k->dynamic_shared);
  b->most_threads[i] = most > 0 ? (uint32_t)most : 1;
  return code;
}

static cu_result load_module(cuda_build *b, const void *image) {
  cu_result code = b->device->api.ModuleLoadData(&b->module, image);
  for (uint32_t i = 0; i < b->code.kernel_count && code == CU_SUCCESS; i++)
    code = find_function(b, i);
  if (code != CU_SUCCESS) drop_module(b);
  return code;
}

// The driver's own assembler. *image is malloc'ed.
static cu_result assemble(const cuda_build *b, void **image, size_t *size) {
  const cuda_api *api = &b->device->api;
  cu_link link;
  void *made;
  cu_result code = api->LinkCreate(0, NULL, NULL, &link);
  if (code != CU_SUCCESS) return code;
  code = api->LinkAddData(link, CU_JIT_INPUT_PTX, b->code.ptx, b->code.ptx_size + 1, "vyre.ptx", 0,
                          NULL, NULL);
  if (code == CU_SUCCESS) code = api->LinkComplete(link, &made, size);
  if (code == CU_SUCCESS) {
    *image = malloc(*size + 1); // what was made belongs to the link
    if (*image)
      memcpy(*image, made, *size);
    else
      code = CU_ERROR_OUT_OF_MEMORY;
  }
  api->LinkDestroy(link);
  return code;
}

static bool build_cached(cuda_build *b, const cache_key *key, const vyre_program *p) {
  void *data;
  size_t size;
  const char *image;
  if (!cache_load(key, &data, &size)) return false;
  bool ok = unpack(data, size, p, &b->code, &image);
  if (ok) {
    // Aligned for whoever reads it as a file.
    size_t bytes = size - (size_t)(image - (const char *)data);
    void *copy = malloc(bytes + 1);
    if (copy) memcpy(copy, image, bytes);
    ok = copy && load_module(b, copy) == CU_SUCCESS;
    free(copy);
  }
  free(data);
  if (!ok) cuda_code_free(&b->code);
  b->is_from_cache = ok;
  return ok;
}

static vyre_status build_new(cuda_build *b, const cache_key *key, const vyre_program *p,
                             const cuda_options *options, vyre_error *error) {
  void *image = NULL;
  size_t size = 0;
  vyre_status status = cuda_generate(p, options, &b->code, error);
  if (status != VYRE_OK) return status;
  cu_result code = assemble(b, &image, &size);
  if (code == CU_SUCCESS) code = load_module(b, image);
  if (code == CU_SUCCESS)
    store(key, &b->code, image, size);
  else
    status = cuda_device_error(b->device, error, code, "assemble and load a program");
  free(image);
  return status;
}

vyre_status cuda_build_init(cuda_build *b, cuda_device *d, const vyre_program *program,
                            bool is_polled, bool is_quick, const volatile uint32_t *stop,
                            vyre_error *error) {
  *b = (cuda_build){.device = d, .is_polled = is_polled};
  b->functions = calloc(program->region_count + 1u, sizeof *b->functions);
  b->most_threads = calloc(program->region_count + 1u, sizeof *b->most_threads);
  vyre_status status = VYRE_OK;
  if (!b->functions || !b->most_threads) {
    status = error_out_of_memory(error);
  } else {
    cache_key key;
    cuda_options options = {.is_polled = is_polled, .is_quick = is_quick, .stop = stop};
    make_key(&key, b, program, is_quick);
    if (!build_cached(b, &key, program)) status = build_new(b, &key, program, &options, error);
  }
  if (status != VYRE_OK) cuda_build_fini(b);
  return status;
}

void cuda_build_fini(cuda_build *b) {
  drop_module(b);
  cuda_code_free(&b->code);
  free(b->functions);
  free(b->most_threads);
  *b = (cuda_build){0};
}

// ---- shapes -------------------------------------------------------------------------------------

void cuda_choose_workgroup(const cuda_build *b, const vyre_program *p, uint32_t region,
                           const uint32_t wanted[3], uint32_t out[3]) {
  const cuda_device *d = b->device;
  for (int k = 0; k < 3; k++) out[k] = wanted[k] ? wanted[k] : 1;
  if (!p->regions[region].is_elastic) return;
  uint32_t most =
      b->most_threads[region] < d->most_threads ? b->most_threads[region] : d->most_threads;
  for (int k = 0; k < 3; k++)
    if (out[k] > d->most_block[k]) out[k] = d->most_block[k];
  // The longest axis gives way.
  while ((uint64_t)out[0] * out[1] * out[2] > most) {
    int longest = out[0] >= out[1] && out[0] >= out[2] ? 0 : out[1] >= out[2] ? 1 : 2;
    out[longest] = (out[longest] + 1) / 2;
  }
}
