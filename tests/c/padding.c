/* Padding that callbacks compute and check. */
#include "check.h"

static const char PADS[] =
    "[{\"name\":\"pad\",\"configuration\":{\"location\":\"start\",\"nbytes\":2}},"
    "{\"name\":\"offset\",\"configuration\":{\"offset\":3,\"prefix\":\"YWJj\"}}]";

/* What the callbacks saw, and what they return. */
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

static void callbacks_see_the_data_of_calls_with_buffers_of_the_library(void) {
  zcodec_chain *chain = check_chain(PADS, NULL);
  zcodec_buffer *encoded = NULL, *decoded = NULL;
  record seen = {0};
  zcodec_call_options options = {0};
  options.struct_size = sizeof options;
  options.call_data = &encoded;
  CHECK_OK(zcodec_chain_set_padding(chain, 0, generate, check, &seen, free_record, &error));
  CHECK_OK(zcodec_encode_to_buffer_with(chain, &options, "ABCD", 4, &encoded, &error));
  CHECK(zcodec_buffer_size(encoded) == 9 && memcmp(zcodec_buffer_data(encoded), "abcABABCD", 9) == 0);
  CHECK(seen.generated == 1 && seen.call_data == &encoded);
  options.call_data = &decoded;
  CHECK_OK(zcodec_decode_to_buffer_with(chain, &options, zcodec_buffer_data(encoded), 9, &decoded, &error));
  CHECK(zcodec_buffer_size(decoded) == 4 && memcmp(zcodec_buffer_data(decoded), "ABCD", 4) == 0);
  CHECK(seen.checked == 1 && seen.call_data == &decoded);
  zcodec_buffer_free(decoded);
  options.flags = UINT64_C(1) << 63;
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT,
              zcodec_decode_to_buffer_with(chain, &options, zcodec_buffer_data(encoded), 9, &decoded, &error));
  CHECK(decoded == NULL && seen.checked == 1);
  zcodec_buffer_free(encoded);
  zcodec_chain_free(chain);
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

/* Calls its own chain recursively, some levels deep, and a copy of it. */
typedef struct nested {
  const zcodec_chain *chain;
  int depth;
} nested;

static int32_t generate_nested(void *user_data, void *call_data, const uint8_t *chunk, size_t chunk_size,
                               uint8_t *padding, size_t padding_size) {
  static const uint64_t shape[1] = {2};
  nested *self = user_data;
  (void)call_data;
  CHECK(chunk_size >= 2 && padding_size == 1);
  padding[0] = (uint8_t)self->depth;
  if (self->depth < 3) {
    zcodec_chain *reshaped = NULL;
    uint8_t inner[64], again[4];
    size_t size = 0;
    self->depth++;
    CHECK_OK(zcodec_encode(self->chain, "ABCD", 4, inner, sizeof inner, &size, &error));
    CHECK_OK(zcodec_decode(self->chain, inner, size, again, sizeof again, &size, &error));
    CHECK(size == 4 && memcmp(again, "ABCD", 4) == 0);
    CHECK_OK(zcodec_chain_with_shape(self->chain, shape, 1, &reshaped, &error));
    CHECK_OK(zcodec_encode(reshaped, chunk, 2, inner, sizeof inner, &size, &error));
    zcodec_chain_free(reshaped);
    self->depth--;
  }
  return 0;
}

static void callbacks_may_call_the_chain_that_calls_them(void) {
  zcodec_chain *chain =
      check_chain("[\"bytes\",\"gzip\",{\"name\":\"pad\",\"configuration\":{\"location\":\"end\",\"nbytes\":1}}]",
                  "{\"data_type\":\"uint8\",\"shape\":[4],\"fill_value\":0}");
  nested self = {0};
  uint8_t encoded[64];
  size_t size = 0;
  self.chain = chain;
  CHECK_OK(zcodec_chain_set_padding(chain, 2, generate_nested, NULL, &self, NULL, &error));
  CHECK_OK(zcodec_encode(chain, "ABCD", 4, encoded, sizeof encoded, &size, &error));
  CHECK(size > 0 && encoded[size - 1] == 0 && self.depth == 0);
  zcodec_chain_free(chain);
}

