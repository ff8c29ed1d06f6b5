// SPDX-License-Identifier: MIT
#include "backend/cache.h"

#include "base/file.h"
#include "base/paths.h"
#include "base/strbuf.h"
#include "base/vec.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// In front of every entry. The checksum covers the payload; the size guards against truncation.
typedef struct entry_header {
  char magic[8];
  uint64_t payload_bytes;
  uint8_t checksum[HASH_BYTES];
} entry_header;

static const char magic[8] = {'V', 'Y', 'R', 'E', 'C', 'O', 'D', '1'};
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
  cache_key_add_string(key, "vyre-code-cache-v1");
  cache_key_add_string(key, kind);
}

// ---- files --------------------------------------------------------------------------------------

static bool is_off(void) {
  const char *setting = getenv("VYRE_CACHE");
  return setting && !strcmp(setting, "off");
}

bool cache_is_on(void) {
  return !is_off();
}

static uint64_t byte_limit(void) {
  const char *setting = getenv("VYRE_CACHE_BYTES");
  char *end;
  unsigned long long bytes = setting ? strtoull(setting, &end, 10) : 0;
  return setting && *setting && !*end ? bytes : DEFAULT_BYTES;
}

static char *entry_path(const cache_key *key) {
  uint8_t hash[HASH_BYTES];
  char name[sizeof "code/" + HASH_HEX + sizeof suffix], hex[HASH_HEX];
  hash_final(&key->hash, hash);
  hash_hex(hash, hex);
  snprintf(name, sizeof name, "code/%s%s", hex, suffix);
  return path_cache(name);
}

static bool is_entry(const char *data, size_t size) {
  entry_header h;
  uint8_t sum[HASH_BYTES];
  if (size < sizeof h) return false;
  memcpy(&h, data, sizeof h);
  if (memcmp(h.magic, magic, sizeof magic) || h.payload_bytes != size - sizeof h) return false;
  hash_bytes(data + sizeof h, size - sizeof h, sum);
  return !memcmp(sum, h.checksum, sizeof sum);
}

bool cache_load(const cache_key *key, void **data, size_t *size) {
  char *path = is_off() ? NULL : entry_path(key), *text = NULL;
  bool found = path && file_read(path, MAX_ENTRY, &text, size, NULL) == VYRE_OK;
  if (found && !is_entry(text, *size)) {
    unlink(path);
    free(text);
    found = false;
  }
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

typedef struct found_entry {
  char name[HASH_HEX + sizeof suffix];
  struct timespec used;
  uint64_t bytes;
} found_entry;

typedef vec(found_entry) entry_list;

static bool has_suffix(const char *name) {
  size_t size = strlen(name);
  return size == HASH_HEX - 1 + sizeof suffix - 1 && !strcmp(name + HASH_HEX - 1, suffix);
}

static DIR *list_entries(entry_list *list) {
  char *folder = path_cache("code");
  DIR *dir = folder ? opendir(folder) : NULL;
  free(folder);
  for (struct dirent *d; dir && (d = readdir(dir));) {
    struct stat s;
    found_entry e;
    if (!has_suffix(d->d_name) || fstatat(dirfd(dir), d->d_name, &s, 0)) continue;
    memcpy(e.name, d->d_name, strlen(d->d_name) + 1);
    e.used = s.st_mtim;
    e.bytes = (uint64_t)s.st_size;
    if (!vec_push(list, e)) break;
  }
  return dir;
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

// Removes the entries that were not used for longest until the rest fits; returns how many.
static size_t shrink_to(uint64_t limit) {
  entry_list list = {0};
  DIR *dir = list_entries(&list);
  uint64_t bytes = total_bytes(&list);
  size_t removed = 0;
  if (bytes > limit) qsort(list.at, list.count, sizeof *list.at, compare_use);
  for (; removed < list.count && bytes > limit; removed++) {
    (void)unlinkat(dirfd(dir), list.at[removed].name, 0);
    bytes -= list.at[removed].bytes;
  }
  if (dir) closedir(dir);
  vec_free(&list);
  return removed;
}

void cache_store(const cache_key *key, const void *data, size_t size) {
  if (is_off() || size > MAX_ENTRY - sizeof(entry_header)) return;
  entry_header h = {.payload_bytes = size};
  memcpy(h.magic, magic, sizeof magic);
  hash_bytes(data, size, h.checksum);
  strbuf all = {0};
  strbuf_add(&all, (const char *)&h, sizeof h);
  strbuf_add(&all, data, size);
  char *path = entry_path(key);
  if (path && !all.failed && file_make_parents(path, NULL) == VYRE_OK &&
      file_replace(path, all.at, all.size, NULL) == VYRE_OK)
    shrink_to(byte_limit());
  free(path);
  strbuf_fini(&all);
}

size_t cache_clear(void) {
  entry_list list = {0};
  DIR *dir = list_entries(&list);
  for (size_t i = 0; i < list.count; i++) (void)unlinkat(dirfd(dir), list.at[i].name, 0);
  size_t count = list.count;
  if (dir) closedir(dir);
  vec_free(&list);
  return count;
}

void cache_usage(size_t *entries, uint64_t *bytes) {
  entry_list list = {0};
  DIR *dir = list_entries(&list);
  *entries = list.count;
  *bytes = total_bytes(&list);
  if (dir) closedir(dir);
  vec_free(&list);
}
