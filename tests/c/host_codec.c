/* Codecs of the host: how they are called, how their results are used, and when their data is freed. */
#include "check.h"

enum { COUNT = 64, SIZE = 2 * COUNT };

static const char INPUT[] = "{\"data_type\":\"uint16\",\"shape\":[8,8],\"fill_value\":9}";

/* The fault of a codec, set by a test. */
enum fault {
  NO_FAULT,
  WRITES_NO_OUTPUT,
  WRITES_AN_ARRAY,
  WRITES_TWICE_THE_SIZE,
  SAYS_MORE_THAN_THE_CAPACITY,
  SAYS_LESS_THAN_BIND,
  TAKES_ONLY_WHOLE_CHUNKS,
  WANTS_MORE_THAN_IT_SAID,
  ALWAYS_WANTS_MORE,
  ALWAYS_WANTS_ONE_MORE,
  SETS_NO_SIZE
};

/* The user_data of a codec. */
typedef struct host {
  int fault;
  const char *output;   /* what bind writes; NULL: {"size": null} */
  const char *expected; /* the configuration; NULL: any */
  size_t said;          /* what TOO_SMALL says; 0: nothing */
  int is_shared;        /* several threads use it: calls are not counted */
  void *call_data;      /* the last one */
  char input[256];      /* what bind got last */
  int binds, states, calls, freed;
} host;

/* A state of a bind: the user_data and the key of the configuration {"key": n}, 0 without. */
typedef struct state {
  host *owner;
  uint8_t key;
} state;

static void write_text(zcodec_sink *sink, const char *text) {
  CHECK_STATUS(ZCODEC_STATUS_OK, zcodec_sink_write(sink, text, strlen(text)));
}

static void free_host(void *user_data) { ((host *)user_data)->freed++; }

static void free_state(void *pointer) {
  ((state *)pointer)->owner->states--;
  free(pointer);
}

static int32_t bind(void *user_data, const char *configuration, size_t configuration_size, const char *input,
                    size_t input_size, zcodec_sink *output, zcodec_sink *message, void **result) {
  host *self = user_data;
  char text[256] = {0};
  const char *key;
  state *made;
  if (!CHECK(*result == NULL && configuration_size < sizeof text && input_size < sizeof self->input)) {
    return 1;
  }
  memcpy(text, configuration, configuration_size);
  CHECK(self->expected == NULL || strcmp(text, self->expected) == 0);
  memset(self->input, 0, sizeof self->input);
  memcpy(self->input, input, input_size);
  key = strstr(text, "\"key\":");
  if (strstr(text, "refuse") != NULL) {
    write_text(message, "this key opens ");
    write_text(message, "nothing");
    return -7;
  }
  if (self->fault == TAKES_ONLY_WHOLE_CHUNKS && strstr(self->input, "{\"size\":128}") == NULL) {
    write_text(message, "only whole chunks");
    return 3;
  }
  made = malloc(sizeof *made);
  made->owner = self;
  made->key = (uint8_t)(key != NULL ? atoi(key + 6) : 0);
  *result = made;
  self->binds++;
  self->states++;
  if (self->fault == WRITES_AN_ARRAY) {
    write_text(output, INPUT);
  } else if (self->fault != WRITES_NO_OUTPUT) {
    write_text(output, self->output != NULL ? self->output : "{\"size\":null}");
  }
  return 0;
}

/* Both directions: each byte with the key, after the letter 'x', which decoding looks at. */
static int32_t code(state *self, void *call_data, const uint8_t *from, size_t count, uint8_t *to, size_t capacity,
                    size_t needed, size_t *size) {
  size_t i;
  if (!self->owner->is_shared) {
    self->owner->calls++;
    self->owner->call_data = call_data;
  }
  if (self->owner->fault == SETS_NO_SIZE) {
    return 0;
  }
  if (self->owner->fault == ALWAYS_WANTS_ONE_MORE) {
    *size = capacity + 1;
    return ZCODEC_CODEC_TOO_SMALL;
  }
  if (needed > capacity || self->owner->fault == ALWAYS_WANTS_MORE) {
    *size = self->owner->said;
    return ZCODEC_CODEC_TOO_SMALL;
  }
  for (i = 0; i < count; i++) {
    to[i] = from[i] ^ self->key;
  }
  *size = needed;
  return 0;
}

static int32_t encode(void *pointer, void *call_data, const void *decoded, size_t decoded_size, void *encoded,
                      size_t encoded_capacity, size_t *encoded_size, zcodec_sink *message) {
  state *self = pointer;
  uint8_t *to = encoded;
  int32_t answer;
  if (decoded_size > 0 && *(const uint8_t *)decoded == 0xFF) {
    write_text(message, "the first byte is 0xFF");
    return 12;
  }
  answer = code(self, call_data, decoded, decoded_size, encoded_capacity > 0 ? to + 1 : to, encoded_capacity,
                decoded_size + 1, encoded_size);
  if (answer == 0) {
    to[0] = 'x';
    *encoded_size += self->owner->fault == SAYS_MORE_THAN_THE_CAPACITY ? encoded_capacity : 0;
    *encoded_size -= self->owner->fault == SAYS_LESS_THAN_BIND ? 1 : 0;
  }
  return answer;
}

static int32_t decode(void *pointer, void *call_data, const void *encoded, size_t encoded_size, void *decoded,
                      size_t decoded_capacity, size_t *decoded_size, zcodec_sink *message) {
  state *self = pointer;
  const uint8_t *from = encoded;
  int32_t answer;
  if (encoded_size == 0 || from[0] != 'x') {
    write_text(message, "there is no x");
    return -1;
  }
  answer = code(self, call_data, from + 1, encoded_size - 1, decoded, decoded_capacity, encoded_size - 1, decoded_size);
  *decoded_size += answer == 0 && self->owner->fault == SAYS_MORE_THAN_THE_CAPACITY ? decoded_capacity : 0;
  *decoded_size -= answer == 0 && self->owner->fault == SAYS_LESS_THAN_BIND ? 1 : 0;
  return answer;
}

static uint64_t bound(void *pointer, uint64_t decoded_size) {
  return ((const state *)pointer)->owner->fault == WANTS_MORE_THAN_IT_SAID ? decoded_size : decoded_size + 1;
}

