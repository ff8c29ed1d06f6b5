// SPDX-License-Identifier: MIT
#include "cli/npy.h"

#include "base/error.h"
#include "base/file.h"
#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAGIC_BYTES = 6, MAX_HEADER = 1 << 16, ALIGN = 64, MAX_FILE_GIB = 64 };
static const char magic[MAGIC_BYTES + 1] = "\x93NUMPY";

// The header is the text of a Python dictionary: {'descr': '<f4', 'fortran_order': False,
// 'shape': (3, 4), }.
typedef struct header {
  const char *at, *end;
  const char *name;
  vyre_error *error;
  vyre_type type;
  bool big_endian, fortran;
  npy_array *array;
  bool has_descr, has_order, has_shape;
} header;

static vyre_status refuse(const header *h, const char *what, const char *fix) {
  return error_set(h->error, VYRE_ERROR_BINDING, "`%s` %s. Fix: %s", h->name, what, fix);
}

static vyre_status malformed(const header *h, const char *what) {
  return error_set(
      h->error, VYRE_ERROR_BINDING,
      "`%s` has a malformed .npy header: %s. Fix: write the file again with numpy.save", h->name,
      what);
}

// ---- the header's text
// ----------------------------------------------------------------------------

static void skip_blanks(header *h) {
  while (h->at < h->end && (*h->at == ' ' || *h->at == '\t' || *h->at == '\n')) h->at++;
}

static bool take(header *h, char c) {
  skip_blanks(h);
  if (h->at == h->end || *h->at != c) return false;
  h->at++;
  return true;
}

// A string in either kind of quotes, without escapes.
static bool take_string(header *h, const char **text, size_t *size) {
  skip_blanks(h);
  if (h->at == h->end || (*h->at != '\'' && *h->at != '"')) return false;
  char quote = *h->at++;
  *text = h->at;
  while (h->at < h->end && *h->at != quote && *h->at != '\\' && *h->at != '\n') h->at++;
  if (h->at == h->end || *h->at != quote) return false;
  *size = (size_t)(h->at++ - *text);
  return true;
}

static bool take_word(header *h, const char *word) {
  size_t size = strlen(word);
  skip_blanks(h);
  if ((size_t)(h->end - h->at) < size || memcmp(h->at, word, size) != 0) return false;
  h->at += size;
  return true;
}

static vyre_type type_of_descr(char kind, char width) {
  static const struct {
    char kind, width;
    vyre_type type;
  } types[] = {
      {'b', '1', VYRE_BOOL}, {'i', '1', VYRE_I8},  {'u', '1', VYRE_U8},  {'i', '2', VYRE_I16},
      {'u', '2', VYRE_U16},  {'i', '4', VYRE_I32}, {'u', '4', VYRE_U32}, {'i', '8', VYRE_I64},
      {'u', '8', VYRE_U64},  {'f', '4', VYRE_F32}, {'f', '8', VYRE_F64}, {'f', '2', VYRE_F16},
  };
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (types[i].kind == kind && types[i].width == width) return types[i].type;
  return VYRE_VOID;
}

static vyre_status read_descr(header *h) {
  const char *text;
  size_t size;
  skip_blanks(h);
  if (h->at < h->end && *h->at == '[')
    return refuse(h, "holds records", "save each field as an array of its own");
  if (!take_string(h, &text, &size)) return malformed(h, "`descr` is no string");
  bool ordered = size == 3 && strchr("<>|=", text[0]) != NULL;
  h->type = ordered ? type_of_descr(text[1], text[2]) : VYRE_VOID;
  if (h->type != VYRE_VOID && text[0] == '|' && vyre_type_size(h->type) > 1) h->type = VYRE_VOID;
  h->big_endian = text[0] == '>';
  if (h->type != VYRE_VOID) return VYRE_OK;
  return error_set(h->error, VYRE_ERROR_BINDING,
                   "`%s` holds elements of numpy type `%.*s`, which vyre has not. Fix: convert it, "
                   "for instance with x.astype(numpy.float32)",
                   h->name, (int)(size < 40 ? size : 40), text);
}

