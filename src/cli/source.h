// SPDX-License-Identifier: MIT
//
// What the words of a command line say about a source: its language, build options (-DN=4, -Idir,
// -cl-...), sizes of local memory (NAME=local:BYTES), formats of images and samplers
// (NAME=image:rgba_f32, NAME=sampler:linear), and the launch. Words are borrowed;
// source_words_free releases the rest. One thread.
#ifndef VYRE_CLI_SOURCE_H
#define VYRE_CLI_SOURCE_H

#include <vyre/vyre.h>

#include "base/strbuf.h"
#include "base/vec.h"
#include "cli/args.h"

typedef struct source_words {
  const char *language; // NULL: as the source says itself
  strbuf build;
  vec(vyre_source_local) locals;
  vec(vyre_source_format) formats;
  uint32_t workgroup[3]; // zeros: as the kernel says
  uint32_t rank;         // of --grid; 0: as the kernel uses
  bool failed;           // out of memory
} source_words;

// What a command that only reads sources takes: words of ARGS_BUILD, --language and --workgroup
// (SOURCE_OPTIONS), what arguments are. *ok is false when a value is wrong, and that was said.
enum { SOURCE_WORKGROUP = 'W', SOURCE_LANGUAGE = 'Y' };
// For a command that has a --workgroup of its own.
#define SOURCE_LANGUAGE_OPTION                                                                     \
  { SOURCE_LANGUAGE, "language", "text, wire, opencl, ..." }
#define SOURCE_OPTIONS                                                                             \
  {SOURCE_WORKGROUP, "workgroup", "extents such as 64,1,1"}, SOURCE_LANGUAGE_OPTION
// Of their help, the part about these.
#define SOURCE_HELP                                                                                \
  "of the source:\n"                                                                               \
  "      --language NAME         where FILE's name does not say: text, wire, opencl\n"             \
  "  -DNAME=VALUE -Idir          of the text form: the value of a tunable, where files are "       \
  "included\n"                                                                                     \
  "of OpenCL C:\n"                                                                                 \
  "  -DNAME=VALUE -Idir -cl-...  options of its compiler\n"                                        \
  "  NAME=local:BYTES            room for an argument in local memory\n"                           \
  "  NAME=image:FORMAT           how the pixels of an image are stored: rgba_f32, r_u8, ...\n"     \
  "  NAME=sampler:WORDS          an argument that is a sampler: linear:repeat:normalized, ...\n"   \
  "  --workgroup X[,Y[,Z]]       the workgroup, where the kernel does not say\n"
bool source_take(source_words *w, const args *a, int letter, bool *ok);
// A word that begins with -D, -U, -I or -cl-, or that follows one.
void source_add_option(source_words *w, const char *word);
// Takes NAME=local:BYTES, NAME=image:FORMAT and NAME=sampler:WORDS, and cuts the word at its `=`;
// false when it is another word.
bool source_take_argument(source_words *w, char *word);
void source_words_free(source_words *w);

// `words` may be NULL, and `entry` when the source has only one.
vyre_status source_each(const char *language, const char *text, size_t size, const char *path,
                        const source_words *words,
                        void (*visit)(void *data, const vyre_source_result *result), void *data,
                        vyre_error *error);
// As vyre_source_check.
vyre_status source_check(const char *language, const char *text, size_t size, const char *path,
                         const source_words *words,
                         void (*mistake)(void *data, const vyre_error *mistake), void *data,
                         vyre_error *error);
vyre_status source_load(const char *language, const char *text, size_t size, const char *path,
                        const char *entry, const source_words *words, vyre_program **out,
                        vyre_error *error);
// The record of a language; one without a name when there is none.
vyre_language_info source_language(const char *name);

#endif
