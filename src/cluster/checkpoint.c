// SPDX-License-Identifier: MIT
#include "cluster/checkpoint.h"

#include "backend/resident.h"
#include "base/error.h"
#include "base/file.h"
#include "base/toml.h"
#include "base/utf8.h"
#include "ir/limits.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FORMAT = 1, CHUNK = 1 << 20, MOST_MANIFEST = 1 << 28, SHORT_HASH = 16 };
static const char manifest_name[] = "checkpoint.toml";
static const char sealed[] = "\nblake3 = \""; // of all that stands before; the last line

void checkpoint_fini(checkpoint *c) {
  for (size_t i = 0; i < c->parts.count; i++) vec_free(&c->parts.at[i].pieces);
  vec_free(&c->parts);
}

// ---- what may stand in one ----------------------------------------------------------------------

static bool is_text(const char *text) {
  size_t size = strnlen(text, CHECKPOINT_TEXT + 1);
  if (size > CHECKPOINT_TEXT) return false;
  for (size_t i = 0, length; i < size; i += length)
    if (!(length = utf8_length(text + i, size - i))) return false;
  return true;
}

static int find_buffer(const checkpoint *c, const char *name) {
  for (uint32_t i = 0; i < c->buffer_count; i++)
    if (!strcmp(c->buffers[i].name, name)) return (int)i;
  return -1;
}

vyre_status checkpoint_check(const checkpoint *c, vyre_error *error) {
  const char *wrong = NULL;
  if (!c->folder || !*c->folder) wrong = "no folder is named";
  if (!is_text(c->label)) wrong = "the label is no UTF-8 of at most 255 bytes";
  if (!c->buffers && c->buffer_count) wrong = "there are no buffers";
  if (c->buffer_count > LIMIT_BUFFERS) wrong = "there are too many buffers";
  for (uint32_t i = 0; i < c->buffer_count && !wrong; i++) {
    const char *name = c->buffers[i].name;
    if (!name || !c->buffers[i].buffer)
      wrong = "a buffer or its name is NULL";
    else if (!*name || !is_text(name))
      wrong = "a buffer's name is no UTF-8 of 1 to 255 bytes";
    else if (find_buffer(c, name) != (int)i)
      wrong = "two buffers have the same name";
  }
  if (!wrong) return VYRE_OK;
  return error_set(error, VYRE_ERROR_ARGUMENT,
                   "there can be no such checkpoint: %s. Fix: name a folder, and up to %d buffers "
                   "of the runtime by names of their own",
                   wrong, LIMIT_BUFFERS);
}

static char *path_of(const checkpoint *c, const char *file, vyre_error *error) {
  strbuf path = {0};
  strbuf_printf(&path, "%s/%s", c->folder, file);
  char *out = strbuf_take(&path, NULL);
  if (!out) error_out_of_memory(error);
  return out;
}

// ---- who writes what ----------------------------------------------------------------------------

static bool add_pieces(checkpoint_part *p, uint32_t buffer, const intervals *bytes) {
  for (size_t i = 0; i < bytes->count; i++) {
    if (!vec_push(&p->pieces, (cluster_piece){buffer, bytes->at[i].lo, bytes->at[i].hi}))
      return false;
    p->bytes += bytes->at[i].hi - bytes->at[i].lo;
  }
  return true;
}

// What all have is shared out evenly first: nobody writes all of what everybody has.
static bool share_buffer(checkpoint *c, uint32_t b, uint32_t ranks, const intervals *has) {
  uint64_t size = c->buffers[b].buffer->size_bytes;
  intervals left = {0};
  bool ok = intervals_push(&left, 0, size);
  for (uint32_t turn = 0; turn < 2 && ok; turn++)
    for (uint32_t n = 0; n < ranks && ok; n++) {
      intervals mine = {0}, wanted = {0};
      uint64_t lo = turn ? 0 : size / ranks * n;
      uint64_t hi = turn || n + 1 == ranks ? size : size / ranks * (n + 1);
      ok = intervals_push(&wanted, lo, hi) && intervals_common(&wanted, &has[n], &mine);
      intervals_free(&wanted);
      ok = ok && intervals_common(&mine, &left, &wanted) && intervals_subtract(&left, &wanted) &&
           add_pieces(&c->parts.at[n], b, &wanted);
      intervals_free(&wanted);
      intervals_free(&mine);
    }
  intervals_free(&left);
  return ok;
}