static vyre_status read_shape(header *h) {
  npy_array *a = h->array;
  if (!take(h, '(')) return malformed(h, "`shape` is no tuple");
  while (!take(h, ')')) {
    uint64_t extent = 0;
    const char *first = (skip_blanks(h), h->at);
    for (; h->at < h->end && *h->at >= '0' && *h->at <= '9'; h->at++)
      if (__builtin_mul_overflow(extent, 10u, &extent) ||
          __builtin_add_overflow(extent, (unsigned)(*h->at - '0'), &extent))
        return malformed(h, "an extent of `shape` is beyond 64 bits");
    if (h->at == first) return malformed(h, "`shape` holds something that is no number");
    take(h, 'L'); // Python 2 wrote 3L
    if (a->rank == NPY_MAX_RANK) return malformed(h, "`shape` has more than 32 axes");
    a->shape[a->rank++] = extent;
    if (take(h, ',')) continue;
    if (a->rank == 1 || !take(h, ')')) return malformed(h, "`shape` is no tuple");
    break;
  }
  return VYRE_OK;
}

static vyre_status read_entry(header *h) {
  const char *key;
  size_t size;
  if (!take_string(h, &key, &size) || !take(h, ':')) return malformed(h, "a key is missing");
  bool *seen = size == 5 && !memcmp(key, "descr", 5)             ? &h->has_descr
               : size == 13 && !memcmp(key, "fortran_order", 13) ? &h->has_order
               : size == 5 && !memcmp(key, "shape", 5)           ? &h->has_shape
                                                                 : NULL;
  if (!seen) return malformed(h, "it has a key that .npy files do not have");
  if (*seen) return malformed(h, "a key is there twice");
  *seen = true;
  if (seen == &h->has_descr) return read_descr(h);
  if (seen == &h->has_shape) return read_shape(h);
  h->fortran = take_word(h, "True");
  return h->fortran || take_word(h, "False") ? VYRE_OK : malformed(h, "`fortran_order` is no bool");
}

static vyre_status read_header(header *h) {
  if (!take(h, '{')) return malformed(h, "it is no dictionary");
  while (!take(h, '}')) {
    vyre_status status = read_entry(h);
    if (status != VYRE_OK) return status;
    if (take(h, ',')) continue;
    if (!take(h, '}')) return malformed(h, "it has no end");
    break;
  }
  skip_blanks(h);
  if (h->at != h->end) return malformed(h, "something follows the dictionary");
  if (!h->has_descr || !h->has_order || !h->has_shape) return malformed(h, "a key is missing");
  return VYRE_OK;
}

// ---- the elements
// ---------------------------------------------------------------------------------

static void swap_bytes(char *data, uint64_t count, size_t width) {
  for (uint64_t i = 0; i < count; i++, data += width)
    for (size_t a = 0, b = width - 1; a < b; a++, b--) {
      char c = data[a];
      data[a] = data[b];
      data[b] = c;
    }
}

// Walks the elements in C order and takes each from its place in Fortran order.
static vyre_status to_c_order(npy_array *a, size_t width, vyre_error *error) {
  uint64_t strides[NPY_MAX_RANK], index[NPY_MAX_RANK] = {0}, stride = width;
  for (uint32_t k = 0; k < a->rank; k++) strides[k] = stride, stride *= a->shape[k];
  char *to = malloc(a->count * width);
  if (!to) return error_out_of_memory(error);
  uint64_t offset = 0;
  for (uint64_t i = 0; i < a->count; i++) {
    memcpy(to + i * width, (const char *)a->data + offset, width);
    for (uint32_t k = a->rank; k-- > 0;) {
      offset += strides[k];
      if (++index[k] < a->shape[k]) break;
      offset -= strides[k] * a->shape[k];
      index[k] = 0;
    }
  }
  free(a->storage);
  a->storage = a->data = to;
  return VYRE_OK;
}

