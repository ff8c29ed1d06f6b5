// SPDX-License-Identifier: MIT
//
// A runtime's part in a fleet, where VYRE_FLEET names a server: a thread of its own asks, when a
// program is loaded, what machines of this kind know of it, and sends now and then what was
// measured here. Dispatches do not know of it. When the server does not answer that is told once,
// and tried again after growing pauses; whatever was measured meanwhile is in the store and goes
// later.
#ifndef VYRE_RUNTIME_SYNC_H
#define VYRE_RUNTIME_SYNC_H

#include "runtime/runtime.h"

typedef struct sync_state sync_state;

// Does nothing where no server is named.
void sync_open(vyre_runtime *rt);
// From here on nobody waits for a server. The runtime's worker, which may be waiting, ends between
// the two.
void sync_stop(vyre_runtime *rt);
void sync_close(vyre_runtime *rt);
// Asks for what others know of a program that was loaded.
void sync_kernel(vyre_kernel *k);
// In the background, before a program is learned about: waits a little while for that answer, and
// reads what the store has of the fleet.
void sync_await(vyre_kernel *k);

#endif
