// SPDX-License-Identifier: MIT
//
// The small things that everything is made of: growing texts and arrays, UTF-8 against a definition
// of its own, names of files, hashes.
#include "base/filename.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "base/vec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void texts_grow(void **state) {
  (void)state;
  strbuf s = {0};
  size_t size;
  for (int i = 0; i < 1000; i++) strbuf_printf(&s, "%d,", i);
  strbuf_putc(&s, 'x');
  strbuf_puts(&s, "yz");
  strbuf_add(&s, "\0end", 4);
  assert_int_equal(s.size, 10 * 2 + 90 * 3 + 900 * 4 + 3 + 4);
  char *text = strbuf_take(&s, &size);
  assert_int_equal(size, 3897);
  assert_memory_equal(text, "0,1,2,3,", 8);
  assert_memory_equal(text + size - 14, "98,999,xyz\0end", 14);
  assert_int_equal(text[size], 0);
  assert_null(s.at);
  free(text);
  text = strbuf_take(&s, &size); // of nothing: an empty text
  assert_string_equal(text, "");
  assert_int_equal(size, 0);
  free(text);
  s.failed = true; // nothing is added any more, and there is nothing to take
  strbuf_puts(&s, "x");
  assert_int_equal(s.size, 0);
  assert_null(strbuf_reserve(&s, 1));
  assert_null(strbuf_take(&s, NULL));
  assert_false(s.failed);
  // A text is exactly as long as it says, at every length around the steps in which it grows.
  for (size_t length = 0; length < 600; length++) {
    for (size_t i = 0; i < length; i++) strbuf_putc(&s, 'a');
    assert_true(s.capacity >= s.size);
    text = strbuf_take(&s, &size);
    assert_int_equal(strlen(text), length);
    free(text);
  }
}

static void arrays_grow(void **state) {
  (void)state;
  vec(uint64_t) v = {0};
  for (uint64_t i = 0; i < 5000; i++) {
    assert_true(vec_push(&v, i * 3));
    assert_true(v.capacity >= v.count);
  }
  for (uint64_t i = 0; i < 5000; i++) assert_int_equal(v.at[i], i * 3);
  assert_true(v.capacity < 4 * v.count);
  assert_true(vec_reserve(&v, 100));
  assert_true(v.capacity >= v.count + 100);
  size_t capacity = v.capacity;
  assert_true(vec_reserve(&v, v.capacity - v.count)); // as much as there is
  assert_int_equal(v.capacity, capacity);
  assert_false(vec_reserve(&v, SIZE_MAX / 4)); // more than there can be: as it was
  assert_int_equal(v.count, 5000);
  assert_int_equal(v.capacity, capacity);
  assert_int_equal(v.at[4999], 4999 * 3);
  vec_free(&v);
}

// ---- UTF-8 --------------------------------------------------------------------------------------

// The bytes of a scalar value, from the definition; 0 when it is none.
static size_t encode(uint32_t c, unsigned char out[4]) {
  if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) return 0;
  if (c < 0x80) return out[0] = (unsigned char)c, 1;
  size_t size = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  for (size_t i = size; i-- > 1; c >>= 6) out[i] = (unsigned char)(0x80 | (c & 0x3f));
  out[0] = (unsigned char)((size == 2 ? 0xc0 : size == 3 ? 0xe0 : 0xf0) | c);
  return size;
}

static void every_character_is_known(void **state) {
  (void)state;
  for (uint32_t c = 0; c <= 0x10ffff; c++) {
    unsigned char bytes[4];
    size_t size = encode(c, bytes);
    if (!size) continue;
    strbuf s = {0};
    utf8_put(&s, c);
    bool same = s.size == size && !memcmp(s.at, bytes, size);
    bool known = utf8_length((char *)bytes, size) == size;
    bool is_cut = size == 1 || utf8_length((char *)bytes, size - 1) == 0;
    if (!same || !known || !is_cut) fail_msg("%x", c);
    strbuf_fini(&s);
  }
}

// Every beginning of two bytes with continuations behind it is a character exactly when some scalar
// value has these bytes.
static void nothing_else_is_a_character(void **state) {
  (void)state;
  static bool is_start[256][256]; // of a character of three or four bytes
  static bool is_pair[256][256];
  for (uint32_t c = 0x80; c <= 0x10ffff; c++) {
    unsigned char bytes[4];
    size_t size = encode(c, bytes);
    if (size) (size == 2 ? is_pair : is_start)[bytes[0]][bytes[1]] = true;
  }
  for (int a = 0x80; a < 256; a++)
    for (int b = 0; b < 256; b++) {
      const char bytes[4] = {(char)a, (char)b, (char)0x80, (char)0xbf};
      size_t length = a >= 0xf0 ? 4 : 3;
      size_t want = is_pair[a][b] ? 2 : is_start[a][b] ? length : 0;
      if (utf8_length(bytes, 4) != want) fail_msg("%x %x", a, b);
      const char third[4] = {(char)a, (char)b, 'a', (char)0x80};
      if (is_start[a][b]) assert_int_equal(utf8_length(third, 4), 0);
      const char fourth[4] = {(char)a, (char)b, (char)0x80, 'a'};
      if (is_start[a][b] && length == 4) assert_int_equal(utf8_length(fourth, 4), 0);
    }
}

