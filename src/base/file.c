// SPDX-License-Identifier: MIT
#include "base/file.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/size_limit.h"
#include "base/strbuf.h"
#include "base/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
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
                    : reason == EFBIG  ? "raise the limit on the size of files (ulimit -f)"
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

static vyre_status check_own(const char *path, const struct stat *info, vyre_error *error) {
  if (S_ISREG(info->st_mode)) return trust_check(path, info, error);
  return error_set(
      error, VYRE_ERROR_IO,
      "`%s` is a folder, a pipe or a device. Fix: move it away; a file of vyre belongs "
      "there",
      path);
}

vyre_status file_check_own(const char *path, vyre_error *error) {
  struct stat info;
  return stat(path, &info) ? VYRE_OK : check_own(path, &info, error);
}

// Opening must not wait for the other end of a pipe, and what was opened must be what was meant.
static vyre_status open_own(const char *path, int *fd, vyre_error *error) {
  struct stat info;
  *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (*fd < 0) return io_error(error, "open", path, errno);
  vyre_status status = fstat(*fd, &info) < 0 ? io_error(error, "look at", path, errno)
                                             : check_own(path, &info, error);
  if (status != VYRE_OK) close(*fd);
  return status;
}

vyre_status file_read_own(const char *path, size_t max_bytes, char **out, size_t *size,
                          vyre_error *error) {
  int fd;
  vyre_status status = open_own(path, &fd, error);
  if (status != VYRE_OK) return status;
  status = read_all(fd, path, max_bytes, out, size, error);
  close(fd);
  return status;
}

vyre_status file_open_regular(const char *path, int *fd, uint64_t *size, vyre_error *error) {
  struct stat info;
  *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (*fd < 0) return io_error(error, "open", path, errno);
  vyre_status status = VYRE_OK;
  if (fstat(*fd, &info) < 0)
    status = io_error(error, "look at", path, errno);
  else if (!S_ISREG(info.st_mode))
    status = error_set(error, VYRE_ERROR_IO,
                       "`%s` is a folder, a pipe or a device. Fix: name a file", path);
  if (status == VYRE_OK)
    *size = (uint64_t)info.st_size;
  else
    close(*fd);
  return status;
}

