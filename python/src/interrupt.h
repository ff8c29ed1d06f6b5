/* SPDX-License-Identifier: MIT
 *
 * Ctrl-C while a kernel runs. Python's own handler only notes a signal, for the interpreter to see
 * when it runs again, which a long dispatch does not let it. So a handler stands in front of it,
 * from the main thread's first dispatch on: it sets the flag that the dispatch looks at, and calls
 * the one that was there. With the GIL.
 */
#ifndef VYRE_PYTHON_INTERRUPT_H
#define VYRE_PYTHON_INTERRUPT_H

#include "limited.h"

/* Before a dispatch: the flag for it, or NULL on other threads than the main one. `is_long`: it is
 * worth a system call to look whether the handler still stands. */
volatile uint32_t *interrupt_begin(bool is_long);
/* After it. */
void interrupt_end(volatile uint32_t *flag);
/* Remembers that this is the main thread. */
void interrupt_init(void);

#endif
