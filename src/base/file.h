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
// Opens a regular file to be read, and says how long it is. Never waits for a pipe. The caller
// closes it.
vyre_status file_open_regular(const char *path, int *fd, uint64_t *size, vyre_error *error);
// All of `size` bytes; an error where the file ends before. `path` is for messages.
vyre_status file_read_at(int fd, const char *path, uint64_t offset, void *to, size_t size,
                         vyre_error *error);
// After this call the file holds either its old content or all of `data`, whatever happens. Devices
// and pipes are written to.
vyre_status file_replace(const char *path, const void *data, size_t size, vyre_error *error);
// The same for content that lies in pieces; whatever is in its place is replaced.
typedef struct file_piece {
  const void *data;
  size_t size;
} file_piece;
vyre_status file_replace_pieces(const char *path, const file_piece *pieces, size_t count,
                                vyre_error *error);
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