vyre_status file_read_at(int fd, const char *path, uint64_t offset, void *to, size_t size,
                         vyre_error *error) {
  for (size_t done = 0; done < size;) {
    ssize_t got = pread(fd, (char *)to + done, size - done, (off_t)(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_error(error, "read", path, errno);
    if (!got)
      return error_set(error, VYRE_ERROR_IO,
                       "`%s` ends before byte %llu. Fix: write it again; it was cut short", path,
                       (unsigned long long)(offset + size));
    done += (size_t)got;
  }
  return VYRE_OK;
}

vyre_status file_make_parents(const char *path, vyre_error *error) {
  char *copy = strdup(path);
  if (!copy) return error_out_of_memory(error);
  vyre_status status = VYRE_OK;
  for (char *p = copy + 1; *copy && *p && status == VYRE_OK; p++) {
    if (*p != '/') continue;
    *p = 0;
    if (mkdir(copy, 0755) < 0 && errno != EEXIST)
      status = io_error(error, "create directory", copy, errno);
    *p = '/';
  }
  free(copy);
  return status;
}

static int write_all(int fd, const char *data, size_t size) {
  size_limit held = size_limit_hold();
  int reason = 0;
  while (size && !reason) {
    ssize_t put = write(fd, data, size);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      reason = errno;
    } else {
      data += put;
      size -= (size_t)put;
    }
  }
  size_limit_release(&held);
  return reason;
}

static int write_pieces(int fd, const file_piece *pieces, size_t count) {
  int reason = 0;
  for (size_t i = 0; i < count && !reason; i++)
    reason = write_all(fd, pieces[i].data, pieces[i].size);
  return reason;
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

// How the file is called that takes the place of another: after it, and by nobody else meanwhile...
typedef enum temporary_name {
  NAME_UNIQUE, // ...because the name is new
  NAME_FIXED,  // ...because the caller holds a lock
} temporary_name;

// A new file beside `path`, until it takes its place.
typedef struct replacement {
  char *name; // ends with the six characters that make it unique, when it is
  int fd;
  bool is_named;
} replacement;

// What a killed writer left is written over; anything but a file that only we have is put away
// first: it may be a pipe, or another's link.
static int open_fixed(const char *path) {
  struct stat info;
  if (!lstat(path, &info) && (!S_ISREG(info.st_mode) || info.st_nlink != 1)) (void)unlink(path);
  return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
}

// A file without a name, of which a killed process leaves nothing. -1 where there is no such thing.
static int open_nameless(char *path) {
  if (access("/proc/self/fd", F_OK)) return -1; // it could not be given a name
  char *slash = strrchr(path, '/'), kept = slash ? slash[1] : 0;
  if (slash) slash[1] = 0; // the folder, "/" among them
  int fd = open(slash ? path : ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (slash) slash[1] = kept;
  return fd;
}

static int open_replacement(replacement *r, temporary_name kind) {
  r->fd = kind == NAME_UNIQUE ? open_nameless(r->name) : -1;
  r->is_named = r->fd < 0;
  if (r->is_named) r->fd = kind == NAME_UNIQUE ? mkostemp(r->name, O_CLOEXEC) : open_fixed(r->name);
  return r->fd < 0 ? errno : 0;
}

// Returns errno.
static int name_replacement(replacement *r) {
  static atomic_uint number;
  char from[40], *unique = r->name + strlen(r->name) - 6;
  snprintf(from, sizeof from, "/proc/self/fd/%d", r->fd);
  for (int i = 0; i < 1000; i++) {
    uint64_t seed[] = {clock_now_ns(), (uint64_t)getpid(), atomic_fetch_add(&number, 1)};
    char digits[20];
    snprintf(digits, sizeof digits, "%06llx",
             (unsigned long long)hash_fast(seed, sizeof seed) & 0xffffff);
    memcpy(unique, digits, 6);
    if (!linkat(AT_FDCWD, from, AT_FDCWD, r->name, AT_SYMLINK_FOLLOW)) return 0;
    if (errno != EEXIST) return errno;
  }
  return EEXIST;
}

// Writes the content and gives the file the name of the real one. Returns errno.
static int finish_replacement(replacement *r, const char *path, mode_t mode,
                              const file_piece *pieces, size_t count) {
  int reason = write_pieces(r->fd, pieces, count);
  if (!reason && fchmod(r->fd, mode) < 0) reason = errno;
  if (!reason && fsync(r->fd) < 0) reason = errno;
  if (!reason && !r->is_named) {
    reason = name_replacement(r);
    r->is_named = !reason;
  }
  if (close(r->fd) < 0 && !reason) reason = errno;
  if (!reason && rename(r->name, path) < 0) reason = errno;
  if (reason && r->is_named) unlink(r->name);
  if (!reason) sync_directory_of(r->name);
  return reason;
}

// Fills a new file beside `path` and gives it that name; 0 or the system's reason.
static int replace_by_rename(const char *path, temporary_name kind, mode_t mode,
                             const file_piece *pieces, size_t count) {
  strbuf name = {0};
  strbuf_printf(&name, "%s%s", path, kind == NAME_UNIQUE ? ".XXXXXX" : ".tmp");
  replacement r = {.name = strbuf_take(&name, NULL)};
  if (!r.name) return ENOMEM;
  int reason = open_replacement(&r, kind);
  if (!reason) reason = finish_replacement(&r, path, mode, pieces, count);
  free(r.name);
  return reason;
}

// A link keeps pointing to its file, and the file keeps its permissions.
static vyre_status replace(const char *path, temporary_name kind, const file_piece *pieces,
                           size_t count, vyre_error *error) {
  struct stat info;
  bool exists = stat(path, &info) == 0 && (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode));
  char *target = exists ? realpath(path, NULL) : NULL;
  int reason = replace_by_rename(target ? target : path, kind, exists ? info.st_mode & 07777 : 0644,
                                 pieces, count);
  free(target);
  if (reason == ENOMEM) return error_out_of_memory(error);
  return reason ? io_error(error, "write", path, reason) : VYRE_OK;
}

vyre_status file_replace(const char *path, const void *data, size_t size, vyre_error *error) {
  struct stat info;
  bool is_special = !stat(path, &info) && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
  return is_special ? write_special(path, data, size, error)
                    : replace(path, NAME_UNIQUE, &(file_piece){data, size}, 1, error);
}

vyre_status file_replace_pieces(const char *path, const file_piece *pieces, size_t count,
                                vyre_error *error) {
  return replace(path, NAME_UNIQUE, pieces, count, error);
}

vyre_status file_replace_own(const char *path, const void *data, size_t size, vyre_error *error) {
  return replace(path, NAME_UNIQUE, &(file_piece){data, size}, 1, error);
}

vyre_status file_replace_exclusive(const char *path, const void *data, size_t size,
                                   vyre_error *error) {
  return replace(path, NAME_FIXED, &(file_piece){data, size}, 1, error);
}