static zcodec_codec codec_of(host *self, const char *name, int32_t kind) {
  zcodec_codec codec = {0};
  codec.struct_size = sizeof codec;
  codec.name = name;
  codec.kind = kind;
  codec.user_data = self;
  codec.free_user_data = free_host;
  codec.bind = bind;
  codec.free_state = free_state;
  codec.encode = encode;
  codec.decode = decode;
  return codec;
}

/* A registry with the codec "test.x" of this kind. */
static zcodec_registry *registry_of(host *self, int32_t kind, int has_bound) {
  zcodec_registry *registry = NULL;
  zcodec_codec codec = codec_of(self, "test.x", kind);
  codec.encoded_bound = has_bound ? bound : NULL;
  CHECK_OK(zcodec_registry_new(&registry, &error));
  CHECK_OK(zcodec_registry_add(registry, &codec, &error));
  return registry;
}

static zcodec_status new_chain(const zcodec_registry *registry, uint64_t max_decoded_size, const char *codecs,
                               const char *input, zcodec_chain **chain, zcodec_error **error) {
  zcodec_chain_options options = {0};
  options.struct_size = sizeof options;
  options.registry = registry;
  options.max_decoded_size = max_decoded_size;
  return zcodec_chain_new_with(&options, codecs, strlen(codecs), input, input != NULL ? strlen(input) : 0, chain,
                               error);
}

/* A chain that must come about, or the test ends. The registry is freed. */
static zcodec_chain *chain_of(zcodec_registry *registry, const char *codecs, const char *input) {
  zcodec_chain *chain = NULL;
  zcodec_error *error = NULL;
  if (new_chain(registry, 0, codecs, input, &chain, &error) != ZCODEC_STATUS_OK) {
    fprintf(stderr, "%s: %s\n", codecs, zcodec_error_message(error));
    exit(EXIT_FAILURE);
  }
  zcodec_registry_free(registry);
  return chain;
}

/* A call that fails at a codec, with this text in its message. */
static void check_refusal(zcodec_status expected, zcodec_status found, zcodec_error *error, int64_t codec_index,
                          const char *text) {
  check_status(found, expected, error, text, __FILE__, __LINE__);
  CHECK(zcodec_error_codec_index(error) == codec_index);
  if (!CHECK(strstr(zcodec_error_message(error), text) != NULL)) {
    fprintf(stderr, "expected \"%s\" in: %s\n", text, zcodec_error_message(error));
  }
  zcodec_error_free(error);
}

static void fill(uint16_t *decoded) {
  size_t i;
  for (i = 0; i < COUNT; i++) {
    decoded[i] = (uint16_t)(i * 7);
  }
}

static void bad_codecs_are_refused_and_stay_the_callers(void) {
  host self = {0};
  zcodec_registry *registry = registry_of(&self, ZCODEC_KIND_BYTES_TO_BYTES, 1);
  zcodec_codec codec = codec_of(&self, "test.x", ZCODEC_KIND_BYTES_TO_BYTES);
  const zcodec_codec good = codec_of(&self, "test.other", ZCODEC_KIND_BYTES_TO_BYTES);
  int i;
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_registry_add(registry, &codec, &error));
  for (i = 0; i < 10; i++) {
    zcodec_status expected = ZCODEC_STATUS_INVALID_ARGUMENT;
    codec = good;
    switch (i) {
      case 0:
        codec.name = "";
        break;
      case 1:
        codec.name = "gzip";
        break;
      case 2:
        codec.name = "squeeze";
        break; /* an alias */
      case 3:
        codec.name = "\xFF";
        break;
      case 4:
        codec.name = NULL;
        expected = ZCODEC_STATUS_NULL_ARGUMENT;
        break;
      case 5:
        codec.kind = 4;
        break;
      case 6:
        codec.reserved = 1;
        break;
      case 7:
        codec.bind = NULL;
        break;
      case 8:
        codec.encode = NULL;
        break;
      default:
        codec.decode = NULL;
        break;
    }
    CHECK_FAILS(expected, zcodec_registry_add(registry, &codec, &error));
  }
  codec = good;
  codec.struct_size--;
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_registry_add(registry, &codec, &error));
  CHECK_FAILS(ZCODEC_STATUS_NULL_ARGUMENT, zcodec_registry_add(registry, NULL, &error));
  CHECK_FAILS(ZCODEC_STATUS_NULL_ARGUMENT, zcodec_registry_add(NULL, &good, &error));
  CHECK_FAILS(ZCODEC_STATUS_NULL_ARGUMENT, zcodec_registry_new(NULL, &error));
  CHECK_STATUS(ZCODEC_STATUS_NULL_ARGUMENT, zcodec_sink_write(NULL, "x", 1));
  zcodec_registry_free(NULL);
  CHECK(self.freed == 0);
  zcodec_registry_free(registry);
  CHECK(self.freed == 1);
}

static void bind_gets_what_it_needs(void) {
  static const char CODECS[] =
      "[\"bytes\",{\"name\":\"test.x\",\"configuration\":{\"key\":3,\"more\":[1.50,null]}},"
      "{\"name\":\"gzip\",\"configuration\":{\"level\":1}}]";
  host self = {0};
  zcodec_chain *chain;
  zcodec_buffer *json = NULL;
  self.expected = "{\"key\":3,\"more\":[1.50,null]}";
  chain = chain_of(registry_of(&self, ZCODEC_KIND_BYTES_TO_BYTES, 1), CODECS,
                   "{\"data_type\":\"uint8\",\"shape\":[5],\"fill_value\":0}");
  CHECK(strcmp(self.input, "{\"size\":5}") == 0);
  CHECK_OK(zcodec_chain_codecs_json(chain, &json, &error));
  CHECK(check_buffer_has(json, "{\"name\":\"test.x\",\"configuration\":{\"key\":3,\"more\":[1.50,null]}}"));
  zcodec_chain_free(chain);

  self.expected = "{}";
  chain = chain_of(registry_of(&self, ZCODEC_KIND_BYTES_TO_BYTES, 1), "[\"test.x\"]", NULL);
  CHECK(strcmp(self.input, "{\"size\":null,\"bound\":null}") == 0);
  CHECK_OK(zcodec_chain_codecs_json(chain, &json, &error));
  CHECK(check_buffer_is(json, "[{\"name\":\"test.x\"}]"));
  zcodec_chain_free(chain);

  self.output = "{\"size\":129}";
  chain = chain_of(registry_of(&self, ZCODEC_KIND_ARRAY_TO_BYTES, 0), "[\"test.x\"]", INPUT);
  CHECK(strcmp(self.input, INPUT) == 0);
  CHECK_OK(zcodec_chain_output_json(chain, &json, &error));
  CHECK(check_buffer_is(json, "{\"size\":129}"));
  zcodec_chain_free(chain);
  CHECK(self.binds == 3 && self.states == 0 && self.freed == 3);
}

