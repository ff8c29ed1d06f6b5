// SPDX-License-Identifier: MIT
//
// The cache key must not need LLVM, or a hit would load it after all: the host is described by its
// CPUID, LLVM by the version that vyre was built with, and the code generator by its file.
#include "backend/cpu/compile.h"

#include "backend/cache.h"
#include "backend/cpu/gathers.h"
#include "backend/cpu/host.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/module.h"

#include <llvm/Config/llvm-config.h>

#include <stdlib.h>
#include <string.h>

static const char module_file[] = "libvyre-llvm.so";

vyre_status cpu_codegen_get(const cpu_codegen **out, vyre_error *error) {
  const void *found;
  vyre_status status = module_find(module_file, CPU_CODEGEN_SYMBOL, &found, error);
  if (status != VYRE_OK) return status;
  *out = found;
  if ((*out)->abi_version == CPU_ABI_VERSION) return VYRE_OK;
  return error_set(error, VYRE_ERROR_BACKEND,
                   "the module %s is of another version of vyre. Fix: install both from one build",
                   module_file);
}

vyre_status cpu_codegen_check(vyre_error *error) {
  return module_check(module_file, error);
}

void cpu_code_free(cpu_code *code) {
  free(code->object);
  free(code->part_bytes);
  free(code->regions);
  free(code->remarks);
  free(code->llvm);
  free(code->assembly);
  *code = (cpu_code){0};
}

void cpu_kernels_fini(cpu_kernels *k) {
  for (uint32_t i = 0; i < k->object_count; i++) loader_close(k->objects[i]);
  free(k->objects);
  free(k->regions);
  free(k->functions);
  free(k->remarks);
  *k = (cpu_kernels){0};
}

// ---- loading ------------------------------------------------------------------------------------

static vyre_status load_objects(const cpu_code *code, cpu_kernels *out, vyre_error *error) {
  const char *at = code->object;
  out->objects = calloc(code->part_count + 1u, sizeof *out->objects);
  if (!out->objects) return error_out_of_memory(error);
  for (uint32_t i = 0; i < code->part_count; i++) {
    vyre_status status = loader_open(at, code->part_bytes[i], &out->objects[i], error);
    if (status != VYRE_OK) return status;
    out->object_count++;
    at += code->part_bytes[i];
  }
  return VYRE_OK;
}

static vyre_status find_functions(cpu_kernels *out, vyre_error *error) {
  for (uint32_t i = 0; i < out->region_count; i++) {
    const cpu_region_code *r = &out->regions[i];
    void *function = loader_find(out->objects[r->part], r->symbol);
    memcpy(&out->functions[i], &function, sizeof function); // a function pointer, by POSIX
    if (!function)
      return error_set(error, VYRE_ERROR_BACKEND,
                       "a compiled object has no `%s`. Fix: run `vyre cache clear`", r->symbol);
  }
  return VYRE_OK;
}

// Takes the regions and remarks of `code`.
static vyre_status load(cpu_code *code, cpu_kernels *out, vyre_error *error) {
  *out = (cpu_kernels){.regions = code->regions,
                       .remarks = code->remarks,
                       .region_count = code->region_count,
                       .functions = calloc(code->region_count + 1u, sizeof(cpu_kernel))};
  code->regions = NULL;
  code->remarks = NULL;
  vyre_status status = out->functions ? load_objects(code, out, error) : error_out_of_memory(error);
  if (status == VYRE_OK) status = find_functions(out, error);
  if (status != VYRE_OK) cpu_kernels_fini(out);
  return status;
}

// ---- cache entries ------------------------------------------------------------------------------

typedef struct stored_header {
  uint32_t region_count, remark_bytes, part_count, unused;
  uint64_t object_bytes;
} stored_header;

static void store(const cache_key *key, const cpu_code *code) {
  stored_header h = {.region_count = code->region_count,
                     .remark_bytes = code->remarks ? (uint32_t)strlen(code->remarks) + 1 : 0,
                     .part_count = code->part_count,
                     .object_bytes = code->object_size};
  strbuf all = {0};
  strbuf_add(&all, (const char *)&h, sizeof h);
  strbuf_add(&all, (const char *)code->regions, h.region_count * sizeof *code->regions);
  strbuf_add(&all, (const char *)code->part_bytes, h.part_count * sizeof *code->part_bytes);
  strbuf_add(&all, code->remarks ? code->remarks : "", h.remark_bytes);
  strbuf_add(&all, code->object, code->object_size);
  if (!all.failed) cache_store(key, all.at, all.size);
  strbuf_fini(&all);
}

static void *copy_bytes(const void *from, size_t size) {
  void *to = malloc(size + 1);
  return to ? memcpy(to, from, size) : NULL;
}

// That each region is in a part that there is, and that the parts are all of the objects.
static bool is_whole(const cpu_code *code) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < code->part_count; i++) {
    if (code->part_bytes[i] > code->object_size - bytes) return false;
    bytes += code->part_bytes[i];
  }
  bool ok = bytes == code->object_size;
  for (uint32_t i = 0; ok && i < code->region_count; i++) {
    cpu_region_code *r = &code->regions[i];
    r->symbol[sizeof r->symbol - 1] = 0;
    ok = r->width && r->rows && r->lanes < 3 && r->part < code->part_count;
  }
  return ok;
}

