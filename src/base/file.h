// SPDX-License-Identifier: MIT
//
// Whole files: read at once, replaced atomically (temporary file, fsync, rename). Messages name the
// file and the system's reason. Any thread.
#ifndef VYRE_BASE_FILE_H
#define VYRE_BASE_FILE_H

#include <vyre/vyre.h>

// Reads the whole file; "-" is standard input. *out is malloc'ed, with a NUL after `size` bytes.
vyre_status file_read(const char *path, size_t max_bytes, char **out, size_t *size,
                      vyre_error *error);
// The same for a file that vyre itself keeps: a regular file that nobody but this user and root can
// write (see trust.h). Never waits for a pipe.
vyre_status file_read_own(const char *path, size_t max_bytes, char **out, size_t *size,
                          vyre_error *error);
// Whether it is such a file, or none, for those who open it in another way.
vyre_status file_check_own(const char *path, vyre_error *error);
// After this call the file holds either its old content or all of `data`, whatever happens. Devices
// and pipes are written to.
vyre_status file_replace(const char *path, const void *data, size_t size, vyre_error *error);
// The same for a file that vyre itself keeps: whatever is in its place is replaced.
vyre_status file_replace_own(const char *path, const void *data, size_t size, vyre_error *error);
// The same for a caller that holds a lock on the file: the temporary file is always `path`.tmp, so
// that killed writers leave no more than one behind.
vyre_status file_replace_exclusive(const char *path, const void *data, size_t size,
                                   vyre_error *error);
// Creates the directories that lead to `path` (its last component excluded); others cannot write to
// them.
vyre_status file_make_parents(const char *path, vyre_error *error);

#endif