static void a_bind_that_fails_makes_no_chain(void) {
  host self = {0};
  zcodec_registry *registry = registry_of(&self, ZCODEC_KIND_BYTES_TO_BYTES, 1);
  zcodec_chain *chain = (zcodec_chain *)&self;
  zcodec_error *error = NULL;
  zcodec_status found = new_chain(registry, 0, "[\"crc32c\",{\"name\":\"test.x\",\"configuration\":{\"refuse\":1}}]",
                                  NULL, &chain, &error);
  check_refusal(ZCODEC_STATUS_INVALID_METADATA, found, error, 1, "this key opens nothing (bind returned -7)");
  CHECK(chain == NULL && self.states == 0 && self.binds == 0);

  /* Bound, and then another codec fails: the state is freed. */
  found =
      new_chain(registry, 0, "[\"test.x\",{\"name\":\"gzip\",\"configuration\":{\"level\":77}}]", NULL, &chain, &error);
  check_refusal(ZCODEC_STATUS_INVALID_METADATA, found, error, 1, "77");
  CHECK(self.binds == 1 && self.states == 0);

  self.fault = WRITES_NO_OUTPUT;
  found = new_chain(registry, 0, "[\"test.x\"]", NULL, &chain, &error);
  check_refusal(ZCODEC_STATUS_CALLBACK_FAILED, found, error, 0, "what bind wrote to output");
  self.fault = WRITES_AN_ARRAY;
  found = new_chain(registry, 0, "[\"test.x\"]", NULL, &chain, &error);
  check_refusal(ZCODEC_STATUS_CALLBACK_FAILED, found, error, 0, "expected {\"size\": n}");
  CHECK(self.binds == 3 && self.states == 0);
  CHECK_FAILS(ZCODEC_STATUS_UNSUPPORTED, new_chain(NULL, 0, "[\"test.x\"]", NULL, &chain, &error));
  zcodec_registry_free(registry);
  CHECK(self.freed == 1);
}

static void what_is_owned_is_freed_with_the_last_user(void) {
  static const uint64_t shape[2] = {2, 3};
  host self = {0};
  zcodec_registry *registry = registry_of(&self, ZCODEC_KIND_BYTES_TO_BYTES, 1);
  zcodec_chain *chain = NULL, *other = NULL, *reshaped = NULL;
  uint8_t encoded[64];
  uint16_t decoded[6] = {1, 2, 3, 4, 5, 6};
  size_t size = 0;
  static const char CODECS[] = "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}},\"test.x\"]";
  CHECK_OK(new_chain(registry, 0, CODECS, INPUT, &chain, &error));
  CHECK_OK(new_chain(registry, 0, CODECS, INPUT, &other, &error));
  CHECK(self.states == 2);
  CHECK_OK(zcodec_chain_with_shape(chain, shape, 2, &reshaped, &error));
  CHECK(self.binds == 3 && self.states == 3);
  zcodec_chain_free(other);
  zcodec_registry_free(registry);
  zcodec_chain_free(chain);
  CHECK(self.states == 1 && self.freed == 0);
  CHECK_OK(zcodec_encode(reshaped, decoded, sizeof decoded, encoded, sizeof encoded, &size, &error));
  CHECK(size == 13 && encoded[0] == 'x' && encoded[1] == 1);
  zcodec_chain_free(reshaped);
  CHECK(self.states == 0 && self.freed == 1);
}

static void room_grows_where_no_bound_is_known(void) {
  host self = {0};
  zcodec_chain *chain = chain_of(registry_of(&self, ZCODEC_KIND_BYTES_TO_BYTES, 0), "[\"test.x\",\"crc32c\"]", NULL);
  uint8_t encoded[64], decoded[64];
  zcodec_buffer *buffer = NULL;
  size_t size = 99, needed = 0;
  CHECK_STATUS(ZCODEC_STATUS_UNKNOWN_SIZE, zcodec_chain_encoded_bound(chain, 4, &size));
  CHECK(size == 0);
  CHECK_OK(zcodec_encode(chain, "abcd", 4, encoded, 9, &size, &error));
  CHECK(size == 9 && memcmp(encoded, "xabcd", 5) == 0);
  CHECK_OK(zcodec_encode_to_buffer(chain, "abcd", 4, &buffer, &error));
  CHECK(zcodec_buffer_size(buffer) == 9 && memcmp(zcodec_buffer_data(buffer), encoded, 9) == 0);
  zcodec_buffer_free(buffer);

  /* At the caller's own capacity: the size that the codec gives plus the checksum, or twice the capacity if it gives
   * none. */
  CHECK_FAILS(ZCODEC_STATUS_BUFFER_TOO_SMALL, zcodec_encode(chain, "abcd", 4, encoded, 8, &size, &error));
  CHECK(size == 64 + 4);
  self.said = 5;
  CHECK_FAILS(ZCODEC_STATUS_BUFFER_TOO_SMALL, zcodec_encode(chain, "abcd", 4, encoded, 8, &size, &error));
  CHECK(size == 9);
  for (size = 0; size < 4; size++) { /* where not even the checksum fits */
    CHECK_FAILS(ZCODEC_STATUS_BUFFER_TOO_SMALL, zcodec_encode(chain, "abcd", 4, encoded, size, &needed, &error));
    CHECK(needed == 9);
  }

  CHECK_OK(zcodec_encode(chain, "abcd", 4, encoded, sizeof encoded, &size, &error));
  self.said = 4;
  CHECK_FAILS(ZCODEC_STATUS_BUFFER_TOO_SMALL, zcodec_decode(chain, encoded, 9, decoded, 3, &size, &error));
  CHECK(size == 4);
  CHECK_OK(zcodec_decode(chain, encoded, 9, decoded, 4, &size, &error));
  CHECK(size == 4 && memcmp(decoded, "abcd", 4) == 0);
  /* Without a size from the codec, it is asked again with more room. */
  self.said = 0;
  CHECK_FAILS(ZCODEC_STATUS_BUFFER_TOO_SMALL, zcodec_decode(chain, encoded, 9, decoded, 3, &size, &error));
  CHECK(size == 4);
  self.fault = ALWAYS_WANTS_MORE;
  CHECK_FAILS(ZCODEC_STATUS_BUFFER_TOO_SMALL, zcodec_decode(chain, encoded, 9, decoded, 40, &size, &error));
  CHECK(size == 80);
  CHECK_FAILS(ZCODEC_STATUS_CALLBACK_FAILED, zcodec_decode_to_buffer(chain, encoded, 9, &buffer, &error));
  self.fault = SAYS_MORE_THAN_THE_CAPACITY; /* once there is more room */
  CHECK_FAILS_WITH(ZCODEC_STATUS_CALLBACK_FAILED, "codecs[0] \"test.x\": decode says that it wrote",
                   zcodec_decode(chain, encoded, 9, decoded, 3, &size, &error));
  CHECK(size == 0);
  self.fault = NO_FAULT;
  zcodec_chain_free(chain);
}

