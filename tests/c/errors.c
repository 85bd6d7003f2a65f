/* Every status, and the content of an error. */
#include "check.h"

static const char U16[] = "{\"data_type\":\"uint16\",\"shape\":[4],\"fill_value\":0}";

static void every_status_has_a_name(void) {
  static const char *names[] = {"ZCODEC_STATUS_OK",
                                "ZCODEC_STATUS_NULL_ARGUMENT",
                                "ZCODEC_STATUS_INVALID_ARGUMENT",
                                "ZCODEC_STATUS_INVALID_METADATA",
                                "ZCODEC_STATUS_UNSUPPORTED",
                                "ZCODEC_STATUS_BUFFER_TOO_SMALL",
                                "ZCODEC_STATUS_UNKNOWN_SIZE",
                                "ZCODEC_STATUS_CORRUPT_DATA",
                                "ZCODEC_STATUS_OUT_OF_RANGE",
                                "ZCODEC_STATUS_CALLBACK_FAILED",
                                "ZCODEC_STATUS_OUT_OF_MEMORY",
                                "ZCODEC_STATUS_INTERNAL"};
  int number;
  for (number = 0; number < 12; number++) {
    CHECK(strcmp(zcodec_status_name((zcodec_status)number), names[number]) == 0);
  }
  CHECK(strcmp(zcodec_status_name((zcodec_status)12), "ZCODEC_STATUS_UNKNOWN") == 0);
  CHECK(strcmp(zcodec_status_name((zcodec_status)INT32_MAX), "ZCODEC_STATUS_UNKNOWN") == 0);
}

static void no_error_is_answered_too(void) {
  CHECK(zcodec_error_status(NULL) == ZCODEC_STATUS_NULL_ARGUMENT);
  CHECK(zcodec_error_message(NULL)[0] == '\0');
  CHECK(zcodec_error_codec_index(NULL) == -1);
  CHECK(zcodec_error_element_index(NULL) == -1);
  zcodec_error_free(NULL);
}

