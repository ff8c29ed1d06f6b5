// SPDX-License-Identifier: MIT
#include "front/clang/preprocess.h"

#include "base/clock.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/format.h"
#include "base/process.h"
#include "base/strbuf.h"
#include "front/clang/intel.h"
#include "front/clang/pp.h"
#include "front/clang/resource.h"
#include "front/clang/source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// A source that includes itself twice can make any amount of text in any amount of time.
enum { MOST_SECONDS = 60, MOST_BYTES = 1 << 28, MOST_SAID = 1 << 16 };

const char preprocess_absent[] = "#undef __opencl_c_device_enqueue\n"
                                 "#undef __opencl_c_pipes\n"
                                 "#undef __opencl_c_ext_image_raw10_raw12\n"
                                 "#undef __opencl_c_kernel_clock_scope_device\n"
                                 "#undef __opencl_c_kernel_clock_scope_work_group\n"
                                 "#undef __opencl_c_kernel_clock_scope_sub_group\n"
                                 "#undef __opencl_c_program_scope_global_variables\n"
                                 "#undef __opencl_c_atomic_scope_all_devices\n"
                                 "#undef cl_khr_kernel_clock\n"
                                 "#undef cl_khr_gl_msaa_sharing\n"
                                 "#undef cl_khr_mipmap_image\n"
                                 "#undef cl_khr_mipmap_image_writes\n";

// The source in a file without a name, after a marker that names it. -1 when that fails.
static int source_file(unit *u) {
  strbuf head = {0};
  strbuf_puts(&head, preprocess_absent);
  strbuf_puts(&head, "# 1 \"");
  for (const char *p = u->source.name; *p; p++) {
    if (*p == '"' || *p == '\\') strbuf_putc(&head, '\\');
    strbuf_putc(&head, *p == '\n' ? '?' : *p);
  }
  strbuf_puts(&head, "\"\n");
  strbuf_add(&head, u->source.text, u->source.size);
  size_t size = 0, written = 0;
  char *text = strbuf_take(&head, &size);
  int file = text ? memfd_create("vyre-source", MFD_CLOEXEC) : -1;
  while (file >= 0 && written < size) {
    ssize_t n = write(file, text + written, size - written);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    written += (size_t)n;
  }
  free(text);
  if (file >= 0 && (written < size || lseek(file, 0, SEEK_SET))) {
    close(file);
    return -1;
  }
  return file;
}

const char *preprocess_folder(unit *u) {
  const char *slash = strrchr(u->source.name, '/');
  if (!slash) return ".";
  return slash == u->source.name ? "/"
                                 : unit_copy(u, u->source.name, (size_t)(slash - u->source.name));
}

const char *preprocess_version(unit *u) {
  const char *digits = strpbrk(u->standard, "123");
  int major = digits ? digits[0] - '0' : 1;
  int minor = digits && digits[1] == '.' ? digits[2] - '0' : 0;
  return unit_printf(u, "-D__OPENCL_VERSION__=%d%d0", major, minor);
}

static const char **command(unit *u) {
  const char *const fixed[] = {"clang-19",
                               "-E",
                               "-x",
                               "cl",
                               "-target",
                               "spir64-unknown-unknown",
                               "-w",
                               "-cl-no-stdinc",
                               "-Xclang",
                               "-fdeclare-opencl-builtins",
                               "-include",
                               resource_header(u),
                               preprocess_version(u)};
  uint32_t count = 0, capacity = 0;
  const char **args = NULL;
  for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
    UNIT_PUSH(u, args, count, capacity, fixed[i]);
  for (uint32_t i = 0; intel_macros[i]; i++) UNIT_PUSH(u, args, count, capacity, intel_macros[i]);
  UNIT_PUSH(u, args, count, capacity, u->standard);
  for (uint32_t i = 0; i < u->user_count; i++) UNIT_PUSH(u, args, count, capacity, u->user_args[i]);
  UNIT_PUSH(u, args, count, capacity, "-iquote");
  UNIT_PUSH(u, args, count, capacity, preprocess_folder(u));
  UNIT_PUSH(u, args, count, capacity, "-");
  UNIT_PUSH(u, args, count, capacity, NULL);
  return args;
}

typedef struct child {
  pid_t id;
  int out, said; // reading ends
} child;

// VYRE_CLANG, clang-19 in the PATH, or that of the LLVM that vyre was built with. The first two are
// chosen by the environment.
static int spawn_clang(child *c, posix_spawn_file_actions_t *actions, const char **args) {
  const char *const places[] = {environment_get("VYRE_CLANG"),
                                environment_is_foreign() ? NULL : "clang-19",
                                VYRE_LLVM_ROOT "/bin/clang"};
  int failure = ENOENT;
  for (size_t i = 0; i < sizeof places / sizeof *places && failure; i++)
    if (places[i])
      failure = posix_spawnp(&c->id, places[i], actions, NULL, (char *const *)args, environ);
  return failure;
}

