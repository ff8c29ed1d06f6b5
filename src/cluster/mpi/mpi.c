// SPDX-License-Identifier: MIT
//
// The transport over MPI, in a module of its own: nothing else of vyre includes or links MPI. It
// works on a duplicate of the caller's communicator, so that messages of both never meet. Nothing
// here blocks inside MPI: requests are tested in a loop that also looks for the message by which a
// rank says that it cannot go on, and that leaves the CPU to others after a while.
#include "base/error.h"
#include "cluster/transport.h"
#include "ir/types.h"

#include <mpi.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  TAG_DATA = 1,
  TAG_FAILED = 2,
  TAG_PLACE = 3,
  FAILURE_BYTES = 400,
  SPINS = 500,          // tests before the CPU is offered to others
  LOOK_EVERY = 64,      // tests between looks for what others say
  PIECE_BYTES = 1 << 30 // of a message: MPI counts in int
};
static const double TELL_AFTER = 0.25, TELL_EVERY = 0.5, PUZZLED_FOR = 2; // seconds

typedef struct told { // what was said to a rank the last time
  MPI_Request request;
  bool is_sent;
  void *data;
} told;

typedef struct request { // beside those of MPI
  int rank, bytes;       // bytes: of a receive; -1 of a send
} request;

typedef struct mpi_state {
  MPI_Comm comm, watch; // the latter for what ranks say about themselves
  int rank, size;
  bool has_started; // MPI was initialised here, and is finalised here
  MPI_Request *requests;
  MPI_Status *statuses;
  request *facts;
  int capacity, pending; // of the set that was begun
  const transport_place *place;
  void *heard;                 // room for what another says
  told *told;                  // per rank
  char failure[FAILURE_BYTES]; // what is sent to the others
} mpi_state;

static vyre_status mpi_error(int code, const char *what, vyre_error *error) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int size = 0;
  MPI_Error_string(code, text, &size);
  return error_set(error, VYRE_ERROR_BACKEND,
                   "MPI failed at %s: %.200s. Fix: look at what mpirun says about the ranks", what,
                   text);
}

// ---- what ranks say about themselves ------------------------------------------------------------

// Nobody waits for these messages: what was said before is dropped when it has not left yet.
static void tell_place(mpi_state *s, int rank) {
  told *t = &s->told[rank];
  int is_done = 1;
  if (rank == s->rank) return;
  if (t->is_sent && (MPI_Test(&t->request, &is_done, MPI_STATUS_IGNORE) || !is_done)) return;
  if (!t->data) t->data = malloc(s->place->bytes);
  if (!t->data) return;
  memcpy(t->data, s->place->own, s->place->bytes);
  t->is_sent =
      !MPI_Isend(t->data, (int)s->place->bytes, MPI_BYTE, rank, TAG_PLACE, s->watch, &t->request);
}

// Of a set of messages those who have a part in it; otherwise ranks at distances of powers of two:
// they connect all, so that some two that differ hear of each other.
static void tell_places(mpi_state *s, int count, bool is_collective) {
  for (int i = 0; i < count && !is_collective; i++) tell_place(s, s->facts[i].rank);
  for (int step = 1; step < s->size && is_collective; step *= 2)
    tell_place(s, (s->rank + step) % s->size);
}

static vyre_status look(mpi_state *s, vyre_error *error) {
  int is_there = 0;
  MPI_Status from;
  char text[FAILURE_BYTES] = "";
  if (MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, s->watch, &is_there, &from) || !is_there)
    return VYRE_OK;
  int rank = from.MPI_SOURCE;
  if (from.MPI_TAG == TAG_FAILED) {
    MPI_Recv(text, FAILURE_BYTES, MPI_CHAR, rank, TAG_FAILED, s->watch, MPI_STATUS_IGNORE);
    return error_set(error, VYRE_ERROR_BACKEND, "rank %d cannot go on: %s", rank, text);
  }
  bool answer = false;
  MPI_Recv(s->heard, (int)s->place->bytes, MPI_BYTE, rank, TAG_PLACE, s->watch, MPI_STATUS_IGNORE);
  vyre_status status =
      s->place->compare(s->place->context, (uint32_t)rank, s->heard, &answer, error);
  if (status == VYRE_OK && answer) tell_place(s, rank);
  return status;
}

