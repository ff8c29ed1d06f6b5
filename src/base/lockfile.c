// SPDX-License-Identifier: MIT
#include "base/lockfile.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char *join(const char *path, const char *suffix) {
  strbuf name = {0};
  strbuf_printf(&name, "%s%s", path, suffix);
  return strbuf_take(&name, NULL);
}

// ---- the lock ----------------------------------------------------------------------------------

// flock cannot wait for a limited time, so it is tried again and again, at growing distances.
static int wait_for_lock(int fd, uint64_t timeout_ns) {
  uint64_t begin = clock_now_ns();
  for (long pause_ns = 100000;; pause_ns = pause_ns < 10000000 ? pause_ns * 2 : pause_ns) {
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) return 0;
    if (errno != EWOULDBLOCK && errno != EINTR) return errno;
    if (clock_now_ns() - begin >= timeout_ns) return ETIMEDOUT;
    nanosleep(&(struct timespec){.tv_nsec = pause_ns}, NULL);
  }
}

// Without waiting for the other end of a pipe. -1 with errno.
static int open_lock(const char *name) {
  struct stat info;
  int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
  if (fd < 0 || (!fstat(fd, &info) && S_ISREG(info.st_mode))) return fd;
  close(fd);
  errno = EINVAL;
  return -1;
}

vyre_status lockfile_acquire(const char *path, uint64_t timeout_ns, int *lock, vyre_error *error) {
  char *name = join(path, ".lock");
  if (!name) return error_out_of_memory(error);
  int fd = open_lock(name);
  int reason = fd < 0 ? errno : wait_for_lock(fd, timeout_ns);
  vyre_status status = VYRE_OK;
  if (reason == ETIMEDOUT)
    status = error_set(error, VYRE_ERROR_IO,
                       "another process has held the lock `%s` for %.1f s. Fix: end or resume that "
                       "process, then try again",
                       name, (double)timeout_ns * 1e-9);
  else if (reason)
    status = error_set(error, VYRE_ERROR_IO,
                       "cannot lock `%s`: %s. Fix: use a directory that can be written, or set "
                       "VYRE_HOME to one",
                       name, format_errno(reason));
  if (reason && fd >= 0) close(fd);
  if (!reason) *lock = fd;
  free(name);
  return status;
}

// Unlocked by name: a child that was forked meanwhile has the file open, too, and would keep it
// locked.
void lockfile_release(int lock) {
  (void)flock(lock, LOCK_UN);
  close(lock);
}

// ---- setting aside -----------------------------------------------------------------------------

// A hard link, or a copy where the file system has none. Returns errno.
static int keep_as(const char *path, const char *name) {
  if (link(path, name) == 0) return 0;
  if (errno == EEXIST || errno == ENOENT) return errno;
  char *data;
  size_t size;
  int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) return errno;
  close(fd);
  if (file_read_own(path, SIZE_MAX, &data, &size, NULL) != VYRE_OK) return EIO;
  vyre_status status = file_replace(name, data, size, NULL);
  free(data);
  return status == VYRE_OK ? 0 : EIO;
}

static bool same_file(const char *a, const char *b) {
  struct stat x, y;
  return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

vyre_status lockfile_set_aside(const char *path, const note_sink *notes, vyre_error *error) {
  enum { MOST = 100 };
  int reason = EEXIST;
  for (int i = 1; i < MOST && reason == EEXIST; i++) {
    char suffix[24];
    snprintf(suffix, sizeof suffix, ".corrupt-%d", i);
    char *name = join(path, suffix);
    if (!name) return error_out_of_memory(error);
    // The same file under this name: an earlier attempt was cut short after this point.
    reason = same_file(path, name) ? 0 : keep_as(path, name);
    if (!reason) {
      vyre_error note;
      error_set(&note, VYRE_ERROR_IO,
                "`%s` was kept as `%s` because not all of it could be read. Fix: repair that file "
                "and put it back, or delete it",
                path, name);
      note_tell(notes, &note);
    }
    free(name);
  }
  if (!reason) return VYRE_OK;
  return error_set(error, VYRE_ERROR_IO,
                   "cannot set aside the damaged file `%s`: %s. Fix: move it, and its .corrupt "
                   "copies, away",
                   path, format_errno(reason));
}

// ---- updating ----------------------------------------------------------------------------------

// *out stays NULL when there is no file.
static vyre_status read_old(const char *path, size_t max_bytes, char **out, size_t *size,
                            vyre_error *error) {
  *out = NULL;
  *size = 0;
  if (access(path, F_OK) != 0 && errno == ENOENT) return VYRE_OK;
  return file_read_own(path, max_bytes, out, size, error);
}

static vyre_status update_locked(const char *path, size_t max_bytes, lockfile_merge_fn merge,
                                 void *context, const note_sink *notes, vyre_error *error) {
  char *old, *text = NULL;
  size_t old_size, size = 0;
  bool set_aside = false;
  vyre_status status = read_old(path, max_bytes, &old, &old_size, error);
  if (status != VYRE_OK) return status;
  strbuf out = {0};
  status = merge(context, old, old_size, &out, &set_aside, error);
  if (status == VYRE_OK && !(text = strbuf_take(&out, &size))) status = error_out_of_memory(error);
  bool changed = status == VYRE_OK && (!old || size != old_size || memcmp(old, text, size));
  if (changed && old && set_aside) status = lockfile_set_aside(path, notes, error);
  if (changed && status == VYRE_OK) status = file_replace_exclusive(path, text, size, error);
  strbuf_fini(&out);
  free(old);
  free(text);
  return status;
}

vyre_status lockfile_update(const char *path, size_t max_bytes, lockfile_merge_fn merge,
                            void *context, const note_sink *notes, vyre_error *error) {
  int lock;
  vyre_status status = file_make_parents(path, error);
  if (status == VYRE_OK) status = lockfile_acquire(path, LOCKFILE_TIMEOUT_NS, &lock, error);
  if (status != VYRE_OK) return status;
  status = update_locked(path, max_bytes, merge, context, notes, error);
  lockfile_release(lock);
  return status;
}
