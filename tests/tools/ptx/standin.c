// SPDX-License-Identifier: MIT
//
// A stand-in for libcuda.so.1 in the tests: the driver API as its documentation describes it, on
// top of the evaluator of PTX. A stream is a thread that works through a queue, so that a launch
// returns before its kernel has run; errors of kernels come later and stay (sticky), as on a
// device. Memory of devices is the host's, but kernels touch only what was allocated, and what was
// not initialised is garbage. STANDIN_DEVICES says how many devices there are (1), STANDIN_GRID how
// many blocks a launch takes along each axis at most, STANDIN_SM which architecture devices have
// (75), STANDIN_NAME what they are called. What a kernel does wrong is said on standard error.
#include "ptx.h"
#include "standin.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Functions that the driver has are declared by whoever looks them up.
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define EXPORT __attribute__((visibility("default")))

enum {
  OK = 0,
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  NOT_INITIALIZED = 3,
  NO_DEVICE = 100,
  INVALID_DEVICE = 101,
  INVALID_IMAGE = 200,
  INVALID_CONTEXT = 201,
  INVALID_PTX = 218,
  NOT_FOUND = 500,
  NOT_READY = 600,
  ILLEGAL_ADDRESS = 700,
  OUT_OF_RESOURCES = 701,
  LAUNCH_FAILED = 719,
};

enum { MOST_DEVICES = 4, MOST_STACK = 16, STATIC_SHARED = 48 << 10, OPTIN_SHARED = 99 << 10 };
enum { FREE_THREADS = 512 }; // of a block, where the kernel says nothing: fewer than a device has

typedef struct context {
  int number;
  atomic_int sticky; // the error that stays
} context;

typedef struct range {
  struct range *next;
  uint64_t address;
  size_t bytes;
  bool is_host;
} range;

typedef struct module {
  ptx_module *ptx;
  context *owner;
} module;

typedef struct function {
  struct function *next;
  const ptx_kernel *kernel;
  module *module;
  int dynamic_shared;
} function;

typedef struct event {
  atomic_ullong time_ns;
  atomic_int state; // 0: never recorded, 1: under way, 2: recorded
} event;

typedef enum job_kind { JOB_COPY, JOB_SET, JOB_KERNEL, JOB_EVENT } job_kind;

typedef struct job {
  struct job *next;
  job_kind kind;
  void *to;
  const void *from;
  size_t bytes;
  unsigned char value;
  bool is_out; // a copy to the host
  event *event;
  const ptx_kernel *kernel;
  ptx_launch launch;
  uint64_t *values; // of the parameters
} job;

typedef struct stream {
  context *owner;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  job *first, **last;
  bool is_busy, is_ending;
} stream;