// Something does not fit, which is usual where ranks were called otherwise: the others may know.
static vyre_status puzzled(mpi_state *s, vyre_status status, vyre_error *error) {
  vyre_error said = {0};
  for (int n = 0; n < s->size; n++) tell_place(s, n);
  for (double start = MPI_Wtime(); MPI_Wtime() < start + PUZZLED_FOR; sched_yield()) {
    vyre_status heard = look(s, &said);
    if (heard == VYRE_OK) continue;
    if (error) *error = said;
    return heard;
  }
  return status;
}

// ---- waiting ------------------------------------------------------------------------------------

static vyre_status check_sizes(mpi_state *s, int count, vyre_error *error) {
  for (int i = 0, got; i < count; i++) {
    if (s->facts[i].bytes < 0) continue;
    if (!MPI_Get_count(&s->statuses[i], MPI_BYTE, &got) && got == s->facts[i].bytes) continue;
    return error_set(error, VYRE_ERROR_BACKEND,
                     "rank %d sent %d bytes where %d were expected. Fix: call the same on every "
                     "rank",
                     s->facts[i].rank, got, s->facts[i].bytes);
  }
  return VYRE_OK;
}

static vyre_status test_all(mpi_state *s, int count, bool is_collective, int *is_done,
                            vyre_error *error) {
  int code = MPI_Testall(count, s->requests, is_done, s->statuses);
  vyre_status status = VYRE_OK;
  if (code)
    status = mpi_error(code, is_collective ? "what all ranks do" : "a message", error);
  else if (*is_done && !is_collective)
    status = check_sizes(s, count, error);
  return status == VYRE_OK ? status : puzzled(s, status, error);
}

static vyre_status wait_for(mpi_state *s, int count, bool is_collective, vyre_error *error) {
  double tell_at = 0;
  for (unsigned turn = 1;; turn++) {
    int is_done = 0;
    vyre_status status = test_all(s, count, is_collective, &is_done, error);
    if (is_done || status != VYRE_OK) return status;
    if (turn > SPINS) sched_yield();
    if (turn % LOOK_EVERY) continue;
    status = look(s, error);
    if (status != VYRE_OK) return status;
    double now = MPI_Wtime();
    if (tell_at == 0) tell_at = now + TELL_AFTER;
    if (now < tell_at) continue;
    tell_places(s, count, is_collective);
    tell_at = now + TELL_EVERY;
  }
}

static bool has_room(mpi_state *s, size_t count) {
  if (count > INT32_MAX) return false;
  if ((int)count <= s->capacity) return true;
  MPI_Request *requests = realloc(s->requests, count * sizeof *requests);
  if (requests) s->requests = requests;
  MPI_Status *statuses = realloc(s->statuses, count * sizeof *statuses);
  if (statuses) s->statuses = statuses;
  request *facts = realloc(s->facts, count * sizeof *facts);
  if (facts) s->facts = facts;
  if (!requests || !statuses || !facts) return false;
  s->capacity = (int)count;
  return true;
}

// ---- messages -----------------------------------------------------------------------------------

static size_t pieces_of(const transport_message *m) {
  return (m->bytes + PIECE_BYTES - 1) / PIECE_BYTES;
}

static int post(mpi_state *s, const transport_message *m, bool is_send) {
  for (size_t at = 0; at < m->bytes; at += PIECE_BYTES) {
    int bytes = (int)(m->bytes - at < PIECE_BYTES ? m->bytes - at : PIECE_BYTES);
    char *data = (char *)m->data + at;
    MPI_Request *r = &s->requests[s->pending];
    s->facts[s->pending++] = (request){(int)m->rank, is_send ? -1 : bytes};
    int code = is_send ? MPI_Isend(data, bytes, MPI_BYTE, (int)m->rank, TAG_DATA, s->comm, r)
                       : MPI_Irecv(data, bytes, MPI_BYTE, (int)m->rank, TAG_DATA, s->comm, r);
    if (code) return code;
  }
  return MPI_SUCCESS;
}