static void metadata_errors_name_codec_and_member(void) {
  static const struct {
    const char *codecs;
    int64_t codec_index;
    const char *message;
  } cases[] = {
      {"[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}},"
       "{\"name\":\"gzip\",\"configuration\":{\"level\":77}}]",
       1, "level is 77"},
      {"[{\"name\":\"cast_value\",\"configuration\":{\"data_type\":\"int8\",\"scalar_map\":{\"encod\":[]}}},\"bytes\"]",
       0, "scalar_map has an unknown member \"encod\": []; did you mean \"encode\"?"},
      {"[{\"name\":\"packbits\",\"configuration\":{\"start_bit\":16}}]", 0,
       "start_bit is 16, but uint16 has bits 0 to 15"},
      {"[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[2],\"codecs\":[\"bytes\"],"
       "\"index_codecs\":{}}}]",
       0, "index_codecs is {}, expected a list"},
      {"[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[2],\"codecs\":[\"bytes\"],"
       "\"index_codecs\":[]}}]",
       0, "index_codecs is empty, expected at least one codec"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    zcodec_chain *chain = NULL;
    zcodec_error *error = NULL;
    const char *codecs = cases[i].codecs;
    CHECK_STATUS(ZCODEC_STATUS_INVALID_METADATA,
                 zcodec_chain_new(codecs, strlen(codecs), U16, strlen(U16), &chain, &error));
    CHECK(zcodec_error_status(error) == ZCODEC_STATUS_INVALID_METADATA);
    CHECK(zcodec_error_codec_index(error) == cases[i].codec_index);
    CHECK(zcodec_error_element_index(error) == -1);
    CHECK(strstr(zcodec_error_message(error), cases[i].message) != NULL);
    zcodec_error_free(error);
  }
}

static void the_index_codec_of_a_variable_size_is_named(void) {
  static const char codecs[] =
      "[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[2],\"codecs\":[\"packbits\"],"
      "\"index_codecs\":[\"packbits\",\"crc32c\",\"gzip\",\"zstd\"]}}]";
  zcodec_chain *chain = NULL;
  zcodec_error *error = NULL;
  CHECK_STATUS(ZCODEC_STATUS_INVALID_METADATA,
               zcodec_chain_new(codecs, strlen(codecs), U16, strlen(U16), &chain, &error));
  CHECK(strcmp(zcodec_error_path(error), "/0/configuration/index_codecs/2") == 0);
  CHECK(zcodec_error_codec_index(error) == 0);
  CHECK(strstr(zcodec_error_message(error), "encodes to a variable size") != NULL);
  zcodec_error_free(error);
}

static void range_errors_name_codec_and_element(void) {
  static const uint16_t decoded[4] = {1, 255, 256, 257};
  zcodec_chain *chain = check_chain(
      "[{\"name\":\"transpose\",\"configuration\":{\"order\":[0]}},"
      "{\"name\":\"cast_value\",\"configuration\":{\"data_type\":\"uint8\"}},\"bytes\"]",
      U16);
  zcodec_error *error = NULL;
  uint8_t encoded[4];
  size_t size = 99;
  CHECK_STATUS(ZCODEC_STATUS_OUT_OF_RANGE,
               zcodec_encode(chain, decoded, sizeof decoded, encoded, sizeof encoded, &size, &error));
  CHECK(size == 0);
  CHECK(zcodec_error_codec_index(error) == 1);
  CHECK(zcodec_error_element_index(error) == 2);
  CHECK(strstr(zcodec_error_message(error), "256") != NULL);
  zcodec_error_free(error);
  zcodec_chain_free(chain);
}

static void an_error_outlives_its_chain(void) {
  zcodec_chain *chain =
      check_chain("[\"bytes\",\"crc32c\"]", "{\"data_type\":\"uint8\",\"shape\":[4],\"fill_value\":0}");
  zcodec_error *error = NULL;
  uint8_t decoded[4];
  size_t size;
  CHECK_STATUS(ZCODEC_STATUS_CORRUPT_DATA, zcodec_decode(chain, "12345678", 8, decoded, sizeof decoded, &size, &error));
  zcodec_chain_free(chain);
  CHECK(zcodec_error_codec_index(error) == 1);
  CHECK(strstr(zcodec_error_message(error), "crc32c") != NULL);
  zcodec_error_free(error);
}

static void memory_that_cannot_be_had_is_a_status(void) {
  /* 2^62 bytes of padding, or more than half the addresses of a 32-bit machine. */
  const char *codecs =
      sizeof(size_t) == 8
          ? "[{\"name\":\"pad\",\"configuration\":{\"location\":\"end\",\"nbytes\":4611686018427387904}}]"
          : "[{\"name\":\"pad\",\"configuration\":{\"location\":\"end\",\"nbytes\":3000000000}}]";
  zcodec_chain *chain = check_chain(codecs, NULL);
  zcodec_buffer *encoded = (zcodec_buffer *)&checks_made;
  CHECK_FAILS(ZCODEC_STATUS_OUT_OF_MEMORY, zcodec_encode_to_buffer(chain, "abc", 3, &encoded, &error));
  CHECK(encoded == NULL);
  zcodec_chain_free(chain);
}

static void a_message_is_short_whatever_it_is_about(void) {
  enum { LONG = 1 << 20 };
  static char codecs[LONG + 200], name[LONG + 1];
  static const char *const formats[] = {
      "[{\"name\":\"%s\"}]",
      "[\"bytes\",{\"name\":\"zstd\",\"configuration\":{\"%s\":1}}]",
      "[\"bytes\",{\"name\":\"zstd\",\"configuration\":{\"level\":\"%s\"}}]",
      "[\"bytes\",{\"name\":\"numcodecs.lzma\",\"configuration\":{\"filters\":[{\"id\":\"%s\"},1,2,3,4]}}]",
      "[\"bytes\",{\"name\":\"blosc\",\"configuration\":{\"cname\":\"%s\",\"clevel\":5,\"shuffle\":\"noshuffle\"}}]",
  };
  const char *input = "{\"data_type\":\"uint8\",\"shape\":[1],\"fill_value\":0}";
  size_t i;
  memset(name, 'x', LONG);
  for (i = 0; i < sizeof formats / sizeof *formats; i++) {
    zcodec_chain *chain = NULL;
    zcodec_error *error = NULL;
    sprintf(codecs, formats[i], name);
    CHECK(zcodec_chain_new(codecs, strlen(codecs), input, strlen(input), &chain, &error) != ZCODEC_STATUS_OK);
    CHECK(strlen(zcodec_error_message(error)) < 2100 && strlen(zcodec_error_path(error)) < 100);
    zcodec_error_free(error);
  }
}

int main(void) {
  a_message_is_short_whatever_it_is_about();
  every_status_has_a_name();
  no_error_is_answered_too();
  metadata_errors_name_codec_and_member();
  the_index_codec_of_a_variable_size_is_named();
  range_errors_name_codec_and_element();
  an_error_outlives_its_chain();
  memory_that_cannot_be_had_is_a_status();
  return check_result("errors");
}
