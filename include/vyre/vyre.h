/* SPDX-License-Identifier: MIT
 *
 * vyre: data-parallel kernels that give the same bits on every device.
 *
 * A program is built, parsed or decoded; it is verified and frozen, and from then on immutable and
 * safe to share between threads. A backend compiles it to an executable, which is dispatched with
 * borrowed spans. Programs and executables are reference counted: whoever gets one from a function
 * named new, parse, decode, finish, compile or retain releases it once.
 *
 * Every fallible function returns a status and fills the caller's vyre_error, which may be NULL.
 * The library never prints, never exits and never aborts on bad input; where NULL is not said to be
 * allowed it is an error, or nothing happens.
 *
 * Results depend neither on the locale nor on the floating-point environment of the caller: calls
 * compute with round to nearest, subnormals kept and no exception unmasked, and give the caller's
 * environment back, exception flags included.
 */
#ifndef VYRE_VYRE_H
#define VYRE_VYRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32) || !defined(__GNUC__)
#define VYRE_API
#else
#define VYRE_API __attribute__((visibility("default")))
#endif

#define VYRE_VERSION_MAJOR 0
#define VYRE_VERSION_MINOR 1
#define VYRE_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

/* "0.1.0" */
VYRE_API const char *vyre_version(void);

/* ---- errors ---------------------------------------------------------------------------------- */

typedef enum vyre_status {
  VYRE_OK = 0,
  VYRE_ERROR_ARGUMENT,    /* the call itself is wrong: a null, a stale handle, a bad option */
  VYRE_ERROR_SYNTAX,      /* the text could not be read */
  VYRE_ERROR_VERIFY,      /* the program breaks a rule; `code` names it */
  VYRE_ERROR_WIRE,        /* the bytes are not a program */
  VYRE_ERROR_LIMIT,       /* a stated limit was passed */
  VYRE_ERROR_BINDING,     /* parameters or buffers do not fit the program */
  VYRE_ERROR_UNSUPPORTED, /* the backend or device lacks what the program needs */
  VYRE_ERROR_BACKEND,     /* the backend or its driver failed */
  VYRE_ERROR_DIVERGENCE,  /* a barrier was not reached by the whole workgroup */
  VYRE_ERROR_TIMEOUT,     /* the dispatch passed its time limit */
  VYRE_ERROR_FUEL,        /* the dispatch passed its limit of executed operations */
  VYRE_ERROR_MEMORY,      /* out of memory */
  VYRE_ERROR_IO,          /* a file could not be read or written */
  VYRE_ERROR_STOPPED,     /* the caller asked for the end of the dispatch */
  VYRE_STATUS_COUNT
} vyre_status;

typedef struct vyre_error {
  vyre_status status;
  uint32_t line;     /* 1-based; 0 when there is no place in a text */
  uint32_t column;   /* 1-based, in bytes */
  char code[8];      /* stable code such as "V012"; empty when there is none */
  char file[200];    /* the name the caller gave the text */
  char message[600]; /* what is wrong, then a sentence that starts with "Fix:" */
  char excerpt[300]; /* the source line and a caret below it, two lines; or empty */
} vyre_error;

/* "syntax", "binding", ... stable, for logs and JSON. */
VYRE_API const char *vyre_status_name(vyre_status status);

/* ---- types and operations -------------------------------------------------------------------- */

typedef enum vyre_type {
  VYRE_VOID = 0,
  VYRE_BOOL, /* one byte in memory; any byte but 0 is true, stored as 0 or 1 */
  VYRE_I8,
  VYRE_U8,
  VYRE_I16,
  VYRE_U16,
  VYRE_I32,
  VYRE_U32,
  VYRE_I64,
  VYRE_U64,
  VYRE_F32,
  VYRE_F64,
  VYRE_F16,
  VYRE_TYPE_COUNT
} vyre_type;

VYRE_API const char *vyre_type_name(vyre_type type);      /* "f32" */
VYRE_API size_t vyre_type_size(vyre_type type);           /* bytes in memory; 0 for void */
VYRE_API vyre_type vyre_type_from_name(const char *name); /* VYRE_VOID when unknown */

typedef enum vyre_op {
  VYRE_OP_NONE = 0,
#define OP(name, text, infix, operands, rule, flags, doc) VYRE_OP_##name,
#include "ops.def"
  VYRE_OP_COUNT
} vyre_op;

typedef enum vyre_access { VYRE_READ = 1, VYRE_WRITE = 2, VYRE_READWRITE = 3 } vyre_access;

typedef struct vyre_scalar {
  vyre_type type;
  uint64_t bits; /* the value in its low bytes; floats by their bits */
} vyre_scalar;

/* ---- programs -------------------------------------------------------------------------------- */

typedef struct vyre_program vyre_program;

VYRE_API vyre_program *vyre_program_retain(vyre_program *program);
VYRE_API void vyre_program_release(vyre_program *program);

/* Text form. `name` is used in messages and may be NULL. The text need not end in a NUL. */
VYRE_API vyre_status vyre_program_parse(const char *text, size_t size, const char *name,
                                        vyre_program **out, vyre_error *error);
