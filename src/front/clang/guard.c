// SPDX-License-Identifier: MIT
#include "front/clang/guard.h"

#include "base/ascii.h"
#include "base/error.h"
#include "base/fpenv.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// Measured: clang 19 needs up to 5.5 KiB of stack for each operator that stands in front of
// another. The largest stack holds four times what the limit below can ask for; pages that are not
// touched cost nothing.
static const size_t stack_sizes[] = {(size_t)512 << 20, (size_t)256 << 20, (size_t)128 << 20};
enum { MOST_OPERATORS = 20000, MOST_ELSES = 20000 };

typedef struct guarded {
  vyre_status (*work)(void *data);
  void *data;
  vyre_status status;
} guarded;

static void *run_guarded(void *data) {
  guarded *g = data;
  fpenv_set();
  g->status = g->work(g->data);
  return NULL;
}

// libclang would parse on a thread of its own, with a stack of 8 MiB.
static void use_own_thread(void) {
  setenv("LIBCLANG_NOTHREADS", "1", 0);
}

vyre_status guard_run(vyre_status (*work)(void *data), void *data, vyre_error *error) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, use_own_thread);
  guarded g = {work, data, VYRE_OK};
  for (size_t i = 0; i < sizeof stack_sizes / sizeof *stack_sizes; i++) {
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes)) break;
    int failed = pthread_attr_setstacksize(&attributes, stack_sizes[i]) ||
                 pthread_create(&thread, &attributes, run_guarded, &g);
    pthread_attr_destroy(&attributes);
    if (failed) continue;
    pthread_join(thread, NULL);
    return g.status;
  }
  return error_set(error, VYRE_ERROR_MEMORY,
                   "there is no room for the stack of the frontend. Fix: free memory, or raise the "
                   "limit of the address space");
}

// Skips a string or character literal; returns where it ends.
static size_t skip_quoted(const char *text, size_t size, size_t at) {
  char quote = text[at++];
  while (at < size && text[at] != quote && text[at] != '\n') at += text[at] == '\\' ? 2 : 1;
  return at;
}

void guard_nesting(unit *u) {
  uint32_t operators = 0, elses = 0, keywords = 0;
  for (size_t at = 0; at < u->size; at++) {
    char c = u->text[at];
    if (c == '"' || c == '\'') {
      at = skip_quoted(u->text, u->size, at);
    } else if (ascii_is_word(c)) {
      size_t first = at;
      while (at + 1 < u->size && ascii_is_word(u->text[at + 1])) at++;
      size_t size = at - first + 1;
      const char *word = u->text + first;
      elses += size == 4 && !memcmp(word, "else", 4);
      keywords += size <= 6 && word[0] >= 'a' && word[0] <= 'z';
    } else if (c == ';' || c == '{' || c == '}') {
      operators = keywords = 0;
    } else if (strchr("+-*/%&|^~!=<>?:()[].", c)) {
      operators++;
    }
    if (operators + keywords > MOST_OPERATORS || elses > MOST_ELSES)
      unit_fail(u, VYRE_ERROR_LIMIT, (uint32_t)at,
                "an expression of more than %d operators, or more than %d uses of else. Fix: split "
                "it",
                MOST_OPERATORS, MOST_ELSES);
  }
}