/* Frees its own data, and fails. */
static int32_t generate_and_free(void *user_data, void *call_data, const uint8_t *chunk, size_t chunk_size,
                                 uint8_t *padding, size_t padding_size) {
  (void)chunk;
  (void)chunk_size;
  (void)padding_size;
  padding[0] = *(uint8_t *)user_data;
  free(user_data);
  free(call_data);
  return 77;
}

static void callbacks_may_free_their_own_data(void) {
  zcodec_chain *chain = check_chain(PADS, NULL);
  int round;
  for (round = 0; round < 3; round++) {
    zcodec_call_options options = {0};
    uint8_t encoded[9];
    size_t size;
    options.struct_size = sizeof options;
    options.call_data = malloc(100);
    CHECK_OK(zcodec_chain_set_padding(chain, 0, generate_and_free, NULL, calloc(1, 100), NULL, &error));
    CHECK_FAILS(ZCODEC_STATUS_CALLBACK_FAILED,
                zcodec_encode_with(chain, &options, "ABCD", 4, encoded, sizeof encoded, &size, &error));
    /* Nobody uses the pointer again: neither a chain without the callback, nor freeing the chain. */
    CHECK_OK(zcodec_chain_set_padding(chain, 0, NULL, NULL, NULL, NULL, &error));
    CHECK_OK(zcodec_encode(chain, "ABCD", 4, encoded, sizeof encoded, &size, &error));
  }
  zcodec_chain_free(chain);
}

/* Uses and frees a chain of its own while the chain that held it is freed. */
static void free_with_the_library(void *user_data) {
  zcodec_chain *inner = user_data;
  uint8_t encoded[8];
  size_t size = 0;
  CHECK_OK(zcodec_encode(inner, "ABCD", 4, encoded, sizeof encoded, &size, &error));
  CHECK(size == 8);
  zcodec_chain_free(inner);
}

static void what_frees_user_data_may_call_the_library(void) {
  zcodec_chain *chain = check_chain(PADS, NULL);
  CHECK_OK(
      zcodec_chain_set_padding(chain, 0, NULL, NULL, check_chain("[\"crc32c\"]", NULL), free_with_the_library, &error));
  CHECK_OK(
      zcodec_chain_set_padding(chain, 0, NULL, NULL, check_chain("[\"crc32c\"]", NULL), free_with_the_library, &error));
  zcodec_chain_free(chain);
}

/* User data whose free_user_data uses this chain. */
typedef struct late_call {
  zcodec_chain *chain;
  int freed;
} late_call;

static void use_the_chain(void *user_data) {
  static const uint64_t shape[1] = {2};
  late_call *call = user_data;
  zcodec_chain *reshaped = NULL;
  uint8_t encoded[16];
  size_t size = 0;
  call->freed++;
  CHECK_OK(zcodec_encode(call->chain, "ABCD", 4, encoded, sizeof encoded, &size, &error));
  CHECK(size == 6 && encoded[0] == 'A' && encoded[1] == 'B'); /* by the new callback */
  CHECK_OK(zcodec_chain_with_shape(call->chain, shape, 1, &reshaped, &error));
  zcodec_chain_free(reshaped);
}

static void what_frees_replaced_user_data_may_use_the_chain(void) {
  zcodec_chain *chain =
      check_chain("[\"bytes\",{\"name\":\"pad\",\"configuration\":{\"location\":\"start\",\"nbytes\":2}}]",
                  "{\"data_type\":\"uint8\",\"shape\":[4],\"fill_value\":0}");
  late_call first, second;
  record last = {0};
  first.chain = second.chain = chain;
  first.freed = second.freed = 0;
  CHECK_OK(zcodec_chain_set_padding(chain, 1, NULL, NULL, &first, use_the_chain, &error));
  CHECK_OK(zcodec_chain_set_padding(chain, 1, generate, NULL, &last, free_record, &error));
  CHECK(first.freed == 1 && last.generated == 1);
  CHECK_OK(zcodec_chain_set_padding_at(chain, "/1", NULL, NULL, &second, use_the_chain, &error));
  CHECK_OK(zcodec_chain_set_padding_at(chain, "/1", generate, NULL, &last, free_record, &error));
  CHECK(second.freed == 1 && last.generated == 2 && last.freed == 1);
  zcodec_chain_free(chain);
  CHECK(first.freed == 1 && second.freed == 1 && last.freed == 2);
}

#define PAD_2 "{\"name\":\"pad\",\"configuration\":{\"location\":\"end\",\"nbytes\":2}}"
#define CONDITIONAL(codecs) "{\"name\":\"conditional\",\"configuration\":{\"codecs\":[" codecs "]}}"