/* Prints the canonical text. The caller frees *out with vyre_free. */
VYRE_API vyre_status vyre_program_print(const vyre_program *program, char **out, size_t *size,
                                        vyre_error *error);
/* Wire form. */
VYRE_API vyre_status vyre_program_decode(const void *data, size_t size, vyre_program **out,
                                         vyre_error *error);
VYRE_API vyre_status vyre_program_encode(const vyre_program *program, void **out, size_t *size,
                                         vyre_error *error);
VYRE_API void vyre_free(void *memory);

/* Inspection. Strings live as long as the program. */
typedef struct vyre_param_info {
  const char *name;
  vyre_type type;
} vyre_param_info;

typedef struct vyre_buffer_info {
  const char *name;
  vyre_type type;
  vyre_access access;
  bool is_transient;     /* allocated by the runtime, never bound */
  bool has_length;       /* declared; otherwise taken from what is bound */
  bool has_fixed_length; /* the declared length is a constant: fixed_length */
  uint64_t fixed_length;
} vyre_buffer_info;

typedef struct vyre_region_info {
  const char *name;
  uint32_t rank;             /* 1 to 3 */
  uint32_t workgroup[3];     /* the declared size */
  bool is_elastic;           /* the workgroup is only a launch shape */
  const char *rigid_because; /* what depends on it: "barrier", "local_id", ...; NULL: elastic */
  uint32_t shared_bytes;
} vyre_region_info;

typedef struct vyre_stats {
  uint64_t node_count;        /* statements and regions at all depths */
  uint64_t instruction_count; /* all operations, structure excluded */
  uint64_t memory_op_count;   /* loads and stores of buffers and arrays */
  uint64_t atomic_op_count;
  uint64_t control_flow_count;   /* if, for, while, break, continue, return, barrier */
  uint64_t register_pressure;    /* most values and variables live at once */
  uint64_t static_storage_bytes; /* fixed buffers, shared and private arrays */
  uint64_t top_level_regions;
  uint64_t peak_memory_bytes; /* buffers live at once, with fixed lengths only */
} vyre_stats;

VYRE_API const char *vyre_program_name(const vyre_program *program);
VYRE_API void vyre_program_fingerprint(const vyre_program *program, uint8_t out[32]);
VYRE_API uint32_t vyre_program_fast_ulp(const vyre_program *program); /* 0: exact arithmetic */
VYRE_API uint32_t vyre_program_param_count(const vyre_program *program);
VYRE_API vyre_param_info vyre_program_param(const vyre_program *program, uint32_t index);
VYRE_API uint32_t vyre_program_buffer_count(const vyre_program *program);
VYRE_API vyre_buffer_info vyre_program_buffer(const vyre_program *program, uint32_t index);
VYRE_API uint32_t vyre_program_region_count(const vyre_program *program);
VYRE_API vyre_region_info vyre_program_region(const vyre_program *program, uint32_t index);
VYRE_API vyre_stats vyre_program_stats(const vyre_program *program);
/* Peak memory with the given element counts, one per buffer; transient ones are computed. */
VYRE_API uint64_t vyre_program_peak_memory(const vyre_program *program, const uint64_t *lengths);

/* What the declared lengths and the grids come out as. `params` holds one scalar per parameter;
 * `lengths` has one entry per buffer: the caller fills those sized as bound, the call the others.
 * `grids` has one row per region, or is NULL. */
VYRE_API vyre_status vyre_program_extents(const vyre_program *program, const vyre_scalar *params,
                                          uint64_t *lengths, uint64_t (*grids)[3],
                                          vyre_error *error);

/* ---- tunables ----------------------------------------------------------------------------------
 */

/* Constants of a program that a tuner may choose (docs/TUNING.md): a program has one value of each,
 * and knows the others. Strings and values live as long as the program. */
typedef struct vyre_tunable_info {
  const char *name;
  vyre_type type;
  uint32_t count;         /* of its values */
  uint32_t chosen;        /* the number of the one that the program has */
  const uint64_t *values; /* bits, as in vyre_scalar */
} vyre_tunable_info;

VYRE_API uint32_t vyre_program_tunable_count(const vyre_program *program);
VYRE_API vyre_tunable_info vyre_program_tunable(const vyre_program *program, uint32_t index);
/* Whether all conditions hold when the tunables have these values: `chosen` has the number of one
 * for each. */
VYRE_API bool vyre_program_tunables_hold(const vyre_program *program, const uint32_t *chosen);
/* The same program with other values. An error when a condition does not hold, or when what comes
 * out breaks a rule. Optimised programs have no tunables any more. */
VYRE_API vyre_status vyre_program_tune(vyre_program *program, const uint32_t *chosen,
                                       vyre_program **out, vyre_error *error);

/* ---- source languages ------------------------------------------------------------------------ */

/* A program is made from a source in one of the languages of a table: vyre's own text and wire
 * form, and OpenCL C (docs/OPENCL.md says how a kernel becomes a program), whose frontend is a
 * module that is opened when it is first needed. These calls may be made from any thread. */