bool checkpoint_share(checkpoint *c, uint32_t ranks) {
  bool ok = vec_reserve(&c->parts, ranks);
  for (uint32_t n = 0; n < ranks && ok; n++) c->parts.at[c->parts.count++] = (checkpoint_part){0};
  for (uint32_t b = 0; b < c->buffer_count && ok; b++) {
    const vyre_buffer *buf = c->buffers[b].buffer;
    intervals all = {0};
    ok = intervals_push(&all, 0, buf->size_bytes) &&
         share_buffer(c, b, ranks, buf->layout ? buf->layout->has : &all);
    intervals_free(&all);
  }
  return ok;
}

// ---- writing ------------------------------------------------------------------------------------

static void *memory_of(const checkpoint *c, const cluster_piece *p) {
  return (char *)c->buffers[p->buffer].buffer->host + p->lo;
}

void checkpoint_name_part(checkpoint *c, uint32_t rank, const uint8_t hash[HASH_BYTES]) {
  checkpoint_part *p = &c->parts.at[rank];
  char hex[HASH_HEX];
  hash_hex(hash, hex);
  memmove(p->hash, hash, HASH_BYTES);
  snprintf(p->file, sizeof p->file, "part-%" PRIu32 "-%.*s", rank, SHORT_HASH, hex);
}

vyre_status checkpoint_write_part(checkpoint *c, uint32_t rank, bool *is_new, vyre_error *error) {
  checkpoint_part *p = &c->parts.at[rank];
  *is_new = false;
  if (!p->bytes) return VYRE_OK;
  vec(file_piece) pieces = {0};
  char *path = NULL;
  uint8_t hash[HASH_BYTES];
  hasher h;
  hash_init(&h);
  vyre_status status = vec_reserve(&pieces, p->pieces.count) ? VYRE_OK : error_out_of_memory(error);
  for (size_t i = 0; i < p->pieces.count && status == VYRE_OK; i++) {
    const cluster_piece *at = &p->pieces.at[i];
    pieces.at[pieces.count++] = (file_piece){memory_of(c, at), at->hi - at->lo};
    hash_update(&h, memory_of(c, at), at->hi - at->lo);
  }
  hash_final(&h, hash);
  checkpoint_name_part(c, rank, hash);
  if (status == VYRE_OK && !(path = path_of(c, p->file, error))) status = VYRE_ERROR_MEMORY;
  if (status == VYRE_OK) status = file_make_parents(path, error);
  if (status == VYRE_OK) {
    *is_new = access(path, F_OK) != 0;
    status = file_replace_pieces(path, pieces.at, pieces.count, error);
  }
  free(path);
  vec_free(&pieces);
  return status;
}

void checkpoint_remove_part(const checkpoint *c, uint32_t rank) {
  char *path = path_of(c, c->parts.at[rank].file, NULL);
  if (path && *c->parts.at[rank].file) (void)unlink(path);
  free(path);
}

static void write_manifest(const checkpoint *c, strbuf *out) {
  strbuf_printf(out, "format = %d\nlabel = ", FORMAT);
  toml_write_string(out, c->label);
  strbuf_printf(out, "\nstep = %" PRIu64 "\n", c->step);
  for (uint32_t i = 0; i < c->buffer_count; i++) {
    strbuf_puts(out, "\n[[buffer]]\nname = ");
    toml_write_string(out, c->buffers[i].name);
    strbuf_printf(out, "\nbytes = %zu\n", c->buffers[i].buffer->size_bytes);
  }
  for (size_t n = 0; n < c->parts.count; n++) {
    const checkpoint_part *p = &c->parts.at[n];
    char hex[HASH_HEX];
    if (!p->bytes) continue;
    hash_hex(p->hash, hex);
    strbuf_printf(out,
                  "\n[[part]]\nfile = \"%s\"\nbytes = %" PRIu64 "\nblake3 = \"%s\"\npieces = [",
                  p->file, p->bytes, hex);
    for (size_t i = 0; i < p->pieces.count; i++) // of which buffer, from where to where
      strbuf_printf(out, "%s[%" PRIu32 ", %" PRIu64 ", %" PRIu64 "]", i ? ", " : "",
                    p->pieces.at[i].buffer, p->pieces.at[i].lo, p->pieces.at[i].hi);
    strbuf_puts(out, "]\n");
  }
  strbuf_puts(out, "\n[seal]");
  char hex[HASH_HEX];
  uint8_t hash[HASH_BYTES];
  if (!out->failed) hash_bytes(out->at, out->size, hash), hash_hex(hash, hex);
  strbuf_printf(out, "%s%s\"\n", sealed, hex);
}

