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
  FAILURE_BYTES = 400,
  SPINS = 500,          // tests before the CPU is offered to others
  LOOK_EVERY = 64,      // tests between looks for a failure
  PIECE_BYTES = 1 << 30 // of a message: MPI counts in int
};

typedef struct mpi_state {
  MPI_Comm comm;
  int rank, size;
  bool has_started; // MPI was initialised here, and is finalised here
  MPI_Request *requests;
  int capacity;
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

// ---- waiting ------------------------------------------------------------------------------------

static vyre_status look_for_failure(mpi_state *s, vyre_error *error) {
  int is_there = 0;
  MPI_Status from;
  char text[FAILURE_BYTES] = "";
  if (MPI_Iprobe(MPI_ANY_SOURCE, TAG_FAILED, s->comm, &is_there, &from) || !is_there)
    return VYRE_OK;
  MPI_Recv(text, FAILURE_BYTES, MPI_CHAR, from.MPI_SOURCE, TAG_FAILED, s->comm, MPI_STATUS_IGNORE);
  return error_set(error, VYRE_ERROR_BACKEND, "rank %d cannot go on: %s", from.MPI_SOURCE, text);
}

static vyre_status wait_for(mpi_state *s, int count, const char *what, vyre_error *error) {
  for (unsigned turn = 1;; turn++) {
    int is_done = 0, code = MPI_Testall(count, s->requests, &is_done, MPI_STATUSES_IGNORE);
    if (code) return mpi_error(code, what, error);
    if (is_done) return VYRE_OK;
    if (turn % LOOK_EVERY == 0) {
      vyre_status status = look_for_failure(s, error);
      if (status != VYRE_OK) return status;
    }
    if (turn > SPINS) sched_yield();
  }
}

static bool has_room(mpi_state *s, size_t count) {
  if (count > INT32_MAX) return false;
  if ((int)count <= s->capacity) return true;
  MPI_Request *more = realloc(s->requests, count * sizeof *more);
  if (!more) return false;
  s->requests = more;
  s->capacity = (int)count;
  return true;
}

// ---- messages -----------------------------------------------------------------------------------

static size_t pieces_of(const transport_message *m) {
  return (m->bytes + PIECE_BYTES - 1) / PIECE_BYTES;
}

static int post(mpi_state *s, const transport_message *m, bool is_send, int *count) {
  for (size_t at = 0; at < m->bytes; at += PIECE_BYTES) {
    int bytes = (int)(m->bytes - at < PIECE_BYTES ? m->bytes - at : PIECE_BYTES);
    char *data = (char *)m->data + at;
    MPI_Request *request = &s->requests[(*count)++];
    int code = is_send ? MPI_Isend(data, bytes, MPI_BYTE, (int)m->rank, TAG_DATA, s->comm, request)
                       : MPI_Irecv(data, bytes, MPI_BYTE, (int)m->rank, TAG_DATA, s->comm, request);
    if (code) return code;
  }
  return MPI_SUCCESS;
}

static vyre_status mpi_exchange(void *state, const transport_message *sends, uint32_t send_count,
                                const transport_message *receives, uint32_t receive_count,
                                vyre_error *error) {
  mpi_state *s = state;
  size_t pieces = 0;
  for (uint32_t i = 0; i < send_count; i++) pieces += pieces_of(&sends[i]);
  for (uint32_t i = 0; i < receive_count; i++) pieces += pieces_of(&receives[i]);
  if (!has_room(s, pieces)) return error_out_of_memory(error);
  int count = 0, code = MPI_SUCCESS;
  for (uint32_t i = 0; i < receive_count && !code; i++) code = post(s, &receives[i], false, &count);
  for (uint32_t i = 0; i < send_count && !code; i++) code = post(s, &sends[i], true, &count);
  if (code) return mpi_error(code, "a message", error);
  return wait_for(s, count, "a message", error);
}

static vyre_status mpi_gather(void *state, const void *own, size_t bytes, void *all,
                              vyre_error *error) {
  mpi_state *s = state;
  if (!has_room(s, 1)) return error_out_of_memory(error);
  int code =
      MPI_Iallgather(own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, s->comm, s->requests);
  if (code) return mpi_error(code, "gathering", error);
  return wait_for(s, 1, "gathering", error);
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
    status = code ? mpi_error(code, "combining", error) : wait_for(s, 1, "combining", error);
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
    if (!MPI_Isend(s->failure, (int)strlen(s->failure) + 1, MPI_CHAR, n, TAG_FAILED, s->comm,
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

static vyre_status mpi_open(int32_t communicator, void **state, uint32_t *rank, uint32_t *size,
                            vyre_error *error) {
  mpi_state *s = calloc(1, sizeof *s);
  MPI_Comm from = MPI_COMM_NULL;
  if (!s) return error_out_of_memory(error);
  vyre_status status = find_communicator(communicator, &from, &s->has_started, error);
  if (status == VYRE_OK && from == MPI_COMM_NULL)
    status = error_set(error, VYRE_ERROR_ARGUMENT,
                       "the communicator is MPI_COMM_NULL. Fix: pass MPI_Comm_c2f of one that this "
                       "rank belongs to");
  if (status == VYRE_OK) {
    int code = MPI_Comm_dup(from, &s->comm);
    if (code) status = mpi_error(code, "the communicator", error);
  }
  if (status != VYRE_OK) {
    free(s);
    return status;
  }
  MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(s->comm, &s->rank);
  MPI_Comm_size(s->comm, &s->size);
  *rank = (uint32_t)s->rank;
  *size = (uint32_t)s->size;
  *state = s;
  return VYRE_OK;
}

// After a failure ranks leave one by one, and what waits for all would wait for ever: the process
// ends without it, and mpirun sees to the others.
static void mpi_close(void *state) {
  mpi_state *s = state;
  bool has_failed = *s->failure != 0;
  if (!has_failed) {
    MPI_Comm_free(&s->comm);
    if (s->has_started) MPI_Finalize();
    free(s->requests);
    free(s);
  }
}

__attribute__((visibility("default"))) const cluster_transport vyre_mpi_transport = {
    .version = TRANSPORT_VERSION,
    .open = mpi_open,
    .exchange = mpi_exchange,
    .gather = mpi_gather,
    .combine = mpi_combine,
    .fail = mpi_fail,
    .close = mpi_close,
};
