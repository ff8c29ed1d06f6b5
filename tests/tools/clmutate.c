// SPDX-License-Identifier: MIT
//
// clmutate: feeds mutated kernels to the frontend, each in a process of its own. What comes out
// must be an error with a fix, or a program that prints, parses back to the same text and runs
// within its fuel. A process that dies is a failure, unless clang-19 alone dies of the same source.
//
//   clmutate [--count N] [--seed N] [--save FOLDER] FILE.cl ...
//
// Mutations keep the source likely to compile: a word is replaced by another of its kind (type,
// operator, number, name, function), lines are removed, repeated and exchanged.
#include <vyre/vyre.h>

#include "base/file.h"
#include "base/vec.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MOST_FILES = 256, SECONDS = 60, MOST_BYTES = 1 << 20, ELEMENTS = 256 };
enum { SAID_PROGRAM = 10, SAID_ERROR = 11, SAID_CLANG_CRASHED = 12, SAID_BAD = 13 };

static uint64_t state = 1;

static uint64_t next_random(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state * 0x2545f4914f6cdd1du;
}

static size_t below(size_t n) {
  return n ? (size_t)(next_random() >> 33) % n : 0;
}

// ---- words --------------------------------------------------------------------------------------

typedef enum word_kind { BLANK, NAME, TYPE, NUMBER, OPERATOR, FUNCTION, OTHER } word_kind;

typedef struct word {
  const char *at;
  size_t size;
  word_kind kind;
} word;

typedef struct text {
  vec(word) words;
} text;

static const char *const types[] = {"int",   "uint",   "float",  "double", "char",  "uchar",
                                    "short", "ushort", "long",   "ulong",  "bool",  "size_t",
                                    "int2",  "float4", "float3", "uint4",  "char4", "float8",
                                    "local", "global", "const",  "private"};
static const char *const operators[] = {"+",  "-",  "*", "/", "%",  "&",  "|",  "^", "<<", ">>",
                                        "&&", "||", "<", ">", "<=", "==", "!=", "=", "+=", "-=",
                                        "*=", "?",  ":", ",", ".",  "->", "!",  "~", "++", "--"};
static const char *const functions[] = {
    "get_global_id", "get_local_id", "barrier",     "min",
    "max",           "clamp",        "fma",         "sqrt",
    "select",        "rotate",       "as_int",      "as_uint",
    "dot",           "vload4",       "convert_int", "atomic_add",
    "mad",           "any",          "length",      "sin",
    "pow",           "as_float4",    "printf",      "abs",
    "upsample",      "fract",        "remquo",      "convert_uchar_sat"};
static const char *const numbers[] = {"0",          "1",           "-1",      "2.5f", "1e30f",
                                      "0x7fffffff", "4294967295u", "0.1",     "64",   "1L",
                                      "'a'",        "100000",      "3.0e-40f"};

#define COUNT(list) (sizeof list / sizeof *list)

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool is_one_of(const char *const *list, size_t count, const char *at, size_t size) {
  for (size_t i = 0; i < count; i++)
    if (strlen(list[i]) == size && !memcmp(list[i], at, size)) return true;
  return false;
}

static word read_word(const char *p, const char *end) {
  const char *at = p;
  if (is_letter(*p)) {
    while (p < end && (is_letter(*p) || is_digit(*p))) p++;
    const char *q = p;
    while (q < end && *q == ' ') q++;
    bool is_type = is_one_of(types, COUNT(types), at, (size_t)(p - at));
    return (word){at, (size_t)(p - at), is_type ? TYPE : q < end && *q == '(' ? FUNCTION : NAME};
  }
  if (is_digit(*p)) {
    while (p < end && (is_letter(*p) || is_digit(*p) || *p == '.')) p++;
    return (word){at, (size_t)(p - at), NUMBER};
  }
  for (size_t size = 2; size > 0; size--)
    if ((size_t)(end - p) >= size && is_one_of(operators, COUNT(operators), p, size))
      return (word){at, size, OPERATOR};
  return (word){at, 1, *p == ' ' || *p == '\n' ? BLANK : OTHER};
}

static void cut(text *t, const char *source, size_t size) {
  t->words.count = 0;
  const char *end = source + size;
  for (const char *p = source; p < end;) {
    if (p + 1 < end && p[0] == '/' && p[1] == '/') { // comments say what to expect of the original
      while (p < end && *p != '\n') p++;
      continue;
    }
    word w = read_word(p, end);
    vec_push(&t->words, w);
    p += w.size;
  }
}

static word of_string(const char *s, word_kind kind) {
  return (word){s, strlen(s), kind};
}

static word other_of_kind(const text *t, word_kind kind) {
  size_t dice = below(3);
  if (kind == TYPE && dice) return of_string(types[below(COUNT(types))], TYPE);
  if (kind == OPERATOR && dice) return of_string(operators[below(COUNT(operators))], OPERATOR);
  if (kind == NUMBER && dice) return of_string(numbers[below(COUNT(numbers))], NUMBER);
  if (kind == FUNCTION && dice == 1) return of_string(functions[below(COUNT(functions))], FUNCTION);
  for (int tries = 0; tries < 100; tries++) {
    word w = t->words.at[below(t->words.count)];
    if (w.kind == kind) return w;
  }
  return of_string("0", NUMBER);
}

