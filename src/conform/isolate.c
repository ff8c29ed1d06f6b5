// SPDX-License-Identifier: MIT
#include "conform/isolate.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct isolate_words {
  bool is_done, has_address, has_fence;
  uintptr_t address;
  fence_hit hit;
} isolate_words;

void *isolate_share(size_t size_bytes) {
  void *memory = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

void isolate_unshare(void *memory, size_t size_bytes) {
  if (memory) munmap(memory, size_bytes);
}

// ---- inside -------------------------------------------------------------------------------------

static isolate_words *own_words; // of this process, where it is an isolated one

// Writes the last words and lets the signal do what it does.
static void note_fault(int number, siginfo_t *info, void *context) {
  (void)context;
  own_words->has_address = true;
  own_words->address = (uintptr_t)info->si_addr;
  own_words->has_fence = fence_find(info->si_addr, &own_words->hit);
  signal(number, SIG_DFL);
}

static void watch_faults(void) {
  struct sigaction action = {.sa_sigaction = note_fault, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
}

_Noreturn static void run_inside(isolate_words *words, int parent, void (*work)(void *),
                                 void *context) {
  own_words = words;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1); // it was already gone
  watch_faults();
  work(context);
  words->is_done = true;
  fflush(NULL);
  _exit(0);
}

// ---- outside ------------------------------------------------------------------------------------

bool isolate_start(isolate *p, void (*work)(void *), void *context) {
  int ends[2];
  *p = (isolate){.pid = -1, .end_fd = -1, .words = isolate_share(sizeof *p->words)};
  if (!p->words) return false;
  fflush(NULL);
  int self = getpid();
  p->pid = pipe(ends) ? -1 : fork();
  if (p->pid == 0) {
    close(ends[0]); // the other one is closed by the end of the process
    run_inside(p->words, self, work, context);
  }
  if (p->pid < 0) {
    isolate_unshare(p->words, sizeof *p->words);
    return false;
  }
  close(ends[1]);
  p->end_fd = ends[0];
  return true;
}

static void describe(const isolate_words *w, int status, char *text, size_t size) {
  char where[200] = "";
  if (w->has_fence) {
    int64_t at = w->hit.offset, past = at - (int64_t)w->hit.size_bytes;
    const char *side = at < 0 ? "before" : past >= 0 ? "after" : "into frozen";
    snprintf(where, sizeof where, " at %" PRId64 " bytes %s bound buffer %u of %" PRIu64 " bytes",
             at < 0      ? -at
             : past >= 0 ? past
                         : at,
             side, w->hit.number, w->hit.size_bytes);
  } else if (w->has_address) {
    snprintf(where, sizeof where, " at address 0x%" PRIxPTR ", which is nobody's", w->address);
  }
  if (WIFSIGNALED(status))
    snprintf(text, size, "it died: %s%s", strsignal(WTERMSIG(status)), where);
  else
    snprintf(text, size, "it ended with status %d", WEXITSTATUS(status));
}

static isolate_end collect(isolate *p, char *text, size_t size) {
  int status = 0;
  while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR) continue;
  bool is_done = p->words->is_done && WIFEXITED(status) && !WEXITSTATUS(status);
  if (!is_done) describe(p->words, status, text, size);
  close(p->end_fd);
  isolate_unshare(p->words, sizeof *p->words);
  return is_done ? ISOLATE_DONE : ISOLATE_DIED;
}

isolate_end isolate_wait(isolate *p, int timeout_ms, char *text, size_t size) {
  struct pollfd end = {.fd = p->end_fd, .events = POLLIN};
  if (poll(&end, 1, timeout_ms) <= 0) return ISOLATE_RUNS;
  return collect(p, text, size);
}

void isolate_kill(isolate *p) {
  char text[300];
  kill(p->pid, SIGKILL);
  collect(p, text, sizeof text);
}

isolate_end isolate_run(void (*work)(void *), void *context, int timeout_ms, char *text,
                        size_t size) {
  isolate p;
  if (!isolate_start(&p, work, context)) return ISOLATE_FAILED;
  isolate_end end = isolate_wait(&p, timeout_ms, text, size);
  if (end != ISOLATE_RUNS) return end;
  isolate_kill(&p);
  snprintf(text, size, "it did not end within %d s", timeout_ms / 1000);
  return ISOLATE_DIED;
}