// `part-`, a rank, `-`, a hash, and what a writer that was killed may have left behind it.
static bool is_part_name(const char *name) {
  static const char digits[] = "0123456789", hexadecimal[] = "0123456789abcdef";
  if (strncmp(name, "part-", 5)) return false;
  name += 5;
  size_t rank = strspn(name, digits);
  if (!rank || rank > 10 || name[rank] != '-') return false;
  name += rank + 1;
  if (strspn(name, hexadecimal) != SHORT_HASH) return false;
  name += SHORT_HASH;
  return !*name || (*name == '.' && strlen(name) == 7);
}

static bool is_named(const checkpoint *c, const char *name) {
  for (size_t n = 0; n < c->parts.count; n++)
    if (!strcmp(c->parts.at[n].file, name)) return true;
  return false;
}

// Of checkpoints before this one, and of some that were never finished.
static void remove_others(const checkpoint *c) {
  DIR *folder = opendir(c->folder);
  if (!folder) return;
  for (struct dirent *e; (e = readdir(folder));)
    if (is_part_name(e->d_name) && !is_named(c, e->d_name))
      (void)unlinkat(dirfd(folder), e->d_name, 0);
  closedir(folder);
}

vyre_status checkpoint_write_manifest(const checkpoint *c, vyre_error *error) {
  strbuf text = {0};
  size_t size;
  write_manifest(c, &text);
  char *path = path_of(c, manifest_name, error), *all = strbuf_take(&text, &size);
  vyre_status status = path && all ? VYRE_OK : error_out_of_memory(error);
  if (status == VYRE_OK) status = file_make_parents(path, error);
  if (status == VYRE_OK) status = file_replace(path, all, size, error);
  if (status == VYRE_OK) remove_others(c);
  free(path);
  free(all);
  return status;
}

// ---- reading ------------------------------------------------------------------------------------

static vyre_status refuse(const checkpoint *c, vyre_error *error, const char *what) {
  return error_set(error, VYRE_ERROR_IO,
                   "the checkpoint in `%.300s` cannot be used: %s. Fix: use another one; nothing "
                   "of it was taken",
                   c->folder, what);
}

static const char *read_buffers(const checkpoint *c, const toml_value *v, uint32_t *order) {
  if (!v) return c->buffer_count ? "it holds other buffers" : NULL;
  if (v->kind != TOML_ARRAY || !v->array.of_tables) return "`buffer` is no list";
  if (v->array.count != c->buffer_count) return "it holds other buffers";
  for (size_t i = 0; i < v->array.count; i++) {
    const toml_table *t = v->array.items[i]->table;
    const char *name = toml_get_string(toml_find(t, "name"));
    uint64_t bytes;
    if (!name || !toml_get_u64(toml_find(t, "bytes"), &bytes)) return "a buffer is malformed";
    int at = find_buffer(c, name);
    if (at < 0) return "it holds other buffers";
    if (bytes != c->buffers[at].buffer->size_bytes) return "a buffer of it has another size";
    for (size_t k = 0; k < i; k++)
      if (order[k] == (uint32_t)at) return "it has a buffer twice";
    order[i] = (uint32_t)at;
  }
  return NULL;
}

static bool read_hash(const char *text, uint8_t hash[HASH_BYTES]) {
  char again[HASH_HEX];
  if (!text || strlen(text) != HASH_HEX - 1) return false;
  for (int i = 0; i < HASH_BYTES; i++) {
    unsigned byte;
    if (sscanf(text + 2 * i, "%2x", &byte) != 1) return false;
    hash[i] = (uint8_t)byte;
  }
  hash_hex(hash, again);
  return !strcmp(text, again);
}

