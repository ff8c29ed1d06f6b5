// SPDX-License-Identifier: MIT
#include "backend/cuda/remarks.h"

#include "backend/cuda/codegen.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "base/process.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- occupancy ----------------------------------------------------------------------------------

static uint32_t least(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

static uint32_t round_up(uint32_t x, uint32_t to) {
  return (x + to - 1) / to * to;
}

// The limits of compute capability 9.0 in the CUDA C++ Programming Guide: warps of 32, registers in
// lots of 256 for a warp, 1 KiB of shared memory taken by each workgroup for the system.
uint32_t cuda_occupancy(uint32_t registers, uint32_t threads, uint32_t shared) {
  enum { WARPS = 64, GROUPS = 32, REGISTERS = 65536, SHARED = 228 << 10 };
  uint32_t warps = round_up(threads ? threads : 1, 32) / 32;
  uint32_t of_warp = round_up((registers ? registers : 1) * 32, 256);
  uint32_t groups = least(GROUPS, WARPS / warps);
  groups = least(groups, REGISTERS / of_warp / warps);
  groups = least(groups, SHARED / (round_up(shared, 128) + 1024));
  return 100 * groups * warps / WARPS;
}

// ---- what ptxas says ----------------------------------------------------------------------------

typedef struct kernel_facts {
  uint32_t registers, shared, spilled;
  bool is_known;
} kernel_facts;

// The number before the word, in a line; 0 where it is not there.
static uint32_t number_before(const char *line, const char *end, const char *word) {
  const char *at = strstr(line, word);
  if (!at || at >= end) return 0;
  while (at > line && at[-1] == ' ') at--;
  while (at > line && at[-1] >= '0' && at[-1] <= '9') at--;
  return (uint32_t)strtoul(at, NULL, 10);
}

// Lines about a kernel stand behind the one that names it.
static kernel_facts find_facts(const char *said, const char *entry) {
  char named[100];
  kernel_facts f = {0};
  format_text(named, sizeof named, "Compiling entry function '%s'", entry);
  const char *at = strstr(said, named);
  if (!at) return f;
  const char *end = strstr(at + 1, "Compiling entry function");
  if (!end) end = at + strlen(at);
  f.registers = number_before(at, end, "registers");
  f.shared = number_before(at, end, "bytes smem");
  f.spilled = number_before(at, end, "bytes spill stores");
  f.is_known = f.registers != 0;
  return f;
}

static void add_remark(strbuf *out, const region *r, const cuda_kernel *k, const kernel_facts *f) {
  uint32_t threads = r->workgroup[0] * r->workgroup[1] * r->workgroup[2];
  uint32_t shared = f->shared + k->dynamic_shared;
  strbuf_printf(out, "%s: cuda (ptxas, sm_90): %u registers, ", r->name, f->registers);
  if (f->spilled)
    strbuf_printf(out, "%u bytes spilled", f->spilled);
  else
    strbuf_puts(out, "no spills");
  if (shared) strbuf_printf(out, ", %u bytes of shared memory", shared);
  strbuf_printf(out, ", occupancy %u%% in workgroups of %u\n",
                cuda_occupancy(f->registers, threads, shared), threads);
}

// ---- asking it ----------------------------------------------------------------------------------

static vyre_status run_ptxas(const char *from, const char *to, char **said, vyre_error *error) {
  size_t size;
  const char *const argv[] = {
      "sh", "-c", "exec ptxas -arch=sm_90 -v -o /dev/null \"$1\" >\"$2\" 2>&1", "sh", from,
      to,   NULL};
  if (process_run(argv)) return file_read(to, (size_t)1 << 26, said, &size, error);
  return error_set(error, VYRE_ERROR_UNSUPPORTED,
                   "ptxas did not assemble the program. Fix: look at what `vyre compile "
                   "--emit=ptx` writes with ptxas itself");
}

static vyre_status assemble(const cuda_code *code, char **said, vyre_error *error) {
  const char *base = environment_get("TMPDIR");
  char folder[3000], from[3100], to[3100];
  format_text(folder, sizeof folder, "%.2900s/vyre-ptx-XXXXXX", base ? base : "/tmp");
  if (!mkdtemp(folder))
    return error_set(error, VYRE_ERROR_IO, "%s cannot be made. Fix: set TMPDIR to a folder",
                     folder);
  format_text(from, sizeof from, "%s/module.ptx", folder);
  format_text(to, sizeof to, "%s/said.txt", folder);
  vyre_status status = file_replace(from, code->ptx, code->ptx_size, error);
  if (status == VYRE_OK) status = run_ptxas(from, to, said, error);
  unlink(from);
  unlink(to);
  rmdir(folder);
  return status;
}

vyre_status cuda_remarks(vyre_program *program, const backend_form_options *o, char **text,
                         size_t *size, vyre_error *error) {
  cuda_options options = {.is_polled = o->is_polled, .is_quick = o->tier == VYRE_TIER_QUICK};
  cuda_code code;
  char *said = NULL;
  if (!process_exists("ptxas"))
    return error_set(error, VYRE_ERROR_UNSUPPORTED,
                     "there is no ptxas on the PATH. Fix: install NVIDIA's CUDA toolkit");
  vyre_status status = cuda_generate(program, &options, &code, error);
  if (status == VYRE_OK) status = assemble(&code, &said, error);
  if (status == VYRE_OK) {
    strbuf out = {0};
    strbuf_puts(&out, "");
    for (uint32_t i = 0; i < code.kernel_count; i++) {
      kernel_facts f = find_facts(said, code.kernels[i].entry);
      if (f.is_known) add_remark(&out, &program->regions[i], &code.kernels[i], &f);
    }
    *text = strbuf_take(&out, size);
    if (!*text) status = error_out_of_memory(error);
  }
  free(said);
  cuda_code_free(&code);
  return status;
}