/* What a shard needs is its index and what the codec inside says of each inner chunk, also in less than an index. */
static void a_shard_says_what_it_needs(void) {
  enum { SHARD = 4 * (1 + 6) + 4 * 16 };
  host self = {0};
  zcodec_chain *chain = chain_of(
      registry_of(&self, ZCODEC_KIND_BYTES_TO_BYTES, 0),
      "[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[6],\"codecs\":[\"bytes\",\"test.x\"],"
      "\"index_codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}]}}]",
      "{\"data_type\":\"uint8\",\"shape\":[24],\"fill_value\":0}");
  uint8_t decoded[24], encoded[SHARD];
  size_t capacity, size;
  memset(decoded, 1, sizeof decoded);
  self.said = 7;
  for (capacity = 0; capacity < SHARD; capacity++) {
    CHECK_FAILS(ZCODEC_STATUS_BUFFER_TOO_SMALL,
                zcodec_encode(chain, decoded, sizeof decoded, encoded, capacity, &size, &error));
    CHECK(size == SHARD);
  }
  CHECK_OK(zcodec_encode(chain, decoded, sizeof decoded, encoded, SHARD, &size, &error));
  CHECK(size == SHARD);
  zcodec_chain_free(chain);
}

/* What a block of N5 needs is its header and what the codec inside says. */
static void a_block_says_what_it_needs(void) {
  host self = {0};
  zcodec_chain *chain =
      chain_of(registry_of(&self, ZCODEC_KIND_BYTES_TO_BYTES, 0),
               "[{\"name\":\"n5_default\",\"configuration\":{\"codecs\":["
               "{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}},"
               "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}},\"test.x\"]}},\"crc32c\"]",
               INPUT);
  enum { HEADER_SIZE = 12, NEEDED = HEADER_SIZE + 1 + SIZE + 4 };
  uint16_t decoded[COUNT];
  uint8_t encoded[NEEDED];
  size_t size = 0, capacity;
  fill(decoded);
  self.said = 1 + SIZE;
  for (capacity = 0; capacity < NEEDED; capacity++) {
    CHECK_FAILS(ZCODEC_STATUS_BUFFER_TOO_SMALL, zcodec_encode(chain, decoded, SIZE, encoded, capacity, &size, &error));
    CHECK(size == NEEDED);
  }
  CHECK_OK(zcodec_encode(chain, decoded, SIZE, encoded, size, &size, &error));
  CHECK(size == NEEDED);
  zcodec_chain_free(chain);
}

/* The metadata of the chunk is valid: what is wrong is the block. */
static void a_block_of_another_shape_that_a_codec_refuses_is_corrupt(void) {
  host self = {0};
  zcodec_chain *chain;
  uint16_t decoded[COUNT];
  uint8_t encoded[256];
  size_t size = 0;
  self.fault = TAKES_ONLY_WHOLE_CHUNKS;
  chain = chain_of(registry_of(&self, ZCODEC_KIND_BYTES_TO_BYTES, 0),
                   "[{\"name\":\"n5_default\",\"configuration\":{\"codecs\":["
                   "{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}},"
                   "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}},\"test.x\"]}}]",
                   INPUT);
  fill(decoded);
  CHECK_OK(zcodec_encode(chain, decoded, SIZE, encoded, sizeof encoded, &size, &error));
  CHECK_OK(zcodec_decode(chain, encoded, size, decoded, SIZE, &size, &error));
  encoded[7] = 3; /* the first size of the block */
  CHECK_FAILS_WITH(ZCODEC_STATUS_CORRUPT_DATA, "only whole chunks",
                   zcodec_decode(chain, encoded, sizeof encoded, decoded, SIZE, &size, &error));
  zcodec_chain_free(chain);
}

/* What a codec does not say is no reason to think that a chunk exceeds the limit. */
static void a_limit_is_for_what_is_decoded(void) {
  enum { LARGE = 90000 };
  static uint8_t decoded[LARGE], encoded[LARGE + 64];
  host self = {0};
  zcodec_registry *registry = registry_of(&self, ZCODEC_KIND_BYTES_TO_BYTES, 0);
  zcodec_buffer *buffer = NULL;
  size_t size = 0, encoded_size = 0, limit;
  for (limit = LARGE - 1; limit < LARGE + 2; limit++) {
    zcodec_chain *chain = NULL;
    CHECK_OK(new_chain(registry, limit, "[\"test.x\",\"crc32c\"]", NULL, &chain, &error));
    CHECK_OK(zcodec_encode(chain, decoded, LARGE, encoded, sizeof encoded, &encoded_size, &error));
    if (limit < LARGE) {
      CHECK_FAILS(ZCODEC_STATUS_CORRUPT_DATA, zcodec_decode_to_buffer(chain, encoded, encoded_size, &buffer, &error));
    } else {
      CHECK_FAILS(ZCODEC_STATUS_BUFFER_TOO_SMALL,
                  zcodec_decode(chain, encoded, encoded_size, decoded, LARGE / 3 * 2, &size, &error));
      CHECK(size == LARGE);
      CHECK_OK(zcodec_decode_to_buffer(chain, encoded, encoded_size, &buffer, &error));
      CHECK(zcodec_buffer_size(buffer) == LARGE);
      zcodec_buffer_free(buffer);
    }
    zcodec_chain_free(chain);
  }
  zcodec_registry_free(registry);
}

