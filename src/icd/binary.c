// SPDX-License-Identifier: MIT
//
// A binary: a magic word, a version, the form, a checksum, and the preprocessed text with the
// options that reading it needs. It needs no file of where it was made, and runs on every device.
// What was changed or cut is refused by its checksum.
#include "icd/program.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

typedef struct binary_head {
  char magic[8];
  uint32_t version, form;
  uint64_t flag_bytes, text_bytes;
  uint8_t checksum[HASH_BYTES]; // of the head with zeros here, and all that follows
} binary_head;

static const char magic[8] = {'V', 'Y', 'R', 'E', 'C', 'L', 'B', '\n'};
enum { BINARY_VERSION = 1 };

static void checksum(const binary_head *head, const char *body, size_t size,
                     uint8_t out[HASH_BYTES]) {
  hasher h;
  binary_head plain = *head;
  memset(plain.checksum, 0, sizeof plain.checksum);
  hash_init_for(&h, "vyre OpenCL program binary 1");
  hash_update(&h, &plain, sizeof plain);
  hash_update(&h, body, size);
  hash_final(&h, out);
}

size_t program_encoded_size(cl_program p) {
  return p->text ? sizeof(binary_head) + strlen(p->flags) + p->text_size : 0;
}

void *program_encode(cl_program p, size_t *size) {
  *size = program_encoded_size(p);
  char *made = malloc(*size + 1);
  if (!made || !*size) return made;
  binary_head head = {.version = BINARY_VERSION,
                      .form = (uint32_t)p->form,
                      .flag_bytes = strlen(p->flags),
                      .text_bytes = p->text_size};
  memcpy(head.magic, magic, sizeof magic);
  memcpy(made + sizeof head, p->flags, head.flag_bytes);
  memcpy(made + sizeof head + head.flag_bytes, p->text, p->text_size);
  checksum(&head, made + sizeof head, *size - sizeof head, head.checksum);
  memcpy(made, &head, sizeof head);
  return made;
}

static char *copy(const char *text, size_t size) {
  char *made = malloc(size + 1);
  if (!made) return NULL;
  memcpy(made, text, size);
  made[size] = 0;
  return made;
}

bool program_decode(cl_program p, const void *bytes, size_t size) {
  binary_head head;
  uint8_t sum[HASH_BYTES];
  if (size < sizeof head) return false;
  memcpy(&head, bytes, sizeof head);
  size_t body = size - sizeof head;
  if (memcmp(head.magic, magic, sizeof magic) || head.version != BINARY_VERSION) return false;
  if (head.flag_bytes > body || head.text_bytes != body - head.flag_bytes) return false;
  if (head.form < PROGRAM_OBJECT || head.form > PROGRAM_EXECUTABLE) return false;
  const char *at = (const char *)bytes + sizeof head;
  checksum(&head, at, body, sum);
  if (memcmp(sum, head.checksum, sizeof sum)) return false;
  p->flags = copy(at, head.flag_bytes);
  p->text = copy(at + head.flag_bytes, head.text_bytes);
  p->text_size = head.text_bytes;
  p->form = (program_form)head.form;
  return p->flags && p->text;
}