static context contexts[MOST_DEVICES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of ranges and functions
static range *ranges;
static function *functions;
static atomic_int fail_left = -1, fail_code, call_count, object_count;
static atomic_int named_left = -1, named_code; // of calls of the function `named`
static char named[64];
static atomic_bool is_started, is_stalled, is_corrupting;
static atomic_uint image_age;
static atomic_ullong launch_count;
static _Thread_local context *stack[MOST_STACK];
static _Thread_local int depth;

static context *current(void) {
  return depth ? stack[depth - 1] : NULL;
}

static bool is_loss(int code) {
  return code == ILLEGAL_ADDRESS || code == LAUNCH_FAILED || code == 214 || code == 46 ||
         code == 999;
}

static int fail_with(int code) {
  context *c = current();
  if (c && is_loss(code)) atomic_store(&c->sticky, code);
  return code;
}

// Whether it is the turn of the function that is to fail.
static int fail_by_name(const char *function) {
  if (atomic_load(&named_left) < 0 || strcmp(function, named)) return OK;
  return atomic_fetch_sub(&named_left, 1) == 0 ? fail_with(atomic_load(&named_code)) : OK;
}

// Every call begins here: whether it is to fail, and whether the device still answers.
static int enter(const char *function, bool needs_context) {
  if (!atomic_load(&is_started)) return NOT_INITIALIZED;
  context *c = current();
  if (needs_context && !c) return INVALID_CONTEXT;
  if (needs_context && atomic_load(&c->sticky)) return atomic_load(&c->sticky);
  atomic_fetch_add(&call_count, 1);
  int code = fail_by_name(function);
  if (code != OK) return code;
  if (atomic_load(&fail_left) < 0 || atomic_fetch_sub(&fail_left, 1) != 0) return OK;
  return fail_with(atomic_load(&fail_code));
}

#define ENTER()                                                                                    \
  do {                                                                                             \
    int entered = enter(__func__, true);                                                           \
    if (entered != OK) return entered;                                                             \
  } while (0)

// Calls that end something end it whatever they say: drivers report there what went wrong before.
static int ended(const char *function) {
  const context *c = current();
  int code = fail_by_name(function);
  return code == OK && c ? atomic_load(&c->sticky) : code;
}

// ---- memory -------------------------------------------------------------------------------------

static int add_range(void **out, size_t bytes, bool is_host) {
  range *r = malloc(sizeof *r);
  void *memory =
      bytes && bytes < (size_t)1 << 34 ? aligned_alloc(256, (bytes + 255) / 256 * 256) : NULL;
  if (!r || !memory) {
    free(r);
    free(memory);
    return bytes ? OUT_OF_MEMORY : INVALID_VALUE;
  }
  memset(memory, 0xa5, bytes);
  *r = (range){NULL, (uint64_t)(uintptr_t)memory, bytes, is_host};
  pthread_mutex_lock(&lock);
  r->next = ranges;
  ranges = r;
  pthread_mutex_unlock(&lock);
  atomic_fetch_add(&object_count, 1);
  *out = memory;
  return OK;
}

static bool is_given(void *unused, uint64_t address, uint32_t bytes) {
  (void)unused;
  pthread_mutex_lock(&lock);
  const range *r = ranges;
  while (r && !(address >= r->address && address - r->address < r->bytes &&
                bytes <= r->bytes - (address - r->address)))
    r = r->next;
  pthread_mutex_unlock(&lock);
  return r != NULL;
}

static bool is_pinned(const void *memory, size_t bytes) {
  bool found = false;
  uint64_t at = (uint64_t)(uintptr_t)memory;
  pthread_mutex_lock(&lock);
  for (const range *r = ranges; r && !found; r = r->next)
    found = r->is_host && at >= r->address && at + bytes <= r->address + r->bytes;
  pthread_mutex_unlock(&lock);
  return found;
}

static int remove_range(void *memory, bool is_host) {
  pthread_mutex_lock(&lock);
  range **at = &ranges;
  while (*at && ((*at)->address != (uint64_t)(uintptr_t)memory || (*at)->is_host != is_host))
    at = &(*at)->next;
  range *found = *at;
  if (found) *at = found->next;
  pthread_mutex_unlock(&lock);
  if (!found) return INVALID_VALUE;
  free(found);
  free(memory);
  atomic_fetch_sub(&object_count, 1);
  return OK;
}

EXPORT int cuMemAlloc_v2(unsigned long long *address, size_t bytes) {
  void *memory = NULL;
  ENTER();
  int code = add_range(&memory, bytes, false);
  *address = (uint64_t)(uintptr_t)memory;
  return code;
}

// What is freed is freed, whatever the call says: a device that is lost must not lose memory here.
EXPORT int cuMemFree_v2(unsigned long long address) {
  int code = remove_range((void *)(uintptr_t)address, false);
  return code == OK ? ended(__func__) : code;
}

EXPORT int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
  ENTER();
  if (flags & ~7u) return INVALID_VALUE;
  return add_range(memory, bytes, true);
}

