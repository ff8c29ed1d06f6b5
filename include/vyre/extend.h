/* SPDX-License-Identifier: MIT
 *
 * vyre from outside its tree: backends and passes of your own, which go through the same verifier,
 * selection and proof as those that come with it. examples/extend/ has one of each.
 *
 * Structs that are handed over begin with their size and the version of this header, so that a
 * program that was compiled with an older one is met with an error and not with a crash. What is
 * registered is copied; strings and lists are borrowed and stay as they are until the process ends,
 * and so does what is registered. Registering may be done at any time and from any thread; a
 * compile that has begun does not see it.
 */
#ifndef VYRE_EXTEND_H
#define VYRE_EXTEND_H

#include <vyre/vyre.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { VYRE_EXTEND_VERSION = 1 };

/* ---- reading a program ----------------------------------------------------------------------- */

/* Code is one array in program order, from index 1 on. Each operation is a statement or a value,
 * and a value is named by the index of the operation that made it. Blocks are bracketed by IF ELSE
 * END, FOR END, and WHILE (condition) DO (body) END. vyre/ops.def says what the slots of `arg`
 * mean; structure operations have the indices of their partners in those behind their operands: IF
 * arg[1] its ELSE or 0, arg[2] its END      ELSE  arg[1] its IF, arg[2] its END FOR   arg[3] its
 * END                            WHILE arg[1] its DO, arg[2] its END DO    arg[1] its WHILE, arg[2]
 * its END          END   arg[1] what it closes BREAK, CONTINUE  arg[1] the FOR or WHILE they leave
 */
typedef struct vyre_inst {
  vyre_op op;
  vyre_type type; /* of the value, variable or elements; VYRE_VOID for statements */
  uint32_t arg[4];
} vyre_inst;

/* An operand: a constant of the program's pool, or the index of an operation. */
static inline bool vyre_operand_is_const(uint32_t operand) {
  return (operand & 0x80000000u) != 0;
}

/* A memory reference: which kind, and which one of it. */
typedef enum vyre_memory {
  VYRE_MEMORY_BUFFER,
  VYRE_MEMORY_SHARED,
  VYRE_MEMORY_PRIVATE
} vyre_memory;
static inline vyre_memory vyre_memory_kind(uint32_t reference) {
  return (vyre_memory)(reference >> 30);
}
/* The number of the buffer, of the shared array, or of the ARRAY operation. */
static inline uint32_t vyre_memory_index(uint32_t reference) {
  return reference & 0x3fffffffu;
}

typedef struct vyre_region_code {
  uint32_t first, end; /* the body: first <= index < end */
  uint32_t first_shared, end_shared;
} vyre_region_code;

typedef struct vyre_shared_info {
  const char *name;
  vyre_type type;
  uint32_t length;
} vyre_shared_info;

/* Each answers with zeros when there is no such thing. Any thread. */
VYRE_API uint32_t vyre_program_code_count(const vyre_program *program);
VYRE_API vyre_inst vyre_program_inst(const vyre_program *program, uint32_t index);
VYRE_API const char *vyre_program_value_name(const vyre_program *program, uint32_t index);
VYRE_API vyre_scalar vyre_program_const(const vyre_program *program, uint32_t operand);
VYRE_API vyre_type vyre_program_type_of(const vyre_program *program, uint32_t operand);
VYRE_API vyre_region_code vyre_program_region_code(const vyre_program *program, uint32_t region);
VYRE_API vyre_shared_info vyre_program_shared(const vyre_program *program, uint32_t index);

/* ---- passes ---------------------------------------------------------------------------------- */

/* What a pass costs and pays for grows with this: selection has one threshold per family
 * (docs/PASSES.md). */
typedef enum vyre_pass_family {
  VYRE_PASS_SCALAR, /* cheap, always on */
  VYRE_PASS_SYNC,   /* barriers and atomics, always on */
  VYRE_PASS_LOOP,
  VYRE_PASS_MEMORY,
  VYRE_PASS_FUSION,
  VYRE_PASS_DATAFLOW,
  VYRE_PASS_MEGAKERNEL,
  VYRE_PASS_UNKNOWN /* always on */
} vyre_pass_family;

typedef struct vyre_pass_run vyre_pass_run; /* one run of a pass, and what it reads */

typedef struct vyre_pass {
  uint32_t size;    /* sizeof(vyre_pass) */
  uint32_t version; /* VYRE_EXTEND_VERSION */
  const char *name;
  const char *summary; /* what it does, in a line */
  const char *never;   /* what it leaves alone, in a line */
  vyre_pass_family family;
  bool changes_regions; /* joins, splits or removes them; otherwise they stay as they are */
  /* Names of passes, ended by NULL; NULL is none. */
  const char *const *needs;       /* selected with it */
  const char *const *invalidates; /* that look again after it changed something */
  const char *const *follows;     /* after whose changes it looks again */
  /* Sets *out to a new program that keeps every bit of the results, or leaves it alone when there
   * is nothing to change. The scheduler verifies that parameters and buffers stay as callers bind
   * them, and names the pass in the error where they do not. Any thread, also at once. */
  vyre_status (*run)(void *context, const vyre_pass_run *run, vyre_program **out,
                     vyre_error *error);
  void *context; /* handed to `run` */
} vyre_pass;

