/*
 * Packs a segmentation: its labels with 5 bits per element, and the mask of the foreground with one.
 *
 *     pack_mask LABELS.npy
 *
 * LABELS.npy has uint8 elements below 32. Both are read back and compared.
 */
#include "npy.h"

#define LABEL_COUNT 32 /* what the bits 0 to 4 can hold */

#define LABELS_CODECS "[{\"name\": \"packbits\", \"configuration\": {\"first_bit\": 0, \"last_bit\": 4}}]"
#define MASK_CODECS "[{\"name\": \"packbits\", \"configuration\": {\"padding_encoding\": \"first_byte\"}}]"

static zcodec_chain *make_chain(const char *codecs, const char *data_type, const char *fill_value, size_t count) {
  zcodec_chain *chain = NULL;
  zcodec_error *error = NULL;
  char input[256];
  snprintf(input, sizeof input, "{\"data_type\": \"%s\", \"shape\": [%zu], \"fill_value\": %s}", data_type, count,
           fill_value);
  check(zcodec_chain_new(codecs, strlen(codecs), input, strlen(input), &chain, &error), &error);
  return chain;
}

/* Encodes the elements, decodes them again and ends the program if they differ; every element is a byte. */
static void pack(const char *name, zcodec_chain *chain, const unsigned char *decoded, size_t size) {
  zcodec_error *error = NULL;
  size_t capacity = 0, encoded_size = 0, decoded_size = 0;
  unsigned char *encoded, *found = allocate(size);

  check(zcodec_chain_encoded_bound(chain, size, &capacity), NULL);
  encoded = allocate(capacity);
  check(zcodec_encode(chain, decoded, size, encoded, capacity, &encoded_size, &error), &error);
  check(zcodec_decode(chain, encoded, encoded_size, found, size, &decoded_size, &error), &error);
  if (decoded_size != size || memcmp(found, decoded, size) != 0) {
    fail("%s: the elements do not come back", name);
  }
  printf("  %s: %zu -> %zu bytes, ratio %.2f, equal when read back\n", name, size, encoded_size,
         (double)size / (double)encoded_size);
  free(encoded);
  free(found);
  zcodec_chain_free(chain);
}

int main(int argc, char **argv) {
  npy_array labels;
  unsigned char *mask;
  size_t i, foreground = 0;

  if (argc != 2) {
    fail("usage: pack_mask LABELS.npy");
  }
  labels = npy_read(argv[1]);
  if (labels.type != 'u' || labels.item_size != 1) {
    fail("%s: expected uint8", argv[1]);
  }
  mask = allocate(labels.count);
  for (i = 0; i < labels.count; i++) {
    if (labels.data[i] >= LABEL_COUNT) {
      fail("%s: element %zu is %u, expected less than %d", argv[1], i, labels.data[i], LABEL_COUNT);
    }
    mask[i] = labels.data[i] != 0;
    foreground += mask[i];
  }
  printf("%s: %zu elements, %zu of them foreground\n", argv[1], labels.count, foreground);
  pack("mask, 1 bit", make_chain(MASK_CODECS, "bool", "false", labels.count), mask, labels.count);
  pack("labels, 5 bits", make_chain(LABELS_CODECS, "uint8", "0", labels.count), labels.data, labels.count);
  free(mask);
  npy_free(&labels);
  return EXIT_SUCCESS;
}