static vyre_status mpi_begin(void *state, const transport_message *sends, uint32_t send_count,
                             const transport_message *receives, uint32_t receive_count,
                             vyre_error *error) {
  mpi_state *s = state;
  size_t pieces = 0;
  for (uint32_t i = 0; i < send_count; i++) pieces += pieces_of(&sends[i]);
  for (uint32_t i = 0; i < receive_count; i++) pieces += pieces_of(&receives[i]);
  if (!has_room(s, pieces)) return error_out_of_memory(error);
  int code = MPI_SUCCESS;
  s->pending = 0;
  for (uint32_t i = 0; i < receive_count && !code; i++) code = post(s, &receives[i], false);
  for (uint32_t i = 0; i < send_count && !code; i++) code = post(s, &sends[i], true);
  return code ? mpi_error(code, "a message", error) : VYRE_OK;
}

static vyre_status mpi_test(void *state, bool *is_done, vyre_error *error) {
  mpi_state *s = state;
  int done = 0;
  vyre_status status = s->pending ? test_all(s, s->pending, false, &done, error) : VYRE_OK;
  *is_done = done || !s->pending;
  if (*is_done) s->pending = 0;
  return status;
}

static vyre_status mpi_end(void *state, vyre_error *error) {
  mpi_state *s = state;
  vyre_status status = s->pending ? wait_for(s, s->pending, false, error) : VYRE_OK;
  s->pending = 0;
  return status;
}

static vyre_status mpi_gather(void *state, const void *own, size_t bytes, void *all,
                              vyre_error *error) {
  mpi_state *s = state;
  if (!has_room(s, 1)) return error_out_of_memory(error);
  int code =
      MPI_Iallgather(own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, s->comm, s->requests);
  if (code) return mpi_error(code, "gathering", error);
  return wait_for(s, 1, true, error);
}

// Sums wrap: they are made of unsigned numbers, which are the same bits.
static MPI_Datatype type_of(vyre_type type, vyre_op op) {
  bool is_ordered = op == VYRE_OP_ATOMIC_MIN || op == VYRE_OP_ATOMIC_MAX;
  bool is_signed = is_ordered && type_is_signed(type);
  if (type_bytes(type) == 4) return is_signed ? MPI_INT32_T : MPI_UINT32_T;
  return is_signed ? MPI_INT64_T : MPI_UINT64_T;
}

static MPI_Op op_of(vyre_op op) {
  switch (op) {
  case VYRE_OP_ATOMIC_MIN: return MPI_MIN;
  case VYRE_OP_ATOMIC_MAX: return MPI_MAX;
  case VYRE_OP_ATOMIC_AND: return MPI_BAND;
  case VYRE_OP_ATOMIC_OR: return MPI_BOR;
  case VYRE_OP_ATOMIC_XOR: return MPI_BXOR;
  default: return MPI_SUM; // add, and sub, which adds the opposite
  }
}

static vyre_status mpi_combine(void *state, void *data, uint64_t count, vyre_type type, vyre_op op,
                               vyre_error *error) {
  mpi_state *s = state;
  vyre_status status = VYRE_OK;
  if (!has_room(s, 1)) return error_out_of_memory(error);
  uint64_t most = PIECE_BYTES / 8;
  for (uint64_t at = 0; at < count && status == VYRE_OK; at += most) {
    int now = (int)(count - at < most ? count - at : most);
    int code = MPI_Iallreduce(MPI_IN_PLACE, (char *)data + at * type_bytes(type), now,
                              type_of(type, op), op_of(op), s->comm, s->requests);
    status = code ? mpi_error(code, "combining", error) : wait_for(s, 1, true, error);
  }
  return status;
}

// The text stays where it is until the process ends: nobody waits for these messages.
static void mpi_fail(void *state, const char *message) {
  mpi_state *s = state;
  snprintf(s->failure, sizeof s->failure, "%s", message);
  for (int n = 0; n < s->size; n++) {
    MPI_Request request;
    if (n == s->rank) continue;
    if (!MPI_Isend(s->failure, (int)strlen(s->failure) + 1, MPI_CHAR, n, TAG_FAILED, s->watch,
                   &request))
      MPI_Request_free(&request);
  }
}

// ---- life ---------------------------------------------------------------------------------------

