/*
 * A codec of the host inside a shard: each inner chunk of labels is packed into runs of equal bytes by the program's
 * own codec, "example.runs", which the library knows only by its functions.
 *
 *     host_codec LABELS.npy
 *
 * LABELS.npy has uint8 elements of shape (planes, 256, 256). The shard is read back and compared.
 */
#include "npy.h"

#define CODECS                                                                                                   \
  "[{\"name\": \"sharding_indexed\", \"configuration\": {\"chunk_shape\": [1, 64, 64], \"codecs\": [\"bytes\", " \
  "\"example.runs\"], \"index_codecs\": [{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, "   \
  "\"crc32c\"]}}]"

static void say(zcodec_sink *sink, const char *text) { zcodec_sink_write(sink, text, strlen(text)); }

/* There is nothing to configure, and the size of the output depends on the data. */
static int32_t bind_runs(void *user_data, const char *configuration, size_t configuration_size, const char *input,
                         size_t input_size, zcodec_sink *output, zcodec_sink *message, void **state) {
  (void)user_data, (void)input, (void)input_size, (void)state;
  if (configuration_size != 2 || memcmp(configuration, "{}", 2) != 0) {
    say(message, "runs have no configuration");
    return 1;
  }
  say(output, "{\"size\": null}");
  return 0;
}

/* Pairs of a length and a byte: at worst every run has one byte. */
static uint64_t runs_bound(void *state, uint64_t decoded_size) {
  (void)state;
  return decoded_size < UINT64_MAX / 2 ? 2 * decoded_size : UINT64_MAX;
}

static int32_t encode_runs(void *state, void *call_data, const void *decoded, size_t decoded_size, void *encoded,
                           size_t encoded_capacity, size_t *encoded_size, zcodec_sink *message) {
  const unsigned char *from = decoded;
  unsigned char *to = encoded;
  size_t i = 0, size = 0;
  (void)state, (void)call_data, (void)message;
  while (i < decoded_size) {
    size_t length = 1;
    while (length < 255 && i + length < decoded_size && from[i + length] == from[i]) {
      length++;
    }
    if (encoded_capacity - size < 2) {
      return ZCODEC_CODEC_TOO_SMALL;
    }
    to[size++] = (unsigned char)length;
    to[size++] = from[i];
    i += length;
  }
  *encoded_size = size;
  return 0;
}

static int32_t decode_runs(void *state, void *call_data, const void *encoded, size_t encoded_size, void *decoded,
                           size_t decoded_capacity, size_t *decoded_size, zcodec_sink *message) {
  const unsigned char *from = encoded;
  unsigned char *to = decoded;
  size_t i, size = 0;
  (void)state, (void)call_data;
  if (encoded_size % 2 != 0) {
    say(message, "a run is cut");
    return 2;
  }
  for (i = 0; i < encoded_size; i += 2) {
    if (from[i] > decoded_capacity - size) {
      return ZCODEC_CODEC_TOO_SMALL;
    }
    memset(to + size, from[i + 1], from[i]);
    size += from[i];
  }
  *decoded_size = size;
  return 0;
}

static zcodec_chain *make_chain(const char *input) {
  zcodec_registry *registry = NULL;
  zcodec_chain *chain = NULL;
  zcodec_error *error = NULL;
  zcodec_codec runs = {0};
  zcodec_chain_options options = {0};
  runs.struct_size = sizeof runs;
  runs.name = "example.runs";
  runs.kind = ZCODEC_KIND_BYTES_TO_BYTES;
  runs.bind = bind_runs;
  runs.encoded_bound = runs_bound;
  runs.encode = encode_runs;
  runs.decode = decode_runs;
  check(zcodec_registry_new(&registry, &error), &error);
  check(zcodec_registry_add(registry, &runs, &error), &error);
  options.struct_size = sizeof options;
  options.registry = registry;
  check(zcodec_chain_new_with(&options, CODECS, strlen(CODECS), input, strlen(input), &chain, &error), &error);
  zcodec_registry_free(registry); /* the chain keeps what it uses */
  return chain;
}

int main(int argc, char **argv) {
  npy_array labels;
  zcodec_chain *chain;
  zcodec_buffer *shard = NULL, *again = NULL;
  zcodec_error *error = NULL;
  char input[128];

  if (argc != 2) {
    fail("usage: host_codec LABELS.npy");
  }
  labels = npy_read(argv[1]);
  if (labels.type != 'u' || labels.item_size != 1 || labels.ndim != 3) {
    fail("%s: expected uint8 in three dimensions", argv[1]);
  }
  snprintf(input, sizeof input, "{\"data_type\": \"uint8\", \"shape\": [%zu, %zu, %zu], \"fill_value\": 0}",
           (size_t)labels.shape[0], (size_t)labels.shape[1], (size_t)labels.shape[2]);
  chain = make_chain(input);
  check(zcodec_encode_to_buffer(chain, labels.data, labels.size, &shard, &error), &error);
  check(zcodec_decode_to_buffer(chain, zcodec_buffer_data(shard), zcodec_buffer_size(shard), &again, &error), &error);
  if (zcodec_buffer_size(again) != labels.size || memcmp(zcodec_buffer_data(again), labels.data, labels.size) != 0) {
    fail("the elements do not come back");
  }
  printf("  %zu -> %zu bytes in runs, ratio %.2f, equal when read back\n", labels.size, zcodec_buffer_size(shard),
         (double)labels.size / (double)zcodec_buffer_size(shard));
  zcodec_buffer_free(shard);
  zcodec_buffer_free(again);
  zcodec_chain_free(chain);
  free(labels.file);
  return EXIT_SUCCESS;
}