/* The callbacks of the codec at this path compute and check the last two bytes of a chunk of 64 zeros, also after
 * zcodec_chain_with_shape, and in a plan. */
static void check_callbacks_at(const char *codecs, const char *path, uint8_t first) {
  static const uint64_t start[1] = {0}, shape[1] = {64}, part_shape[1] = {32};
  static const uint8_t zeros[64];
  zcodec_chain *chain = check_chain(codecs, "{\"data_type\":\"uint8\",\"shape\":[64],\"fill_value\":1}");
  zcodec_chain *reshaped = NULL;
  record seen = {0};
  uint8_t encoded[256], decoded[64];
  size_t size = 0, decoded_size = 0;
  zcodec_call_options options = {0};
  zcodec_error *error = NULL;
  const zcodec_box box = {sizeof box, 1, start, shape};
  zcodec_view view = {0};
  zcodec_plan *plan = NULL;
  zcodec_status status;
  view.struct_size = sizeof view;
  view.memory = decoded;
  view.memory_size = sizeof decoded;
  view.ndim = 1;
  options.struct_size = sizeof options;
  options.call_data = &size;
  CHECK_OK(zcodec_chain_set_padding_at(chain, path, generate, check, &seen, free_record, &error));
  CHECK_OK(zcodec_encode_with(chain, &options, zeros, 64, encoded, sizeof encoded, &size, &error));
  CHECK(seen.generated == 1 && seen.call_data == &size && seen.padding_size == 2);
  CHECK(encoded[size - 2] == first && encoded[size - 1] == (uint8_t)(first + 1));
  CHECK_OK(zcodec_decode(chain, encoded, size, decoded, 64, &decoded_size, &error));
  CHECK(seen.checked >= 1 && decoded_size == 64 && memcmp(decoded, zeros, 64) == 0);
  CHECK_OK(zcodec_chain_with_shape(chain, part_shape, 1, &reshaped, &error));
  CHECK_OK(zcodec_encode(reshaped, zeros, 32, decoded, sizeof decoded, &decoded_size, &error));
  CHECK(seen.generated == 2);
  zcodec_chain_free(reshaped);

  CHECK_OK(zcodec_plan_new(chain, NULL, &box, &view, 1, size, NULL, &plan, &error));
  seen.checked = 0;
  for (;;) {
    const zcodec_range *ranges = NULL;
    size_t count = 0, i;
    CHECK_OK(zcodec_plan_next(plan, &ranges, &count, &error));
    if (count == 0) break;
    for (i = 0; i < count; i++) {
      CHECK_OK(zcodec_plan_supply(plan, i, encoded + ranges[i].offset, (size_t)ranges[i].size, &error));
    }
  }
  zcodec_plan_free(plan);
  CHECK(seen.checked >= 1);

  encoded[size - 1] ^= 1;
  status = zcodec_decode(chain, encoded, size, decoded, 64, &decoded_size, &error);
  CHECK(status == ZCODEC_STATUS_CORRUPT_DATA && strcmp(zcodec_error_path(error), path) == 0);
  zcodec_error_free(error);
  seen.answer = 3;
  CHECK_FAILS_WITH(ZCODEC_STATUS_CALLBACK_FAILED, "returned 3",
                   zcodec_encode(chain, zeros, 64, encoded, sizeof encoded, &size, &error));
  zcodec_chain_free(chain);
  CHECK(seen.freed == 1);
}