static const char *read_pieces(const checkpoint *c, const toml_value *v, const uint32_t *order,
                               checkpoint_part *p, intervals *covered) {
  uint64_t bytes = 0;
  if (!v || v->kind != TOML_ARRAY || !v->array.count) return "a part says not what is in it";
  for (size_t i = 0; i < v->array.count; i++) {
    const toml_value *piece = v->array.items[i];
    uint64_t n[3];
    if (piece->kind != TOML_ARRAY || piece->array.count != 3) return "a piece is malformed";
    for (int k = 0; k < 3; k++)
      if (!toml_get_u64(piece->array.items[k], &n[k])) return "a piece is malformed";
    if (n[0] >= c->buffer_count) return "a piece is of a buffer that is not there";
    uint32_t b = order[n[0]];
    if (n[1] >= n[2] || n[2] > c->buffers[b].buffer->size_bytes)
      return "a piece is outside of its buffer";
    bytes += n[2] - n[1]; // a file of so many pieces that this wraps is too large
    if (!vec_push(&p->pieces, (cluster_piece){b, n[1], n[2]}) ||
        !vec_push(&covered[b], (interval){n[1], n[2]}))
      return "there is no memory for it";
  }
  return bytes == p->bytes ? NULL : "a part has not the size of its pieces";
}

static const char *read_part(checkpoint *c, const toml_value *v, const uint32_t *order,
                             intervals *covered) {
  const toml_table *t = v->table;
  const char *file = toml_get_string(toml_find(t, "file"));
  if (!vec_push(&c->parts, (checkpoint_part){0})) return "there is no memory for it";
  checkpoint_part *p = &c->parts.at[c->parts.count - 1];
  if (!file || !is_part_name(file) || strlen(file) >= sizeof p->file)
    return "a part has no name of a part";
  memcpy(p->file, file, strlen(file) + 1);
  if (!read_hash(toml_get_string(toml_find(t, "blake3")), p->hash)) return "a part has no checksum";
  if (!toml_get_u64(toml_find(t, "bytes"), &p->bytes)) return "a part has no size";
  return read_pieces(c, toml_find(t, "pieces"), order, p, covered);
}

static int by_start(const void *a, const void *b) {
  const interval *x = a, *y = b;
  return x->lo < y->lo ? -1 : x->lo > y->lo;
}

// Every byte once.
static const char *check_covered(const checkpoint *c, intervals *covered) {
  for (uint32_t b = 0; b < c->buffer_count; b++) {
    uint64_t next = 0;
    if (covered[b].count) qsort(covered[b].at, covered[b].count, sizeof(interval), by_start);
    for (size_t i = 0; i < covered[b].count; i++) {
      if (covered[b].at[i].lo > next) return "a part of a buffer is missing";
      if (covered[b].at[i].lo < next) return "two parts have the same bytes";
      next = covered[b].at[i].hi;
    }
    if (next != c->buffers[b].buffer->size_bytes) return "a part of a buffer is missing";
  }
  return NULL;
}

static const char *read_parts(checkpoint *c, const toml_table *root) {
  uint32_t order[LIMIT_BUFFERS];
  intervals covered[LIMIT_BUFFERS] = {0};
  const toml_value *v = toml_find(root, "part");
  const char *wrong = read_buffers(c, toml_find(root, "buffer"), order);
  if (!wrong && v && (v->kind != TOML_ARRAY || !v->array.of_tables)) wrong = "`part` is no list";
  for (size_t i = 0; !wrong && v && i < v->array.count; i++)
    wrong = read_part(c, v->array.items[i], order, covered);
  if (!wrong) wrong = check_covered(c, covered);
  for (uint32_t b = 0; b < c->buffer_count; b++) vec_free(&covered[b]);
  return wrong;
}

// The last line has the checksum of all before it.
static const char *check_seal(const char *text, size_t size) {
  size_t line = sizeof sealed - 1 + HASH_HEX - 1 + 2;
  uint8_t hash[HASH_BYTES], said[HASH_BYTES];
  char hex[HASH_HEX];
  if (size < line || memcmp(text + size - line, sealed, sizeof sealed - 1) ||
      memcmp(text + size - 2, "\"\n", 2))
    return "its `checkpoint.toml` is cut off or was never one";
  snprintf(hex, sizeof hex, "%s", text + size - line + sizeof sealed - 1);
  hash_bytes(text, size - line, hash);
  if (!read_hash(hex, said) || memcmp(hash, said, sizeof hash))
    return "its `checkpoint.toml` is not as it was written";
  return NULL;
}

