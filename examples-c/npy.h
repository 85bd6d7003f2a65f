/* Reads NumPy's .npy files of versions 1 to 3: numbers of 1, 2, 4 or 8 bytes in C order. */
#ifndef ZCODEC_NPY_H
#define ZCODEC_NPY_H

#include "example.h"

#define NPY_MAX_NDIM 8

typedef struct npy_array {
  char type;        /* 'u', 'i', 'f' or 'b' (bool) */
  size_t item_size; /* bytes per element */
  size_t ndim;
  uint64_t shape[NPY_MAX_NDIM];
  size_t count;        /* elements */
  size_t size;         /* bytes */
  unsigned char *data; /* C order, native byte order */
  char *file;
} npy_array;

/* The text after `'key': ` in the header. */
static inline const char *npy_value(const char *path, const char *header, const char *key) {
  const char *at = strstr(header, key);
  if (at == NULL) {
    fail("%s: the header has no %s", path, key);
  }
  at += strlen(key);
  return at + strspn(at, " ");
}

/* strchr also finds the terminator, which ends a header that is cut short. */
static inline int npy_is_one_of(const char *characters, char character) {
  return character != '\0' && strchr(characters, character) != NULL;
}

static inline int npy_machine_is_little_endian(void) {
  const uint16_t one = 1;
  return *(const unsigned char *)&one == 1;
}

static inline void npy_swap_bytes(npy_array *array) {
  size_t i, j;
  for (i = 0; i < array->count; i++) {
    unsigned char *item = array->data + i * array->item_size;
    for (j = 0; j < array->item_size / 2; j++) {
      unsigned char byte = item[j];
      item[j] = item[array->item_size - 1 - j];
      item[array->item_size - 1 - j] = byte;
    }
  }
}

/* Ends the program with a message if the file is of another kind. */
static inline npy_array npy_read(const char *path) {
  npy_array array = {0};
  size_t file_size, header_at, header_size;
  const unsigned char *start;
  const char *at;
  char *header;

  array.file = read_file(path, &file_size);
  start = (const unsigned char *)array.file;
  if (file_size < 12 || memcmp(array.file, "\x93NUMPY", 6) != 0) {
    fail("%s: not a .npy file", path);
  }
  header_at = start[6] == 1 ? 10 : 12;
  header_size = start[8] | (size_t)start[9] << 8;
  if (start[6] != 1) {
    header_size |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
  }
  if (header_size > file_size - header_at) {
    fail("%s: the file ends inside its header", path);
  }
  header = allocate(header_size + 1);
  memcpy(header, array.file + header_at, header_size);
  header[header_size] = '\0';

  at = npy_value(path, header, "'descr':");
  if (at[0] != '\'' || at[1] == '\0' || !npy_is_one_of("uifb", at[2]) || !npy_is_one_of("1248", at[3]) ||
      at[4] != '\'') {
    fail("%s: data type %.8s is not one of bool, int, uint, float", path, at);
  }
  array.type = at[2];
  array.item_size = (size_t)(at[3] - '0');
  array.count = 1;
  if (strncmp(npy_value(path, header, "'fortran_order':"), "False", 5) != 0) {
    fail("%s: not in C order", path);
  }
  at = npy_value(path, header, "'shape':");
  for (at += strcspn(at, "0123456789)"); *at != ')' && *at != '\0'; at += strcspn(at, "0123456789)")) {
    char *end;
    if (array.ndim == NPY_MAX_NDIM) {
      fail("%s: more than %d dimensions", path, NPY_MAX_NDIM);
    }
    array.shape[array.ndim] = strtoull(at, &end, 10);
    if (array.shape[array.ndim] > file_size) {
      fail("%s: %.40s is a larger shape than the file holds", path, at);
    }
    array.count *= (size_t)array.shape[array.ndim++];
    if (array.count > file_size) {
      fail("%s: the shape is larger than the file", path);
    }
    at = end;
  }
  array.size = array.count * array.item_size;
  if (file_size - header_at - header_size != array.size) {
    fail("%s: %zu bytes of data, expected %zu", path, file_size - header_at - header_size, array.size);
  }
  array.data = (unsigned char *)array.file + header_at + header_size;
  at = npy_value(path, header, "'descr':");
  if (at[1] != '|' && (at[1] == '>') == npy_machine_is_little_endian()) {
    npy_swap_bytes(&array);
  }
  free(header);
  return array;
}

static inline void npy_free(npy_array *array) {
  free(array->file);
  array->file = NULL;
  array->data = NULL;
}

#endif
