/*
 * Stores a field of float32 as integers of 16 bits, compressed: scale_offset, cast_value, bytes, zstd.
 *
 *     pack_floats FIELD.npy uint16|int16
 *
 * The finite values are spread over all integers except one, which stands for NaN. The decoded field differs by at most
 * half a step, and is NaN exactly where the original is; anything else ends the program with an error.
 */
#include "npy.h"

#include <float.h>

typedef struct packing {
  const char *data_type;
  const char *nan; /* the integer that stands for NaN */
  int is_centered; /* whether the middle of the field becomes 0, or its minimum */
  float largest;   /* the largest magnitude of an integer that a value becomes */
} packing;

static const packing PACKINGS[] = {
    {"uint16", "65535", 0, 65534.0F},
    {"int16", "-32768", 1, 32767.0F},
};

/* 9 digits identify a float32 exactly. */
static const char CODECS[] =
    "[{\"name\": \"scale_offset\", \"configuration\": {\"offset\": %.9g, \"scale\": %.9g}},\n"
    " {\"name\": \"cast_value\", \"configuration\": {\"data_type\": \"%s\", \"rounding\": \"nearest-even\",\n"
    "  \"scalar_map\": {\"encode\": [[\"NaN\", %s]], \"decode\": [[%s, \"NaN\"]]}}},\n"
    " {\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}},\n"
    " {\"name\": \"zstd\", \"configuration\": {\"level\": 3, \"checksum\": false}}]";

static const char PLAIN_CODECS[] =
    "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}},\n"
    " {\"name\": \"zstd\", \"configuration\": {\"level\": 3, \"checksum\": false}}]";

typedef struct field_range {
  float least;
  float most;
  size_t nan_count;
} field_range;

/* Only NaN differs from itself. */
static int is_nan(float value) { return value != value; }

static double magnitude(double value) { return value < 0 ? -value : value; }

static double larger(double a, double b) { return a > b ? a : b; }

static field_range find_range(const float *field, size_t count) {
  field_range range = {FLT_MAX, -FLT_MAX, 0};
  size_t i;
  for (i = 0; i < count; i++) {
    if (is_nan(field[i])) {
      range.nan_count++;
    } else {
      range.least = field[i] < range.least ? field[i] : range.least;
      range.most = field[i] > range.most ? field[i] : range.most;
    }
  }
  return range;
}

static zcodec_chain *make_chain(const char *codecs, const npy_array *array) {
  zcodec_chain *chain = NULL;
  zcodec_error *error = NULL;
  char input[128];
  snprintf(input, sizeof input, "{\"data_type\": \"float32\", \"shape\": [%zu], \"fill_value\": \"NaN\"}",
           array->count);
  check(zcodec_chain_new(codecs, strlen(codecs), input, strlen(input), &chain, &error), &error);
  return chain;
}

/* Encodes the field and frees the chain; if `decoded` is not NULL, decodes into it. */
static size_t store(zcodec_chain *chain, const npy_array *array, float *decoded) {
  zcodec_buffer *encoded = NULL;
  zcodec_error *error = NULL;
  size_t encoded_size, decoded_size = 0;
  check(zcodec_encode_to_buffer(chain, array->data, array->size, &encoded, &error), &error);
  encoded_size = zcodec_buffer_size(encoded);
  if (decoded != NULL) {
    check(zcodec_decode(chain, zcodec_buffer_data(encoded), encoded_size, decoded, array->size, &decoded_size, &error),
          &error);
  }
  zcodec_buffer_free(encoded);
  zcodec_chain_free(chain);
  return encoded_size;
}

/* The largest difference; ends the program if NaN is in other places than before. */
static double largest_error(const float *field, const float *decoded, size_t count) {
  double largest = 0;
  size_t i;
  for (i = 0; i < count; i++) {
    if (is_nan(field[i]) != is_nan(decoded[i])) {
      fail("element %zu is %.9g, read back it is %.9g", i, (double)field[i], (double)decoded[i]);
    }
    if (!is_nan(field[i])) {
      largest = larger(largest, magnitude((double)decoded[i] - (double)field[i]));
    }
  }
  return largest;
}

static void pack(const npy_array *array, const packing *packing) {
  const float *field = (const float *)(const void *)array->data; /* the data of a .npy file is aligned */
  float *decoded = allocate(array->size);
  field_range range = find_range(field, array->count);
  float scale, offset;
  double half_step, rounding, error, reach;
  size_t encoded_size;
  char codecs[1024];

  if (!(range.least < range.most) || range.most - range.least > FLT_MAX) {
    fail("the field has no two different numbers, or infinite ones");
  }
  offset = packing->is_centered ? range.least + (range.most - range.least) / 2 : range.least;
  reach = larger((double)range.most - (double)offset, (double)offset - (double)range.least);
  scale = (float)((double)packing->largest / reach);
  snprintf(codecs, sizeof codecs, CODECS, (double)offset, (double)scale, packing->data_type, packing->nan,
           packing->nan);
  printf("%s\n", codecs);
  encoded_size = store(make_chain(codecs, array), array, decoded);

  /* Subtracting, multiplying, dividing and adding each round to float32, by half an epsilon of their result. */
  half_step = 0.5 / (double)scale;
  rounding = (double)FLT_EPSILON / 2 * (4 * reach + magnitude((double)offset) + 2 * half_step);
  error = largest_error(field, decoded, array->count);
  printf("  %zu values from %g to %g, %zu of them NaN\n", array->count, (double)range.least, (double)range.most,
         range.nan_count);
  printf("  float32 %zu bytes; with zstd alone %zu; as %s %zu; with zstd %zu, ratio %.2f\n", array->size,
         store(make_chain(PLAIN_CODECS, array), array, NULL), packing->data_type, array->count * 2, encoded_size,
         (double)array->size / (double)encoded_size);
  printf("  largest error %.4g; half a step is %.4g, and float32 rounds by up to %.4g\n", error, half_step, rounding);
  if (error > half_step + rounding) {
    fail("the error is larger than it can be");
  }
  printf("  NaN is read back exactly where it was\n");
  free(decoded);
}

int main(int argc, char **argv) {
  npy_array array;
  size_t i;

  if (argc == 3) {
    for (i = 0; i < sizeof PACKINGS / sizeof PACKINGS[0]; i++) {
      if (strcmp(argv[2], PACKINGS[i].data_type) == 0) {
        array = npy_read(argv[1]);
        if (array.type != 'f' || array.item_size != sizeof(float)) {
          fail("%s: expected float32", argv[1]);
        }
        pack(&array, &PACKINGS[i]);
        npy_free(&array);
        return EXIT_SUCCESS;
      }
    }
  }
  fail("usage: pack_floats FIELD.npy uint16|int16");
  return EXIT_FAILURE;
}
