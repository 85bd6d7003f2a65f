/* Padding that callbacks compute and check. */
#include "check.h"

static const char PADS[] =
    "[{\"name\":\"pad\",\"configuration\":{\"location\":\"start\",\"nbytes\":2}},"
    "{\"name\":\"offset\",\"configuration\":{\"offset\":3,\"prefix\":\"YWJj\"}}]";

/* What the callbacks saw, and what they are to answer. */
typedef struct record {
  int generated, checked, freed;
  int32_t answer;
  void *call_data;
  size_t chunk_size, padding_size;
  const zcodec_chain *call; /* a chain to call from inside, or NULL */
} record;

static int32_t generate(void *user_data, void *call_data, const uint8_t *chunk, size_t chunk_size, uint8_t *padding,
                        size_t padding_size) {
  record *seen = user_data;
  size_t i;
  seen->generated++;
  seen->call_data = call_data;
  seen->chunk_size = chunk_size;
  seen->padding_size = padding_size;
  for (i = 0; i < padding_size; i++) {
    CHECK(padding[i] == 0);
    padding[i] = (uint8_t)(chunk_size > 0 ? chunk[0] + i : 0xEE);
  }
  if (seen->call != NULL) {
    uint8_t inner[64];
    size_t size;
    CHECK_OK(zcodec_encode(seen->call, chunk, chunk_size, inner, sizeof inner, &size, &error));
  }
  return seen->answer;
}

static int32_t check(void *user_data, void *call_data, const uint8_t *chunk, size_t chunk_size, const uint8_t *padding,
                     size_t padding_size) {
  record *seen = user_data;
  size_t i;
  seen->checked++;
  seen->call_data = call_data;
  for (i = 0; i < padding_size; i++) {
    if (padding[i] != (uint8_t)(chunk_size > 0 ? chunk[0] + i : 0xEE)) {
      return 5;
    }
  }
  return seen->answer;
}

static void free_record(void *user_data) { ((record *)user_data)->freed++; }

static void callbacks_see_chunk_padding_and_data(void) {
  zcodec_chain *chain = check_chain(PADS, NULL);
  record seen = {0};
  zcodec_call_options options = {0};
  uint8_t encoded[9], decoded[4];
  size_t size = 0;
  options.struct_size = sizeof options;
  options.call_data = &size;
  CHECK_OK(zcodec_chain_set_padding(chain, 0, generate, check, &seen, free_record, &error));
  CHECK_OK(zcodec_encode_with(chain, &options, "ABCD", 4, encoded, sizeof encoded, &size, &error));
  CHECK(size == 9 && memcmp(encoded, "abcABABCD", 9) == 0);
  CHECK(seen.generated == 1 && seen.chunk_size == 4 && seen.padding_size == 2 && seen.call_data == &size);
  CHECK_OK(zcodec_decode(chain, encoded, sizeof encoded, decoded, sizeof decoded, &size, &error));
  CHECK(size == 4 && memcmp(decoded, "ABCD", 4) == 0);
  CHECK(seen.checked == 1 && seen.call_data == NULL);
  zcodec_chain_free(chain);
  CHECK(seen.freed == 1);
}

static void each_padding_has_its_own_callbacks(void) {
  zcodec_chain *chain = check_chain(PADS, NULL);
  record inner = {0}, outer = {0};
  uint8_t encoded[9];
  size_t size = 0;
  CHECK_OK(zcodec_chain_set_padding(chain, 0, generate, NULL, &inner, NULL, &error));
  CHECK_OK(zcodec_chain_set_padding(chain, 1, generate, NULL, &outer, NULL, &error));
  CHECK_OK(zcodec_encode(chain, "x", 1, encoded, sizeof encoded, &size, &error));
  CHECK(size == 6 && memcmp(encoded, "xyzxyx", 6) == 0);
  CHECK(inner.chunk_size == 1 && outer.chunk_size == 3 && outer.padding_size == 3);
  zcodec_chain_free(chain);
}

static void a_refusal_ends_the_call_and_is_quoted(void) {
  zcodec_chain *chain = check_chain(PADS, NULL);
  record seen = {0};
  uint8_t encoded[9];
  size_t size = 99;
  zcodec_error *error = NULL;
  CHECK_OK(zcodec_chain_set_padding(chain, 0, generate, check, &seen, NULL, &error));
  seen.answer = 4321;
  CHECK_STATUS(ZCODEC_STATUS_CALLBACK_FAILED, zcodec_encode(chain, "ABCD", 4, encoded, sizeof encoded, &size, &error));
  CHECK(size == 0);
  CHECK(zcodec_error_codec_index(error) == 0);
  CHECK(strstr(zcodec_error_message(error), "4321") != NULL);
  zcodec_error_free(error);
  seen.answer = -4321;
  CHECK_STATUS(ZCODEC_STATUS_CORRUPT_DATA,
               zcodec_decode(chain, "abcABABCD", 9, encoded, sizeof encoded, &size, &error));
  CHECK(zcodec_error_codec_index(error) == 0);
  CHECK(strstr(zcodec_error_message(error), "-4321") != NULL);
  zcodec_error_free(error);
  seen.answer = 0; /* and the chain goes on */
  CHECK_OK(zcodec_decode(chain, "abcABABCD", 9, encoded, sizeof encoded, &size, &error));
  CHECK(size == 4);
  CHECK_FAILS(ZCODEC_STATUS_CORRUPT_DATA, zcodec_decode(chain, "abcAAABCD", 9, encoded, sizeof encoded, &size, &error));
  zcodec_chain_free(chain);
}