typedef struct vyre_language_info {
  const char *name;     /* "opencl": stable, what the calls below take */
  const char *title;    /* "OpenCL C" */
  const char *suffixes; /* of its files, separated by spaces: ".cl" */
  bool has_launch;      /* a program is made for a launch: workgroup, rank, locals, formats count */
} vyre_language_info;

VYRE_API uint32_t vyre_language_count(void);
VYRE_API vyre_language_info vyre_language(uint32_t index); /* zeros past the end */
/* The language of a source, by its first bytes (`size` may be 0) and then by the end of its name;
 * "text" when nothing says otherwise. */
VYRE_API const char *vyre_language_guess(const char *name, const void *data, size_t size);

typedef struct vyre_source_local {
  const char *name;    /* of an argument that points to local memory */
  uint64_t size_bytes; /* of the array that it points to */
} vyre_source_local;

typedef struct vyre_source_format {
  const char *name;   /* of an argument that is an image or a sampler */
  const char *format; /* "rgba_unorm8", "linear:repeat:normalized": docs/OPENCL.md lists them */
} vyre_source_format;

/* Arguments whose memory overlaps, when one of them is written: a program has one buffer for them.
 */
typedef struct vyre_source_alias {
  const char *name;      /* of an argument that points to global memory */
  const char *of;        /* the argument into whose buffer it points, itself or one that is not
                            another's alias; NULL: it is a null pointer */
  uint64_t offset_bytes; /* from the start of that buffer */
} vyre_source_alias;

/* What does not mean anything in a language is not looked at. */
typedef struct vyre_source_options {
  const char *entry;         /* NULL: the only one of the source */
  const char *build_options; /* "-DN=4 -Iinclude -cl-single-precision-constant"; NULL: none. In the
                                text and the wire form -D gives a tunable its value. */
  uint32_t workgroup[3];     /* zeros: as the entry states, else 64, 1, 1 */
  uint32_t rank;             /* axes of the grid, 1 to 3; 0: as the entry states or uses */
  uint64_t global_offset[3]; /* added to global ids */
  const vyre_source_local *locals;
  uint32_t local_count;
  const vyre_source_format *formats;
  uint32_t format_count;
  const vyre_source_alias *aliases; /* arguments of that name have no buffer of their own */
  uint32_t alias_count;
  bool has_offset_params; /* the offset is not global_offset, but in parameters offset_x, offset_y,
                             offset_z of u64 behind those of the grid, as many as there are axes */
} vyre_source_options;

/* Makes a program from one entry of a source. Where the language has launches, its grid is in the
 * parameters grid_x, grid_y, grid_z, which follow the entry's own, unless the entry states its grid
 * and `rank` is 0. `name` is the path of the source, for messages and includes; it and `options`
 * may be NULL. */
VYRE_API vyre_status vyre_program_from(const char *language, const void *source, size_t size,
                                       const char *name, const vyre_source_options *options,
                                       vyre_program **out, vyre_error *error);

typedef enum vyre_source_space {
  VYRE_SPACE_VALUE = 0, /* passed by value */
  VYRE_SPACE_GLOBAL,
  VYRE_SPACE_CONSTANT,
  VYRE_SPACE_LOCAL,
  VYRE_SPACE_OTHER,  /* pipes and the like: no program is made from such an entry */
  VYRE_SPACE_IMAGE,  /* a buffer of its pixels, and parameters NAME.width and so on */
  VYRE_SPACE_SAMPLER /* part of the program: vyre_source_format says what it is */
} vyre_source_space;

typedef struct vyre_source_arg {
  const char *name;
  const char *type; /* as the language writes it, of what is pointed to for pointers: "float4" */
  vyre_source_space space;
  uint64_t size_bytes;  /* of that type */
  bool is_const;        /* a pointer to const */
  const char *declared; /* its type as the source has it, qualifiers included */
  /* Of what is passed by value: the program has a parameter for each of its numbers, in this order.
   * Of an image: as many as it has extents, and no offsets. */
  uint32_t part_count;
  const uint64_t *part_offsets; /* bytes; NULL where it has no parts */
} vyre_source_arg;

typedef struct vyre_source_entry {
  const char *name;
  uint32_t line;         /* in the file that holds it */
  uint32_t workgroup[3]; /* that it requires; zeros where not stated */
  uint32_t hint[3];      /* that it is most used with; likewise */
  const char *vector;    /* that it mostly computes with: "float4"; NULL where not stated */
  uint32_t arg_count;
  const vyre_source_arg *args;
} vyre_source_entry;

/* Lists the entries of a source; none where a source of the language is one program. One vyre_free
 * of *out frees all of it. */
VYRE_API vyre_status vyre_source_entries(const char *language, const void *source, size_t size,
                                         const char *name, const char *build_options,
                                         vyre_source_entry **out, uint32_t *count,
                                         vyre_error *error);

/* The source with its includes and macros resolved, as text of the same language that needs neither
 * files nor definitions any more; a copy where the language has no such thing. Freed with
 * vyre_free; it ends with a zero behind *out_size bytes. */
VYRE_API vyre_status vyre_source_preprocess(const char *language, const void *source, size_t size,
                                            const char *name, const char *build_options, char **out,
                                            size_t *out_size, vyre_error *error);

