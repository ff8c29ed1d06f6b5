/* SPDX-License-Identifier: MIT */
#include "interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

static volatile uint32_t stop;        // of the main thread's dispatch
static volatile sig_atomic_t is_busy; // the main thread dispatches
static struct sigaction before;       // the handler that was there
static bool is_installed;
static pthread_t main_thread;

static void on_interrupt(int number, siginfo_t *info, void *context) {
  if (is_busy) stop = 1;
  if (before.sa_flags & SA_SIGINFO)
    before.sa_sigaction(number, info, context);
  else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
    before.sa_handler(number);
}

// Where SIGINT ends the process or is ignored, that is what the caller wants.
static void install(void) {
  struct sigaction now;
  is_installed = true;
  if (sigaction(SIGINT, NULL, &now)) return;
  if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_interrupt) return;
  if (!(now.sa_flags & SA_SIGINFO) && (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN))
    return;
  struct sigaction ours;
  memset(&ours, 0, sizeof ours);
  ours.sa_sigaction = on_interrupt;
  ours.sa_flags = (now.sa_flags & ~(int)SA_RESETHAND) | SA_SIGINFO;
  ours.sa_mask = now.sa_mask;
  before = now; // before the handler that uses it
  sigaction(SIGINT, &ours, NULL);
}

void interrupt_init(void) {
  main_thread = pthread_self();
}

volatile uint32_t *interrupt_begin(bool is_long) {
  if (!pthread_equal(pthread_self(), main_thread) || is_busy) return NULL;
  if (!is_installed || is_long) install();
  stop = 0;
  is_busy = 1;
  return &stop;
}

void interrupt_end(volatile uint32_t *flag) {
  if (flag) is_busy = 0;
}