static void user_data_is_freed_once_when_replaced(void) {
  zcodec_chain *chain = check_chain(PADS, NULL);
  record first = {0}, second = {0}, refused = {0};
  uint8_t encoded[9];
  size_t size;
  CHECK_OK(zcodec_chain_set_padding(chain, 0, generate, NULL, &first, free_record, &error));
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT,
              zcodec_chain_set_padding(chain, 2, generate, NULL, &refused, free_record, &error));
  CHECK(first.freed == 0 && refused.freed == 0);
  CHECK_OK(zcodec_chain_set_padding(chain, 0, generate, NULL, &second, free_record, &error));
  CHECK(first.freed == 1 && second.freed == 0);
  CHECK_OK(zcodec_chain_set_padding(chain, 0, NULL, NULL, NULL, NULL, &error));
  CHECK(first.freed == 1 && second.freed == 1);
  CHECK_OK(zcodec_encode(chain, "ABCD", 4, encoded, sizeof encoded, &size, &error));
  CHECK(memcmp(encoded, "abc\0\0ABCD", 9) == 0); /* as the metadata says */
  zcodec_chain_free(chain);
  CHECK(first.freed == 1 && second.freed == 1);
}

static void user_data_is_freed_with_the_last_chain_that_holds_it(void) {
  static const uint64_t shape[1] = {2};
  zcodec_chain *chain =
      check_chain("[\"bytes\",{\"name\":\"pad\",\"configuration\":{\"location\":\"end\",\"nbytes\":1}}]",
                  "{\"data_type\":\"uint8\",\"shape\":[4],\"fill_value\":0}");
  zcodec_chain *reshaped = NULL;
  record seen = {0};
  uint8_t encoded[3];
  size_t size = 0;
  CHECK_OK(zcodec_chain_set_padding(chain, 1, generate, NULL, &seen, free_record, &error));
  CHECK_OK(zcodec_chain_with_shape(chain, shape, 1, &reshaped, &error));
  zcodec_chain_free(chain);
  CHECK(seen.freed == 0);
  CHECK_OK(zcodec_encode(reshaped, "AB", 2, encoded, sizeof encoded, &size, &error));
  CHECK(size == 3 && memcmp(encoded, "ABA", 3) == 0);
  zcodec_chain_free(reshaped);
  CHECK(seen.freed == 1);
}

static void callbacks_may_call_the_library(void) {
  zcodec_chain *chain = check_chain(PADS, NULL);
  zcodec_chain *inner = check_chain("[\"crc32c\"]", NULL);
  record seen = {0};
  uint8_t encoded[9];
  size_t size = 0;
  seen.call = inner;
  CHECK_OK(zcodec_chain_set_padding(chain, 0, generate, NULL, &seen, NULL, &error));
  CHECK_OK(zcodec_encode(chain, "ABCD", 4, encoded, sizeof encoded, &size, &error));
  CHECK(size == 9 && memcmp(encoded, "abcABABCD", 9) == 0);
  zcodec_chain_free(chain);
  zcodec_chain_free(inner);
}

static void only_paddings_take_callbacks(void) {
  zcodec_chain *chain = check_chain("[\"crc32c\"]", NULL);
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_chain_set_padding(chain, 0, generate, NULL, NULL, NULL, &error));
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT,
              zcodec_chain_set_padding(chain, SIZE_MAX, NULL, NULL, NULL, NULL, &error));
  CHECK_FAILS(ZCODEC_STATUS_NULL_ARGUMENT, zcodec_chain_set_padding(NULL, 0, generate, NULL, NULL, NULL, &error));
  zcodec_chain_free(chain);
}

int main(void) {
  callbacks_see_chunk_padding_and_data();
  each_padding_has_its_own_callbacks();
  a_refusal_ends_the_call_and_is_quoted();
  user_data_is_freed_once_when_replaced();
  user_data_is_freed_with_the_last_chain_that_holds_it();
  callbacks_may_call_the_library();
  only_paddings_take_callbacks();
  return check_result("padding");
}
