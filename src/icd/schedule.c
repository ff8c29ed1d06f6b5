// SPDX-License-Identifier: MIT
//
// A thread that sleeps costs a system call to wake, several times what a small kernel takes. So an
// enqueue wakes a sleeping thread at most once: it then looks at the list every millisecond, for as
// long as commands keep coming, and takes what nobody has waited for until then. A flush wakes it
// at once.
#include "icd/schedule.h"

#include "base/vec.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WORKERS = 2, LOOK_NS = 1000000, IDLE_LOOKS = 30, EXIT_WAIT_SECONDS = 2 };

static struct {
  pthread_mutex_t lock;
  pthread_cond_t work, done, calls;
  cl_event first_ready, last_ready;
  uint32_t waiting; // threads that wait for `done`
  uint32_t asleep;  // workers that nothing but a signal wakes
  uint32_t running; // commands that a worker runs
  uint64_t submitted;
  bool has_workers, has_caller, is_ending;
  event_callback *first_call, *last_call;
  unsigned generation;
} s = {.lock = PTHREAD_MUTEX_INITIALIZER,
       .work = PTHREAD_COND_INITIALIZER,
       .done = PTHREAD_COND_INITIALIZER,
       .calls = PTHREAD_COND_INITIALIZER};

// ---- processes ----------------------------------------------------------------------------------

static void before_fork(void) {
  pthread_mutex_lock(&s.lock);
}

static void in_parent(void) {
  pthread_mutex_unlock(&s.lock);
}

// Threads do not survive, and what they were to do was the parent's.
static void in_child(void) {
  pthread_mutex_init(&s.lock, NULL);
  pthread_cond_init(&s.work, NULL);
  pthread_cond_init(&s.done, NULL);
  pthread_cond_init(&s.calls, NULL);
  s.first_ready = s.last_ready = NULL;
  s.first_call = s.last_call = NULL;
  s.waiting = s.asleep = s.running = 0;
  s.has_workers = s.has_caller = false;
  s.generation++;
}

// Nothing new begins, and what runs gets some time, before libraries take themselves apart.
static void at_exit(void) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += EXIT_WAIT_SECONDS;
  pthread_mutex_lock(&s.lock);
  s.is_ending = true;
  s.waiting++;
  while (s.running && !pthread_cond_timedwait(&s.done, &s.lock, &until)) continue;
  s.waiting--;
  pthread_mutex_unlock(&s.lock);
}

static void register_process(void) {
  pthread_atfork(before_fork, in_parent, in_child);
  atexit(at_exit);
}

static void prepare(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, register_process);
}

unsigned schedule_generation(void) {
  return s.generation;
}

// ---- the list, under the lock -------------------------------------------------------------------

static void push_ready(cl_event e) {
  e->next_ready = NULL;
  if (s.last_ready)
    s.last_ready->next_ready = e;
  else
    s.first_ready = e;
  s.last_ready = e;
  atomic_store(&e->status, CL_SUBMITTED);
  if (e->queue->is_profiled) e->times[TIME_SUBMIT] = device_now_ns();
}

// The first of a queue, or of any.
static cl_event pop_ready(cl_command_queue queue) {
  cl_event before = NULL, e = s.first_ready;
  while (e && queue && e->queue != queue) {
    before = e;
    e = e->next_ready;
  }
  if (!e) return NULL;
  if (before)
    before->next_ready = e->next_ready;
  else
    s.first_ready = e->next_ready;
  if (s.last_ready == e) s.last_ready = before;
  return e;
}

// An edge that cannot be made is waited for by nobody: so memory is made sure of first.
static bool reserve_edge(cl_event from) {
  if (from->edge_count < from->edge_capacity) return true;
  if (!from->edge_capacity) {
    from->edges = from->few;
    from->edge_capacity = EVENT_FEW_EDGES;
    return true;
  }
  uint32_t capacity = 2 * from->edge_capacity;
  event_edge *old = from->edges == from->few ? NULL : from->edges;
  event_edge *more = realloc(old, capacity * sizeof *more);
  if (!more) return false;
  if (!old) memcpy(more, from->few, sizeof from->few);
  from->edges = more;
  from->edge_capacity = capacity;
  return true;
}

static bool add_edge(cl_event from, cl_event to, bool is_asked) {
  cl_int status = atomic_load(&from->status);
  if (status <= CL_COMPLETE) {
    if (is_asked && status < 0) to->failed = status;
    return true;
  }
  if (from == to || !reserve_edge(from)) return from == to;
  from->edges[from->edge_count++] = (event_edge){to, is_asked};
  to->waits++;
  return true;
}

