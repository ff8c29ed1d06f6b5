// SPDX-License-Identifier: MIT
#include "base/warning.h"

#include "base/fork.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

// More kinds of trouble than one process has; what comes after them is not kept.
enum { MOST = 32 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static vyre_error warnings[MOST];
static int count, told;

__attribute__((constructor)) static void watch_forks(void) {
  fork_guard(&lock, NULL);
}

void warning_add(const vyre_error *warning) {
  pthread_mutex_lock(&lock);
  bool is_new = count < MOST;
  for (int i = 0; i < count && is_new; i++)
    is_new = strcmp(warnings[i].message, warning->message) != 0;
  if (is_new) warnings[count++] = *warning;
  pthread_mutex_unlock(&lock);
}

void warning_take(const note_sink *sink) {
  for (;;) {
    vyre_error next;
    pthread_mutex_lock(&lock);
    bool has_next = told < count;
    if (has_next) next = warnings[told++];
    pthread_mutex_unlock(&lock);
    if (!has_next) return;
    note_tell(sink, &next);
  }
}