static vyre_status read_text(checkpoint *c, const char *text, size_t size, vyre_error *error) {
  arena memory = ARENA_INIT;
  toml_table *root = NULL;
  uint64_t format;
  const char *wrong = check_seal(text, size), *label = NULL;
  vyre_status status =
      wrong ? refuse(c, error, wrong)
            : toml_parse(&memory, text, size, manifest_name, NULL, NULL, &root, error);
  if (status == VYRE_OK) {
    label = toml_get_string(toml_find(root, "label"));
    if (!toml_get_u64(toml_find(root, "format"), &format) || format != FORMAT)
      wrong = "it is of another version of vyre";
    else if (!label || !toml_get_u64(toml_find(root, "step"), &c->step))
      wrong = "it has no label or no step";
    else if (strcmp(label, c->label))
      wrong = "it belongs to something else, as its label says";
    else
      wrong = read_parts(c, root);
    if (wrong) status = refuse(c, error, wrong);
  }
  arena_free(&memory);
  return status;
}

vyre_status checkpoint_read_manifest(checkpoint *c, uint64_t *hash, vyre_error *error) {
  char *path = path_of(c, manifest_name, error), *text = NULL;
  int fd = -1;
  uint64_t size = 0;
  if (!path) return VYRE_ERROR_MEMORY;
  vyre_status status = file_open_regular(path, &fd, &size, error);
  bool is_open = status == VYRE_OK;
  if (status == VYRE_OK && size > MOST_MANIFEST)
    status = refuse(c, error, "its `checkpoint.toml` is too large");
  if (status == VYRE_OK && !(text = malloc(size + 1))) status = error_out_of_memory(error);
  if (status == VYRE_OK) status = file_read_at(fd, path, 0, text, size, error);
  if (status == VYRE_OK) {
    text[size] = 0;
    *hash = hash_fast(text, size);
    status = read_text(c, text, size, error);
  }
  if (is_open) close(fd);
  free(text);
  free(path);
  return status;
}

// Reads a piece, to its buffer or to `room`, and adds it to the hash.
static vyre_status read_piece(const checkpoint *c, int fd, const char *path,
                              const cluster_piece *piece, uint64_t from, char *room, hasher *h,
                              vyre_error *error) {
  vyre_status status = VYRE_OK;
  for (uint64_t at = piece->lo; at < piece->hi && status == VYRE_OK; at += CHUNK) {
    size_t size = piece->hi - at < CHUNK ? piece->hi - at : CHUNK;
    char *to = room ? room : (char *)c->buffers[piece->buffer].buffer->host + at;
    status = file_read_at(fd, path, from + (at - piece->lo), to, size, error);
    if (status == VYRE_OK) hash_update(h, to, size);
  }
  return status;
}

static vyre_status read_pieces_of(const checkpoint *c, const checkpoint_part *p, int fd,
                                  const char *path, char *room, vyre_error *error) {
  hasher h;
  uint8_t hash[HASH_BYTES];
  uint64_t from = 0;
  vyre_status status = VYRE_OK;
  hash_init(&h);
  for (size_t i = 0; i < p->pieces.count && status == VYRE_OK; i++) {
    status = read_piece(c, fd, path, &p->pieces.at[i], from, room, &h, error);
    from += p->pieces.at[i].hi - p->pieces.at[i].lo;
  }
  hash_final(&h, hash);
  if (status != VYRE_OK || !memcmp(hash, p->hash, sizeof hash)) return status;
  char what[100];
  snprintf(what, sizeof what, "`%.47s` is not as it was written", p->file);
  return refuse(c, error, what);
}

vyre_status checkpoint_read_part(const checkpoint *c, uint32_t part, bool is_kept,
                                 vyre_error *error) {
  const checkpoint_part *p = &c->parts.at[part];
  char *path = path_of(c, p->file, error), *room = is_kept ? NULL : malloc(CHUNK), what[160];
  int fd = -1;
  uint64_t size = 0;
  vyre_status status = path && (room || is_kept) ? VYRE_OK : error_out_of_memory(error);
  if (status == VYRE_OK) status = file_open_regular(path, &fd, &size, error);
  if (status == VYRE_OK) {
    if (size == p->bytes) {
      status = read_pieces_of(c, p, fd, path, room, error);
    } else {
      snprintf(what, sizeof what, "`%.47s` has %" PRIu64 " bytes, and had %" PRIu64, p->file, size,
               p->bytes);
      status = refuse(c, error, what);
    }
    close(fd);
  }
  free(path);
  free(room);
  return status;
}