EXPORT int cuMemFreeHost(void *memory) {
  int code = remove_range(memory, true);
  return code == OK ? ended(__func__) : code;
}

EXPORT int cuMemHostGetDevicePointer_v2(unsigned long long *address, void *memory, unsigned flags) {
  ENTER();
  if (flags || !is_pinned(memory, 1)) return INVALID_VALUE;
  *address = (uint64_t)(uintptr_t)memory;
  return OK;
}

// ---- streams ------------------------------------------------------------------------------------

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void run_kernel(stream *s, job *j) {
  char message[PTX_MESSAGE];
  while (atomic_load(&is_stalled)) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  if (ptx_run(j->kernel, &j->launch, message)) return;
  fprintf(stderr, "stand-in: %s\n", message);
  atomic_store(&s->owner->sticky,
               strstr(message, "memory that nobody gave") ? ILLEGAL_ADDRESS : LAUNCH_FAILED);
}

static void run_job(stream *s, job *j) {
  bool is_dead = atomic_load(&s->owner->sticky) != OK;
  switch (j->kind) {
  case JOB_COPY:
    if (is_dead) break;
    memcpy(j->to, j->from, j->bytes);
    if (j->is_out && atomic_load(&is_corrupting)) *(unsigned char *)j->to ^= 1;
    break;
  case JOB_SET:
    if (!is_dead) memset(j->to, j->value, j->bytes);
    break;
  case JOB_KERNEL:
    if (!is_dead) run_kernel(s, j);
    break;
  case JOB_EVENT:
    atomic_store(&j->event->time_ns, now_ns());
    atomic_store(&j->event->state, 2);
    break;
  }
}

static void *work(void *context) {
  stream *s = context;
  pthread_mutex_lock(&s->lock);
  while (true) {
    while (!s->first && !s->is_ending) pthread_cond_wait(&s->changed, &s->lock);
    job *j = s->first;
    if (!j) break;
    s->first = j->next;
    if (!s->first) s->last = &s->first;
    s->is_busy = true;
    pthread_mutex_unlock(&s->lock);
    run_job(s, j);
    free(j->values);
    free((void *)j->launch.params);
    free(j);
    pthread_mutex_lock(&s->lock);
    s->is_busy = false;
    pthread_cond_broadcast(&s->changed);
  }
  pthread_mutex_unlock(&s->lock);
  return NULL;
}

static int add_job(stream *s, const job *wanted) {
  job *j = malloc(sizeof *j);
  if (!j) return OUT_OF_MEMORY;
  *j = *wanted;
  j->next = NULL;
  pthread_mutex_lock(&s->lock);
  *s->last = j;
  s->last = &j->next;
  pthread_cond_broadcast(&s->changed);
  pthread_mutex_unlock(&s->lock);
  return OK;
}

static void wait_for(stream *s) {
  pthread_mutex_lock(&s->lock);
  while (s->first || s->is_busy) pthread_cond_wait(&s->changed, &s->lock);
  pthread_mutex_unlock(&s->lock);
}

EXPORT int cuStreamCreate(stream **out, unsigned flags) {
  ENTER();
  if (flags > 1) return INVALID_VALUE;
  stream *s = calloc(1, sizeof *s);
  if (!s) return OUT_OF_MEMORY;
  s->owner = current();
  s->last = &s->first;
  pthread_mutex_init(&s->lock, NULL);
  pthread_cond_init(&s->changed, NULL);
  if (pthread_create(&s->thread, NULL, work, s)) {
    free(s);
    return OUT_OF_MEMORY;
  }
  atomic_fetch_add(&object_count, 1);
  *out = s;
  return OK;
}

EXPORT int cuStreamDestroy_v2(stream *s) {
  pthread_mutex_lock(&s->lock);
  s->is_ending = true;
  pthread_cond_broadcast(&s->changed);
  pthread_mutex_unlock(&s->lock);
  pthread_join(s->thread, NULL);
  pthread_mutex_destroy(&s->lock);
  pthread_cond_destroy(&s->changed);
  free(s);
  atomic_fetch_sub(&object_count, 1);
  return ended(__func__);
}

