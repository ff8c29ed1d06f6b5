// SPDX-License-Identifier: MIT
#include "backend/cpu/debugger.h"

#include "base/environment.h"
#include "base/fork.h"

#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The names and layout below are gdb's: it sets a breakpoint on the function and reads the list.
typedef struct jit_code_entry {
  struct jit_code_entry *next_entry, *prev_entry;
  const unsigned char *symfile_addr;
  uint64_t symfile_size;
} jit_code_entry;

typedef struct jit_descriptor {
  uint32_t version, action_flag;
  jit_code_entry *relevant_entry, *first_entry;
} jit_descriptor;

enum { JIT_NOACTION, JIT_REGISTER, JIT_UNREGISTER };

#define EXPORTED __attribute__((visibility("default"), weak))
EXPORTED jit_descriptor __jit_debug_descriptor = {1, JIT_NOACTION, NULL, NULL};
EXPORTED void __jit_debug_register_code(void);
EXPORTED __attribute__((noinline)) void __jit_debug_register_code(void) {
  __asm__ volatile("");
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void watch_forks(void) {
  fork_guard(&lock, NULL);
}

static void announce(jit_code_entry *entry, uint32_t action) {
  __jit_debug_descriptor.relevant_entry = entry;
  __jit_debug_descriptor.action_flag = action;
  __jit_debug_register_code();
}

// perf looks for the file under this name only. Anybody can write there, so the file is made by
// this process, or it was: then it is a plain file of this user without another name. -1 otherwise.
static int open_perf_map(void) {
  char path[64];
  struct stat info;
  snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
  int flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  int fd = open(path, flags | O_CREAT | O_EXCL, 0600);
  if (fd >= 0) return fd;
  fd = open(path, flags);
  if (fd < 0) return -1;
  if (!fstat(fd, &info) && S_ISREG(info.st_mode) && info.st_nlink == 1 &&
      info.st_uid == geteuid() && !(info.st_mode & 077))
    return fd;
  close(fd);
  return -1;
}

static void write_perf_map(const unsigned char *image) {
  int fd = open_perf_map();
  FILE *map = fd < 0 ? NULL : fdopen(fd, "a");
  if (!map) {
    if (fd >= 0) close(fd);
    return;
  }
  const Elf64_Ehdr *header = (const Elf64_Ehdr *)image;
  const Elf64_Shdr *sections = (const Elf64_Shdr *)(image + header->e_shoff);
  for (unsigned i = 0; i < header->e_shnum; i++) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    const Elf64_Sym *symbols = (const Elf64_Sym *)(image + sections[i].sh_offset);
    const char *strings = (const char *)image + sections[sections[i].sh_link].sh_offset;
    for (size_t k = 0; k < sections[i].sh_size / sizeof *symbols; k++)
      if (ELF64_ST_TYPE(symbols[k].st_info) == STT_FUNC && symbols[k].st_shndx < header->e_shnum)
        fprintf(map, "%llx %llx %s\n",
                (unsigned long long)(sections[symbols[k].st_shndx].sh_addr + symbols[k].st_value),
                (unsigned long long)symbols[k].st_size, strings + symbols[k].st_name);
  }
  fclose(map);
}

void *debugger_add(const unsigned char *image, size_t size) {
  jit_code_entry *entry = calloc(1, sizeof *entry);
  if (!entry) return NULL;
  entry->symfile_addr = image;
  entry->symfile_size = size;
  pthread_mutex_lock(&lock);
  entry->next_entry = __jit_debug_descriptor.first_entry;
  if (entry->next_entry) entry->next_entry->prev_entry = entry;
  __jit_debug_descriptor.first_entry = entry;
  announce(entry, JIT_REGISTER);
  if (environment_get("VYRE_PERF_MAP")) write_perf_map(image);
  pthread_mutex_unlock(&lock);
  return entry;
}

void debugger_remove(void *registration) {
  jit_code_entry *entry = registration;
  if (!entry) return;
  pthread_mutex_lock(&lock);
  if (entry->prev_entry)
    entry->prev_entry->next_entry = entry->next_entry;
  else
    __jit_debug_descriptor.first_entry = entry->next_entry;
  if (entry->next_entry) entry->next_entry->prev_entry = entry->prev_entry;
  announce(entry, JIT_UNREGISTER);
  pthread_mutex_unlock(&lock);
  free(entry);
}
