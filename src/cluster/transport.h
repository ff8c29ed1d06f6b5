// SPDX-License-Identifier: MIT
//
// What a cluster needs of whatever connects its ranks: one const struct. libvyre-mpi.so has the one
// for MPI and is opened on first use; tests have one whose ranks are threads. All ranks make the
// same calls in the same order, each from one thread at a time.
#ifndef VYRE_CLUSTER_TRANSPORT_H
#define VYRE_CLUSTER_TRANSPORT_H

#include <vyre/vyre.h>

enum { TRANSPORT_VERSION = 2 };
#define TRANSPORT_MODULE_FILE   "libvyre-mpi.so"
#define TRANSPORT_MODULE_SYMBOL "vyre_mpi_transport"

typedef struct transport_message { // to a rank, or from one
  uint32_t rank;
  void *data;
  size_t bytes;
} transport_message;

// What a rank says of itself when it has waited for long, to those it waits for, and what it makes
// of what they say: one that was called otherwise would wait for ever. It costs nothing before.
typedef struct transport_place {
  const void *own; // of the same size on every rank
  size_t bytes;
  void *context;
  // An error when the rank was called otherwise; `answer` when it has to be told of this one.
  vyre_status (*compare)(void *context, uint32_t rank, const void *said, bool *answer,
                         vyre_error *error);
} transport_place;

typedef struct cluster_transport {
  uint32_t version;
  // The communicator as MPI_Fint, or VYRE_CLUSTER_WORLD. The place outlives the state.
  vyre_status (*open)(int32_t communicator, const transport_place *place, void **state,
                      uint32_t *rank, uint32_t *size, vyre_error *error);
  // All messages at once, one such set at a time: `begin` starts them, `end` returns when they are
  // done, and `test`, between the two, says whether they are and lets them go on. Their data stays
  // as it is until then. Between two ranks messages arrive in the order in which they were given.
  vyre_status (*begin)(void *state, const transport_message *sends, uint32_t send_count,
                       const transport_message *receives, uint32_t receive_count,
                       vyre_error *error);
  vyre_status (*test)(void *state, bool *is_done, vyre_error *error);
  vyre_status (*end)(void *state, vyre_error *error);
  // `all` gets the bytes of every rank, in their order.
  vyre_status (*gather)(void *state, const void *own, size_t bytes, void *all, vyre_error *error);
  // Combines integers of all ranks by a commutative atomic operation, modulo 2^w; every rank gets
  // the result in place.
  vyre_status (*combine)(void *state, void *data, uint64_t count, vyre_type type, vyre_op op,
                         vyre_error *error);
  // Tells the others that this rank cannot go on: whatever they wait for ends with an error that
  // has this text.
  void (*fail)(void *state, const char *message);
  void (*close)(void *state);
} cluster_transport;

#endif