EXPORT int cuStreamQuery(stream *s) {
  int code = enter(__func__, true);
  if (is_loss(code)) wait_for(s); // a device that is gone runs nothing any more
  if (code != OK) return code;
  pthread_mutex_lock(&s->lock);
  bool is_over = !s->first && !s->is_busy;
  pthread_mutex_unlock(&s->lock);
  if (!is_over) return NOT_READY;
  return atomic_load(&s->owner->sticky);
}

// What was asked for is over in any case.
EXPORT int cuStreamSynchronize(stream *s) {
  wait_for(s);
  ENTER();
  return atomic_load(&s->owner->sticky);
}

// The host's memory that is not pinned is read, and written, before the call returns.
static int copy(void *to, const void *from, size_t bytes, stream *s, bool is_out) {
  const void *host = is_out ? to : from, *device = is_out ? from : to;
  if (!is_given(NULL, (uint64_t)(uintptr_t)device, 1) || !bytes) return INVALID_VALUE;
  if (!is_given(NULL, (uint64_t)(uintptr_t)device + bytes - 1, 1)) return INVALID_VALUE;
  int code = add_job(
      s, &(job){.kind = JOB_COPY, .to = to, .from = from, .bytes = bytes, .is_out = is_out});
  if (code == OK && !is_pinned(host, bytes)) wait_for(s);
  return code;
}

EXPORT int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t bytes, stream *s) {
  ENTER();
  return copy((void *)(uintptr_t)to, from, bytes, s, false);
}

EXPORT int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t bytes, stream *s) {
  ENTER();
  return copy(to, (const void *)(uintptr_t)from, bytes, s, true);
}

EXPORT int cuMemsetD8Async(unsigned long long to, unsigned char value, size_t bytes, stream *s) {
  ENTER();
  if (!is_given(NULL, to, 1) || !is_given(NULL, to + bytes - 1, 1)) return INVALID_VALUE;
  return add_job(
      s, &(job){.kind = JOB_SET, .to = (void *)(uintptr_t)to, .value = value, .bytes = bytes});
}

// ---- events -------------------------------------------------------------------------------------

EXPORT int cuEventCreate(event **out, unsigned flags) {
  ENTER();
  if (flags > 7) return INVALID_VALUE;
  *out = calloc(1, sizeof **out);
  if (!*out) return OUT_OF_MEMORY;
  atomic_fetch_add(&object_count, 1);
  return OK;
}

EXPORT int cuEventDestroy_v2(event *e) {
  free(e);
  atomic_fetch_sub(&object_count, 1);
  return ended(__func__);
}

EXPORT int cuEventRecord(event *e, stream *s) {
  ENTER();
  atomic_store(&e->state, 1);
  return add_job(s, &(job){.kind = JOB_EVENT, .event = e});
}

EXPORT int cuEventElapsedTime(float *ms, event *first, event *last) {
  ENTER();
  if (atomic_load(&first->state) == 1 || atomic_load(&last->state) == 1) return NOT_READY;
  if (!atomic_load(&first->state) || !atomic_load(&last->state)) return 400;
  *ms = (float)((double)(atomic_load(&last->time_ns) - atomic_load(&first->time_ns)) * 1e-6);
  return OK;
}

// ---- modules ------------------------------------------------------------------------------------

// An "image" is the text behind a mark, with how old the assembler was that made it.
typedef struct image_head {
  char mark[12];
  uint32_t age;
  uint64_t bytes, sum;
} image_head;

static const char image_mark[12] = "STANDIN-1";

typedef struct link {
  char *text;
  size_t bytes;
  void *image;
} link_state;

static uint64_t sum_of(const char *text, size_t bytes) {
  uint64_t sum = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < bytes; i++) sum = (sum ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
  return sum;
}