// ---- mutations ----------------------------------------------------------------------------------

static size_t line_begin(const text *t, size_t i) {
  while (i > 0 && *t->words.at[i - 1].at != '\n') i--;
  return i;
}

static size_t line_end(const text *t, size_t i) {
  while (i < t->words.count && *t->words.at[i].at != '\n') i++;
  return i < t->words.count ? i + 1 : i;
}

static void remove_words(text *t, size_t first, size_t end) {
  memmove(t->words.at + first, t->words.at + end, (t->words.count - end) * sizeof(word));
  t->words.count -= end - first;
}

static void insert_words(text *t, size_t at, const word *words, size_t count) {
  word *copy = malloc((count + 1) * sizeof *copy);
  if (!copy || !vec_reserve(&t->words, count)) exit(2);
  memcpy(copy, words, count * sizeof *copy);
  memmove(t->words.at + at + count, t->words.at + at, (t->words.count - at) * sizeof(word));
  memcpy(t->words.at + at, copy, count * sizeof *copy);
  t->words.count += count;
  free(copy);
}

static void mutate(text *t, const text *donor) {
  size_t i = below(t->words.count);
  size_t first = line_begin(t, i), end = line_end(t, i);
  switch (below(12)) {
  case 0: remove_words(t, first, end); return;
  case 1:
    insert_words(t, line_begin(t, below(t->words.count)), t->words.at + first, end - first);
    return;
  case 2: {
    size_t k = below(donor->words.count), from = line_begin(donor, k), to = line_end(donor, k);
    insert_words(t, first, donor->words.at + from, to - from);
    return;
  }
  case 3: remove_words(t, i, i + 1); return;
  default:
    for (int tries = 0; tries < 50; tries++) {
      word *w = &t->words.at[below(t->words.count)];
      if (w->kind == BLANK || w->kind == OTHER) continue;
      *w = other_of_kind(below(4) ? t : donor, w->kind);
      return;
    }
  }
}

static char *join(const text *t, size_t *size) {
  size_t total = 0;
  for (size_t i = 0; i < t->words.count; i++) total += t->words.at[i].size + 1;
  char *made = malloc(total + 1), *at = made;
  if (!made) exit(2);
  for (size_t i = 0; i < t->words.count; i++) {
    const word *w = &t->words.at[i];
    memcpy(at, w->at, w->size);
    at += w->size;
    bool glues = i + 1 < t->words.count && w->kind != BLANK && w->kind != OTHER &&
                 t->words.at[i + 1].kind != BLANK && t->words.at[i + 1].kind != OTHER;
    if (glues && w->kind != OPERATOR && t->words.at[i + 1].kind != OPERATOR) *at++ = ' ';
  }
  *at = 0;
  *size = (size_t)(at - made);
  return made;
}

// ---- one try, in a child ------------------------------------------------------------------------

// Prints the program, reads it back, prints again.
static bool survives_text(vyre_program *program) {
  char *text = NULL, *again = NULL;
  size_t size, again_size;
  vyre_program *back = NULL;
  vyre_error error;
  bool ok = !vyre_program_print(program, &text, &size, &error) &&
            !vyre_program_parse(text, size, "printed", &back, &error) &&
            !vyre_program_print(back, &again, &again_size, &error) && size == again_size &&
            !memcmp(text, again, size);
  if (!ok) fprintf(stderr, "the program does not survive its text: %s\n", error.message);
  vyre_free(text);
  vyre_free(again);
  vyre_program_release(back);
  return ok;
}

static void run_briefly(vyre_program *program) {
  static unsigned char memory[128][ELEMENTS * 8];
  vyre_scalar params[256];
  vyre_span spans[128];
  uint32_t param_count = vyre_program_param_count(program), span_count = 0;
  for (uint32_t i = 0; i < param_count; i++) {
    vyre_param_info info = vyre_program_param(program, i);
    params[i] = (vyre_scalar){info.type, !strncmp(info.name, "grid_", 5) ? 64 : 3};
  }
  for (uint32_t i = 0; i < vyre_program_buffer_count(program); i++)
    if (!vyre_program_buffer(program, i).is_transient)
      spans[span_count] = (vyre_span){memory[span_count], sizeof memory[0]}, span_count++;
  vyre_dispatch_args args = {.params = params,
                             .param_count = param_count,
                             .buffers = spans,
                             .buffer_count = span_count,
                             .timeout_ns = 5000000000u,
                             .fuel = 300000};
  vyre_executable *executable;
  vyre_error error;
  if (vyre_compile(program, "ref", NULL, &executable, &error) != VYRE_OK) return;
  vyre_dispatch(executable, &args, NULL, &error); // may run out of fuel, must not die
  vyre_executable_release(executable);
}

