// SPDX-License-Identifier: MIT
//
// NumPy's .npy files, versions 1 to 3, of every type of ours. Reading is strict about the header
// and gives elements in C order and native byte order: big-endian and Fortran-order arrays are
// converted. The caller frees an array with npy_free. Any thread.
#ifndef VYRE_CLI_NPY_H
#define VYRE_CLI_NPY_H

#include <vyre/vyre.h>

enum { NPY_MAX_RANK = 32 }; // as in NumPy

typedef struct npy_array {
  vyre_type type;
  uint32_t rank;
  uint64_t shape[NPY_MAX_RANK];
  uint64_t count; // product of the shape; 1 for rank 0
  void *data;     // count elements, 16-byte aligned; not NULL
  void *storage;  // what to free
} npy_array;

// Takes the malloc'ed bytes of a file, whatever the outcome. `name` is for messages.
vyre_status npy_decode(void *bytes, size_t size, const char *name, npy_array *out,
                       vyre_error *error);
// The same without the elements, where they stand in a file as they are in memory: *elements is
// where they begin, and `data` is NULL. False for all other files, and for those that npy_read
// refuses.
bool npy_read_header(const char *path, npy_array *out, uint64_t *elements);
// `count` elements of such a file from its element `first` on. `path` is the one of the header.
vyre_status npy_read_part(const char *path, const npy_array *array, uint64_t elements,
                          uint64_t first, uint64_t count, void *to, vyre_error *error);
vyre_status npy_read(const char *path, npy_array *out, vyre_error *error);
void npy_free(npy_array *array);

// The bytes of a file; the caller frees *out. `version` is 1, 2 or 3.
vyre_status npy_encode(int version, vyre_type type, uint32_t rank, const uint64_t *shape,
                       const void *data, char **out, size_t *size, vyre_error *error);
// Writes a file of version 1, which every reader knows.
vyre_status npy_write(const char *path, vyre_type type, uint32_t rank, const uint64_t *shape,
                      const void *data, vyre_error *error);

#endif