static void codecs_inside_others_have_callbacks(void) {
  zcodec_chain *chain;
  check_callbacks_at("[\"bytes\"," CONDITIONAL("\"zstd\"," PAD_2) "]", "/1/configuration/codecs/1", 0x28);
  check_callbacks_at("[\"bytes\"," CONDITIONAL(CONDITIONAL("\"zstd\"," PAD_2)) "]",
                     "/1/configuration/codecs/0/configuration/codecs/1", 0x28);
  check_callbacks_at(
      "[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[32],\"codecs\":[\"bytes\"],"
      "\"index_codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}}," PAD_2 "]}}]",
      "/0/configuration/index_codecs/1", 0);
  chain = check_chain("[" CONDITIONAL("\"zstd\"," PAD_2) "]", NULL);
  CHECK_FAILS_WITH(ZCODEC_STATUS_INVALID_ARGUMENT, "there is no codec 2: the list has 2",
                   zcodec_chain_set_padding_at(chain, "/0/configuration/codecs/2", NULL, NULL, NULL, NULL, &error));
  CHECK_FAILS_WITH(ZCODEC_STATUS_INVALID_ARGUMENT, "this codec has no padding",
                   zcodec_chain_set_padding_at(chain, "/0/configuration/codecs/0", NULL, NULL, NULL, NULL, &error));
  CHECK_FAILS_WITH(
      ZCODEC_STATUS_INVALID_ARGUMENT, "there are no codecs inside this codec",
      zcodec_chain_set_padding_at(chain, "/0/configuration/index_codecs/0", NULL, NULL, NULL, NULL, &error));
  zcodec_chain_free(chain);
}

/* Fails when its turn comes. */
typedef struct turns {
  int left;
} turns;

static int32_t generate_in_turn(void *user_data, void *call_data, const uint8_t *chunk, size_t chunk_size,
                                uint8_t *padding, size_t padding_size) {
  (void)call_data;
  (void)chunk;
  (void)chunk_size;
  memset(padding, 7, padding_size);
  return ((turns *)user_data)->left-- == 0;
}

static int32_t check_in_turn(void *user_data, void *call_data, const uint8_t *chunk, size_t chunk_size,
                             const uint8_t *padding, size_t padding_size) {
  (void)call_data;
  (void)chunk;
  (void)chunk_size;
  (void)padding;
  (void)padding_size;
  return ((turns *)user_data)->left-- == 0;
}

static void a_failure_at_each_point_leaves_a_chain_that_works(void) {
#define PAD "{\"name\":\"pad\",\"configuration\":{\"location\":\"start\",\"nbytes\":2}}"
  static const size_t at[3] = {1, 3, 5};
  zcodec_chain *chain = check_chain("[\"bytes\"," PAD ",\"gzip\"," PAD ",\"zstd\"," PAD "]",
                                    "{\"data_type\":\"uint8\",\"shape\":[4],\"fill_value\":0}");
  turns self = {-1};
  uint8_t encoded[100], decoded[4];
  size_t encoded_size = 0, size = 0;
  int i;
  for (i = 0; i < 3; i++) {
    CHECK_OK(zcodec_chain_set_padding(chain, at[i], generate_in_turn, check_in_turn, &self, NULL, &error));
  }
  for (i = 0; i < 3; i++) {
    zcodec_error *error = NULL;
    self.left = i;
    CHECK_STATUS(ZCODEC_STATUS_CALLBACK_FAILED,
                 zcodec_encode(chain, "ABCD", 4, encoded, sizeof encoded, &size, &error));
    CHECK(zcodec_error_codec_index(error) == (int64_t)at[i] && size == 0);
    zcodec_error_free(error);
    self.left = -1;
    CHECK_OK(zcodec_encode(chain, "ABCD", 4, encoded, sizeof encoded, &encoded_size, &error));
    self.left = i;
    CHECK_STATUS(ZCODEC_STATUS_CORRUPT_DATA,
                 zcodec_decode(chain, encoded, encoded_size, decoded, sizeof decoded, &size, &error));
    CHECK(zcodec_error_codec_index(error) == (int64_t)at[2 - i] && size == 0);
    zcodec_error_free(error);
    self.left = -1;
    CHECK_OK(zcodec_decode(chain, encoded, encoded_size, decoded, sizeof decoded, &size, &error));
    CHECK(size == 4 && memcmp(decoded, "ABCD", 4) == 0);
  }
  zcodec_chain_free(chain);
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
  callbacks_see_the_data_of_calls_with_buffers_of_the_library();
  each_padding_has_its_own_callbacks();
  a_refusal_ends_the_call_and_is_quoted();
  user_data_is_freed_once_when_replaced();
  user_data_is_freed_with_the_last_chain_that_holds_it();
  callbacks_may_call_the_library();
  callbacks_may_call_the_chain_that_calls_them();
  callbacks_may_free_their_own_data();
  what_frees_user_data_may_call_the_library();
  what_frees_replaced_user_data_may_use_the_chain();
  codecs_inside_others_have_callbacks();
  a_failure_at_each_point_leaves_a_chain_that_works();
  only_paddings_take_callbacks();
  return check_result("padding");
}