/* A decoded size much larger than the first try, and an encoded size after a codec whose bound is unknown. */
static void calls_are_repeated_until_the_room_does(void) {
  enum { LARGE = 1 << 20 };
  host self = {0};
  zcodec_chain *chain = chain_of(registry_of(&self, ZCODEC_KIND_BYTES_TO_BYTES, 0),
                                 "[\"test.x\",{\"name\":\"gzip\",\"configuration\":{\"level\":1}}]", NULL);
  uint8_t *decoded = calloc(LARGE, 1);
  zcodec_buffer *encoded = NULL, *again = NULL;
  size_t said;
  for (said = 0; said <= LARGE; said += LARGE) {
    self.said = said;
    CHECK_OK(zcodec_encode_to_buffer(chain, decoded, LARGE, &encoded, &error));
    CHECK_OK(zcodec_decode_to_buffer(chain, zcodec_buffer_data(encoded), zcodec_buffer_size(encoded), &again, &error));
    CHECK(zcodec_buffer_size(again) == LARGE && memcmp(zcodec_buffer_data(again), decoded, LARGE) == 0);
    zcodec_buffer_free(encoded);
    zcodec_buffer_free(again);
  }
  self.fault = SETS_NO_SIZE;
  CHECK_FAILS(ZCODEC_STATUS_CALLBACK_FAILED, zcodec_encode_to_buffer(chain, decoded, 16, &encoded, &error));
  self.fault = ALWAYS_WANTS_MORE;
  CHECK_FAILS(ZCODEC_STATUS_CALLBACK_FAILED, zcodec_encode_to_buffer(chain, decoded, 16, &encoded, &error));
  CHECK(encoded == NULL);
  self.said = SIZE_MAX / 2 + 1;
  CHECK_FAILS(ZCODEC_STATUS_CALLBACK_FAILED, zcodec_encode_to_buffer(chain, decoded, 16, &encoded, &error));
  self.fault = ALWAYS_WANTS_ONE_MORE;
  CHECK_FAILS(ZCODEC_STATUS_CALLBACK_FAILED, zcodec_encode_to_buffer(chain, decoded, 16, &encoded, &error));
  free(decoded);
  zcodec_chain_free(chain);
}

static void answers_become_statuses(void) {
  host self = {0};
  zcodec_chain *chain = chain_of(registry_of(&self, ZCODEC_KIND_BYTES_TO_BYTES, 1), "[\"crc32c\",\"test.x\"]", NULL);
  uint8_t encoded[64], decoded[64];
  zcodec_error *error = NULL;
  zcodec_call_options options = {0};
  zcodec_status found;
  size_t size = 99, encoded_size = 0;
  options.struct_size = sizeof options;
  options.call_data = &size;
  CHECK_OK(zcodec_encode_with(chain, &options, "abcd", 4, encoded, sizeof encoded, &encoded_size, &error));
  CHECK(encoded_size == 9 && self.call_data == &size);
  CHECK_OK(zcodec_decode(chain, encoded, 9, decoded, sizeof decoded, &size, &error));
  CHECK(size == 4 && self.call_data == NULL);
  found = zcodec_decode(chain, "abcdefghi", 9, decoded, sizeof decoded, &size, &error);
  check_refusal(ZCODEC_STATUS_CORRUPT_DATA, found, error, 1, "there is no x (decode returned -1)");
  CHECK(size == 0);
  self.fault = SAYS_MORE_THAN_THE_CAPACITY;
  found = zcodec_encode(chain, "abcd", 4, encoded, sizeof encoded, &size, &error);
  check_refusal(ZCODEC_STATUS_CALLBACK_FAILED, found, error, 1, "encode says that it wrote");
  found = zcodec_decode(chain, encoded, 9, decoded, sizeof decoded, &size, &error);
  check_refusal(ZCODEC_STATUS_CALLBACK_FAILED, found, error, 1, "decode says that it wrote");
  self.fault = WANTS_MORE_THAN_IT_SAID;
  found = zcodec_encode(chain, "abcd", 4, encoded, sizeof encoded, &size, &error);
  check_refusal(ZCODEC_STATUS_CALLBACK_FAILED, found, error, 1, " bytes, but at most ");
  self.fault = NO_FAULT;
  CHECK_FAILS(ZCODEC_STATUS_BUFFER_TOO_SMALL, zcodec_encode(chain, "abcd", 4, encoded, 8, &size, &error));
  CHECK(size == 9);
  zcodec_chain_free(chain);

  chain = chain_of(registry_of(&self, ZCODEC_KIND_BYTES_TO_BYTES, 1), "[\"test.x\"]", NULL);
  found = zcodec_encode(chain, "\xFF", 1, encoded, sizeof encoded, &size, &error);
  check_refusal(ZCODEC_STATUS_OUT_OF_RANGE, found, error, 0, "the first byte is 0xFF (encode returned 12)");
  zcodec_chain_free(chain);
  CHECK(self.states == 0 && self.freed == 2);
}

static void sizes_must_be_those_that_were_said(void) {
  host self = {0};
  zcodec_chain *chain;
  uint16_t decoded[COUNT], again[COUNT];
  uint8_t encoded[SIZE + 2];
  zcodec_error *error = NULL;
  zcodec_status found;
  size_t size = 0;
  fill(decoded);
  self.output = "{\"size\":129}";
  chain = chain_of(registry_of(&self, ZCODEC_KIND_ARRAY_TO_BYTES, 0), "[\"test.x\"]", INPUT);
  CHECK_STATUS(ZCODEC_STATUS_OK, zcodec_chain_encoded_bound(chain, SIZE, &size));
  CHECK(size == 129);
  CHECK_OK(zcodec_encode(chain, decoded, SIZE, encoded, sizeof encoded, &size, &error));
  CHECK(size == 129);
  CHECK_OK(zcodec_decode(chain, encoded, 129, again, SIZE, &size, &error));
  CHECK(size == SIZE && memcmp(decoded, again, SIZE) == 0);
  CHECK_FAILS(ZCODEC_STATUS_CORRUPT_DATA, zcodec_decode(chain, encoded, 128, again, SIZE, &size, &error));
  self.fault = SAYS_LESS_THAN_BIND;
  found = zcodec_encode(chain, decoded, SIZE, encoded, sizeof encoded, &size, &error);
  check_refusal(ZCODEC_STATUS_CALLBACK_FAILED, found, error, 0, "encode wrote 128 bytes, but bind promised 129");
  CHECK_FAILS(ZCODEC_STATUS_CORRUPT_DATA, zcodec_decode(chain, encoded, 129, again, SIZE, &size, &error));
  self.fault = SAYS_MORE_THAN_THE_CAPACITY;
  found = zcodec_decode(chain, encoded, 129, again, SIZE, &size, &error);
  check_refusal(ZCODEC_STATUS_CALLBACK_FAILED, found, error, 0, "decode says that it wrote 256 bytes into 128");
  self.fault = ALWAYS_WANTS_MORE;
  CHECK_FAILS(ZCODEC_STATUS_CORRUPT_DATA, zcodec_decode(chain, encoded, 129, again, SIZE, &size, &error));
  CHECK_FAILS(ZCODEC_STATUS_CALLBACK_FAILED,
              zcodec_encode(chain, decoded, SIZE, encoded, sizeof encoded, &size, &error));
  zcodec_chain_free(chain);
}