static vyre_status find_communicator(int32_t wanted, MPI_Comm *out, bool *has_started,
                                     vyre_error *error) {
  int is_there = 0, is_over = 0, got;
  MPI_Initialized(&is_there);
  MPI_Finalized(&is_over);
  if (is_over)
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "MPI was finalised in this process. Fix: make the cluster before that, once");
  if (!is_there && wanted != VYRE_CLUSTER_WORLD)
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "MPI is not initialised, so that there is no communicator %d. Fix: call "
                     "MPI_Init_thread before, or pass VYRE_CLUSTER_WORLD",
                     wanted);
  if (!is_there) {
    int code = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &got);
    if (code) return mpi_error(code, "its start", error);
    *has_started = true;
  }
  *out = wanted == VYRE_CLUSTER_WORLD ? MPI_COMM_WORLD : MPI_Comm_f2c((MPI_Fint)wanted);
  return VYRE_OK;
}

// What was said and has not left yet stays in memory.
static void free_state(mpi_state *s) {
  for (int n = 0; s->told && n < s->size; n++) {
    told *t = &s->told[n];
    int is_done = 1;
    if (t->is_sent) MPI_Test(&t->request, &is_done, MPI_STATUS_IGNORE);
    if (is_done)
      free(t->data);
    else
      MPI_Request_free(&t->request);
  }
  free(s->told);
  free(s->heard);
  free(s->requests);
  free(s->statuses);
  free(s->facts);
  free(s);
}

static vyre_status mpi_open(int32_t communicator, const transport_place *place, void **state,
                            uint32_t *rank, uint32_t *size, vyre_error *error) {
  mpi_state *s = calloc(1, sizeof *s);
  MPI_Comm from = MPI_COMM_NULL;
  if (!s) return error_out_of_memory(error);
  s->place = place;
  vyre_status status = find_communicator(communicator, &from, &s->has_started, error);
  if (status == VYRE_OK && from == MPI_COMM_NULL)
    status = error_set(error, VYRE_ERROR_ARGUMENT,
                       "the communicator is MPI_COMM_NULL. Fix: pass MPI_Comm_c2f of one that this "
                       "rank belongs to");
  if (status == VYRE_OK) {
    int code = MPI_Comm_dup(from, &s->comm);
    if (!code) code = MPI_Comm_dup(from, &s->watch);
    if (code) status = mpi_error(code, "the communicator", error);
  }
  if (status == VYRE_OK) {
    MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(s->watch, MPI_ERRORS_RETURN);
    MPI_Comm_rank(s->comm, &s->rank);
    MPI_Comm_size(s->comm, &s->size);
    s->told = calloc((size_t)s->size, sizeof *s->told);
    s->heard = malloc(place->bytes);
    if (!s->told || !s->heard) status = error_out_of_memory(error);
  }
  if (status != VYRE_OK) {
    free_state(s);
    return status;
  }
  *rank = (uint32_t)s->rank;
  *size = (uint32_t)s->size;
  *state = s;
  return VYRE_OK;
}

// What others said while this rank was not waiting, and what nobody needs any more.
static void drop_said(mpi_state *s) {
  int is_there = 1;
  MPI_Status from;
  while (!MPI_Iprobe(MPI_ANY_SOURCE, TAG_PLACE, s->watch, &is_there, &from) && is_there)
    MPI_Recv(s->heard, (int)s->place->bytes, MPI_BYTE, from.MPI_SOURCE, TAG_PLACE, s->watch,
             MPI_STATUS_IGNORE);
}

// After a failure ranks leave one by one, and what waits for all would wait for ever: the process
// ends without it, and mpirun sees to the others.
static void mpi_close(void *state) {
  mpi_state *s = state;
  if (*s->failure) return;
  drop_said(s);
  bool has_started = s->has_started;
  MPI_Comm comm = s->comm, watch = s->watch;
  free_state(s);
  MPI_Comm_free(&comm);
  MPI_Comm_free(&watch);
  if (has_started) MPI_Finalize();
}

__attribute__((visibility("default"))) const cluster_transport vyre_mpi_transport = {
    .version = TRANSPORT_VERSION,
    .open = mpi_open,
    .begin = mpi_begin,
    .test = mpi_test,
    .end = mpi_end,
    .gather = mpi_gather,
    .combine = mpi_combine,
    .fail = mpi_fail,
    .close = mpi_close,
};