/* One entry of a source: its program, or why there is none. All of it is the caller's only during
 * the call (a program can be retained), which may come on another thread. */
typedef struct vyre_source_result {
  const char *entry;     /* NULL where a source of the language is one program */
  uint32_t index, count; /* which of how many */
  vyre_program *program; /* NULL when there is none */
  const vyre_error *error;
} vyre_source_result;

/* Makes programs of all entries, reading the source once; `options->entry` is not looked at. What
 * is wrong with the source itself is returned, and nothing is visited. */
VYRE_API vyre_status vyre_source_each(const char *language, const void *source, size_t size,
                                      const char *name, const vyre_source_options *options,
                                      void (*visit)(void *data, const vyre_source_result *result),
                                      void *data, vyre_error *error);

/* Tells every mistake of a source (of a text at most 100, of other languages the first of each
 * entry), each with its place and what to do. VYRE_OK when there is none; the error is the first.
 */
VYRE_API vyre_status vyre_source_check(const char *language, const void *source, size_t size,
                                       const char *name, const vyre_source_options *options,
                                       void (*mistake)(void *data, const vyre_error *mistake),
                                       void *data, vyre_error *error);

/* A kernel that calls printf has one more buffer, `printf`, of u32: zeros when it is bound, as many
 * as there is to be room for. This is what was printed, in the order of invocations, freed with
 * vyre_free; *lost_words, which may be NULL, is about how many words found no room. */
VYRE_API vyre_status vyre_print_text(const void *buffer, size_t size_bytes, char **out,
                                     uint64_t *lost_words, vyre_error *error);

/* One call of printf. The text ends with a zero behind `size` bytes, and is the caller's only
 * during the call. */
typedef struct vyre_printed {
  uint32_t global_id[3];
  const char *text;
  size_t size;
} vyre_printed;

/* The same, call by call: `visit` gets each text with the invocation that printed it, in the order
 * of invocations, on this thread. */
VYRE_API vyre_status vyre_print_each(const void *buffer, size_t size_bytes,
                                     void (*visit)(void *data, const vyre_printed *printed),
                                     void *data, uint64_t *lost_words, vyre_error *error);

/* ---- building -------------------------------------------------------------------------------- */

/* One builder makes one program, on one thread. Mistakes are sticky: the first one is kept and
 * reported by vyre_builder_finish, and until then every call is safe. */
typedef struct vyre_builder vyre_builder;
typedef uint32_t vyre_value; /* 0 is no value */
typedef uint32_t vyre_var;   /* a variable; 0 is none */
typedef struct vyre_mem {
  uint32_t id;
} vyre_mem; /* a buffer, shared or private array */

/* NULL when out of memory. */
VYRE_API vyre_builder *vyre_builder_new(const char *program_name);
VYRE_API void vyre_builder_free(vyre_builder *builder);
/* Verifies and freezes. The builder is empty afterwards, and still has to be freed. */
VYRE_API vyre_status vyre_builder_finish(vyre_builder *builder, vyre_program **out,
                                         vyre_error *error);

VYRE_API void vyre_build_fast(vyre_builder *b, uint32_t ulp);
VYRE_API uint32_t vyre_build_param(vyre_builder *b, const char *name, vyre_type type);
/* `length` is 0 (as bound) or a value built before the first region: a constant or an expression
 * over parameters and lengths of buffers bound without one. Transient buffers need a length. */
VYRE_API vyre_mem vyre_build_buffer(vyre_builder *b, const char *name, vyre_type type,
                                    vyre_access access, vyre_value length);
VYRE_API vyre_mem vyre_build_transient(vyre_builder *b, const char *name, vyre_type type,
                                       vyre_value length);

/* A region: begin, build the extents, set the grid, build the body, end. */
VYRE_API void vyre_build_region_begin(vyre_builder *b, const char *name);
VYRE_API void vyre_build_grid(vyre_builder *b, uint32_t rank, const vyre_value *extents,
                              const uint32_t workgroup[3]);
VYRE_API vyre_mem vyre_build_shared(vyre_builder *b, const char *name, vyre_type type,
                                    uint32_t length);
VYRE_API void vyre_build_region_end(vyre_builder *b);

/* Constants. `bits` holds the value in its low bytes; floats by their bits, signed integers
 * sign-extended or not. */
VYRE_API vyre_value vyre_build_const(vyre_builder *b, vyre_type type, uint64_t bits);
VYRE_API vyre_value vyre_build_bool(vyre_builder *b, bool value);
VYRE_API vyre_value vyre_build_i32(vyre_builder *b, int32_t value);
VYRE_API vyre_value vyre_build_u32(vyre_builder *b, uint32_t value);
VYRE_API vyre_value vyre_build_f16(vyre_builder *b, float value); /* the nearest f16 */
VYRE_API vyre_value vyre_build_f32(vyre_builder *b, float value);
VYRE_API vyre_value vyre_build_f64(vyre_builder *b, double value);

/* A tunable: a constant with the values that a tuner may give it, of which the program has the one
 * of number `chosen`. What is returned can stand wherever a constant can. Before the first region.
 * A condition on it and the tunables before it is a bool that vyre_build_formula made. */