EXPORT int cuLinkCreate_v2(unsigned count, int *options, void **values, link_state **out) {
  (void)options;
  (void)values;
  ENTER();
  if (count) return INVALID_VALUE;
  *out = calloc(1, sizeof **out);
  if (!*out) return OUT_OF_MEMORY;
  atomic_fetch_add(&object_count, 1);
  return OK;
}

EXPORT int cuLinkAddData_v2(link_state *l, int type, void *data, size_t size, const char *name,
                            unsigned count, int *options, void **values) {
  char message[PTX_MESSAGE];
  (void)name;
  (void)options;
  (void)values;
  ENTER();
  if (type != 1 || count || !size || ((char *)data)[size - 1] || l->text) return INVALID_VALUE;
  ptx_module *m = ptx_parse(data, size - 1, message);
  if (!m) {
    fprintf(stderr, "stand-in: %s\n", message);
    return INVALID_PTX;
  }
  ptx_free(m);
  l->text = strndup(data, size);
  l->bytes = size - 1;
  return l->text ? OK : OUT_OF_MEMORY;
}

EXPORT int cuLinkComplete(link_state *l, void **image, size_t *size) {
  ENTER();
  if (!l->text || l->image) return INVALID_VALUE;
  image_head head = {
      .age = atomic_load(&image_age), .bytes = l->bytes, .sum = sum_of(l->text, l->bytes)};
  memcpy(head.mark, image_mark, sizeof head.mark);
  l->image = malloc(sizeof head + l->bytes);
  if (!l->image) return OUT_OF_MEMORY;
  memcpy(l->image, &head, sizeof head);
  memcpy((char *)l->image + sizeof head, l->text, l->bytes);
  *image = l->image;
  *size = sizeof head + l->bytes;
  return OK;
}

EXPORT int cuLinkDestroy(link_state *l) {
  free(l->text);
  free(l->image);
  free(l);
  atomic_fetch_sub(&object_count, 1);
  return ended(__func__);
}

EXPORT int cuModuleLoadData(module **out, const void *image) {
  char message[PTX_MESSAGE];
  image_head head;
  ENTER();
  memcpy(&head, image, sizeof head);
  const char *text = (const char *)image + sizeof head;
  if (memcmp(head.mark, image_mark, sizeof head.mark) || head.age != atomic_load(&image_age) ||
      head.sum != sum_of(text, head.bytes))
    return INVALID_IMAGE;
  module *m = calloc(1, sizeof *m);
  if (m) m->ptx = ptx_parse(text, head.bytes, message);
  if (!m || !m->ptx) {
    free(m);
    return OUT_OF_MEMORY;
  }
  m->owner = current();
  atomic_fetch_add(&object_count, 1);
  *out = m;
  return OK;
}

EXPORT int cuModuleUnload(module *m) {
  pthread_mutex_lock(&lock);
  for (function **at = &functions; *at;) {
    function *f = *at;
    if (f->module != m) {
      at = &f->next;
      continue;
    }
    *at = f->next;
    free(f);
  }
  pthread_mutex_unlock(&lock);
  ptx_free(m->ptx);
  free(m);
  atomic_fetch_sub(&object_count, 1);
  return ended(__func__);
}

EXPORT int cuModuleGetFunction(function **out, module *m, const char *name) {
  ENTER();
  const ptx_kernel *k = ptx_find(m->ptx, name);
  if (!k) return NOT_FOUND;
  function *f = malloc(sizeof *f);
  if (!f) return OUT_OF_MEMORY;
  *f = (function){.kernel = k, .module = m};
  pthread_mutex_lock(&lock);
  f->next = functions;
  functions = f;
  pthread_mutex_unlock(&lock);
  *out = f;
  return OK;
}

static int most_threads(const function *f) {
  uint32_t most = ptx_most_threads(f->kernel);
  return most == 1024 ? FREE_THREADS : (int)most;
}

