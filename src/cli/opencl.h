// SPDX-License-Identifier: MIT
//
// What the words of a command line say about an OpenCL C source: build options (-DN=4, -Idir,
// -cl-...), sizes of local memory (NAME=local:BYTES), and the launch. Words are borrowed;
// opencl_free releases the rest. One thread.
#ifndef VYRE_CLI_OPENCL_H
#define VYRE_CLI_OPENCL_H

#include <vyre/vyre.h>

#include "base/strbuf.h"
#include "base/vec.h"
#include "cli/args.h"

typedef struct opencl_words {
  strbuf build;
  vec(vyre_opencl_local) locals;
  uint32_t workgroup[3]; // zeros: as the kernel says
  uint32_t rank;         // of --grid; 0: as the kernel uses
  bool failed;           // out of memory
} opencl_words;

// What a command that only reads kernels takes: words of ARGS_BUILD, --workgroup under the letter
// OPENCL_WORKGROUP, sizes of local memory. *ok is false when a value is wrong, and that was said.
enum { OPENCL_WORKGROUP = 'W' };
#define OPENCL_WORKGROUP_OPTION                                                                    \
  { OPENCL_WORKGROUP, "workgroup", "extents such as 64,1,1" }
// Of their help, the part about these.
#define OPENCL_HELP                                                                                \
  "of OpenCL C:\n"                                                                                 \
  "  -DNAME=VALUE -Idir -cl-...  options of its compiler\n"                                        \
  "  NAME=local:BYTES            room for an argument in local memory\n"                           \
  "  --workgroup X[,Y[,Z]]       the workgroup, where the kernel does not say\n"
bool opencl_take(opencl_words *w, const args *a, int letter, bool *ok);
// A word that begins with -D, -U, -I or -cl-, or that follows one.
void opencl_add_option(opencl_words *w, const char *word);
// Takes NAME=local:BYTES, and cuts the word at its `=`; false when it is another word.
bool opencl_take_local(opencl_words *w, char *word);
void opencl_free(opencl_words *w);

vyre_status opencl_kernels(const char *text, size_t size, const char *path,
                           const opencl_words *words, vyre_opencl_kernel **out, uint32_t *count,
                           vyre_error *error);
// `words` may be NULL, and `entry` when the file has only one kernel.
vyre_status opencl_load(const char *text, size_t size, const char *path, const char *entry,
                        const opencl_words *words, vyre_program **out, vyre_error *error);

#endif