VYRE_API vyre_value vyre_build_tunable(vyre_builder *b, const char *name, vyre_type type,
                                       uint32_t count, const uint64_t *values, uint32_t chosen);
VYRE_API void vyre_build_tunable_where(vyre_builder *b, vyre_value tunable, vyre_value condition);
/* An operation on tunables, constants and other formulas, computed when the program is made: for
 * conditions, workgroups and lengths of arrays. `type` is needed by convert only. */
VYRE_API vyre_value vyre_build_formula(vyre_builder *b, vyre_op op, vyre_type type, uint32_t count,
                                       const vyre_value *args);
/* As vyre_build_grid, vyre_build_shared and vyre_build_array, with constants, tunables or formulas
 * of type u32 in place of the numbers. */
VYRE_API void vyre_build_grid_of(vyre_builder *b, uint32_t rank, const vyre_value *extents,
                                 const vyre_value workgroup[3]);
VYRE_API vyre_mem vyre_build_shared_of(vyre_builder *b, const char *name, vyre_type type,
                                       vyre_value length);
VYRE_API vyre_mem vyre_build_array_of(vyre_builder *b, const char *name, vyre_type type,
                                      vyre_value length);

/* Any operation on values, by its row in ops.def. `type` is needed by convert and bitcast only. */
VYRE_API vyre_value vyre_build_op(vyre_builder *b, vyre_op op, vyre_type type, uint32_t count,
                                  const vyre_value *args);
VYRE_API vyre_value vyre_build_unary(vyre_builder *b, vyre_op op, vyre_value x);
VYRE_API vyre_value vyre_build_binary(vyre_builder *b, vyre_op op, vyre_value x, vyre_value y);
VYRE_API vyre_value vyre_build_select(vyre_builder *b, vyre_value c, vyre_value x, vyre_value y);
VYRE_API vyre_value vyre_build_fma(vyre_builder *b, vyre_value x, vyre_value y, vyre_value z);
VYRE_API vyre_value vyre_build_convert(vyre_builder *b, vyre_type type, vyre_value x);
VYRE_API vyre_value vyre_build_bitcast(vyre_builder *b, vyre_type type, vyre_value x);

VYRE_API vyre_value vyre_build_param_value(vyre_builder *b, uint32_t param);
VYRE_API vyre_value vyre_build_len(vyre_builder *b, vyre_mem buffer);
/* global_id, local_id, group_id, global_size, local_size, group_count */
VYRE_API vyre_value vyre_build_id(vyre_builder *b, vyre_op op, uint32_t axis);

VYRE_API vyre_value vyre_build_load(vyre_builder *b, vyre_mem mem, vyre_value index);
VYRE_API void vyre_build_store(vyre_builder *b, vyre_mem mem, vyre_value index, vyre_value value);
VYRE_API vyre_value vyre_build_atomic(vyre_builder *b, vyre_op op, vyre_mem mem, vyre_value index,
                                      vyre_value value);
VYRE_API vyre_value vyre_build_atomic_cas(vyre_builder *b, vyre_mem mem, vyre_value index,
                                          vyre_value expected, vyre_value desired);

VYRE_API vyre_var vyre_build_var(vyre_builder *b, const char *name, vyre_value first);
VYRE_API vyre_value vyre_build_get(vyre_builder *b, vyre_var var);
VYRE_API void vyre_build_set(vyre_builder *b, vyre_var var, vyre_value value);
VYRE_API vyre_mem vyre_build_array(vyre_builder *b, const char *name, vyre_type type,
                                   uint32_t length);

VYRE_API void vyre_build_if(vyre_builder *b, vyre_value condition);
VYRE_API void vyre_build_else(vyre_builder *b);
/* for k in lo..hi by step; returns k. `step` is a positive constant; 0 means 1. */
VYRE_API vyre_value vyre_build_for(vyre_builder *b, vyre_value lo, vyre_value hi, vyre_value step);
/* vyre_build_while(b); ... condition ...; vyre_build_do(b, condition); ... body ...; end */
VYRE_API void vyre_build_while(vyre_builder *b);
VYRE_API void vyre_build_do(vyre_builder *b, vyre_value condition);
VYRE_API void vyre_build_end(vyre_builder *b); /* closes if, else, for, while */
VYRE_API void vyre_build_break(vyre_builder *b);
VYRE_API void vyre_build_continue(vyre_builder *b);
VYRE_API void vyre_build_return(vyre_builder *b);
VYRE_API void vyre_build_barrier(vyre_builder *b);

/* Gives a value a name for people; ignored for constants. */
VYRE_API void vyre_build_name(vyre_builder *b, vyre_value value, const char *name);
VYRE_API vyre_type vyre_build_type_of(const vyre_builder *b, vyre_value value);

/* ---- running --------------------------------------------------------------------------------- */

