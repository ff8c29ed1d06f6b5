// SPDX-License-Identifier: MIT
//
// A checkpoint: what buffers held, in a folder. Each rank writes one part, a file whose name has
// its checksum; `checkpoint.toml`, written when all parts are there, names them with their sizes,
// checksums and what is in them. So the folder holds the old checkpoint or the new one, whatever
// happens, and any number of ranks can read it. Nothing of a file is believed before it was
// checked. The owner frees a checkpoint (checkpoint_fini). Any thread.
#ifndef VYRE_CLUSTER_CHECKPOINT_H
#define VYRE_CLUSTER_CHECKPOINT_H

#include "base/hash.h"
#include "cluster/cluster.h"
#include "cluster/cluster_plan.h"

enum { CHECKPOINT_FILE = 48, CHECKPOINT_TEXT = 255 }; // bytes of a file's name; of names and labels

typedef struct checkpoint_part {
  vec(cluster_piece) pieces; // one after the other in the file
  uint64_t bytes;
  uint8_t hash[HASH_BYTES];
  char file[CHECKPOINT_FILE];
} checkpoint_part;

struct checkpoint {
  const char *folder, *label;            // borrowed
  const vyre_checkpoint_buffer *buffers; // borrowed
  uint32_t buffer_count;
  uint64_t step;
  vec(checkpoint_part) parts; // to be written: one per rank
};

void checkpoint_fini(checkpoint *c);

// What is wrong with the borrowed ones.
vyre_status checkpoint_check(const checkpoint *c, vyre_error *error);
// Shares out who writes what, from who has what; `has` NULL: there is one rank, which has all.
// False when out of memory.
bool checkpoint_share(checkpoint *c, uint32_t ranks);

// Writes the part of a rank, and fills its name and hash. *is_new: there was no such file before.
vyre_status checkpoint_write_part(checkpoint *c, uint32_t rank, bool *is_new, vyre_error *error);
// What of that others have to know: the hash.
void checkpoint_name_part(checkpoint *c, uint32_t rank, const uint8_t hash[HASH_BYTES]);
void checkpoint_remove_part(const checkpoint *c, uint32_t rank);
// Files and hashes of all parts are known. Then the parts that it does not name are removed.
vyre_status checkpoint_write_manifest(const checkpoint *c, vyre_error *error);

// Reads what was written: fills step and parts, which have every byte of the buffers once. `hash`
// is that of the file.
vyre_status checkpoint_read_manifest(checkpoint *c, uint64_t *hash, vyre_error *error);
// Compares a part with what the manifest says of it; with `is_kept` it goes to the buffers' memory.
vyre_status checkpoint_read_part(const checkpoint *c, uint32_t part, bool is_kept,
                                 vyre_error *error);

#endif