static void make_bools(char *data, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) data[i] = data[i] != 0;
}

// Whether so many bytes are the elements of the shape.
static vyre_status count_elements(const header *h, size_t size) {
  npy_array *a = h->array;
  size_t width = vyre_type_size(h->type), want;
  bool overflow = false, empty = false;
  a->count = 1;
  for (uint32_t k = 0; k < a->rank; k++) empty |= a->shape[k] == 0;
  for (uint32_t k = 0; k < a->rank && !empty; k++)
    overflow |= __builtin_mul_overflow(a->count, a->shape[k], &a->count);
  if (empty) a->count = 0;
  overflow |= __builtin_mul_overflow(a->count, width, &want);
  if (overflow) return malformed(h, "its shape is beyond 64 bits");
  if (want == size) return VYRE_OK;
  return error_set(h->error, VYRE_ERROR_BINDING,
                   "`%s` holds %zu bytes of elements, and its shape needs %zu. Fix: write the "
                   "file again; it was cut short or something was added",
                   h->name, size, want);
}

static vyre_status read_elements(const header *h, char *bytes, size_t size) {
  npy_array *a = h->array;
  size_t width = vyre_type_size(h->type);
  vyre_status status = count_elements(h, size);
  if (status != VYRE_OK) return status;
  a->data = bytes;
  if ((size_t)(bytes - (char *)a->storage) % 16) a->data = memmove(a->storage, bytes, size);
  if (h->big_endian) swap_bytes(a->data, a->count, width);
  if (h->type == VYRE_BOOL) make_bools(a->data, a->count);
  return h->fortran && a->rank > 1 && a->count ? to_c_order(a, width, h->error) : VYRE_OK;
}

// *elements is where the header ends.
static vyre_status decode_header(header *h, const char *bytes, size_t size, size_t *elements) {
  const unsigned char *u = (const unsigned char *)bytes;
  if (size < MAGIC_BYTES || memcmp(bytes, magic, MAGIC_BYTES) != 0)
    return refuse(h, "is no .npy file", "write it with numpy.save, or name a .csv or .png file");
  if (size < MAGIC_BYTES + 2) return malformed(h, "the file ends in it");
  int version = u[6];
  if (version < 1 || version > 3 || u[7] != 0)
    return refuse(h, "is a .npy file of an unknown version", "write version 1, 2 or 3");
  size_t start = version == 1 ? 10 : 12;
  if (size < start) return malformed(h, "the file ends in it");
  size_t length = u[8] | (size_t)u[9] << 8;
  if (version > 1) length |= (size_t)u[10] << 16 | (size_t)u[11] << 24;
  if (length > MAX_HEADER) return malformed(h, "it is longer than 65536 bytes");
  if (length > size - start) return malformed(h, "the file ends in it");
  h->at = bytes + start;
  h->end = h->at + length;
  vyre_status status = read_header(h);
  if (status != VYRE_OK) return status;
  h->array->type = h->type;
  *elements = start + length;
  return VYRE_OK;
}

static vyre_status decode(header *h, char *bytes, size_t size) {
  size_t elements;
  vyre_status status = decode_header(h, bytes, size, &elements);
  return status == VYRE_OK ? read_elements(h, bytes + elements, size - elements) : status;
}

vyre_status npy_decode(void *bytes, size_t size, const char *name, npy_array *out,
                       vyre_error *error) {
  *out = (npy_array){.storage = bytes};
  header h = {.name = name, .error = error, .array = out};
  vyre_status status = decode(&h, bytes, size);
  if (status != VYRE_OK) npy_free(out);
  return status;
}