VYRE_API vyre_scalar vyre_scalar_bool(bool value);
VYRE_API vyre_scalar vyre_scalar_i8(int8_t value);
VYRE_API vyre_scalar vyre_scalar_u8(uint8_t value);
VYRE_API vyre_scalar vyre_scalar_i16(int16_t value);
VYRE_API vyre_scalar vyre_scalar_u16(uint16_t value);
VYRE_API vyre_scalar vyre_scalar_i64(int64_t value);
VYRE_API vyre_scalar vyre_scalar_u64(uint64_t value);
VYRE_API vyre_scalar vyre_scalar_i32(int32_t value);
VYRE_API vyre_scalar vyre_scalar_u32(uint32_t value);
VYRE_API vyre_scalar vyre_scalar_f16(float value); /* the nearest f16 */
VYRE_API vyre_scalar vyre_scalar_f32(float value);
VYRE_API vyre_scalar vyre_scalar_f64(double value);

/* Borrowed memory: the caller keeps it alive and untouched until the dispatch returns. */
typedef struct vyre_span {
  void *data;
  size_t size_bytes;
} vyre_span;

typedef struct vyre_region_report {
  const char *name; /* borrowed from the program */
  uint64_t time_ns; /* device time where the backend can tell, wall time otherwise */
  uint64_t bytes;   /* bytes loaded and stored in buffers, as far as the backend counts them */
  uint64_t invocations;
} vyre_region_report;

typedef struct vyre_report {
  uint64_t wall_ns;
  uint64_t device_ns;
  uint64_t operations;         /* executed operations; 0 where not counted */
  uint32_t region_count;       /* filled by the dispatch, at most region_capacity */
  uint32_t region_capacity;    /* set by the caller */
  vyre_region_report *regions; /* owned by the caller; may be NULL */
} vyre_report;

/* Memory of a runtime, which may stay on a device; see vyre_buffer_new. */
typedef struct vyre_buffer vyre_buffer;

typedef struct vyre_dispatch_args {
  const vyre_scalar *params; /* in the order of declaration */
  uint32_t param_count;
  uint32_t buffer_count;
  const vyre_span *buffers; /* in the order of declaration, transient ones left out */
  uint32_t workgroup[3];    /* launch shape for elastic regions; zeros: as compiled */
  uint64_t timeout_ns;      /* 0: none */
  uint64_t fuel;            /* executed operations; 0: unlimited. Only ref counts them. */
  uint32_t threads; /* of this CPU, at most; 0: as compiled. One runs workgroups in order, so
                       that also a program whose answer depends on the order repeats it. */
  /* NULL, or one per buffer: those that are not NULL are bound in place of their spans. */
  vyre_buffer *const *handles;
  /* NULL, or a flag that any thread or signal handler may set to something else than 0: the
   * dispatch then ends soon with VYRE_ERROR_STOPPED, and what it writes is unspecified. Backends of
   * this CPU look at it all the time; on devices a dispatch that has one runs as under a time limit,
   * where it could take long (docs/BACKENDS.md).
   * A time limit that passes sets it too. */
  volatile uint32_t *stop;
} vyre_dispatch_args;

typedef enum vyre_tier { VYRE_TIER_FULL = 0, VYRE_TIER_QUICK = 1 } vyre_tier;

/* What the optimizer does with a program before a backend gets it; no bit of a result changes. */
typedef enum vyre_optimize {
  VYRE_OPTIMIZE_DEFAULT = 0, /* selected passes; none in the quick tier, and none for ref */
  VYRE_OPTIMIZE_NONE,        /* the program as it is */
  VYRE_OPTIMIZE_SELECTED     /* the passes that pay (docs/PASSES.md), in every tier */
} vyre_optimize;

typedef struct vyre_compile_options {
  vyre_tier tier;
  uint32_t vector_width; /* lanes for backends that vectorise: a power of two up to 64; 0: the
                            backend decides */
  uint32_t threads;      /* 0: all cores */
  const char *device;    /* adapter name for backends with several; NULL: the first */
  uint64_t timeout_ns;   /* VYRE_ERROR_TIMEOUT when compiling takes longer; 0: none */
  vyre_optimize optimize;
} vyre_compile_options;

typedef struct vyre_executable vyre_executable;

/* `backend` is an id that vyre_backend_name lists, such as "ref", or that of a further device of
 * one, such as "vulkan:2" (docs/BACKENDS.md); `options` may be NULL. An
 * executable may be dispatched from several threads at once. */
VYRE_API vyre_status vyre_compile(vyre_program *program, const char *backend,
                                  const vyre_compile_options *options, vyre_executable **out,
                                  vyre_error *error);
VYRE_API void vyre_executable_release(vyre_executable *executable);
VYRE_API const char *vyre_executable_backend(const vyre_executable *executable); /* its id */
/* `report` may be NULL. Buffers that the program writes must not overlap any other. */
VYRE_API vyre_status vyre_dispatch(vyre_executable *executable, const vyre_dispatch_args *args,
                                   vyre_report *report, vyre_error *error);

/* ---- checking ----------------------------------------------------------------------------------
 */

