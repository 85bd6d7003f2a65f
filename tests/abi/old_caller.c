/* What a program of an older version does; compiled against that version's header, run with the library of today.
 * Only what that header declares may be used here. */
#include "check.h"

#include <stddef.h>

static const char CODECS[] = "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}},"
                             "{\"name\":\"pad\",\"configuration\":{\"location\":\"start\",\"nbytes\":4}},\"crc32c\"]";
static const char INPUT[] = "{\"data_type\":\"uint16\",\"shape\":[2,2],\"fill_value\":0}";
static const uint16_t DECODED[4] = {1, 2, 3, 4};

enum { ENCODED_SIZE = 16 };

static int32_t generate(void *user_data, void *call_data, const uint8_t *chunk, size_t chunk_size, uint8_t *padding,
                        size_t padding_size) {
  (void)chunk;
  *(int *)user_data += call_data != NULL ? 1 : 100;
  memset(padding, 'a', padding_size);
  return chunk_size == sizeof DECODED ? 0 : 1;
}

static void a_chain_answers(const zcodec_chain *chain) {
  size_t size = 0;
  zcodec_buffer *json = NULL;
  CHECK(zcodec_chain_codec_count(chain) == 3);
  CHECK(zcodec_chain_kind(chain) == ZCODEC_KIND_ARRAY_TO_BYTES);
  CHECK_STATUS(ZCODEC_STATUS_OK, zcodec_chain_decoded_size(chain, &size));
  CHECK(size == sizeof DECODED);
  CHECK_OK(zcodec_chain_output_json(chain, &json, &error));
  CHECK(check_buffer_has(json, "\"size\":16"));
}

static void a_chunk_goes_both_ways(zcodec_chain *chain) {
  uint8_t encoded[ENCODED_SIZE];
  uint16_t decoded[4] = {0};
  size_t size = 0;
  int calls = 0;
  zcodec_call_options options = {0};
  options.struct_size = sizeof options;
  options.call_data = &options;
  options.max_threads = 2;
  CHECK_OK(zcodec_chain_set_padding(chain, 1, generate, NULL, &calls, NULL, &error));
  CHECK_OK(zcodec_encode_with(chain, &options, DECODED, sizeof DECODED, encoded, sizeof encoded, &size, &error));
  CHECK(size == ENCODED_SIZE && calls == 1 && memcmp(encoded, "aaaa\0\1\0\2\0\3\0\4", 12) == 0);
  CHECK_OK(zcodec_decode(chain, encoded, size, decoded, sizeof decoded, &size, &error));
  CHECK(size == sizeof decoded && memcmp(decoded, DECODED, sizeof decoded) == 0);
  encoded[5] ^= 1;
  CHECK_FAILS(ZCODEC_STATUS_CORRUPT_DATA,
              zcodec_decode(chain, encoded, sizeof encoded, decoded, sizeof decoded, &size, &error));
  CHECK_OK(zcodec_chain_set_padding(chain, 1, NULL, NULL, NULL, NULL, &error));
}

/* The memory ends where the struct of the caller does: a library that reads on is caught by the sanitizers. */
static void smaller_options_are_read_no_further(const zcodec_chain *chain) {
  const size_t sizes[] = {offsetof(zcodec_call_options, call_data), offsetof(zcodec_call_options, max_threads)};
  uint8_t encoded[ENCODED_SIZE];
  size_t i, size = 0;
  for (i = 0; i < 2; i++) {
    zcodec_call_options *options = calloc(1, sizes[i]);
    memcpy(options, &sizes[i], sizeof sizes[i]);
    CHECK_OK(zcodec_encode_with(chain, options, DECODED, sizeof DECODED, encoded, sizeof encoded, &size, &error));
    CHECK(size == ENCODED_SIZE);
    free(options);
  }
}

int main(void) {
  zcodec_chain *chain = check_chain(CODECS, INPUT);
  a_chain_answers(chain);
  a_chunk_goes_both_ways(chain);
  smaller_options_are_read_no_further(chain);
  zcodec_chain_free(chain);
  return check_result("old caller");
}
