// SPDX-License-Identifier: MIT
#include "backend/cache.h"

#include "base/environment.h"
#include "base/error.h"
#include "base/file.h"
#include "base/paths.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "base/warning.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// In front of every entry. It names its key, so that a file under another's name is noticed, and
// the checksum covers all of it: the fields before, and the payload behind.
typedef struct entry_header {
  char magic[8];
  uint64_t payload_bytes;
  uint8_t key[HASH_BYTES];
  uint8_t checksum[HASH_BYTES];
} entry_header;

static_assert(sizeof(entry_header) == 16 + 2 * HASH_BYTES, "no padding: all of it is checked");

static const char magic[8] = {'V', 'Y', 'R', 'E', 'C', 'O', 'D', '2'};
static const char suffix[] = ".code";

enum { MAX_ENTRY = 1 << 28 };
#define DEFAULT_BYTES ((uint64_t)256 << 20)

// ---- keys ---------------------------------------------------------------------------------------

void cache_key_add(cache_key *key, const void *data, size_t size) {
  uint64_t length = size;
  hash_update(&key->hash, &length, sizeof length);
  if (size) hash_update(&key->hash, data, size);
}

void cache_key_add_string(cache_key *key, const char *text) {
  uint64_t none = UINT64_MAX;
  if (text)
    cache_key_add(key, text, strlen(text));
  else
    hash_update(&key->hash, &none, sizeof none);
}

void cache_key_add_number(cache_key *key, uint64_t number) {
  cache_key_add(key, &number, sizeof number);
}

void cache_key_init(cache_key *key, const char *kind) {
  hash_init(&key->hash);
  cache_key_add_string(key, "vyre-code-cache-v2");
  cache_key_add_string(key, kind);
}

// ---- files --------------------------------------------------------------------------------------

bool cache_is_on(void) {
  return !environment_is("VYRE_CACHE", "off");
}

static uint64_t byte_limit(void) {
  const char *setting = environment_get("VYRE_CACHE_BYTES");
  char *end;
  unsigned long long bytes = setting ? strtoull(setting, &end, 10) : 0;
  return setting && !*end ? bytes : DEFAULT_BYTES;
}

char *cache_folder(vyre_error *error) {
  char *inside = path_cache("code/", error);
  if (inside) inside[strlen(inside) - 1] = 0;
  return inside;
}

// NULL when there is no cache to use; a reason that the user did not choose is told.
static char *entry_path(const uint8_t key[HASH_BYTES]) {
  char name[sizeof "code/" + HASH_HEX + sizeof suffix], hex[HASH_HEX];
  vyre_error why;
  if (!cache_is_on()) return NULL;
  hash_hex(key, hex);
  snprintf(name, sizeof name, "code/%s%s", hex, suffix);
  char *path = path_cache(name, &why);
  if (!path) warning_add(&why);
  return path;
}

static void checksum(const entry_header *h, const void *payload, uint8_t out[HASH_BYTES]) {
  hasher sum;
  hash_init(&sum);
  hash_update(&sum, h, offsetof(entry_header, checksum));
  if (h->payload_bytes) hash_update(&sum, payload, h->payload_bytes);
  hash_final(&sum, out);
}

// NULL when it is the entry of that key; otherwise what it is instead.
static const char *find_fault(const uint8_t key[HASH_BYTES], const char *data, size_t size) {
  entry_header h;
  uint8_t sum[HASH_BYTES];
  if (size < sizeof h) return "cut short";
  memcpy(&h, data, sizeof h);
  if (memcmp(h.magic, magic, sizeof magic)) return "of another version";
  if (h.payload_bytes != size - sizeof h) return "of the wrong size";
  checksum(&h, data + sizeof h, sum);
  if (memcmp(sum, h.checksum, sizeof sum)) return "damaged";
  return memcmp(h.key, key, HASH_BYTES) ? "that of another program" : NULL;
}

// So that it is written anew.
static void remove_bad(const char *path, const char *fault) {
  vyre_error note;
  (void)unlink(path);
  error_set(&note, VYRE_ERROR_IO,
            "the compiled code in `%.300s` was %s; it was removed and is compiled again. Fix: "
            "nothing has to be done; when it happens again, look for what changes that folder",
            path, fault);
  warning_add(&note);
}

// A file that cannot be read for another reason than that it is not there is told, and left.
static bool read_entry(const char *path, const uint8_t key[HASH_BYTES], char **data, size_t *size) {
  vyre_error why;
  if (access(path, F_OK)) return false;
  if (file_read_own(path, MAX_ENTRY, data, size, &why) != VYRE_OK) {
    warning_add(&why);
    return false;
  }
  const char *fault = find_fault(key, *data, *size);
  if (!fault) return true;
  remove_bad(path, fault);
  free(*data);
  return false;
}

bool cache_load(const cache_key *key, void **data, size_t *size) {
  uint8_t hash[HASH_BYTES];
  hash_final(&key->hash, hash);
  char *path = entry_path(hash), *text = NULL;
  bool found = path && read_entry(path, hash, &text, size);
  if (found) {
    *size -= sizeof(entry_header);
    memmove(text, text + sizeof(entry_header), *size);
    *data = text;
    // The time of last use decides what is removed first; many file systems do not keep atime.
    (void)utimensat(AT_FDCWD, path, NULL, 0);
  }
  free(path);
  return found;
}