/* What is silent or unspecified by design, made visible: docs/CHECKING.md. */
typedef enum vyre_finding_kind {
  VYRE_FINDING_BOUNDS = 0, /* an access outside of a buffer or an array */
  VYRE_FINDING_RACE,       /* two invocations use an element and no barrier orders them */
  VYRE_FINDING_UNSET,      /* OpenCL C: an element is read that nobody wrote */
  VYRE_FINDING_BARRIER,    /* a barrier was not reached by the whole workgroup */
  VYRE_FINDING_DIVISION,   /* an integer was divided by zero */
  VYRE_FINDING_KINDS
} vyre_finding_kind;

VYRE_API const char *vyre_finding_name(vyre_finding_kind kind); /* "bounds", "race", ... */

/* One place in a program, and the first time that it happened there. Strings are the caller's only
 * while a finding is visited. */
typedef struct vyre_finding {
  vyre_finding_kind kind;
  uint64_t count; /* how often; of races, for how many elements */
  const char *program, *region;
  const char *file;       /* of the source; NULL: unknown */
  uint32_t line, column;  /* from 1; 0: unknown */
  const char *operation;  /* "load", "store", "atomic_add", "div", "barrier", ... */
  const char *memory;     /* the buffer or array; NULL: there is none */
  int64_t index;          /* of the element */
  uint64_t length;        /* of the buffer or array */
  uint64_t invocation[3]; /* its global id */
  const char *other;      /* of a race: the earlier operation; else NULL */
  uint32_t other_line;    /* and where it is, or the other barrier; 0: unknown */
  uint64_t other_invocation[3];
  char text[400]; /* all of it for people, with what to do */
} vyre_finding;

typedef struct vyre_check_options {
  const char *backend; /* where the program runs. NULL or "ref": everything is looked for. Others
                          look for accesses outside and divisions by zero, at their own speed. */
  uint32_t most;       /* places of each kind that are visited; 0: 10 */
  void (*found)(void *data, const vyre_finding *finding); /* may be NULL */
  void *data;
} vyre_check_options;

/* Runs a program once, as a dispatch does, and tells what was found when it is over. `counts` has
 * one number per kind, how often it was found in all; it and `options` may be NULL. Findings are no
 * error; a barrier that not all reach is one, as in every dispatch, after it was told.
 *
 * With VYRE_CHECK=1 in the environment, every vyre_dispatch and vyre_kernel_dispatch runs like
 * this on the reference, and with VYRE_CHECK=bounds on the CPU; what is found goes to the notice of
 * the runtime, else to standard error: nobody else has an ear for it. */
VYRE_API vyre_status vyre_check_dispatch(vyre_program *program, const vyre_dispatch_args *args,
                                         const vyre_check_options *options,
                                         uint64_t counts[VYRE_FINDING_KINDS], vyre_report *report,
                                         vyre_error *error);

VYRE_API uint32_t vyre_backend_count(void);
VYRE_API const char *vyre_backend_name(uint32_t index); /* NULL past the end */

typedef struct vyre_device {
  char adapter[128];     /* stable name, safe in a file name: device, driver, compiler version */
  char description[256]; /* for people */
  uint64_t memory_bytes;
  uint32_t compute_units;
  uint32_t max_workgroup;
  bool has_f64;
  bool has_i64;
  bool has_i64_atomics;
  char unusable[128]; /* why it cannot be used; empty when it can */
} vyre_device;

/* Fills up to `capacity` devices and sets *count. When the backend cannot be used here, returns
 * an error that says why. */
VYRE_API vyre_status vyre_backend_devices(const char *backend, vyre_device *devices,
                                          uint32_t capacity, uint32_t *count, vyre_error *error);

/* ---- the runtime ----------------------------------------------------------------------------- */

/* Where programs run for good: each dispatch is measured, and from the measurements it is decided
 * which backend runs a program, with which launch shape, through which passes, and which
 * specialised variant is compiled before it is needed. The first dispatch compiles quickly; better
 * variants are compiled in the background, compared with the first one's output on the caller's own
 * data, and swapped in. What was learned is kept for the next process (docs/PROFILE.md). All calls
 * may be made from any thread; a kernel is freed before its runtime. A runtime, and what belongs to
 * it, stays with the process that made it: in a child of fork() its calls return an error, freeing
 * does nothing, and a new one can be made (docs/TRUST.md). */
typedef struct vyre_runtime vyre_runtime;
typedef struct vyre_kernel vyre_kernel;         /* a program loaded into a runtime */
typedef struct vyre_completion vyre_completion; /* a dispatch that is under way */

typedef struct vyre_runtime_options {
  const char *backend;  /* run everything on this one; NULL: routed */
  const char *without;  /* never use this one; NULL: all may be used */
  bool no_learning;     /* stay with the first variant; nothing runs in the background */
  bool no_store;        /* read and write no file */
  bool specialise;      /* compile variants with parameters and lengths as constants */
  uint32_t learn_after; /* dispatches of a size class before it is worth learning; 0: 16, or hot */
  /* Told once about each thing that goes wrong without stopping the work; may be NULL. Called from
   * any thread, with the default floating-point environment. */
  void (*notice)(void *context, const char *message);
  void *notice_context;
} vyre_runtime_options;

/* `options` may be NULL. */
VYRE_API vyre_status vyre_runtime_new(const vyre_runtime_options *options, vyre_runtime **out,
                                      vyre_error *error);