static void arrays_are_contiguous_between_codecs(void) {
  static const char CODECS[] =
      "[{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}},\"test.x\","
      "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}}]";
  host self = {0};
  zcodec_chain *chain;
  uint8_t decoded[6] = {1, 2, 3, 4, 5, 6}, encoded[8], again[6];
  zcodec_error *error = NULL;
  zcodec_status found;
  size_t size = 0;
  self.output = "{\"data_type\":\"uint8\",\"shape\":[7],\"fill_value\":0}";
  chain = chain_of(registry_of(&self, ZCODEC_KIND_ARRAY_TO_ARRAY, 0), CODECS,
                   "{\"data_type\":\"uint8\",\"shape\":[2,3],\"fill_value\":0}");
  CHECK(strcmp(self.input, "{\"data_type\":\"uint8\",\"shape\":[3,2],\"fill_value\":0}") == 0);
  CHECK_OK(zcodec_encode(chain, decoded, 6, encoded, sizeof encoded, &size, &error));
  CHECK(size == 7 && memcmp(encoded, "x\1\4\2\5\3\6", 7) == 0);
  CHECK_OK(zcodec_decode(chain, encoded, 7, again, 6, &size, &error));
  CHECK(size == 6 && memcmp(again, decoded, 6) == 0);
  self.fault = SAYS_LESS_THAN_BIND;
  found = zcodec_decode(chain, encoded, 7, again, 6, &size, &error);
  check_refusal(ZCODEC_STATUS_CORRUPT_DATA, found, error, 1, "decodes to 5 bytes, expected 6");
  zcodec_chain_free(chain);
}

/* Neither a codec nor the caller gets bits that the data type lacks. */
static void unused_bits_are_set(void) {
  static const char *const INPUTS[] = {"{\"data_type\":\"bool\",\"shape\":[4],\"fill_value\":false}",
                                       "{\"data_type\":\"int4\",\"shape\":[4],\"fill_value\":0}"};
  static const uint8_t DECODED[] = {0, 2, 0x81, 0xF7};
  static const uint8_t EXPECTED[][4] = {{0, 1, 1, 1}, {0, 2, 1, 7}};
  size_t i;
  for (i = 0; i < 2; i++) {
    host self = {0};
    zcodec_chain *chain = chain_of(registry_of(&self, ZCODEC_KIND_ARRAY_TO_BYTES, 0), "[\"test.x\"]", INPUTS[i]);
    uint8_t encoded[5], again[4];
    size_t size = 0;
    CHECK_OK(zcodec_encode(chain, DECODED, 4, encoded, sizeof encoded, &size, &error));
    CHECK(size == 5 && encoded[0] == 'x' && memcmp(encoded + 1, EXPECTED[i], 4) == 0);
    memcpy(encoded + 1, DECODED, 4);
    CHECK_OK(zcodec_decode(chain, encoded, 5, again, 4, &size, &error));
    CHECK(size == 4 && memcmp(again, EXPECTED[i], 4) == 0);
    zcodec_chain_free(chain);
  }
}

/* A document of Zarr v2 does not tell the kind of a codec; the registry does. */
static void codecs_stand_where_their_kind_does_in_zarr_v2(void) {
  static const char ZARRAY[] =
      "{\"zarr_format\":2,\"shape\":[6],\"chunks\":[6],\"dtype\":\"|u1\",\"fill_value\":0,\"order\":\"C\","
      "\"filters\":[{\"id\":\"mine\",\"key\":3}],\"compressor\":null}";
  static const struct {
    int32_t kind;
    const char *output, *codecs;
  } cases[] = {
      {ZCODEC_KIND_ARRAY_TO_ARRAY, "{\"data_type\":\"uint8\",\"shape\":[7],\"fill_value\":0}",
       "[{\"name\":\"numcodecs.mine\",\"configuration\":{\"key\":3}},{\"name\":\"bytes\"}]"},
      {ZCODEC_KIND_ARRAY_TO_BYTES, NULL, "[{\"name\":\"numcodecs.mine\",\"configuration\":{\"key\":3}}]"},
      {ZCODEC_KIND_BYTES_TO_BYTES, NULL,
       "[{\"name\":\"bytes\"},{\"name\":\"numcodecs.mine\",\"configuration\":{\"key\":3}}]"},
  };
  size_t i;
  for (i = 0; i < sizeof cases / sizeof *cases; i++) {
    host self = {0};
    zcodec_chain_options options = {0};
    zcodec_registry *registry = NULL;
    zcodec_chain *chain = NULL;
    zcodec_buffer *json = NULL;
    uint8_t encoded[8];
    size_t size = 0;
    zcodec_codec codec = codec_of(&self, "numcodecs.mine", cases[i].kind);
    self.output = cases[i].output;
    CHECK_OK(zcodec_registry_new(&registry, &error));
    CHECK_OK(zcodec_registry_add(registry, &codec, &error));
    options.struct_size = sizeof options;
    options.registry = registry;
    CHECK_OK(zcodec_chain_from_zarr_json_with(&options, ZARRAY, strlen(ZARRAY), &chain, &error));
    CHECK_OK(zcodec_chain_codecs_json(chain, &json, &error));
    CHECK(check_buffer_is(json, cases[i].codecs));
    CHECK_OK(zcodec_encode(chain, "abcdef", 6, encoded, sizeof encoded, &size, &error));
    CHECK(size == 7 && memcmp(encoded, "xba`gfe", 7) == 0);
    zcodec_chain_free(chain);
    zcodec_registry_free(registry);
    CHECK(self.states == 0 && self.freed == 1);
  }
}

