// SPDX-License-Identifier: MIT
//
// After fork(): what needs no thread works in the child, what lived by threads of the parent says
// so and never hangs, and a child can begin anew. Each child ends by an alarm when it hangs.
#include "base/lockfile.h"
#include "profile/store.h"
#include "../scratch_dir.h"

#include <vyre/vyre.h>

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

enum { COUNT = 1 << 18, HANGS_SECONDS = 120 };

// ---- children -----------------------------------------------------------------------------------

// In a child, where cmocka cannot be used.
#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                              \
      _exit(1);                                                                                    \
    }                                                                                              \
  } while (0)

// How a child ended that did the work, as waitpid() says it.
static int child_status(void (*work)(void *context), void *context) {
  pid_t child = fork();
  assert_true(child >= 0);
  if (!child) {
    alarm(HANGS_SECONDS);
    work(context);
    _exit(0);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  return status;
}

static void assert_ended_well(int status) {
  if (WIFSIGNALED(status)) fail_msg("the child was ended by %s", strsignal(WTERMSIG(status)));
  assert_int_equal(WEXITSTATUS(status), 0);
}

static void in_child(void (*work)(void *context), void *context) {
  assert_ended_well(child_status(work, context));
}

// ---- programs -----------------------------------------------------------------------------------

static const char add_text[] = "program add(a: u32)\n"
                               "buffer x: u32[] readwrite\n"
                               "region main grid(len(x)) { x[global_id.x] = x[global_id.x] + a }\n";
static const char endless_text[] = "program endless()\n"
                                   "buffer x: u32[] readwrite\n"
                                   "region main grid(len(x)) { while x[0] == 0 { } }\n";

static vyre_program *parse(const char *text) {
  vyre_program *p;
  vyre_error error;
  CHECK(vyre_program_parse(text, strlen(text), "test", &p, &error) == VYRE_OK);
  return p;
}

static vyre_executable *compile(const char *text, const char *backend, uint32_t threads) {
  vyre_program *p = parse(text);
  vyre_executable *e;
  vyre_error error;
  vyre_compile_options options = {.threads = threads};
  vyre_status status = vyre_compile(p, backend, &options, &e, &error);
  if (status != VYRE_OK) fprintf(stderr, "%s\n", error.message);
  CHECK(status == VYRE_OK);
  vyre_program_release(p);
  return e;
}

static uint32_t memory[COUNT];

typedef struct binding {
  vyre_scalar param;
  vyre_span span;
  vyre_dispatch_args args;
} binding;

static vyre_dispatch_args *bind(binding *b, uint32_t params) {
  *b = (binding){vyre_scalar_u32(7), {memory, sizeof memory}, {0}};
  b->args = (vyre_dispatch_args){
      .params = &b->param, .param_count = params, .buffers = &b->span, .buffer_count = 1};
  memset(memory, 0, sizeof memory);
  return &b->args;
}

static bool is_all(uint32_t value) {
  for (size_t i = 0; i < COUNT; i++)
    if (memory[i] != value) return false;
  return true;
}

static void check_add(vyre_executable *e) {
  binding b;
  vyre_error error;
  CHECK(vyre_dispatch(e, bind(&b, 1), NULL, &error) == VYRE_OK);
  CHECK(is_all(7));
}

static void check_endless(vyre_executable *e) {
  binding b;
  vyre_error error;
  vyre_dispatch_args *args = bind(&b, 0);
  args->timeout_ns = 20000000;
  CHECK(vyre_dispatch(e, args, NULL, &error) == VYRE_ERROR_TIMEOUT);
}

// ---- executables --------------------------------------------------------------------------------

typedef struct made {
  vyre_executable *add, *add_alone, *endless, *interpreted;
} made;

static void use_executables(void *context) {
  made *m = context;
  check_add(m->add);
  check_add(m->add_alone);
  check_add(m->interpreted);
  check_endless(m->endless);
  vyre_executable *fresh = compile(add_text, "cpu", 2);
  check_add(fresh);
  vyre_executable_release(fresh);
  vyre_executable_release(m->add);
}

static void executables_work_in_a_child(void **state) {
  (void)state;
  made m = {compile(add_text, "cpu", 3), compile(add_text, "cpu", 1),
            compile(endless_text, "cpu", 2), compile(add_text, "ref", 0)};
  for (int i = 0; i < 3; i++) check_add(m.add); // the pool has threads now,
  check_endless(m.endless);                     // and the watchdog
  setenv("VYRE_CACHE", "off", 1);
  in_child(use_executables, &m);
  unsetenv("VYRE_CACHE");
  check_add(m.add);
  check_endless(m.endless);
  vyre_executable_release(m.add);
  vyre_executable_release(m.add_alone);
  vyre_executable_release(m.endless);
  vyre_executable_release(m.interpreted);
}

// ---- runtimes -----------------------------------------------------------------------------------

typedef struct running {
  vyre_runtime *runtime;
  vyre_program *program;
  vyre_kernel *kernel;
  vyre_buffer *buffer;
  vyre_completion *done, *waiting;
} running;

static int notices;
static char last_notice[600];

static void count_notice(void *context, const char *message) {
  (void)context;
  notices++;
  snprintf(last_notice, sizeof last_notice, "%s", message);
}

static void begin(running *r, bool no_store) {
  vyre_runtime_options options = {
      .no_store = no_store, .specialise = true, .notice = count_notice, .learn_after = 4};
  vyre_error error;
  CHECK(vyre_runtime_new(&options, &r->runtime, &error) == VYRE_OK);
  r->program = parse(add_text);
  CHECK(vyre_runtime_load(r->runtime, r->program, &r->kernel, &error) == VYRE_OK);
}

static void check_kernel(vyre_kernel *k) {
  binding b;
  vyre_error error;
  for (int i = 0; i < 6; i++) {
    CHECK(vyre_kernel_dispatch(k, bind(&b, 1), NULL, &error) == VYRE_OK);
    CHECK(is_all(7));
  }
}

static void end(running *r) {
  vyre_runtime_settle(r->runtime);
  vyre_kernel_free(r->kernel);
  vyre_runtime_free(r->runtime);
  vyre_program_release(r->program);
}

static bool is_refused(vyre_status status, const vyre_error *error) {
  return status == VYRE_ERROR_ARGUMENT && strstr(error->message, "forked") &&
         strstr(error->message, "Fix: ");
}

static void use_parents_runtime(void *context) {
  running *r = context;
  vyre_error error;
  binding b;
  vyre_kernel *k;
  vyre_buffer *buffer;
  vyre_completion *c;
  char *text;
  uint32_t word = 0;
  vyre_dispatch_args *args = bind(&b, 1);
  CHECK(is_refused(vyre_kernel_dispatch(r->kernel, args, NULL, &error), &error));
  CHECK(is_refused(vyre_kernel_submit(r->kernel, args, &c, &error), &error));
  CHECK(is_refused(vyre_kernel_explain(r->kernel, &text, &error), &error));
  CHECK(is_refused(vyre_runtime_load(r->runtime, r->program, &k, &error), &error));
  CHECK(is_refused(vyre_buffer_new(r->runtime, 64, &buffer, &error), &error));
  CHECK(is_refused(vyre_buffer_write(r->buffer, 0, &word, sizeof word, &error), &error));
  CHECK(is_refused(vyre_buffer_read(r->buffer, 0, &word, sizeof word, &error), &error));
  vyre_executable *e = compile(add_text, "cpu", 2);
  args->handles = &r->buffer;
  CHECK(is_refused(vyre_dispatch(e, args, NULL, &error), &error));
  CHECK(vyre_completion_is_done(r->waiting));
  CHECK(is_refused(vyre_completion_wait(r->waiting, &error), &error));
  CHECK(is_refused(vyre_completion_wait(r->done, &error), &error));
  vyre_runtime_settle(r->runtime);
  vyre_buffer_free(r->buffer);
  vyre_kernel_free(r->kernel);
  vyre_runtime_free(r->runtime);
  running own = {0};
  begin(&own, true);
  check_kernel(own.kernel);
  CHECK(vyre_kernel_submit(own.kernel, bind(&b, 1), &c, &error) == VYRE_OK);
  CHECK(vyre_completion_wait(c, &error) == VYRE_OK && is_all(7));
  end(&own);
}

static void runtimes_of_the_parent_are_refused(void **state) {
  (void)state;
  running r = {0};
  binding b;
  vyre_error error;
  static uint32_t more[COUNT];
  begin(&r, true);
  check_kernel(r.kernel); // something is being learned when the process forks
  assert_int_equal(vyre_buffer_new(r.runtime, 64, &r.buffer, &error), VYRE_OK);
  vyre_dispatch_args *args = bind(&b, 1);
  b.span = (vyre_span){more, sizeof more};
  assert_int_equal(vyre_kernel_submit(r.kernel, args, &r.done, &error), VYRE_OK);
  while (!vyre_completion_is_done(r.done)) nanosleep(&(struct timespec){0, 1000000}, NULL);
  assert_int_equal(vyre_kernel_submit(r.kernel, args, &r.waiting, &error), VYRE_OK);
  in_child(use_parents_runtime, &r);
  assert_int_equal(vyre_completion_wait(r.done, &error), VYRE_OK);
  assert_int_equal(vyre_completion_wait(r.waiting, &error), VYRE_OK);
  check_kernel(r.kernel);
  vyre_buffer_free(r.buffer);
  end(&r);
}

// ---- the store ----------------------------------------------------------------------------------

static void use_own_store(void *context) {
  (void)context;
  notices = 0;
  running own = {0};
  begin(&own, false);
  check_kernel(own.kernel);
  end(&own);
  CHECK(notices == 0);
}

static void use_store_of_parent(void *context) {
  (void)context;
  store *s;
  vyre_error error;
  CHECK(store_open(NULL, NULL, &s, &error) == VYRE_ERROR_UNSUPPORTED);
  CHECK(strstr(error.message, "forked") && strstr(error.message, "Fix: "));
  notices = 0;
  running own = {0};
  begin(&own, false); // it works, and remembers nothing
  CHECK(notices == 1 && strstr(last_notice, "forked"));
  check_kernel(own.kernel);
  end(&own);
}

static void a_store_is_never_shared_by_a_fork(void **state) {
  (void)state;
  in_child(use_own_store, NULL);
  running r = {0};
  begin(&r, false);
  check_kernel(r.kernel);
  vyre_runtime_settle(r.runtime);
  in_child(use_store_of_parent, NULL);
  end(&r);
  in_child(use_own_store, NULL); // the parent's is closed
}

// ---- a busy parent ------------------------------------------------------------------------------

static atomic_bool is_over;

static void *compile_all_the_time(void *unused) {
  (void)unused;
  char text[400];
  for (int i = 0; !atomic_load(&is_over); i++) {
    snprintf(text, sizeof text,
             "program p(a: u32)\nbuffer x: u32[] readwrite\n"
             "region main grid(len(x)) { x[global_id.x] = (x[global_id.x] ^ %d) * a }\n",
             i);
    vyre_executable_release(compile(text, "cpu", 2));
  }
  return NULL;
}

static void *dispatch_all_the_time(void *executable) {
  static uint32_t words[COUNT];
  vyre_scalar param = vyre_scalar_u32(1);
  vyre_span span = {words, sizeof words};
  vyre_dispatch_args args = {.params = &param,
                             .param_count = 1,
                             .buffers = &span,
                             .buffer_count = 1,
                             .timeout_ns = 100000000000};
  while (!atomic_load(&is_over)) CHECK(vyre_dispatch(executable, &args, NULL, NULL) == VYRE_OK);
  return NULL;
}

static void work_in_a_busy_child(void *executable) {
  check_add(executable);
  vyre_program *p = parse(endless_text);
  vyre_executable *e;
  vyre_error error;
  vyre_status status = vyre_compile(p, "cpu", NULL, &e, &error);
  if (status == VYRE_OK) check_endless(e);
  CHECK(status == VYRE_OK || (status == VYRE_ERROR_BACKEND && strstr(error.message, "forked")));
}

static void forks_of_a_busy_process_do_not_hang(void **state) {
  (void)state;
#ifdef __SANITIZE_ADDRESS__
  skip(); // gcc 12's allocator keeps its locks as fork() finds them: its child hangs in malloc()
#endif
  enum { FORKS = 20 };
  int status = 0;
  pthread_t compiler, dispatcher;
  vyre_executable *e = compile(add_text, "cpu", 3), *other = compile(add_text, "cpu", 3);
  setenv("VYRE_CACHE", "off", 1);
  assert_int_equal(pthread_create(&compiler, NULL, compile_all_the_time, NULL), 0);
  assert_int_equal(pthread_create(&dispatcher, NULL, dispatch_all_the_time, other), 0);
  for (int i = 0; i < FORKS && status == 0; i++) status = child_status(work_in_a_busy_child, e);
  atomic_store(&is_over, true);
  pthread_join(compiler, NULL);
  pthread_join(dispatcher, NULL);
  unsetenv("VYRE_CACHE");
  vyre_executable_release(e);
  vyre_executable_release(other);
  assert_ended_well(status);
}

// ---- locks of files -----------------------------------------------------------------------------

// The child has the lock's file open, too; what the parent releases is free all the same.
static void a_child_keeps_no_lock(void **state) {
  (void)state;
  int lock, again, ready[2];
  char byte;
  assert_int_equal(pipe(ready), 0);
  assert_int_equal(lockfile_acquire(scratch_path("locked"), 0, &lock, NULL), VYRE_OK);
  pid_t child = fork();
  if (!child) {
    alarm(HANGS_SECONDS);
    (void)!write(ready[1], "x", 1);
    for (;;) pause();
  }
  assert_int_equal(read(ready[0], &byte, 1), 1);
  lockfile_release(lock);
  assert_int_equal(lockfile_acquire(scratch_path("locked"), 0, &again, NULL), VYRE_OK);
  lockfile_release(again);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  close(ready[0]), close(ready[1]);
}

// ---- OpenCL -------------------------------------------------------------------------------------

static void use_opencl_of_parent(void *executable) {
  vyre_error error;
  binding b;
  uint32_t count;
  vyre_program *p = parse(add_text);
  vyre_executable *e;
  vyre_dispatch_args *args = bind(&b, 1);
  CHECK(vyre_dispatch(executable, args, NULL, &error) == VYRE_ERROR_UNSUPPORTED);
  CHECK(strstr(error.message, "forked") && strstr(error.message, "Fix: "));
  CHECK(vyre_backend_devices("opencl", NULL, 0, &count, &error) == VYRE_ERROR_UNSUPPORTED);
  CHECK(vyre_compile(p, "opencl", NULL, &e, &error) == VYRE_ERROR_UNSUPPORTED);
  vyre_executable_release(executable);
  running own = {0};
  begin(&own, true);
  check_kernel(own.kernel);
  end(&own);
}

static void opencl_stays_with_the_parent(void **state) {
  (void)state;
  uint32_t count;
  if (vyre_backend_devices("opencl", NULL, 0, &count, NULL) != VYRE_OK) skip();
  vyre_executable *e = compile(add_text, "opencl", 0);
  check_add(e);
  in_child(use_opencl_of_parent, e);
  check_add(e);
  vyre_executable_release(e);
}

static int make_home(void **state) {
  return scratch_dir_make(state) || setenv("VYRE_HOME", scratch_dir, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(executables_work_in_a_child),
      cmocka_unit_test(runtimes_of_the_parent_are_refused),
      cmocka_unit_test(a_store_is_never_shared_by_a_fork),
      cmocka_unit_test(forks_of_a_busy_process_do_not_hang),
      cmocka_unit_test(a_child_keeps_no_lock),
      cmocka_unit_test(opencl_stays_with_the_parent),
  };
  return cmocka_run_group_tests(tests, make_home, scratch_dir_remove);
}