EXPORT int cuFuncGetAttribute(int *value, int attribute, function *f) {
  ENTER();
  if (attribute) return INVALID_VALUE;
  *value = most_threads(f);
  return OK;
}

EXPORT int cuFuncSetAttribute(function *f, int attribute, int value) {
  ENTER();
  if (attribute != 8 || value < 0 || value > OPTIN_SHARED) return INVALID_VALUE;
  f->dynamic_shared = value;
  return OK;
}

// ---- launches -----------------------------------------------------------------------------------

static uint32_t most_grid(int axis) {
  const char *text = getenv("STANDIN_GRID");
  uint32_t most = text ? (uint32_t)strtoul(text, NULL, 10) : 0;
  return most ? most : axis == 0 ? 0x7fffffff : 65535;
}

static int check_launch(const function *f, const ptx_launch *l) {
  for (int k = 0; k < 3; k++)
    if (!l->grid[k] || l->grid[k] > most_grid(k) || !l->block[k]) return INVALID_VALUE;
  if (l->block[0] > 1024 || l->block[1] > 1024 || l->block[2] > 64) return INVALID_VALUE;
  uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
  uint32_t most_open =
      f->dynamic_shared > STATIC_SHARED ? (uint32_t)f->dynamic_shared : STATIC_SHARED;
  if (threads > 1024) return INVALID_VALUE;
  // A kernel that says how many threads it takes was given registers for them.
  bool is_free = ptx_most_threads(f->kernel) == 1024;
  if (is_free ? threads > 1024 : threads > ptx_most_threads(f->kernel)) return OUT_OF_RESOURCES;
  if (ptx_static_shared(f->kernel) > STATIC_SHARED || l->dynamic_shared > most_open)
    return INVALID_VALUE;
  return OK;
}

EXPORT int cuLaunchKernel(function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                          unsigned by, unsigned bz, unsigned shared, stream *s, void **params,
                          void **extra) {
  ENTER();
  uint32_t count = ptx_param_count(f->kernel);
  job j = {.kind = JOB_KERNEL,
           .kernel = f->kernel,
           .launch = {.grid = {gx, gy, gz},
                      .block = {bx, by, bz},
                      .dynamic_shared = shared,
                      .is_given = is_given,
                      .seed = atomic_fetch_add(&launch_count, 1) + 1}};
  int code = check_launch(f, &j.launch);
  if (code != OK || extra) return extra ? INVALID_VALUE : code;
  const void **pointers = calloc(count + 1u, sizeof *pointers);
  j.values = calloc(count + 1u, sizeof *j.values);
  for (uint32_t i = 0; i < count && pointers && j.values; i++) {
    memcpy(&j.values[i], params[i], ptx_param_bytes(f->kernel, i));
    pointers[i] = &j.values[i];
  }
  j.launch.params = pointers;
  code = pointers && j.values ? add_job(s, &j) : OUT_OF_MEMORY;
  if (code != OK) {
    free(pointers);
    free(j.values);
  }
  return code;
}

// ---- devices ------------------------------------------------------------------------------------

static int device_count(void) {
  const char *text = getenv("STANDIN_DEVICES");
  int count = text ? (int)strtol(text, NULL, 10) : 1;
  return count < 0 ? 0 : count > MOST_DEVICES ? MOST_DEVICES : count;
}

EXPORT int cuInit(unsigned flags) {
  if (flags) return INVALID_VALUE;
  int code = fail_by_name(__func__);
  if (code != OK || !device_count()) return code != OK ? code : NO_DEVICE;
  for (int i = 0; i < MOST_DEVICES; i++) contexts[i].number = i;
  atomic_store(&is_started, true);
  return OK;
}

EXPORT int cuDriverGetVersion(int *version) {
  int code = fail_by_name(__func__);
  if (code == OK) *version = 13000;
  return code;
}