static bool add_edges(cl_event e, cl_uint wait_count, const cl_event *wait_list) {
  cl_command_queue q = e->queue;
  for (cl_uint i = 0; i < wait_count; i++)
    if (!add_edge(wait_list[i], e, true)) return false;
  if (!q->is_unordered) return !q->last || add_edge(q->last, e, false);
  if (q->barrier && !add_edge(q->barrier, e, false)) return false;
  for (cl_event other = q->first; other && e->waits_for_all; other = other->later)
    if (!add_edge(other, e, false)) return false;
  return true;
}

// Takes back the edges that were made before memory ran out.
static void remove_edges(cl_event e, cl_uint wait_count, const cl_event *wait_list) {
  cl_command_queue q = e->queue;
  for (cl_uint i = 0; i < wait_count; i++)
    while (wait_list[i]->edge_count && wait_list[i]->edges[wait_list[i]->edge_count - 1].to == e)
      wait_list[i]->edge_count--;
  for (cl_event other = q->first; other; other = other->later)
    while (other->edge_count && other->edges[other->edge_count - 1].to == e) other->edge_count--;
}

static void enter_queue(cl_event e) {
  cl_command_queue q = e->queue;
  e->number = ++q->number;
  e->earlier = q->last;
  if (q->last)
    q->last->later = e;
  else
    q->first = e;
  q->last = e;
  if (e->is_barrier && q->is_unordered) q->barrier = e;
}

static void leave_queue(cl_event e) {
  cl_command_queue q = e->queue;
  if (e->earlier)
    e->earlier->later = e->later;
  else
    q->first = e->later;
  if (e->later)
    e->later->earlier = e->earlier;
  else
    q->last = e->earlier;
  if (q->barrier == e) q->barrier = NULL;
}

// Those that are due go to the thread that calls them.
static void fire(cl_event e, cl_int status) {
  for (event_callback **at = &e->callbacks, *c; (c = *at);) {
    if (c->when < status) {
      at = &c->next;
      continue;
    }
    *at = c->next;
    c->next = NULL;
    c->status = status < 0 ? status : c->when;
    if (s.last_call)
      s.last_call->next = c;
    else
      s.first_call = c;
    s.last_call = c;
    pthread_cond_signal(&s.calls);
  }
}

// Whether something became ready.
static bool complete(cl_event e, cl_int status) {
  bool is_more = false;
  if (e->queue) leave_queue(e);
  atomic_store(&e->status, status);
  for (uint32_t i = 0; i < e->edge_count; i++) {
    cl_event to = e->edges[i].to;
    if (status < 0 && e->edges[i].is_asked) to->failed = status;
    if (--to->waits) continue;
    push_ready(to);
    is_more = true;
  }
  e->edge_count = 0;
  if (e->callbacks) fire(e, status);
  if (s.waiting) pthread_cond_broadcast(&s.done);
  return is_more;
}

// ---- running ------------------------------------------------------------------------------------

static void change_status(cl_event e, cl_int status) {
  if (!atomic_load(&e->has_callbacks)) {
    atomic_store(&e->status, status);
    return;
  }
  pthread_mutex_lock(&s.lock);
  atomic_store(&e->status, status);
  fire(e, status);
  pthread_mutex_unlock(&s.lock);
}

// Without the lock; it is taken at the end, and kept.
static void execute(cl_event e) {
  cl_int code = CL_SUCCESS;
  bool is_timed = e->queue->is_profiled;
  change_status(e, CL_RUNNING);
  if (is_timed) e->times[TIME_START] = device_now_ns();
  if (e->failed)
    code = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  else if (e->run)
    code = e->run(e);
  if (is_timed) e->times[TIME_END] = device_now_ns();
  if (e->end) e->end(e);
  e->end = NULL;
  pthread_mutex_lock(&s.lock);
  complete(e, code < 0 ? code : CL_COMPLETE);
}

static void execute_and_drop(cl_event e) {
  pthread_mutex_unlock(&s.lock);
  execute(e);
  pthread_mutex_unlock(&s.lock);
  object_drop(e);
  pthread_mutex_lock(&s.lock);
}

// Sleeps a little while commands keep coming, and then for good. False when it looked in vain.
static void look_again(uint64_t *seen, uint32_t *looks) {
  if (*seen != s.submitted) *looks = 0;
  *seen = s.submitted;
  if (++*looks > IDLE_LOOKS) {
    s.asleep++;
    pthread_cond_wait(&s.work, &s.lock);
    s.asleep--;
    *looks = 0;
    return;
  }
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += LOOK_NS;
  if (until.tv_nsec >= 1000000000) {
    until.tv_nsec -= 1000000000;
    until.tv_sec++;
  }
  pthread_cond_timedwait(&s.work, &s.lock, &until);
}

