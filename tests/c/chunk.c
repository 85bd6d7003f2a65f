/* Encoding and decoding one chunk. */
#include "check.h"

static const char CODECS[] = "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}},\"crc32c\"]";
static const char INPUT[] = "{\"data_type\":\"uint16\",\"shape\":[2,2],\"fill_value\":0}";
static const uint16_t DECODED[4] = {0x0102, 0x0304, 0x0506, 0xFFFE};
static const uint8_t ENCODED[8] = {1, 2, 3, 4, 5, 6, 0xFF, 0xFE};
enum { ENCODED_SIZE = 12 };

static void a_chunk_comes_back(const zcodec_chain *chain) {
  uint8_t encoded[ENCODED_SIZE];
  uint16_t decoded[4] = {0};
  size_t encoded_size = 99, decoded_size = 99;
  CHECK_OK(zcodec_encode(chain, DECODED, sizeof DECODED, encoded, sizeof encoded, &encoded_size, &error));
  CHECK(encoded_size == ENCODED_SIZE);
  CHECK(memcmp(encoded, ENCODED, sizeof ENCODED) == 0);
  CHECK_OK(zcodec_decode(chain, encoded, encoded_size, decoded, sizeof decoded, &decoded_size, &error));
  CHECK(decoded_size == sizeof decoded);
  CHECK(memcmp(decoded, DECODED, sizeof decoded) == 0);
}

static void options_change_nothing_of_the_result(const zcodec_chain *chain) {
  zcodec_call_options options = {0};
  uint8_t encoded[ENCODED_SIZE];
  uint16_t decoded[4] = {0};
  size_t encoded_size = 0, decoded_size = 0;
  options.struct_size = sizeof options;
  for (options.max_threads = 0; options.max_threads < 5; options.max_threads++) {
    CHECK_OK(
        zcodec_encode_with(chain, &options, DECODED, sizeof DECODED, encoded, sizeof encoded, &encoded_size, &error));
    CHECK_OK(
        zcodec_decode_with(chain, &options, encoded, encoded_size, decoded, sizeof decoded, &decoded_size, &error));
    CHECK(memcmp(decoded, DECODED, sizeof decoded) == 0);
  }
}

static void options_of_other_versions_are_read_as_far_as_known(const zcodec_chain *chain) {
  struct {
    zcodec_call_options known;
    uint64_t later;
  } options;
  uint8_t encoded[ENCODED_SIZE];
  size_t size = 0;
  memset(&options, 0, sizeof options);
  options.known.struct_size = offsetof(zcodec_call_options, call_data); /* an older caller */
  CHECK_OK(zcodec_encode_with(chain, &options.known, DECODED, sizeof DECODED, encoded, sizeof encoded, &size, &error));
  options.known.struct_size = sizeof options; /* a newer caller that asks for nothing new */
  CHECK_OK(zcodec_encode_with(chain, &options.known, DECODED, sizeof DECODED, encoded, sizeof encoded, &size, &error));
  options.later = 1; /* and one that asks for something new */
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_encode_with(chain, &options.known, DECODED, sizeof DECODED,
                                                                 encoded, sizeof encoded, &size, &error));
  CHECK(size == 0);
}

static void buffers_of_the_library_hold_the_same(const zcodec_chain *chain) {
  zcodec_buffer *encoded = NULL, *decoded = NULL;
  CHECK_OK(zcodec_encode_to_buffer(chain, DECODED, sizeof DECODED, &encoded, &error));
  CHECK(zcodec_buffer_size(encoded) == ENCODED_SIZE);
  CHECK(memcmp(zcodec_buffer_data(encoded), ENCODED, sizeof ENCODED) == 0);
  CHECK_OK(zcodec_decode_to_buffer(chain, zcodec_buffer_data(encoded), zcodec_buffer_size(encoded), &decoded, &error));
  CHECK(zcodec_buffer_size(decoded) == sizeof DECODED);
  CHECK(memcmp(zcodec_buffer_data(decoded), DECODED, sizeof DECODED) == 0);
  zcodec_buffer_free(encoded);
  zcodec_buffer_free(decoded);
}