/* Adds a pass behind those that there are, in the order in which they run. */
VYRE_API vyre_status vyre_pass_register(const vyre_pass *pass, vyre_error *error);

VYRE_API const vyre_program *vyre_pass_program(const vyre_pass_run *run);
VYRE_API bool vyre_pass_may_change(const vyre_pass_run *run, uint32_t region);

/* The usual way to write a pass: the program is copied operation by operation, and for each one of
 * the regions that may be changed `visit` says what becomes of it, with one of the calls below. It
 * may build others before that, with vyre_build_* and vyre_rewrite_builder. *out stays as it is
 * when everything was kept. */
typedef struct vyre_rewrite vyre_rewrite;
typedef void (*vyre_rewrite_visit)(void *context, vyre_rewrite *rewrite, uint32_t index);
VYRE_API vyre_status vyre_rewrite_program(const vyre_pass_run *run, vyre_rewrite_visit visit,
                                          void *context, vyre_program **out, vyre_error *error);
VYRE_API void vyre_rewrite_keep(vyre_rewrite *rewrite, uint32_t index);
VYRE_API void vyre_rewrite_replace(vyre_rewrite *rewrite, uint32_t index, vyre_value value);
VYRE_API void vyre_rewrite_drop(vyre_rewrite *rewrite, uint32_t index);
VYRE_API vyre_builder *vyre_rewrite_builder(vyre_rewrite *rewrite);
/* What an operand of the old program is in the new one. */
VYRE_API vyre_value vyre_rewrite_operand(vyre_rewrite *rewrite, uint32_t operand);

/* ---- backends -------------------------------------------------------------------------------- */

typedef struct vyre_bound_buffer {
  void *data;      /* of transient buffers zeroed; NULL where the length is 0 */
  uint64_t length; /* elements */
} vyre_bound_buffer;

typedef struct vyre_launch_region {
  uint64_t grid[3];      /* the region runs their product */
  uint32_t workgroup[3]; /* of rigid regions the declared one, which divides the grid */
  uint64_t invocations;
} vyre_launch_region;

/* A dispatch whose arguments were checked. */
typedef struct vyre_launch {
  const uint64_t *params;            /* canonical bits: signed ones sign-extended */
  const vyre_bound_buffer *buffers;  /* one per buffer of the program */
  const vyre_launch_region *regions; /* one per region of the program */
  bool has_workgroup;                /* the caller chose the workgroup of elastic regions */
  uint64_t timeout_ns, fuel;         /* 0: none */
} vyre_launch;

typedef struct vyre_backend {
  uint32_t size;       /* sizeof(vyre_backend) */
  uint32_t version;    /* VYRE_EXTEND_VERSION */
  const char *id;      /* short, of lower-case letters, digits, `-` and `_` */
  const char *summary; /* one line for people */
  void *context;       /* handed to `probe` and `compile` */

  /* Lists the devices: sets *count to how many there are and fills up to `capacity`. An error says
   * why the backend cannot be used on this machine. Any thread. */
  vyre_status (*probe)(void *context, vyre_device *devices, uint32_t capacity, uint32_t *count,
                       vyre_error *error);
  /* Makes *state from a program, which stays alive until release. It has no mathematical functions:
   * they are expanded into exact operations. VYRE_ERROR_UNSUPPORTED when the device lacks
   * something: then another backend is taken. Any thread, also at once. */
  vyre_status (*compile)(void *context, const vyre_program *program,
                         const vyre_compile_options *options, void **state, vyre_error *error);
  /* Runs all regions in order, and returns when their effects are in the buffers. Tells each with
   * vyre_report_region. Any thread, also at once on one state. */
  vyre_status (*dispatch)(void *state, const vyre_launch *launch, vyre_report *report,
                          vyre_error *error);
  void (*release)(void *state);
} vyre_backend;

/* Adds a backend behind those that there are. vyre_compile takes it by its id from now on. The
 * runtime does not take it by itself before vyre_backend_examine found that it gives the same bits
 * as the reference; and then, as with any backend, it is used for a program only after its results
 * were compared on the program's own inputs. */
VYRE_API vyre_status vyre_backend_register(const vyre_backend *backend, vyre_error *error);

typedef struct vyre_examination {
  uint32_t passed, failed;
  uint32_t declined;       /* that the backend said it cannot run */
  char first_failure[300]; /* empty when there is none */
} vyre_examination;

/* Compares a backend with the reference: the rows of the semantics table, mathematical functions,
 * and so many random programs. What it fails at is kept, as `vyre conform` does: programs that have
 * it are not run there. Takes seconds. Not while the same backend is examined by another thread. */
VYRE_API vyre_status vyre_backend_examine(const char *id, uint32_t random_programs,
                                          vyre_examination *out, vyre_error *error);

/* Adds what a region took to the report. The name is borrowed. */
VYRE_API void vyre_report_region(vyre_report *report, const char *name, uint64_t time_ns,
                                 uint64_t bytes, uint64_t invocations);

#ifdef __cplusplus
}
#endif

#endif
