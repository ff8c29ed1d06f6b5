// SPDX-License-Identifier: MIT
//
// ptx_bundle: the PTX of many programs in few files, for assemblers that take longer to start than
// to work. Kernels and shared arrays get names of their own; everything else of a kernel is its own
// already. Programs are those of the named files (every entry of each) and random ones.
//
//   ptx_bundle FOLDER [--random N] [--seed S] [--per K] [FILE ...]
//
// writes FOLDER/NAME-0.ptx, ... and prints how many programs are in them, and what was declined.
#include "backend/cuda/codegen.h"
#include "base/error.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "cli/load.h"
#include "conform/generate.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char head[] = ".version 6.3\n.target sm_75\n.address_size 64\n"
                           ".extern .shared .align 16 .b8 vyre_launch_shared[];\n";

typedef struct bundle {
  const char *folder, *name;
  strbuf text;
  uint32_t files, inside, per; // programs of the present file, and at most
  uint32_t all, declined, failed;
} bundle;

static void write_out(bundle *b) {
  char path[4000];
  vyre_error error = {0};
  if (!b->inside) return;
  snprintf(path, sizeof path, "%s/%s-%u.ptx", b->folder, b->name, b->files++);
  if (b->text.failed || file_replace(path, b->text.at, b->text.size, &error) != VYRE_OK) {
    fprintf(stderr, "%s: %s\n", path, error.message);
    b->failed++;
  }
  strbuf_fini(&b->text);
  b->text = (strbuf){0};
  b->inside = 0;
}

static bool begins(const char *line, const char *with) {
  return !strncmp(line, with, strlen(with));
}

// A line with its names made this program's; those of the head are left out.
static void add_line(bundle *b, const char *line, size_t size) {
  static const char own[] = "vyre_", shared[] = "vyre_launch_shared";
  if (begins(line, "//") || begins(line, ".version") || begins(line, ".target") ||
      begins(line, ".address_size") || begins(line, ".extern"))
    return;
  for (size_t i = 0; i < size;) {
    if (begins(line + i, own) && !begins(line + i, shared)) {
      strbuf_printf(&b->text, "p%u_", b->all);
      strbuf_puts(&b->text, own);
      i += sizeof own - 1;
    } else {
      strbuf_putc(&b->text, line[i++]);
    }
  }
  strbuf_putc(&b->text, '\n');
}

static void add_program(bundle *b, const vyre_program *p, const char *what) {
  vyre_error error = {0};
  cuda_code code;
  cuda_options options = {.is_polled = b->all % 5 == 4}; // some of them
  vyre_status status = cuda_generate(p, &options, &code, &error);
  if (status != VYRE_OK) {
    bool is_declined = status == VYRE_ERROR_UNSUPPORTED;
    b->declined += is_declined;
    b->failed += !is_declined;
    if (!is_declined) fprintf(stderr, "%s: %s\n", what, error.message);
    return;
  }
  if (!b->inside) strbuf_puts(&b->text, head);
  strbuf_printf(&b->text, "// p%u: %s\n", b->all, what);
  for (const char *at = code.ptx; *at;) {
    size_t size = strcspn(at, "\n");
    add_line(b, at, size);
    at += size + (at[size] == '\n');
  }
  cuda_code_free(&code);
  b->all++;
  if (++b->inside == b->per) write_out(b);
}

typedef struct visit {
  bundle *b;
  const char *path;
} visit;

static void visit_entry(void *data, const vyre_source_result *r) {
  visit *v = data;
  char what[600];
  snprintf(what, sizeof what, "%s:%s", v->path, r->entry ? r->entry : "");
  if (r->program) add_program(v->b, r->program, what);
}

// Tests of mistakes have sources that are none: they are left out.
static void add_file(bundle *b, const char *path) {
  char *source = NULL;
  size_t size = 0;
  visit v = {b, path};
  vyre_language_info language = load_language(path, NULL);
  if (file_read(path, (size_t)1 << 26, &source, &size, NULL) == VYRE_OK)
    vyre_source_each(language.name, source, size, path, NULL, visit_entry, &v, NULL);
  free(source);
}

static void add_random(bundle *b, uint64_t seed, uint64_t count) {
  char what[60];
  for (uint64_t i = 0; i < count; i++) {
    generate_options o = {.seed = seed + i, .with_math = i % 4 == 0, .only_provable = true};
    trial t;
    snprintf(what, sizeof what, "seed %" PRIu64, o.seed);
    if (generate_trial(&o, &t, NULL) != VYRE_OK) continue;
    add_program(b, t.program, what);
    trial_fini(&t);
  }
}

int main(int argc, char **argv) {
  static const struct option options[] = {{"random", required_argument, NULL, 'r'},
                                          {"seed", required_argument, NULL, 's'},
                                          {"per", required_argument, NULL, 'p'},
                                          {"name", required_argument, NULL, 'n'},
                                          {0}};
  bundle b = {.name = "programs", .per = 100};
  uint64_t random = 0, seed = 0;
  for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    if (c == 'r')
      random = strtoull(optarg, NULL, 10);
    else if (c == 's')
      seed = strtoull(optarg, NULL, 10);
    else if (c == 'p')
      b.per = (uint32_t)strtoul(optarg, NULL, 10);
    else if (c == 'n')
      b.name = optarg;
    else
      return 2;
  }
  if (optind >= argc || !b.per) {
    fprintf(stderr, "usage: ptx_bundle FOLDER [--random N] [--seed S] [--per K] [--name NAME] "
                    "[FILE ...]\n");
    return 2;
  }
  b.folder = argv[optind++];
  for (; optind < argc; optind++) add_file(&b, argv[optind]);
  add_random(&b, seed, random);
  write_out(&b);
  printf("%u programs in %u files, %u declined, %u failed\n", b.all, b.files, b.declined, b.failed);
  return b.failed ? 1 : 0;
}