/* Waits for background work that has begun, and saves what was learned. */
VYRE_API void vyre_runtime_free(vyre_runtime *runtime);
/* Waits until nothing is being learned; for tools and tests. */
VYRE_API void vyre_runtime_settle(vyre_runtime *runtime);

VYRE_API vyre_status vyre_runtime_load(vyre_runtime *runtime, vyre_program *program,
                                       vyre_kernel **out, vyre_error *error);
VYRE_API void vyre_kernel_free(vyre_kernel *kernel);
VYRE_API vyre_status vyre_kernel_dispatch(vyre_kernel *kernel, const vyre_dispatch_args *args,
                                          vyre_report *report, vyre_error *error);
/* Starts a dispatch. Submitted dispatches run in their order, on a thread of the runtime. What the
 * spans point to must stay until vyre_completion_wait, which also frees the completion; it is
 * waited for before its runtime is freed. */
VYRE_API vyre_status vyre_kernel_submit(vyre_kernel *kernel, const vyre_dispatch_args *args,
                                        vyre_completion **out, vyre_error *error);
VYRE_API bool vyre_completion_is_done(const vyre_completion *completion);
VYRE_API vyre_status vyre_completion_wait(vyre_completion *completion, vyre_error *error);
/* Memory that a runtime owns, zeroed at first. A device with memory of its own keeps what it worked
 * on there: it is copied when another device, or vyre_buffer_read, needs it, and not before; and
 * the choice of a device counts what would have to be copied. A buffer is freed before its runtime,
 * and not used by two calls at once when one of them writes it. */
VYRE_API vyre_status vyre_buffer_new(vyre_runtime *runtime, size_t size_bytes, vyre_buffer **out,
                                     vyre_error *error);
VYRE_API void vyre_buffer_free(vyre_buffer *buffer);
VYRE_API vyre_status vyre_buffer_write(vyre_buffer *buffer, size_t offset, const void *data,
                                       size_t size_bytes, vyre_error *error);
VYRE_API vyre_status vyre_buffer_read(vyre_buffer *buffer, size_t offset, void *data,
                                      size_t size_bytes, vyre_error *error);

/* A runtime on all ranks of an MPI communicator (MPI_Comm_c2f of it; docs/CLUSTER.md): kernels and
 * buffers are used as those of any other, every rank makes the same calls in the same order, and
 * the answer has the bits that one rank gives. Each rank runs a part of every grid on its own CPU,
 * and gets what that reads from those that have it. Dispatches take their buffers as handles.
 * vyre_buffer_write takes from each rank the bytes that it has and vyre_buffer_read gives each rank
 * the bytes that it wants: offset and size may differ from rank to rank, 0 bytes are none, and
 * where two ranks write the same bytes those of the lower one count. All calls, freeing buffers and
 * kernels apart, are collective, and made by one thread at a time. Needs libvyre-mpi.so. */
#define VYRE_CLUSTER_WORLD INT32_MIN /* MPI_COMM_WORLD; MPI is started, and ended, if need be */
VYRE_API vyre_status vyre_cluster_new(int32_t communicator, const vyre_runtime_options *options,
                                      vyre_runtime **out, vyre_error *error);
VYRE_API uint32_t vyre_cluster_rank(const vyre_runtime *runtime); /* 0 for any other runtime */
VYRE_API uint32_t vyre_cluster_size(const vyre_runtime *runtime); /* 1 for any other runtime */

/* What buffers hold, in files of a folder, to go on from later (docs/CLUSTER.md). In a cluster these
 * are collective calls: each rank writes its part, and any number of ranks, or a runtime of one
 * process, can load it. The folder holds the checkpoint before or this one, also when a rank is
 * killed or a disk is full; it is made where it is not there, and is for one checkpoint. */
typedef struct vyre_checkpoint_buffer {
  const char *name; /* by which it is found again; UTF-8, at most 255 bytes */
  vyre_buffer *buffer;
} vyre_checkpoint_buffer;
/* `label` says what it belongs to, such as a program and its parameters, and has to be the same when
 * it is loaded; NULL is "". `step` is the caller's. */
VYRE_API vyre_status vyre_checkpoint_save(vyre_runtime *runtime, const char *folder,
                                          const char *label, uint64_t step,
                                          const vyre_checkpoint_buffer *buffers, uint32_t count,
                                          vyre_error *error);
/* The same buffers by name and size, in any order. All is checked before a buffer is changed: what is
 * missing, cut off, changed or of something else is an error, and the buffers are as they were. Where
 * files change while they are read, that is an error too, and what the buffers hold is unspecified.
 * `step` may be NULL. */
VYRE_API vyre_status vyre_checkpoint_load(vyre_runtime *runtime, const char *folder,
                                          const char *label, uint64_t *step,
                                          const vyre_checkpoint_buffer *buffers, uint32_t count,
                                          vyre_error *error);

/* What was decided for this kernel and why, for people. Freed with vyre_free. */
VYRE_API vyre_status vyre_kernel_explain(vyre_kernel *kernel, char **out, vyre_error *error);

#ifdef __cplusplus
}
#endif

#endif