// The checksum says that the bytes are ours; the sizes are checked all the same.
static bool unpack(const char *data, size_t size, uint32_t region_count, cpu_code *code) {
  stored_header h;
  if (size < sizeof h) return false;
  memcpy(&h, data, sizeof h);
  size_t regions = h.region_count * sizeof(cpu_region_code);
  size_t parts = h.part_count * sizeof(uint64_t), rest = size - sizeof h;
  if (h.region_count != region_count || rest < regions || rest - regions < parts ||
      rest - regions - parts < h.remark_bytes ||
      rest - regions - parts - h.remark_bytes != h.object_bytes)
    return false;
  const char *at = data + sizeof h;
  code->region_count = h.region_count;
  code->part_count = h.part_count;
  code->regions = copy_bytes(at, regions);
  code->part_bytes = copy_bytes(at + regions, parts);
  at += regions + parts;
  code->remarks = h.remark_bytes ? copy_bytes(at, h.remark_bytes) : NULL;
  code->object = copy_bytes(at + h.remark_bytes, h.object_bytes);
  code->object_size = h.object_bytes;
  if (!code->regions || !code->part_bytes || !code->object || (h.remark_bytes && !code->remarks))
    return false;
  if (code->remarks) code->remarks[h.remark_bytes - 1] = 0;
  return is_whole(code);
}

void cpu_cache_key(cache_key *key, const char *host, const vyre_program *p, const cpu_options *o) {
  cache_key_init(key, "cpu");
  cache_key_add_number(key, CPU_ABI_VERSION);
  cache_key_add_string(key, vyre_version());
  cache_key_add_string(key, LLVM_VERSION_STRING);
  cache_key_add_number(key, module_stamp(module_file));
  cache_key_add_string(key, host);
  cache_key_add(key, program_fingerprint(p), HASH_BYTES);
  cache_key_add_string(key, o->cpu);
  cache_key_add_string(key, o->features);
  cache_key_add_number(key, o->width);
  cache_key_add_number(key, o->gathers);
  cache_key_add_number(key, (uint64_t)o->tier);
  cache_key_add_number(key, o->debug_lines);
  if (o->debug_lines) cache_key_add_string(key, o->source_name ? o->source_name : "");
}

vyre_status cpu_options_here(cpu_options *options, vyre_error *error) {
  options->gathers = host_gathers();
  options->cpu = environment_get("VYRE_CPU");
  if (!options->cpu || host_runs(options->cpu)) return VYRE_OK;
  return error_set(error, VYRE_ERROR_ARGUMENT,
                   "VYRE_CPU is `%s`, which this machine does not run. Fix: unset it, or give it "
                   "x86-64-v2, x86-64-v3 or x86-64-v4, as far as it has them",
                   options->cpu);
}

static void key_here(cache_key *key, const vyre_program *p, const cpu_options *o) {
  char host[HOST_TEXT];
  host_describe(host);
  cpu_cache_key(key, host, p, o);
}

static bool load_cached(const cache_key *key, uint32_t region_count, cpu_kernels *out) {
  void *data;
  size_t size;
  if (!cache_load(key, &data, &size)) return false;
  cpu_code code = {0};
  bool ok = unpack(data, size, region_count, &code) && load(&code, out, NULL) == VYRE_OK;
  if (ok) out->from_cache = true;
  cpu_code_free(&code);
  free(data);
  return ok;
}

// LLVM has locks of its own, which a child of fork() must not find taken.
vyre_status cpu_generate(const vyre_program *p, const cpu_options *options, cpu_code *code,
                         vyre_error *error) {
  const cpu_codegen *generator;
  vyre_status status = fork_hold(error);
  if (status != VYRE_OK) return status;
  status = cpu_codegen_get(&generator, error);
  if (status == VYRE_OK) status = generator->compile(p, options, code, error);
  fork_let_go();
  return status;
}

vyre_status cpu_kernels_cached(const vyre_program *p, const cpu_options *options, cpu_kernels *out,
                               vyre_error *error) {
  cache_key key;
  key_here(&key, p, options);
  if (load_cached(&key, p->region_count, out)) return VYRE_OK;
  return error_set(error, VYRE_ERROR_UNSUPPORTED,
                   "the cache has no code for `%s`. Fix: compile the program", p->name);
}

vyre_status cpu_kernels_get(const vyre_program *p, const cpu_options *options, cpu_kernels *out,
                            vyre_error *error) {
  cache_key key;
  key_here(&key, p, options);
  if (load_cached(&key, p->region_count, out)) return VYRE_OK;
  cpu_code code = {0};
  vyre_status status = cpu_generate(p, options, &code, error);
  if (status == VYRE_OK) {
    store(&key, &code);
    status = load(&code, out, error);
  }
  cpu_code_free(&code);
  return status;
}