static void every_too_small_buffer_is_told_the_size(const zcodec_chain *chain) {
  uint8_t encoded[ENCODED_SIZE], whole[ENCODED_SIZE];
  uint16_t decoded[4];
  size_t capacity, size;
  CHECK_OK(zcodec_encode(chain, DECODED, sizeof DECODED, whole, sizeof whole, &size, &error));
  for (capacity = 0; capacity < sizeof encoded; capacity++) {
    size = 0;
    CHECK_FAILS(ZCODEC_STATUS_BUFFER_TOO_SMALL,
                zcodec_encode(chain, DECODED, sizeof DECODED, encoded, capacity, &size, &error));
    CHECK(size == ENCODED_SIZE);
  }
  for (capacity = 0; capacity < sizeof decoded; capacity++) {
    size = 0;
    CHECK_FAILS(ZCODEC_STATUS_BUFFER_TOO_SMALL,
                zcodec_decode(chain, whole, sizeof whole, decoded, capacity, &size, &error));
    CHECK(size == sizeof decoded);
  }
  CHECK_STATUS(ZCODEC_STATUS_BUFFER_TOO_SMALL, zcodec_encode(chain, DECODED, sizeof DECODED, NULL, 0, &size, NULL));
}

static void a_wrong_decoded_size_writes_nothing(const zcodec_chain *chain) {
  static const size_t sizes[] = {0, 1, 7, 9, SIZE_MAX / 2, SIZE_MAX};
  uint8_t encoded[ENCODED_SIZE];
  size_t i, j, size;
  memset(encoded, 0xA5, sizeof encoded);
  for (i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    size = 99;
    CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT,
                zcodec_encode(chain, DECODED, sizes[i], encoded, sizeof encoded, &size, &error));
    CHECK(size == 0);
  }
  for (j = 0; j < sizeof encoded; j++) {
    CHECK(encoded[j] == 0xA5);
  }
}

static void damaged_bytes_are_corrupt(const zcodec_chain *chain) {
  uint8_t encoded[ENCODED_SIZE + 1] = {0};
  uint16_t decoded[4];
  size_t i, size;
  zcodec_buffer *buffer = (zcodec_buffer *)&checks_made;
  CHECK_OK(zcodec_encode(chain, DECODED, sizeof DECODED, encoded, ENCODED_SIZE, &size, &error));
  for (i = 0; i < ENCODED_SIZE; i++) {
    encoded[i] ^= 0x10;
    size = 99;
    CHECK_FAILS(ZCODEC_STATUS_CORRUPT_DATA,
                zcodec_decode(chain, encoded, ENCODED_SIZE, decoded, sizeof decoded, &size, &error));
    CHECK(size == 0);
    CHECK_FAILS(ZCODEC_STATUS_CORRUPT_DATA, zcodec_decode(chain, encoded, i, decoded, sizeof decoded, &size, &error));
    encoded[i] ^= 0x10;
  }
  CHECK_FAILS(ZCODEC_STATUS_CORRUPT_DATA,
              zcodec_decode(chain, encoded, sizeof encoded, decoded, sizeof decoded, &size, &error));
  CHECK_FAILS(ZCODEC_STATUS_CORRUPT_DATA, zcodec_decode_to_buffer(chain, encoded, 5, &buffer, &error));
  CHECK(buffer == NULL);
}

static void overlap_is_refused(const zcodec_chain *chain) {
  uint8_t memory[32] = {0};
  size_t size = 99;
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_encode(chain, memory, 8, memory + 4, ENCODED_SIZE, &size, &error));
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_decode(chain, memory + 4, ENCODED_SIZE, memory, 8, &size, &error));
  CHECK(size == 0);
}