static void codecs_work_inside_shards(void) {
  static const char CODECS[] =
      "[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[2,4],\"codecs\":[{\"name\":\"bytes\","
      "\"configuration\":{\"endian\":\"little\"}},{\"name\":\"test.x\",\"configuration\":{\"key\":90}}],"
      "\"index_codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}},\"crc32c\"]}}]";
  enum { SHARD_SIZE = 8 * 17 + 8 * 16 + 4 };
  int has_bound;
  for (has_bound = 0; has_bound < 2; has_bound++) {
    static const uint64_t start[2] = {3, 1}, part[2] = {2, 5}, larger[2] = {16, 8};
    host self = {0};
    zcodec_chain *chain = chain_of(registry_of(&self, ZCODEC_KIND_BYTES_TO_BYTES, has_bound), CODECS, INPUT);
    zcodec_chain *reshaped = NULL;
    zcodec_buffer *buffer = NULL;
    zcodec_error *error = NULL;
    uint16_t decoded[COUNT], again[COUNT], elements[10];
    uint8_t encoded[SHARD_SIZE];
    size_t i, size = 0;
    zcodec_box box = {sizeof(zcodec_box), 2, NULL, NULL};
    zcodec_view view = {sizeof(zcodec_view), NULL, sizeof(elements), 0, 2, NULL};
    zcodec_status found;
    box.start = start;
    box.shape = part;
    view.memory = elements;
    fill(decoded);
    CHECK(strcmp(self.input, "{\"size\":16}") == 0);
    CHECK_OK(zcodec_encode(chain, decoded, SIZE, encoded, sizeof encoded, &size, &error));
    CHECK(size == SHARD_SIZE && encoded[0] == 'x' && encoded[17] == 'x' && encoded[1] == (0 ^ 90));
    CHECK_OK(zcodec_encode_to_buffer(chain, decoded, SIZE, &buffer, &error));
    CHECK(zcodec_buffer_size(buffer) == SHARD_SIZE && memcmp(zcodec_buffer_data(buffer), encoded, SHARD_SIZE) == 0);
    zcodec_buffer_free(buffer);
    CHECK_FAILS(ZCODEC_STATUS_BUFFER_TOO_SMALL, zcodec_encode(chain, decoded, SIZE, encoded, 200, &size, &error));
    CHECK(size == SHARD_SIZE);
    CHECK_OK(zcodec_encode(chain, decoded, SIZE, encoded, sizeof encoded, &size, &error));
    CHECK_OK(zcodec_decode(chain, encoded, SHARD_SIZE, again, SIZE, &size, &error));
    CHECK(size == SIZE && memcmp(decoded, again, SIZE) == 0);
    self.calls = 0;
    CHECK_OK(zcodec_decode_view(chain, NULL, encoded, SHARD_SIZE, &box, &view, &error));
    for (i = 0; i < 10; i++) {
      CHECK(elements[i] == decoded[8 * (3 + i / 5) + 1 + i % 5]);
    }
    CHECK(self.calls == 4); /* of 8 inner chunks */
    encoded[0] = 'y';
    found = zcodec_decode(chain, encoded, SHARD_SIZE, again, SIZE, &size, &error);
    CHECK(error != NULL && strcmp(zcodec_error_path(error), "/0/configuration/codecs/1") == 0);
    check_refusal(ZCODEC_STATUS_CORRUPT_DATA, found, error, 0, "there is no x");
    CHECK_OK(zcodec_chain_with_shape(chain, larger, 2, &reshaped, &error));
    zcodec_chain_free(chain);
    CHECK(self.freed == 0 && self.states > 0);
    zcodec_chain_free(reshaped);
    CHECK(self.freed == 1 && self.states == 0);
  }
}

static void threads_share_a_state(void) {
  static const char CODECS[] =
      "[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[64,1024],\"codecs\":[{\"name\":\"bytes\","
      "\"configuration\":{\"endian\":\"little\"}},{\"name\":\"test.x\",\"configuration\":{\"key\":1}}],"
      "\"index_codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}]}}]";
  enum { LARGE = 2 * 512 * 1024, LARGE_SHARD = LARGE + 8 * 17 };
  uint8_t *decoded = malloc(LARGE), *again = malloc(LARGE), *one = malloc(LARGE_SHARD), *four = malloc(LARGE_SHARD);
  int has_bound;
  size_t i, size = 0;
  for (i = 0; i < LARGE; i++) {
    decoded[i] = (uint8_t)(1 + i % 127 + i / 4096);
  }
  for (has_bound = 0; has_bound < 2; has_bound++) {
    host self = {0};
    zcodec_call_options options = {0};
    zcodec_chain *chain = chain_of(registry_of(&self, ZCODEC_KIND_BYTES_TO_BYTES, has_bound), CODECS,
                                   "{\"data_type\":\"uint16\",\"shape\":[512,1024],\"fill_value\":0}");
    self.is_shared = 1;
    options.struct_size = sizeof options;
    options.max_threads = 4;
    CHECK_OK(zcodec_encode(chain, decoded, LARGE, one, LARGE_SHARD, &size, &error));
    CHECK_OK(zcodec_encode_with(chain, &options, decoded, LARGE, four, LARGE_SHARD, &size, &error));
    CHECK(size == LARGE_SHARD && memcmp(one, four, LARGE_SHARD) == 0);
    CHECK_OK(zcodec_decode_with(chain, &options, four, LARGE_SHARD, again, LARGE, &size, &error));
    CHECK(size == LARGE && memcmp(decoded, again, LARGE) == 0);
    zcodec_chain_free(chain);
    CHECK(self.states == 0 && self.freed == 1);
  }
  free(decoded);
  free(again);
  free(one);
  free(four);
}