static int try_source(const char *text, size_t size) {
  vyre_error error = {0};
  vyre_source_entry *kernels = NULL;
  uint32_t count = 0;
  vyre_status status =
      vyre_source_entries("opencl", text, size, "mutated.cl", "", &kernels, &count, &error);
  int said = SAID_ERROR;
  for (uint32_t i = 0; i < count && status == VYRE_OK; i++) {
    vyre_source_local locals[32];
    vyre_source_options options = {.entry = kernels[i].name, .locals = locals};
    for (uint32_t a = 0; a < kernels[i].arg_count && options.local_count < 32; a++)
      if (kernels[i].args[a].space == VYRE_SPACE_LOCAL)
        locals[options.local_count++] = (vyre_source_local){kernels[i].args[a].name, 1024};
    vyre_program *program = NULL;
    vyre_status one =
        vyre_program_from("opencl", text, size, "mutated.cl", &options, &program, &error);
    if (one == VYRE_OK) {
      said = survives_text(program) ? SAID_PROGRAM : SAID_BAD;
      run_briefly(program);
      vyre_program_release(program);
    }
    if (said == SAID_BAD) break;
    if (one != VYRE_OK) status = one;
  }
  vyre_free(kernels);
  if (status == VYRE_OK || said == SAID_BAD) return said;
  if (strstr(error.message, "libclang crashed")) return SAID_CLANG_CRASHED;
  if (strstr(error.message, "Fix: ")) return SAID_ERROR;
  fprintf(stderr, "an error without a fix: %s\n", error.message);
  return SAID_BAD;
}

// How the child ended: what it said, or minus the signal.
static int run_child(const char *text, size_t size) {
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    alarm(SECONDS);
    _exit(try_source(text, size));
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0) return SAID_BAD;
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static bool clang_dies(const char *path) {
  const char *args[] = {"clang-19", "-fsyntax-only",          "-w", "-x", "cl", "-cl-std=CL1.2",
                        "-target",  "spir64-unknown-unknown", path, NULL};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  pid_t child;
  int status = 0;
  if (!posix_spawnp(&child, args[0], &actions, NULL, (char *const *)args, environ))
    waitpid(child, &status, 0);
  posix_spawn_file_actions_destroy(&actions);
  return WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) > 2);
}

// ---- all ----------------------------------------------------------------------------------------

typedef struct totals {
  int programs, errors, clang_crashes, failures;
} totals;

static void judge(const char *source, size_t size, const char *folder, int number, totals *t) {
  int said = run_child(source, size);
  if (said == SAID_PROGRAM) t->programs++;
  if (said == SAID_ERROR) t->errors++;
  if (said == SAID_CLANG_CRASHED) t->clang_crashes++;
  if (said >= SAID_PROGRAM && said <= SAID_CLANG_CRASHED) return;
  char path[500];
  vyre_error error;
  snprintf(path, sizeof path, "%s/mutated-%d.cl", folder, number);
  if (file_replace(path, source, size, &error) != VYRE_OK) fprintf(stderr, "%s\n", error.message);
  if (said < 0 && clang_dies(path)) {
    t->clang_crashes++;
    unlink(path);
    return;
  }
  t->failures++;
  printf("%s: %s %d\n", path, said < 0 ? "died of signal" : "ended with", said < 0 ? -said : said);
}

int main(int argc, char **argv) {
  int count = 50, file_count = 0;
  const char *folder = "/tmp";
  char *sources[MOST_FILES];
  size_t sizes[MOST_FILES];
  for (int i = 1; i < argc; i++) {
    vyre_error error;
    if (!strcmp(argv[i], "--count") && i + 1 < argc)
      count = atoi(argv[++i]);
    else if (!strcmp(argv[i], "--seed") && i + 1 < argc)
      state = strtoull(argv[++i], NULL, 0) * 2 + 1;
    else if (!strcmp(argv[i], "--save") && i + 1 < argc)
      folder = argv[++i];
    else if (file_count == MOST_FILES ||
             file_read(argv[i], MOST_BYTES, &sources[file_count], &sizes[file_count], &error))
      fprintf(stderr, "cannot read %s\n", argv[i]);
    else
      file_count++;
  }
  if (!file_count) return 2;
  totals t = {0};
  text mine = {0}, donor = {0};
  for (int i = 0; i < count; i++) {
    size_t a = below((size_t)file_count), b = below((size_t)file_count);
    cut(&mine, sources[a], sizes[a]);
    cut(&donor, sources[b], sizes[b]);
    for (size_t n = 1 + below(2); n > 0; n--) mutate(&mine, &donor);
    size_t size;
    char *made = join(&mine, &size);
    judge(made, size, folder, i, &t);
    free(made);
  }
  vec_free(&mine.words);
  vec_free(&donor.words);
  for (int i = 0; i < file_count; i++) free(sources[i]);
  printf("%d tried: %d programs, %d errors, %d crashes of clang, %d failures\n", count, t.programs,
         t.errors, t.clang_crashes, t.failures);
  return t.failures != 0;
}
