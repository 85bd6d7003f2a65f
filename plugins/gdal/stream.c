/* The headers of zfp 1.0 (`zfp_write_header`: magic, field, mode) and of pco (its format.md: header, first chunk). The
 * library checks them again, and everything after them. */
#include "stream.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct number_type {
  const char *name;
  size_t size;
} number_type;

static uint64_t bits_at(const uint8_t *stream, size_t size, size_t start, size_t count) {
  uint64_t bits = 0;
  for (size_t i = 0; i < count; i++) {
    size_t index = start + i;
    if (index / 8 < size) bits |= (uint64_t)(stream[index / 8] >> index % 8 & 1) << i;
  }
  return bits;
}

/* Replaces the decimal point of the program's locale, which may take several bytes, with that of JSON. */
static void use_json_point(char *number) {
  char *point = number + strspn(number, "-0123456789");
  if (*point == '\0' || *point == 'e') return;
  char *rest = point + strcspn(point, "0123456789e");
  *point = '.';
  memmove(point + 1, rest, strlen(rest) + 1);
}

static void add_mode(text *configuration, int mode, const char *member, double value) {
  char number[40], json[96];
  snprintf(number, sizeof number, "%.17g", value);
  use_json_point(number);
  snprintf(json, sizeof json, "{\"mode\": %d, \"%s\": %s}", mode, member, number);
  text_add_string(configuration, json);
}

/* The mode from bit 84 on: a code of 12 bits, or 4095 and the four parameters. */
static int add_zfp_mode(const uint8_t *stream, size_t size, size_t ndim, text *configuration) {
  enum { FIXED_RATE = 2, FIXED_PRECISION = 3, FIXED_ACCURACY = 4 };
  enum { PRECISION = 2048, REVERSIBLE = 2176, ACCURACY = 2177, LONG = 4095, MIN_EXP = -1074, MAX_EXP = 1023 };
  uint64_t code = bits_at(stream, size, 84, 12);
  if (code < PRECISION) {
    add_mode(configuration, FIXED_RATE, "rate", ldexp((double)code + 1, -2 * (int)ndim));
  } else if (code < REVERSIBLE) {
    add_mode(configuration, FIXED_PRECISION, "precision", (double)(code - PRECISION + 1));
  } else if (code == REVERSIBLE) {
    add_mode(configuration, FIXED_ACCURACY, "tolerance", -1);
  } else if (code < LONG) {
    add_mode(configuration, FIXED_ACCURACY, "tolerance", ldexp(1, (int)(code - ACCURACY) + MIN_EXP));
  } else {
    /* minbits 1, maxbits 16658 and maxprec 64, each less 1, are a tolerance: its exponent is minexp, MIN_EXP for 0. */
    const uint64_t standard = (uint64_t)(64 - 1) << 30 | (uint64_t)(16658 - 1) << 15;
    int minexp = (int)bits_at(stream, size, 96 + 37, 15) - 16495;
    if (bits_at(stream, size, 96, 37) != standard) return 0;
    if (minexp < MIN_EXP || minexp > MAX_EXP) return 0;
    add_mode(configuration, FIXED_ACCURACY, "tolerance", minexp == MIN_EXP ? 0 : ldexp(1, minexp));
  }
  return 1;
}

static int describe_zfp(const uint8_t *stream, size_t size, array_info *array, text *configuration, const char **why) {
  static const char *const TYPES[] = {"int32", "int64", "float32", "float64"};
  enum { HEADER_SIZE = 12 };
  if (size < HEADER_SIZE || memcmp(stream, "zfp\x05", 4) != 0) {
    *why = "the chunk does not begin with a header of zfp, version 5 of its format";
    return 0;
  }
  array->data_type = TYPES[bits_at(stream, size, 32, 2)];
  array->ndim = (size_t)bits_at(stream, size, 34, 2) + 1;
  size_t size_bits = 48 / array->ndim;
  for (size_t i = 0; i < array->ndim; i++) { /* the fastest dimension comes first */
    array->shape[array->ndim - 1 - i] = bits_at(stream, size, 36 + i * size_bits, size_bits) + 1;
  }
  if (!add_zfp_mode(stream, size, array->ndim, configuration)) {
    *why = "the chunk is in zfp's expert mode, which numcodecs does not write";
    return 0;
  }
  return 1;
}

static const number_type *pco_type(uint8_t code) {
  static const number_type TYPES[] = {{NULL, 0},    {"uint32", 4},  {"uint64", 8},  {"int32", 4},
                                      {"int64", 8}, {"float32", 4}, {"float64", 8}, {"uint16", 2},
                                      {"int16", 2}, {"float16", 2}, {"uint8", 1},   {"int8", 1}};
  return code > 0 && code < sizeof TYPES / sizeof TYPES[0] ? &TYPES[code] : NULL;
}

/* "pco!" and the version; from version 3 on the type of all chunks or 0; from version 2 on the count of numbers; the
 * version of the chunks; and the first chunk, which begins with its type. Before version 2, the version of the chunks
 * is the only one. */
static int describe_pco(const uint8_t *stream, size_t size, size_t capacity, array_info *array, const char **why) {
  *why = "the chunk does not begin with a header of pco";
  if (size < 6 || memcmp(stream, "pco!", 4) != 0) return 0;
  uint8_t version = stream[4];
  size_t at = version >= 2 ? 5 : 4;
  uint8_t type = version >= 3 ? stream[at++] : 0;
  uint64_t count = 0;
  if (version >= 2) {
    size_t count_bits = (size_t)bits_at(stream, size, 8 * at, 6) + 1;
    count = bits_at(stream, size, 8 * at + 6, count_bits);
    at += (6 + count_bits + 7) / 8;
  }
  at += at < size && stream[at] >= 4 ? 2 : 1;
  if (type == 0 && at < size) type = stream[at];
  const number_type *number = pco_type(type);
  if (number == NULL) return 0;
  array->data_type = number->name;
  array->ndim = 1;
  array->shape[0] = version >= 2 ? count : capacity / number->size;
  return 1;
}

int stream_describe(const codec_info *codec, const uint8_t *stream, size_t size, size_t capacity, array_info *array,
                    text *configuration, const char **why) {
  if (strcmp(codec->id, "zfpy") == 0) return describe_zfp(stream, size, array, configuration, why);
  text_add_string(configuration, "{}");
  return describe_pco(stream, size, capacity, array, why);
}