// ---- names and hashes ---------------------------------------------------------------------------

static void names_become_safe(void **state) {
  (void)state;
  char out[FILENAME_SAFE], longest[300];
  static const char *const kept[] = {"a", "cpu-amd_epyc+1.2", "Z9", "a.b", "-x", "_"};
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
    filename_make_safe(kept[i], out);
    assert_string_equal(out, kept[i]);
  }
  static const char *const changed[][2] = {{"", "-"},       {".", "_-"},     {"..", "_.-"},
                                           {"a/b", "a_b-"}, {"a b", "a_b-"}, {"\xff", "_-"}};
  for (size_t i = 0; i < sizeof changed / sizeof *changed; i++) {
    filename_make_safe(changed[i][0], out);
    size_t size = strlen(changed[i][1]);
    if (strncmp(out, changed[i][1], size)) fail_msg("%s", out);
    assert_int_equal(strspn(out + size, "0123456789abcdef"), 16);
    assert_int_equal(strlen(out), size + 16);
  }
  filename_make_safe("a/b", longest);
  filename_make_safe("a b", out);
  assert_string_not_equal(longest, out);
  enum { MOST = FILENAME_SAFE - 18 };
  memset(longest, 'n', sizeof longest);
  longest[MOST] = 0;
  filename_make_safe(longest, out);
  assert_string_equal(out, longest);
  longest[MOST] = 'n';
  longest[MOST + 1] = 0; // one too long: cut, and told apart
  filename_make_safe(longest, out);
  assert_int_equal(strlen(out), FILENAME_SAFE - 1);
  assert_int_equal(out[MOST], '-');
}

static void hashes_are_those_of_blake3(void **state) {
  (void)state;
  uint8_t hash[HASH_BYTES], other[HASH_BYTES];
  char hex[HASH_HEX];
  hash_bytes("", 0, hash);
  hash_hex(hash, hex);
  assert_string_equal(hex, "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
  hash_bytes("abc", 3, hash);
  hash_hex(hash, hex);
  assert_string_equal(hex, "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85");
  hasher h;
  hash_init(&h);
  hash_update(&h, "a", 1);
  hash_update(&h, "bc", 2);
  hash_final(&h, other);
  assert_memory_equal(hash, other, HASH_BYTES);
  hash_init_for(&h, "some purpose");
  hash_update(&h, "abc", 3);
  hash_final(&h, other);
  assert_memory_not_equal(hash, other, HASH_BYTES);
}

static int by_value(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

// Of each length: the plain text, and every text that differs from it in one bit. No two of them
// share a hash, so every byte counts; nor do plain texts of two lengths.
static void the_fast_hash_sees_every_bit(void **state) {
  (void)state;
  enum { LENGTHS = 70, MOST = 8 * LENGTHS + 1 };
  static unsigned char text[LENGTHS];
  uint64_t plain[LENGTHS], all[MOST];
  size_t ones[64] = {0}, total = 0;
  for (size_t length = 0; length < LENGTHS; length++) {
    size_t count = 0;
    plain[length] = all[count++] = hash_fast(text, length);
    for (size_t bit = 0; bit < 8 * length; bit++) {
      text[bit / 8] ^= (unsigned char)(1 << bit % 8);
      all[count++] = hash_fast(text, length);
      text[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    for (size_t i = 0; i < count; i++, total++)
      for (int bit = 0; bit < 64; bit++) ones[bit] += all[i] >> bit & 1;
    qsort(all, count, sizeof *all, by_value);
    for (size_t i = 1; i < count; i++) assert_true(all[i] != all[i - 1]);
  }
  for (int bit = 0; bit < 64; bit++) // each is one about half of the time
    assert_in_range(ones[bit], total * 45 / 100, total * 55 / 100);
  qsort(plain, LENGTHS, sizeof *plain, by_value);
  for (size_t i = 1; i < LENGTHS; i++) assert_true(plain[i] != plain[i - 1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(texts_grow),
      cmocka_unit_test(arrays_grow),
      cmocka_unit_test(every_character_is_known),
      cmocka_unit_test(nothing_else_is_a_character),
      cmocka_unit_test(names_become_safe),
      cmocka_unit_test(hashes_are_those_of_blake3),
      cmocka_unit_test(the_fast_hash_sees_every_bit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
