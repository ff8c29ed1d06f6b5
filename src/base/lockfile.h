// SPDX-License-Identifier: MIT
//
// Text files that several processes change: read, merge and replace under a lock, so that nobody's
// entries are lost and a killed process leaves either the old file or the new one. The lock is a
// flock on `path`.lock, which the kernel releases when its holder dies; the lock file itself stays.
// Readers need no lock, because the file is replaced as a whole. Any thread.
#ifndef VYRE_BASE_LOCKFILE_H
#define VYRE_BASE_LOCKFILE_H

#include "base/note.h"
#include "base/strbuf.h"

#define LOCKFILE_TIMEOUT_NS UINT64_C(30000000000)

// Waits for the lock of `path`, whose directory must exist. *lock is released once.
vyre_status lockfile_acquire(const char *path, uint64_t timeout_ns, int *lock, vyre_error *error);
void lockfile_release(int lock);

// Makes the new text of the file from the old one; `old` is NULL when there is no file yet. Sets
// *set_aside when the old text holds something that the new one does not keep: then the old file
// is kept beside the new one under another name. Called with the lock held.
typedef vyre_status (*lockfile_merge_fn)(void *context, const char *old, size_t old_size,
                                         strbuf *out, bool *set_aside, vyre_error *error);

// Locks, reads (at most `max_bytes`), merges and replaces. Creates directories. Nothing is written
// when the merge fails or changes nothing. Tells where an old file was set aside.
vyre_status lockfile_update(const char *path, size_t max_bytes, lockfile_merge_fn merge,
                            void *context, const note_sink *notes, vyre_error *error);

// Gives the file the additional name `path`.corrupt-N, with the lowest free N, and tells it. The
// file also keeps its own name, so that there is no moment without it.
vyre_status lockfile_set_aside(const char *path, const note_sink *notes, vyre_error *error);

#endif