static void *work(void *data) {
  uint64_t seen = 0;
  uint32_t looks = 0;
  (void)data;
  pthread_mutex_lock(&s.lock);
  for (;;) {
    cl_event e = s.is_ending ? NULL : pop_ready(NULL);
    if (!e) {
      look_again(&seen, &looks);
      continue;
    }
    s.running++;
    execute_and_drop(e);
    if (!--s.running && s.is_ending) pthread_cond_broadcast(&s.done);
  }
  return NULL;
}

static void *call_back(void *data) {
  (void)data;
  pthread_mutex_lock(&s.lock);
  for (;;) {
    event_callback *c = s.first_call;
    if (!c || s.is_ending) {
      pthread_cond_wait(&s.calls, &s.lock);
      continue;
    }
    s.first_call = c->next;
    if (!s.first_call) s.last_call = NULL;
    pthread_mutex_unlock(&s.lock);
    c->call(c->event, c->status, c->data);
    object_drop(c->event);
    free(c);
    pthread_mutex_lock(&s.lock);
  }
  return NULL;
}

static bool start_thread(void *(*run)(void *)) {
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  bool is_made = !pthread_create(&thread, &attributes, run, NULL);
  pthread_attr_destroy(&attributes);
  return is_made;
}

// Under the lock. Without threads commands run when they are waited for.
static void start_workers(void) {
  if (s.has_workers) return;
  for (int i = 0; i < WORKERS; i++) s.has_workers |= start_thread(work);
}

// ---- the calls ----------------------------------------------------------------------------------

cl_int schedule_submit(cl_event e, cl_uint wait_count, const cl_event *wait_list, cl_bool blocking,
                       cl_event *out) {
  prepare();
  if (e->queue->is_profiled) e->times[TIME_QUEUED] = device_now_ns();
  object_hold(e);
  pthread_mutex_lock(&s.lock);
  e->waits = 1;
  if (!add_edges(e, wait_count, wait_list)) {
    remove_edges(e, wait_count, wait_list);
    pthread_mutex_unlock(&s.lock);
    object_drop(e);
    event_abandon(e);
    return CL_OUT_OF_HOST_MEMORY;
  }
  enter_queue(e);
  s.submitted++;
  start_workers();
  if (!--e->waits) {
    push_ready(e);
    if (s.asleep) pthread_cond_signal(&s.work);
  }
  pthread_mutex_unlock(&s.lock);
  cl_int code = CL_SUCCESS;
  if (blocking) {
    cl_int status = schedule_wait(e);
    if (status < 0) code = e->failed ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : status;
  }
  if (out && code == CL_SUCCESS)
    *out = e;
  else
    clReleaseEvent(e);
  return code;
}

void schedule_flush(void) {
  pthread_mutex_lock(&s.lock);
  if (s.first_ready) pthread_cond_broadcast(&s.work);
  pthread_mutex_unlock(&s.lock);
}

// Runs what is ready of the queue, or waits for others to finish something.
static void help(cl_command_queue queue) {
  cl_event e = queue ? pop_ready(queue) : NULL;
  if (e) {
    execute_and_drop(e);
    return;
  }
  if (s.first_ready) pthread_cond_broadcast(&s.work);
  s.waiting++;
  pthread_cond_wait(&s.done, &s.lock);
  s.waiting--;
}

void schedule_finish(cl_command_queue queue) {
  pthread_mutex_lock(&s.lock);
  uint64_t last = queue->number;
  while (queue->first && queue->first->number <= last) help(queue);
  pthread_mutex_unlock(&s.lock);
}

cl_int schedule_wait(cl_event event) {
  cl_int status = atomic_load(&event->status);
  if (status <= CL_COMPLETE) return status;
  pthread_mutex_lock(&s.lock);
  while ((status = atomic_load(&event->status)) > CL_COMPLETE) help(event->queue);
  pthread_mutex_unlock(&s.lock);
  return status;
}

bool schedule_set_status(cl_event event, cl_int status) {
  pthread_mutex_lock(&s.lock);
  bool is_first = atomic_load(&event->status) > CL_COMPLETE;
  if (is_first && complete(event, status)) pthread_cond_broadcast(&s.work);
  pthread_mutex_unlock(&s.lock);
  return is_first;
}

void schedule_call_back(cl_event event, event_callback *callback) {
  prepare();
  object_hold(event);
  pthread_mutex_lock(&s.lock);
  if (!s.has_caller) s.has_caller = start_thread(call_back);
  event_callback **at = &event->callbacks;
  while (*at) at = &(*at)->next;
  *at = callback;
  atomic_store(&event->has_callbacks, true);
  fire(event, atomic_load(&event->status));
  pthread_mutex_unlock(&s.lock);
}