static void limits_hold(void) {
  static const uint64_t shape[1] = {501};
  static const char BYTES[] = "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}]";
  static const char GZIP[] = "[{\"name\":\"gzip\",\"configuration\":{\"level\":1}}]";
  static const char TWICE[] = "[{\"name\":\"gzip\",\"configuration\":{\"level\":1}},\"gzip\"]";
  static const char ZARR[] =
      "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[9000],\"data_type\":\"uint16\",\"chunk_grid\":{\"name\":"
      "\"regular\",\"configuration\":{\"chunk_shape\":[500]}},\"chunk_key_encoding\":{\"name\":\"default\"},"
      "\"fill_value\":0,\"codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}]}";
  zcodec_chain_options options = {0};
  zcodec_chain *chain = NULL, *reshaped = NULL;
  uint8_t decoded[1001] = {0}, encoded[2048];
  zcodec_buffer *buffer = NULL;
  size_t size = 0;
  const char *const lists[2] = {GZIP, TWICE};
  int i;
  CHECK_FAILS(
      ZCODEC_STATUS_UNSUPPORTED,
      new_chain(NULL, 1000, BYTES, "{\"data_type\":\"uint16\",\"shape\":[501],\"fill_value\":0}", &chain, &error));
  CHECK_OK(new_chain(NULL, 1000, BYTES, "{\"data_type\":\"uint16\",\"shape\":[500],\"fill_value\":0}", &chain, &error));
  CHECK_FAILS(ZCODEC_STATUS_UNSUPPORTED, zcodec_chain_with_shape(chain, shape, 1, &reshaped, &error));
  CHECK(reshaped == NULL);
  zcodec_chain_free(chain);
  options.struct_size = sizeof options;
  options.max_decoded_size = 999;
  CHECK_FAILS(ZCODEC_STATUS_UNSUPPORTED,
              zcodec_chain_from_zarr_json_with(&options, ZARR, strlen(ZARR), &chain, &error));
  options.max_decoded_size = 1000;
  CHECK_OK(zcodec_chain_from_zarr_json_with(&options, ZARR, strlen(ZARR), &chain, &error));
  zcodec_chain_free(chain);
  CHECK_OK(zcodec_chain_from_zarr_json_with(NULL, ZARR, strlen(ZARR), &chain, &error));
  zcodec_chain_free(chain);
  options.struct_size = sizeof options - 1;
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT,
              zcodec_chain_from_zarr_json_with(&options, ZARR, strlen(ZARR), &chain, &error));

  for (i = 0; i < 2; i++) {
    CHECK_OK(new_chain(NULL, 1000, lists[i], NULL, &chain, &error));
    CHECK_OK(zcodec_encode(chain, decoded, 1000, encoded, sizeof encoded, &size, &error));
    CHECK_OK(zcodec_decode_to_buffer(chain, encoded, size, &buffer, &error));
    CHECK(zcodec_buffer_size(buffer) == 1000);
    zcodec_buffer_free(buffer);
    CHECK_OK(zcodec_encode(chain, decoded, 1001, encoded, sizeof encoded, &size, &error));
    CHECK_FAILS(ZCODEC_STATUS_CORRUPT_DATA, zcodec_decode_to_buffer(chain, encoded, size, &buffer, &error));
    CHECK_FAILS(ZCODEC_STATUS_CORRUPT_DATA,
                zcodec_decode(chain, encoded, size, decoded, sizeof decoded, &size, &error));
    CHECK(size == 0);
    memset(decoded, 0, sizeof decoded);
    zcodec_chain_free(chain);
  }
}

static void a_chunk_may_decode_to_all_that_is_allowed(void) {
  enum { size = 1 << 20 };
  zcodec_chain *chain = NULL;
  uint8_t *zeros = calloc(size, 1), encoded[4096];
  zcodec_buffer *buffer = NULL;
  size_t encoded_size = 0;
  CHECK_OK(new_chain(NULL, size, "[\"gzip\"]", NULL, &chain, &error));
  CHECK_OK(zcodec_encode(chain, zeros, size, encoded, sizeof encoded, &encoded_size, &error));
  CHECK_OK(zcodec_decode_to_buffer(chain, encoded, encoded_size, &buffer, &error));
  CHECK(zcodec_buffer_size(buffer) == size);
  zcodec_buffer_free(buffer);
  zcodec_chain_free(chain);
  free(zeros);
}

/* What a compressor makes for a codec without a bound is limited by what the chunk may decode to. */
static void a_limit_holds_after_a_codec_without_a_bound(void) {
  enum { size = 1 << 20 };
  host self = {0};
  zcodec_registry *registry = registry_of(&self, ZCODEC_KIND_ARRAY_TO_BYTES, 0);
  zcodec_chain *chain = NULL, *gzip = check_chain("[\"gzip\"]", NULL);
  uint8_t *zeros = calloc(size, 1), encoded[4096], decoded[10];
  size_t encoded_size = 0, found = 0;
  int limited;
  zeros[0] = 'x';
  CHECK_OK(zcodec_encode(gzip, zeros, size, encoded, sizeof encoded, &encoded_size, &error));
  for (limited = 0; limited < 2; limited++) {
    CHECK_OK(new_chain(registry, limited ? 100 : 0, "[\"test.x\",\"gzip\"]",
                       "{\"data_type\":\"uint8\",\"shape\":[10],\"fill_value\":0}", &chain, &error));
    self.calls = 0;
    CHECK_FAILS(ZCODEC_STATUS_CORRUPT_DATA, zcodec_decode(chain, encoded, encoded_size, decoded, 10, &found, &error));
    CHECK((self.calls == 0) == limited);
    zcodec_chain_free(chain);
  }
  zcodec_chain_free(gzip);
  zcodec_registry_free(registry);
  free(zeros);
}

int main(void) {
  bad_codecs_are_refused_and_stay_the_callers();
  bind_gets_what_it_needs();
  a_bind_that_fails_makes_no_chain();
  what_is_owned_is_freed_with_the_last_user();
  room_grows_where_no_bound_is_known();
  a_shard_says_what_it_needs();
  a_block_says_what_it_needs();
  a_block_of_another_shape_that_a_codec_refuses_is_corrupt();
  a_limit_is_for_what_is_decoded();
  calls_are_repeated_until_the_room_does();
  answers_become_statuses();
  sizes_must_be_those_that_were_said();
  arrays_are_contiguous_between_codecs();
  unused_bits_are_set();
  codecs_stand_where_their_kind_does_in_zarr_v2();
  codecs_work_inside_shards();
  threads_share_a_state();
  limits_hold();
  a_chunk_may_decode_to_all_that_is_allowed();
  a_limit_holds_after_a_codec_without_a_bound();
  return check_result("host_codec");
}
