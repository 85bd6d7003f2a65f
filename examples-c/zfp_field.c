/*
 * Compresses a field with zfp in each of its modes, and shows what that costs in precision.
 *
 *     zfp_field FIELD.npy
 *
 * For each mode, prints the compression ratio, the speed, the largest and the root-mean-square error, and whether the
 * error is within the limit. Fields of float32 and float64 are compressed in all modes; other numbers only in
 * reversible mode, which is lossless.
 */
#include "npy.h"

#include <math.h>

enum { REPEATS = 20 /* of each encode and decode, for the clock */ };

/* A codec's configuration, and the error that it promises. */
typedef struct zfp_mode {
  const char *configuration;
  double tolerance; /* the largest error allowed; negative: no limit */
} zfp_mode;

typedef struct zfp_errors {
  double largest;
  double root_mean_square;
} zfp_errors;

static const char *data_type_name(const npy_array *field) {
  static char name[16];
  const char *kind = field->type == 'f' ? "float" : field->type == 'i' ? "int" : "uint";
  if (field->type == 'b') {
    fail("zfp compresses numbers, not bool");
  }
  snprintf(name, sizeof name, "%s%u", kind, (unsigned)(8 * field->item_size));
  return name;
}

static zcodec_chain *new_chain(const npy_array *field, const char *configuration) {
  size_t codecs_capacity = strlen(configuration) + 64;
  char *codecs = allocate(codecs_capacity);
  char input[512];
  size_t i, used;
  zcodec_chain *chain = NULL;
  zcodec_error *error = NULL;
  snprintf(codecs, codecs_capacity, "[{\"name\": \"zfp\", \"configuration\": %s}]", configuration);
  used = (size_t)snprintf(input, sizeof input, "{\"data_type\": \"%s\", \"shape\": [", data_type_name(field));
  for (i = 0; i < field->ndim; i++) {
    used += (size_t)snprintf(input + used, sizeof input - used, "%s%llu", i > 0 ? ", " : "",
                             (unsigned long long)field->shape[i]);
  }
  snprintf(input + used, sizeof input - used, "], \"fill_value\": 0}");
  check(zcodec_chain_new(codecs, strlen(codecs), input, strlen(input), &chain, &error), &error);
  free(codecs);
  return chain;
}

static double value_at(const unsigned char *data, size_t item_size, size_t index) {
  if (item_size == sizeof(float)) {
    float value;
    memcpy(&value, data + index * item_size, sizeof value);
    return value;
  } else {
    double value;
    memcpy(&value, data + index * item_size, sizeof value);
    return value;
  }
}

/* For floats. Other types are compared by their bytes, and any difference is an infinite error. */
static zfp_errors compare(const npy_array *field, const unsigned char *decoded) {
  zfp_errors errors = {0, 0};
  size_t i;
  if (field->type != 'f') {
    errors.largest = memcmp(field->data, decoded, field->size) == 0 ? 0 : HUGE_VAL;
    errors.root_mean_square = errors.largest;
    return errors;
  }
  for (i = 0; i < field->count; i++) {
    double difference = fabs(value_at(field->data, field->item_size, i) - value_at(decoded, field->item_size, i));
    errors.largest = difference > errors.largest ? difference : errors.largest;
    errors.root_mean_square += difference * difference;
  }
  errors.root_mean_square = sqrt(errors.root_mean_square / (double)field->count);
  return errors;
}

static double megabytes_per_second(size_t size, double elapsed) {
  return elapsed > 0 ? (double)size * REPEATS / elapsed / 1e6 : 0;
}

static void try_mode(const npy_array *field, const zfp_mode *mode) {
  zcodec_chain *chain = new_chain(field, mode->configuration);
  zcodec_error *error = NULL;
  size_t capacity, encoded_size = 0, decoded_size = 0;
  unsigned char *encoded, *decoded = allocate(field->size);
  double start, encoding, decoding;
  zfp_errors errors;
  int i;

  check(zcodec_chain_encoded_bound(chain, field->size, &capacity), NULL);
  encoded = allocate(capacity);
  start = seconds();
  for (i = 0; i < REPEATS; i++) {
    check(zcodec_encode(chain, field->data, field->size, encoded, capacity, &encoded_size, &error), &error);
  }
  encoding = seconds() - start;
  start = seconds();
  for (i = 0; i < REPEATS; i++) {
    check(zcodec_decode(chain, encoded, encoded_size, decoded, field->size, &decoded_size, &error), &error);
  }
  decoding = seconds() - start;

  errors = compare(field, decoded);
  printf("%-78s %6.2f x %9.0f %9.0f %12.3g %12.3g", mode->configuration, (double)field->size / (double)encoded_size,
         megabytes_per_second(field->size, encoding), megabytes_per_second(field->size, decoding), errors.largest,
         errors.root_mean_square);
  if (mode->tolerance >= 0) {
    printf("  within %g\n", mode->tolerance);
    if (errors.largest > mode->tolerance) {
      fail("%s: an error of %g is over %g", mode->configuration, errors.largest, mode->tolerance);
    }
  } else {
    printf("\n");
  }
  free(encoded);
  free(decoded);
  zcodec_chain_free(chain);
}

int main(int argc, char **argv) {
  static const zfp_mode modes[] = {
      {"{\"mode\": \"reversible\"}", 0},
      {"{\"mode\": \"fixed_accuracy\", \"tolerance\": 0.001}", 0.001},
      {"{\"mode\": \"fixed_accuracy\", \"tolerance\": 0.05}", 0.05},
      {"{\"mode\": \"fixed_accuracy\", \"tolerance\": 0.5}", 0.5},
      {"{\"mode\": \"fixed_precision\", \"precision\": 20}", -1},
      {"{\"mode\": \"fixed_rate\", \"rate\": 8}", -1},
      {"{\"mode\": \"expert\", \"minbits\": 1, \"maxbits\": 800, \"maxprec\": 24, \"minexp\": -8}", -1},
  };
  npy_array field;
  size_t i, mode_count;

  if (argc != 2) {
    fail("usage: zfp_field FIELD.npy");
  }
  field = npy_read(argv[1]);
  mode_count = field.type == 'f' ? sizeof modes / sizeof modes[0] : 1;
  printf("%s: %s, %zu bytes\n", argv[1], data_type_name(&field), field.size);
  printf("%-78s %8s %9s %9s %12s %12s\n", "configuration", "smaller", "encode", "decode", "largest", "rms");
  printf("%-78s %8s %9s %9s %12s %12s\n", "", "", "MB/s", "MB/s", "error", "error");
  for (i = 0; i < mode_count; i++) {
    try_mode(&field, &modes[i]);
  }
  npy_free(&field);
  return EXIT_SUCCESS;
}
