// SPDX-License-Identifier: MIT
//
// Programs. Building one preprocesses and reads its source, so that mistakes are told then; what
// runs is made at an enqueue, when the launch is known (variant.h). While kernels of a program
// exist it is not built again, so its code is constant for them.
#ifndef VYRE_ICD_PROGRAM_H
#define VYRE_ICD_PROGRAM_H

#include "icd/context.h"
#include "icd/object.h"

#include <vyre/vyre.h>

typedef struct program_global { // a variable in global memory, which programs keep
  struct program_global *next;
  char *name;
  void *data;
  size_t size;
} program_global;

typedef struct program_entry { // a kernel
  const vyre_source_entry *about;
  pthread_mutex_t lock; // of the variants
  struct variant *variants;
  bool is_checked; // the next one is known
  bool is_refused; // no program can be made of it, and the log says why
} program_entry;

typedef enum program_form {
  PROGRAM_SOURCE, // only the client's text
  PROGRAM_OBJECT, // compiled: preprocessed
  PROGRAM_LIBRARY,
  PROGRAM_EXECUTABLE
} program_form;

struct _cl_program {
  object base;
  cl_context context; // held
  char *source;       // the client's; NULL when made from binaries or by linking
  size_t source_size;
  program_form form;
  bool is_binary; // made from binaries: `text` is what they had
  pthread_mutex_t lock;

  cl_build_status status;
  char *options; // of the last build, as they were given; never NULL once built
  char *log;     // NULL: empty
  char *text;    // preprocessed
  size_t text_size;
  char *flags;             // what is left of the options for reading `text`
  vyre_source_entry *list; // of an executable
  program_entry *entries;
  uint32_t entry_count;
  program_global *globals;
  atomic_uint kernel_count;
};

// Whether no program can be made of a kernel, which is found out at the latest now; then the log
// says why. Takes the program's lock.
bool program_refuses(cl_program p, program_entry *entry);
void program_fini(void *program);
cl_program program_make(cl_context context); // NULL when out of memory
// Replaces what was built by nothing.
void program_clear(cl_program p);
// Lists the entries of `text`; an error goes to the log. What no program can be made of is found
// here where the text is short, so that it fails its build instead of its first enqueue.
cl_int program_read(cl_program p);
void program_log_error(cl_program p, const vyre_error *error);
// The memory of a variable in global memory; NULL when out of memory.
void *program_global_data(cl_program p, const char *name, size_t size);

// ---- binary.c: what the client keeps of a program -----------------------------------------------

// malloc'ed; NULL when out of memory.
void *program_encode(cl_program p, size_t *size);
// False when the bytes are no program, or damaged.
bool program_decode(cl_program p, const void *bytes, size_t size);
size_t program_encoded_size(cl_program p);

// ---- link.c: several texts as one ---------------------------------------------------------------

cl_int program_link(cl_program p, cl_uint count, const cl_program *inputs);

// ---- options.c: what a build is asked for -------------------------------------------------------

typedef struct build_options {
  char *preprocess; // all that the frontend takes
  char *read;       // without -D, -U and -I
  bool is_library;
} build_options;

// CL_INVALID_BUILD_OPTIONS, or CL_INVALID_LINKER_OPTIONS of a link, or CL_OUT_OF_HOST_MEMORY.
cl_int build_options_read(const char *text, bool is_link, build_options *out);
void build_options_free(build_options *o);

#endif
