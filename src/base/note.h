// SPDX-License-Identifier: MIT
//
// A place to tell what went wrong without having stopped the work: a faulty entry that was left
// out, a corrupt file that was set aside. A note is an error value; whoever receives it decides
// whether a person sees it, and how often. The sink is borrowed; a NULL sink drops notes.
#ifndef VYRE_BASE_NOTE_H
#define VYRE_BASE_NOTE_H

#include <vyre/vyre.h>

typedef struct note_sink {
  void (*tell)(void *context, const vyre_error *note);
  void *context;
} note_sink;

static inline void note_tell(const note_sink *sink, const vyre_error *note) {
  if (sink && sink->tell) sink->tell(sink->context, note);
}

#endif