static void empty_buffers_may_be_null(void) {
  zcodec_chain *chain = check_chain("[{\"name\":\"pad\",\"configuration\":{\"location\":\"end\",\"nbytes\":2}}]", NULL);
  uint8_t encoded[2] = {1, 1};
  size_t size = 0;
  zcodec_buffer *buffer = NULL;
  CHECK_OK(zcodec_encode(chain, NULL, 0, encoded, sizeof encoded, &size, &error));
  CHECK(size == 2 && encoded[0] == 0 && encoded[1] == 0);
  CHECK_OK(zcodec_decode(chain, encoded, sizeof encoded, NULL, 0, &size, &error));
  CHECK(size == 0);
  CHECK_OK(zcodec_decode_to_buffer(chain, encoded, sizeof encoded, &buffer, &error));
  CHECK(zcodec_buffer_size(buffer) == 0);
  zcodec_buffer_free(buffer);
  zcodec_chain_free(chain);
}

static void null_is_a_status(const zcodec_chain *chain) {
  uint8_t encoded[ENCODED_SIZE] = {0};
  uint16_t decoded[4];
  zcodec_call_options options = {0};
  zcodec_buffer *buffer = NULL;
  const zcodec_status null = ZCODEC_STATUS_NULL_ARGUMENT;
  size_t size = 99;
  options.struct_size = sizeof options;
  CHECK_FAILS(null, zcodec_encode(NULL, DECODED, sizeof DECODED, encoded, sizeof encoded, &size, &error));
  CHECK(size == 0);
  CHECK_FAILS(null, zcodec_encode(chain, NULL, sizeof DECODED, encoded, sizeof encoded, &size, &error));
  CHECK_FAILS(null, zcodec_encode(chain, DECODED, sizeof DECODED, NULL, sizeof encoded, &size, &error));
  CHECK_FAILS(null, zcodec_encode(chain, DECODED, sizeof DECODED, encoded, sizeof encoded, NULL, &error));
  CHECK_FAILS(null, zcodec_decode(NULL, encoded, sizeof encoded, decoded, sizeof decoded, &size, &error));
  CHECK_FAILS(null, zcodec_decode(chain, NULL, sizeof encoded, decoded, sizeof decoded, &size, &error));
  CHECK_FAILS(null, zcodec_decode(chain, encoded, sizeof encoded, NULL, sizeof decoded, &size, &error));
  CHECK_FAILS(null, zcodec_decode(chain, encoded, sizeof encoded, decoded, sizeof decoded, NULL, &error));
  CHECK_FAILS(null,
              zcodec_encode_with(NULL, &options, DECODED, sizeof DECODED, encoded, sizeof encoded, &size, &error));
  CHECK_FAILS(null,
              zcodec_decode_with(NULL, &options, encoded, sizeof encoded, decoded, sizeof decoded, &size, &error));
  CHECK_FAILS(null, zcodec_encode_to_buffer(NULL, DECODED, sizeof DECODED, &buffer, &error));
  CHECK_FAILS(null, zcodec_encode_to_buffer(chain, DECODED, sizeof DECODED, NULL, &error));
  CHECK_FAILS(null, zcodec_decode_to_buffer(NULL, encoded, sizeof encoded, &buffer, &error));
  CHECK_FAILS(null, zcodec_decode_to_buffer(chain, encoded, sizeof encoded, NULL, &error));
  CHECK(buffer == NULL);
  CHECK(zcodec_buffer_size(NULL) == 0);
  CHECK(zcodec_buffer_data(NULL) == NULL);
  zcodec_buffer_free(NULL);
}

int main(void) {
  zcodec_chain *chain = check_chain(CODECS, INPUT);
  a_chunk_comes_back(chain);
  options_change_nothing_of_the_result(chain);
  options_of_other_versions_are_read_as_far_as_known(chain);
  buffers_of_the_library_hold_the_same(chain);
  every_too_small_buffer_is_told_the_size(chain);
  a_wrong_decoded_size_writes_nothing(chain);
  damaged_bytes_are_corrupt(chain);
  overlap_is_refused(chain);
  empty_buffers_may_be_null();
  null_is_a_status(chain);
  zcodec_chain_free(chain);
  return check_result("chunk");
}
