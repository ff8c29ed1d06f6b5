// SPDX-License-Identifier: MIT
#include "base/file.h"

#include "base/error.h"
#include "base/format.h"
#include "base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static vyre_status io_error(vyre_error *error, const char *what, const char *path, int reason) {
  const char *fix = reason == ENOENT   ? "check the path"
                    : reason == EACCES ? "check the permissions"
                    : reason == ENOSPC ? "free some disk space"
                    : reason == EROFS  ? "choose a directory that can be written"
                    : reason == EISDIR ? "name a file, not a directory"
                                       : "check the path and the disk";
  return error_set(error, VYRE_ERROR_IO, "cannot %s `%s`: %s. Fix: %s", what, path,
                   format_errno(reason), fix);
}

static vyre_status read_all(int fd, const char *path, size_t max_bytes, char **out, size_t *size,
                            vyre_error *error) {
  strbuf text = {0};
  for (;;) {
    enum { CHUNK = 1 << 16 };
    char *to = strbuf_reserve(&text, CHUNK);
    if (!to) break;
    ssize_t got = read(fd, to, CHUNK);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      int reason = errno;
      strbuf_fini(&text);
      return io_error(error, "read", path, reason);
    }
    if (got == 0) break;
    text.size += (size_t)got;
    if (text.size > max_bytes) {
      strbuf_fini(&text);
      return error_set(error, VYRE_ERROR_LIMIT,
                       "`%s` is larger than %zu bytes. Fix: use a smaller file", path, max_bytes);
    }
  }
  *out = strbuf_take(&text, size);
  return *out ? VYRE_OK : error_out_of_memory(error);
}

vyre_status file_read(const char *path, size_t max_bytes, char **out, size_t *size,
                      vyre_error *error) {
  if (!strcmp(path, "-"))
    return read_all(STDIN_FILENO, "standard input", max_bytes, out, size, error);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return io_error(error, "open", path, errno);
  vyre_status status = read_all(fd, path, max_bytes, out, size, error);
  close(fd);
  return status;
}

vyre_status file_make_parents(const char *path, vyre_error *error) {
  char *copy = strdup(path);
  if (!copy) return error_out_of_memory(error);
  vyre_status status = VYRE_OK;
  for (char *p = copy + 1; *copy && *p && status == VYRE_OK; p++) {
    if (*p != '/') continue;
    *p = 0;
    if (mkdir(copy, 0777) < 0 && errno != EEXIST)
      status = io_error(error, "create directory", copy, errno);
    *p = '/';
  }
  free(copy);
  return status;
}

static int write_all(int fd, const char *data, size_t size) {
  while (size) {
    ssize_t put = write(fd, data, size);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    data += put;
    size -= (size_t)put;
  }
  return 0;
}

// The rename is durable only once the directory that holds the name is on disk.
static void sync_directory_of(char *path) {
  char *slash = strrchr(path, '/');
  if (slash) *slash = 0;
  int fd = open(slash ? (*path ? path : "/") : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  (void)fsync(fd);
  close(fd);
}

// A device or a pipe is written to: putting a file in its place would destroy it.
static vyre_status write_special(const char *path, const void *data, size_t size,
                                 vyre_error *error) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return io_error(error, "open", path, errno);
  int reason = write_all(fd, data, size);
  if (close(fd) < 0 && !reason) reason = errno;
  return reason ? io_error(error, "write", path, reason) : VYRE_OK;
}

// Writes to the open temporary file and gives it the name of the real one. Returns errno.
static int finish_replace(int fd, char *temporary, const char *path, mode_t mode, const void *data,
                          size_t size) {
  int reason = write_all(fd, data, size);
  if (!reason && fchmod(fd, mode) < 0) reason = errno;
  if (!reason && fsync(fd) < 0) reason = errno;
  if (close(fd) < 0 && !reason) reason = errno;
  if (!reason && rename(temporary, path) < 0) reason = errno;
  if (reason)
    unlink(temporary);
  else
    sync_directory_of(temporary);
  return reason;
}

// Fills a new file beside `path` and gives it that name; 0 or the system's reason.
static int replace_by_rename(const char *path, bool is_unique, mode_t mode, const void *data,
                             size_t size) {
  strbuf name = {0};
  strbuf_printf(&name, "%s%s", path, is_unique ? ".XXXXXX" : ".tmp");
  char *temporary = strbuf_take(&name, NULL);
  if (!temporary) return ENOMEM;
  int fd = is_unique ? mkstemp(temporary)
                     : open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  int reason = fd < 0 ? errno : finish_replace(fd, temporary, path, mode, data, size);
  free(temporary);
  return reason;
}

static vyre_status replace(const char *path, bool is_unique, const void *data, size_t size,
                           vyre_error *error) {
  struct stat info = {.st_mode = 0644};
  bool exists = stat(path, &info) == 0;
  if (exists && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
    return write_special(path, data, size, error);
  // A link keeps pointing to its file, and the file keeps its permissions.
  char *target = exists ? realpath(path, NULL) : NULL;
  int reason =
      replace_by_rename(target ? target : path, is_unique, info.st_mode & 07777, data, size);
  free(target);
  if (reason == ENOMEM) return error_out_of_memory(error);
  return reason ? io_error(error, "write", path, reason) : VYRE_OK;
}

vyre_status file_replace(const char *path, const void *data, size_t size, vyre_error *error) {
  return replace(path, true, data, size, error);
}

vyre_status file_replace_exclusive(const char *path, const void *data, size_t size,
                                   vyre_error *error) {
  return replace(path, false, data, size, error);
}