bool npy_read_header(const char *path, npy_array *out, uint64_t *elements) {
  int fd;
  uint64_t size;
  size_t start = 0;
  vyre_error unused;
  *out = (npy_array){0};
  if (file_open_regular(path, &fd, &size, &unused) != VYRE_OK) return false;
  size_t read = size < MAX_HEADER + 12 ? size : MAX_HEADER + 12;
  char *bytes = malloc(read + 1);
  header h = {.name = path, .error = &unused, .array = out};
  bool ok = bytes && file_read_at(fd, path, 0, bytes, read, &unused) == VYRE_OK &&
            decode_header(&h, bytes, read, &start) == VYRE_OK && !h.big_endian &&
            (!h.fortran || out->rank < 2) && count_elements(&h, size - start) == VYRE_OK;
  *elements = start;
  free(bytes);
  close(fd);
  return ok;
}

vyre_status npy_read_part(const char *path, const npy_array *array, uint64_t elements,
                          uint64_t first, uint64_t count, void *to, vyre_error *error) {
  int fd;
  uint64_t size, width = vyre_type_size(array->type);
  vyre_status status = file_open_regular(path, &fd, &size, error);
  if (status != VYRE_OK) return status;
  status = file_read_at(fd, path, elements + first * width, to, count * width, error);
  if (status == VYRE_OK && array->type == VYRE_BOOL) make_bools(to, count);
  close(fd);
  return status;
}

vyre_status npy_read(const char *path, npy_array *out, vyre_error *error) {
  char *bytes;
  size_t size;
  *out = (npy_array){0};
  vyre_status status = file_read(path, (size_t)MAX_FILE_GIB << 30, &bytes, &size, error);
  return status == VYRE_OK ? npy_decode(bytes, size, path, out, error) : status;
}

void npy_free(npy_array *array) {
  free(array->storage);
  *array = (npy_array){0};
}

// ---- writing
// --------------------------------------------------------------------------------------

static const char *const descrs[VYRE_TYPE_COUNT] = {
    [VYRE_BOOL] = "|b1", [VYRE_I8] = "|i1",  [VYRE_U8] = "|u1",  [VYRE_I16] = "<i2",
    [VYRE_U16] = "<u2",  [VYRE_I32] = "<i4", [VYRE_U32] = "<u4", [VYRE_I64] = "<i8",
    [VYRE_U64] = "<u8",  [VYRE_F32] = "<f4", [VYRE_F64] = "<f8", [VYRE_F16] = "<f2",
};

vyre_status npy_encode(int version, vyre_type type, uint32_t rank, const uint64_t *shape,
                       const void *data, char **out, size_t *size, vyre_error *error) {
  strbuf text = {0}, file = {0};
  uint64_t count = 1;
  strbuf_printf(&text, "{'descr': '%s', 'fortran_order': False, 'shape': (", descrs[type]);
  for (uint32_t k = 0; k < rank; k++) {
    strbuf_printf(&text, k ? ", %llu" : "%llu", (unsigned long long)shape[k]);
    count *= shape[k];
  }
  strbuf_puts(&text, rank == 1 ? ",), }" : "), }");
  size_t start = version == 1 ? 10 : 12;
  while ((start + text.size + 1) % ALIGN && !text.failed) strbuf_putc(&text, ' ');
  strbuf_putc(&text, '\n');
  strbuf_add(&file, magic, MAGIC_BYTES);
  strbuf_putc(&file, (char)version);
  strbuf_putc(&file, 0);
  for (size_t i = 0; i < start - 8; i++) strbuf_putc(&file, (char)(text.size >> 8 * i));
  if (text.at) strbuf_add(&file, text.at, text.size);
  if (count) strbuf_add(&file, data, count * vyre_type_size(type));
  file.failed |= text.failed;
  strbuf_fini(&text);
  *out = strbuf_take(&file, size);
  return *out ? VYRE_OK : error_out_of_memory(error);
}

vyre_status npy_write(const char *path, vyre_type type, uint32_t rank, const uint64_t *shape,
                      const void *data, vyre_error *error) {
  char *bytes;
  size_t size;
  vyre_status status = npy_encode(1, type, rank, shape, data, &bytes, &size, error);
  if (status != VYRE_OK) return status;
  status = file_replace(path, bytes, size, error);
  free(bytes);
  return status;
}