static int start(child *c, int input, const char **args) {
  int out[2], said[2];
  if (pipe2(out, O_CLOEXEC)) return errno;
  if (pipe2(said, O_CLOEXEC)) {
    close(out[0]), close(out[1]);
    return errno;
  }
  posix_spawn_file_actions_t actions;
  int failure = posix_spawn_file_actions_init(&actions);
  if (!failure) {
    failure = posix_spawn_file_actions_adddup2(&actions, input, 0);
    if (!failure) failure = posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    if (!failure) failure = posix_spawn_file_actions_adddup2(&actions, said[1], 2);
    if (!failure) failure = spawn_clang(c, &actions, args);
    posix_spawn_file_actions_destroy(&actions);
  }
  close(out[1]), close(said[1]);
  if (failure) {
    close(out[0]), close(said[0]);
    return failure;
  }
  c->out = out[0];
  c->said = said[0];
  return 0;
}

// Reads what is there; false at the end.
static bool drain(int file, strbuf *into, size_t most) {
  char *room = strbuf_reserve(into, 1 << 16);
  if (!room) return false;
  ssize_t n = read(file, room, 1 << 16);
  if (n < 0 && errno == EINTR) return true;
  if (n <= 0) return false;
  if (into->size < most) into->size += (size_t)n;
  return true;
}

typedef enum ending { ENDED, TOO_LONG, TOO_MUCH } ending;

static ending collect(child *c, strbuf *out, strbuf *said) {
  uint64_t deadline = clock_now_ns() + (uint64_t)MOST_SECONDS * 1000000000u;
  struct pollfd files[2] = {{.fd = c->out, .events = POLLIN}, {.fd = c->said, .events = POLLIN}};
  while (files[0].fd >= 0 || files[1].fd >= 0) {
    uint64_t now = clock_now_ns();
    if (now >= deadline) return TOO_LONG;
    if (poll(files, 2, (int)((deadline - now) / 1000000u) + 1) < 0 && errno != EINTR)
      return TOO_LONG;
    if (files[0].revents && !drain(c->out, out, MOST_BYTES)) files[0].fd = -1;
    if (files[1].revents && !drain(c->said, said, MOST_SAID)) files[1].fd = -1;
    files[0].revents = files[1].revents = 0;
    if (out->size >= MOST_BYTES) return TOO_MUCH;
  }
  return ENDED;
}

static int finish(child *c, bool kill_it) {
  if (kill_it) kill(c->id, SIGKILL);
  int status = process_wait(c->id);
  close(c->out), close(c->said);
  return status;
}

static bool take_source(unit *u) {
  u->size = u->source.size;
  u->text = malloc(u->size + 1);
  if (!u->text) unit_fail_memory(u);
  memcpy(u->text, u->source.text, u->size);
  u->text[u->size] = 0;
  source_map(u);
  return true;
}

bool preprocess(unit *u, const char **said_out) {
  if (u->is_preprocessed) return take_source(u);
  if (pp_run(u)) {
    source_map(u);
    return true;
  }
  const char **args = command(u);
  int input = source_file(u);
  child c;
  int failure = input < 0 ? ENOMEM : start(&c, input, args);
  if (input >= 0) close(input);
  if (failure)
    unit_fail(u, VYRE_ERROR_IO, NO_PLACE,
              "clang-19, which preprocesses OpenCL C, could not be started: %s. Fix: install "
              "clang-19, or set VYRE_CLANG to its path",
              format_errno(failure));
  strbuf out = {0}, said = {0};
  ending how = collect(&c, &out, &said);
  int status = finish(&c, how != ENDED);
  size_t said_size = 0;
  u->text = strbuf_take(&out, &u->size);
  char *text = strbuf_take(&said, &said_size);
  *said_out = text ? unit_copy(u, text, strcspn(text, "\n")) : "";
  free(text);
  if (how != ENDED)
    unit_fail(u, VYRE_ERROR_LIMIT, NO_PLACE,
              "preprocessing `%s` took more than %d seconds or made more than %d bytes. Fix: look "
              "for a file that includes itself",
              u->source.name, MOST_SECONDS, MOST_BYTES);
  if (!u->text) unit_fail_memory(u);
  source_map(u);
  // Warnings are off: where nobody can tell how it ended, a word is an error.
  return status == 0 || (status == PROCESS_UNSEEN && !**said_out);
}