// ---- the folder ---------------------------------------------------------------------------------

enum { TEMPORARY = sizeof ".XXXXXX" - 1, OLD_SECONDS = 600 };

typedef struct found_entry {
  char name[HASH_HEX + sizeof suffix + TEMPORARY];
  struct timespec used;
  uint64_t bytes;
} found_entry;

typedef vec(found_entry) entry_list;

// What is in the folder: entries, and what writers that were killed, or still write, left of them.
typedef struct inventory {
  DIR *dir; // NULL when there is none
  entry_list entries, unfinished;
} inventory;

static bool has_suffix(const char *name, size_t size) {
  return size == HASH_HEX - 1 + sizeof suffix - 1 &&
         !memcmp(name + HASH_HEX - 1, suffix, sizeof suffix - 1);
}

static entry_list *list_for(inventory *i, const char *name) {
  size_t size = strlen(name);
  if (has_suffix(name, size)) return &i->entries;
  bool is_unfinished =
      size > TEMPORARY && name[size - TEMPORARY] == '.' && has_suffix(name, size - TEMPORARY);
  return is_unfinished ? &i->unfinished : NULL;
}

static inventory take_inventory(void) {
  inventory i = {0};
  char *folder = cache_folder(NULL);
  i.dir = folder ? opendir(folder) : NULL;
  free(folder);
  for (struct dirent *d; i.dir && (d = readdir(i.dir));) {
    struct stat s;
    found_entry e;
    entry_list *list = list_for(&i, d->d_name);
    if (!list || fstatat(dirfd(i.dir), d->d_name, &s, AT_SYMLINK_NOFOLLOW)) continue;
    memcpy(e.name, d->d_name, strlen(d->d_name) + 1);
    e.used = s.st_mtim;
    e.bytes = (uint64_t)s.st_size;
    if (!vec_push(list, e)) break;
  }
  return i;
}

static void inventory_fini(inventory *i) {
  if (i->dir) closedir(i->dir);
  vec_free(&i->entries);
  vec_free(&i->unfinished);
}

static int compare_use(const void *a, const void *b) {
  const struct timespec *x = &((const found_entry *)a)->used, *y = &((const found_entry *)b)->used;
  if (x->tv_sec != y->tv_sec) return x->tv_sec < y->tv_sec ? -1 : 1;
  return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

static uint64_t total_bytes(const entry_list *list) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < list->count; i++) bytes += list->at[i].bytes;
  return bytes;
}

// Removes the entries that were not used for longest until the rest fits.
static void shrink_to(inventory *i, uint64_t limit) {
  entry_list *list = &i->entries;
  uint64_t bytes = total_bytes(list);
  if (bytes > limit) qsort(list->at, list->count, sizeof *list->at, compare_use);
  for (size_t k = 0; k < list->count && bytes > limit; k++) {
    (void)unlinkat(dirfd(i->dir), list->at[k].name, 0);
    bytes -= list->at[k].bytes;
  }
}

// Nobody writes an entry for that long: its writer is dead. In the future is as old.
static void remove_unfinished(inventory *i, time_t now) {
  for (size_t k = 0; k < i->unfinished.count; k++) {
    time_t written = i->unfinished.at[k].used.tv_sec;
    if (now - written > OLD_SECONDS || written - now > OLD_SECONDS)
      (void)unlinkat(dirfd(i->dir), i->unfinished.at[k].name, 0);
  }
}

static void tidy(void) {
  inventory i = take_inventory();
  remove_unfinished(&i, time(NULL));
  shrink_to(&i, byte_limit());
  inventory_fini(&i);
}

void cache_store(const cache_key *key, const void *data, size_t size) {
  if (size > MAX_ENTRY - sizeof(entry_header)) return;
  entry_header h = {.payload_bytes = size};
  memcpy(h.magic, magic, sizeof magic);
  hash_final(&key->hash, h.key);
  char *path = entry_path(h.key);
  if (!path) return;
  checksum(&h, data, h.checksum);
  strbuf all = {0};
  strbuf_add(&all, (const char *)&h, sizeof h);
  strbuf_add(&all, data, size);
  if (!all.failed && file_make_parents(path, NULL) == VYRE_OK &&
      file_replace_own(path, all.at, all.size, NULL) == VYRE_OK)
    tidy();
  free(path);
  strbuf_fini(&all);
}

static size_t remove_all(const inventory *i, const entry_list *list) {
  for (size_t k = 0; k < list->count; k++) (void)unlinkat(dirfd(i->dir), list->at[k].name, 0);
  return list->count;
}

cache_contents cache_clear(void) {
  inventory i = take_inventory();
  cache_contents removed = {.bytes = total_bytes(&i.entries) + total_bytes(&i.unfinished)};
  removed.entries = remove_all(&i, &i.entries);
  removed.unfinished = remove_all(&i, &i.unfinished);
  inventory_fini(&i);
  return removed;
}

cache_contents cache_usage(void) {
  inventory i = take_inventory();
  cache_contents found = {.entries = i.entries.count,
                          .unfinished = i.unfinished.count,
                          .bytes = total_bytes(&i.entries) + total_bytes(&i.unfinished)};
  inventory_fini(&i);
  return found;
}