EXPORT int cuDeviceGetCount(int *count) {
  int code = enter(__func__, false);
  if (code == OK) *count = device_count();
  return code;
}

EXPORT int cuDeviceGet(int *device, int ordinal) {
  if (ordinal < 0 || ordinal >= device_count()) return INVALID_DEVICE;
  int code = enter(__func__, false);
  if (code == OK) *device = ordinal;
  return code;
}

EXPORT int cuDeviceGetName(char *name, int size, int device) {
  (void)device;
  const char *text = getenv("STANDIN_NAME");
  int code = enter(__func__, false);
  if (code == OK) snprintf(name, (size_t)size, "%s", text ? text : "Stand-in GPU");
  return code;
}

EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device) {
  (void)device;
  int code = enter(__func__, false);
  if (code == OK) *bytes = (size_t)1 << 34;
  return code;
}

static int architecture(void) {
  const char *text = getenv("STANDIN_SM");
  return text ? (int)strtol(text, NULL, 10) : 75;
}

EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device) {
  (void)device;
  int code = enter(__func__, false);
  if (code != OK) return code;
  switch (attribute) {
  case 1: *value = 1024; break;
  case 2:
  case 3: *value = 1024; break;
  case 4: *value = 64; break;
  case 5:
  case 6:
  case 7: *value = (int)most_grid(attribute - 5); break;
  case 16: *value = 2; break;
  case 19:
  case 41: *value = 1; break;
  case 20: *value = 0; break;
  case 75: *value = architecture() / 10; break;
  case 76: *value = architecture() % 10; break;
  case 97: *value = OPTIN_SHARED; break;
  default: return INVALID_VALUE;
  }
  return OK;
}

EXPORT int cuDevicePrimaryCtxRetain(context **out, int device) {
  int code = enter(__func__, false);
  if (code == OK) *out = &contexts[device];
  return code;
}

EXPORT int cuCtxPushCurrent_v2(context *c) {
  if (!c || depth == MOST_STACK) return INVALID_CONTEXT;
  stack[depth++] = c;
  int code = enter(__func__, true);
  if (code != OK && !atomic_load(&c->sticky)) depth--; // it failed: nothing was pushed
  return atomic_load(&c->sticky) ? OK : code;
}

EXPORT int cuCtxPopCurrent_v2(context **out) {
  if (!depth) return INVALID_CONTEXT;
  *out = stack[depth - 1];
  int code = ended(__func__);
  depth--;
  return code;
}

// ---- steering -----------------------------------------------------------------------------------

static void fail_after(int calls, int code) {
  atomic_store(&call_count, 0);
  atomic_store(&fail_code, code);
  atomic_store(&fail_left, calls);
}

static void fail_named(const char *function, int calls, int code) {
  atomic_store(&named_left, -1);
  snprintf(named, sizeof named, "%s", function);
  atomic_store(&named_code, code);
  atomic_store(&named_left, calls);
}

static int is_named_over(void) {
  return atomic_load(&named_left) < 0;
}

static int calls(void) {
  return atomic_load(&call_count);
}

static int objects(void) {
  return atomic_load(&object_count);
}

static void stall(int is_on) {
  atomic_store(&is_stalled, is_on != 0);
}

static void corrupt(int is_on) {
  atomic_store(&is_corrupting, is_on != 0);
}

static void forget_images(void) {
  atomic_fetch_add(&image_age, 1);
}

static void revive(void) {
  for (int i = 0; i < MOST_DEVICES; i++) atomic_store(&contexts[i].sticky, OK);
}

static uint64_t launches(void) {
  return atomic_load(&launch_count);
}

EXPORT extern const standin_control standin;
const standin_control standin = {
    .fail_after = fail_after,
    .fail_named = fail_named,
    .is_named_over = is_named_over,
    .calls = calls,
    .objects = objects,
    .stall = stall,
    .corrupt = corrupt,
    .forget_images = forget_images,
    .revive = revive,
    .launches = launches,
};
