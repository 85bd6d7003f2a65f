/* What a chain and the library report about themselves. */
#include "check.h"

static const char INPUT[] = "{\"data_type\":\"uint16\",\"shape\":[2,3],\"fill_value\":258}";
static const char TRANSPOSE[] = "[{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}}]";
static const char TO_BYTES[] = "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}},\"crc32c\"]";

static void the_kind_is_the_shape_of_the_chain(void) {
  zcodec_chain *arrays = check_chain(TRANSPOSE, INPUT);
  zcodec_chain *to_bytes = check_chain(TO_BYTES, INPUT);
  zcodec_chain *bytes = check_chain("[\"gzip\"]", NULL);
  CHECK(zcodec_chain_kind(arrays) == ZCODEC_KIND_ARRAY_TO_ARRAY);
  CHECK(zcodec_chain_kind(to_bytes) == ZCODEC_KIND_ARRAY_TO_BYTES);
  CHECK(zcodec_chain_kind(bytes) == ZCODEC_KIND_BYTES_TO_BYTES);
  CHECK(zcodec_chain_kind(NULL) == ZCODEC_KIND_BYTES_TO_BYTES);
  CHECK(zcodec_chain_codec_count(arrays) == 1);
  CHECK(zcodec_chain_codec_count(to_bytes) == 2);
  CHECK(zcodec_chain_codec_count(NULL) == 0);
  zcodec_chain_free(arrays);
  zcodec_chain_free(to_bytes);
  zcodec_chain_free(bytes);
}

static void sizes_are_known_before_encoding(void) {
  zcodec_chain *to_bytes = check_chain(TO_BYTES, INPUT);
  zcodec_chain *bytes = check_chain("[{\"name\":\"offset\",\"configuration\":{\"offset\":5}}]", NULL);
  size_t size = 99;
  CHECK_STATUS(ZCODEC_STATUS_OK, zcodec_chain_decoded_size(to_bytes, &size));
  CHECK(size == 12);
  CHECK_STATUS(ZCODEC_STATUS_OK, zcodec_chain_encoded_bound(to_bytes, 12, &size));
  CHECK(size == 16);
  CHECK_STATUS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_chain_encoded_bound(to_bytes, 11, &size));
  CHECK(size == 0);
  size = 99;
  CHECK_STATUS(ZCODEC_STATUS_UNKNOWN_SIZE, zcodec_chain_decoded_size(bytes, &size));
  CHECK(size == 0);
  CHECK_STATUS(ZCODEC_STATUS_OK, zcodec_chain_encoded_bound(bytes, 100, &size));
  CHECK(size == 105);
  CHECK_STATUS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_chain_encoded_bound(bytes, SIZE_MAX, &size));
  CHECK_STATUS(ZCODEC_STATUS_NULL_ARGUMENT, zcodec_chain_decoded_size(NULL, &size));
  CHECK_STATUS(ZCODEC_STATUS_NULL_ARGUMENT, zcodec_chain_decoded_size(to_bytes, NULL));
  CHECK_STATUS(ZCODEC_STATUS_NULL_ARGUMENT, zcodec_chain_encoded_bound(NULL, 12, &size));
  CHECK_STATUS(ZCODEC_STATUS_NULL_ARGUMENT, zcodec_chain_encoded_bound(to_bytes, 12, NULL));
  zcodec_chain_free(to_bytes);
  zcodec_chain_free(bytes);
}

static void a_padding_may_be_larger_than_memory(void) {
  static const char PAD[] =
      "[{\"name\":\"pad\",\"configuration\":{\"location\":\"end\",\"nbytes\":18446744073709551615}}]";
  zcodec_chain *chain = check_chain(PAD, NULL);
  zcodec_buffer *buffer = NULL;
  char encoded[4];
  size_t size = 99;
  CHECK_STATUS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_chain_encoded_bound(chain, 1, &size));
  CHECK(size == 0);
  CHECK_FAILS(ZCODEC_STATUS_OUT_OF_MEMORY, zcodec_encode_to_buffer(chain, "x", 1, &buffer, &error));
  CHECK_FAILS(ZCODEC_STATUS_OUT_OF_MEMORY, zcodec_encode(chain, "x", 1, encoded, sizeof encoded, &size, &error));
  CHECK_FAILS(ZCODEC_STATUS_CORRUPT_DATA, zcodec_decode_to_buffer(chain, "x", 1, &buffer, &error));
  zcodec_chain_free(chain);
}

static void the_output_is_json(void) {
  zcodec_chain *arrays = check_chain(TRANSPOSE, INPUT);
  zcodec_chain *to_bytes = check_chain(TO_BYTES, INPUT);
  zcodec_chain *bytes = check_chain("[\"gzip\"]", NULL);
  zcodec_buffer *json = NULL;
  CHECK_OK(zcodec_chain_output_json(arrays, &json, &error));
  CHECK(check_buffer_is(json, "{\"data_type\":\"uint16\",\"shape\":[3,2],\"fill_value\":258}"));
  CHECK_OK(zcodec_chain_output_json(to_bytes, &json, &error));
  CHECK(check_buffer_is(json, "{\"size\":16}"));
  CHECK_OK(zcodec_chain_output_json(bytes, &json, &error));
  CHECK(check_buffer_is(json, "{\"size\":null,\"bound\":null}"));
  CHECK_FAILS(ZCODEC_STATUS_NULL_ARGUMENT, zcodec_chain_output_json(NULL, &json, &error));
  CHECK(json == NULL);
  CHECK_FAILS(ZCODEC_STATUS_NULL_ARGUMENT, zcodec_chain_output_json(arrays, NULL, &error));
  zcodec_chain_free(arrays);
  zcodec_chain_free(to_bytes);
  zcodec_chain_free(bytes);
}

static void the_codecs_in_canonical_form_make_the_same_chain(void) {
  zcodec_chain *chain = check_chain("[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}},\"gzip\"]", INPUT);
  zcodec_chain *again = NULL;
  zcodec_buffer *json = NULL, *json_again = NULL;
  CHECK_OK(zcodec_chain_codecs_json(chain, &json, &error));
  CHECK_OK(zcodec_chain_new((const char *)zcodec_buffer_data(json), zcodec_buffer_size(json), INPUT, strlen(INPUT),
                            &again, &error));
  CHECK_OK(zcodec_chain_codecs_json(again, &json_again, &error));
  CHECK(zcodec_buffer_size(json) == zcodec_buffer_size(json_again));
  CHECK(memcmp(zcodec_buffer_data(json), zcodec_buffer_data(json_again), zcodec_buffer_size(json)) == 0);
  zcodec_buffer_free(json_again);
  CHECK(check_buffer_has(json, "\"level\":")); /* the library's choice is named */
  CHECK_FAILS(ZCODEC_STATUS_NULL_ARGUMENT, zcodec_chain_codecs_json(NULL, &json, &error));
  CHECK_FAILS(ZCODEC_STATUS_NULL_ARGUMENT, zcodec_chain_codecs_json(chain, NULL, &error));
  zcodec_chain_free(chain);
  zcodec_chain_free(again);
}

static void another_shape_makes_another_chain(void) {
  static const uint64_t shape[2] = {5, 7}, overflowing[2] = {UINT64_MAX, UINT64_MAX};
  zcodec_chain *chain = check_chain(TO_BYTES, INPUT);
  zcodec_chain *transpose = check_chain(TRANSPOSE, INPUT);
  zcodec_chain *bytes = check_chain("[\"crc32c\"]", NULL);
  zcodec_chain *reshaped = NULL;
  zcodec_error *error = NULL;
  size_t size = 0;
  CHECK_OK(zcodec_chain_with_shape(chain, shape, 2, &reshaped, &error));
  CHECK_STATUS(ZCODEC_STATUS_OK, zcodec_chain_decoded_size(reshaped, &size));
  CHECK(size == 70);
  CHECK_STATUS(ZCODEC_STATUS_OK, zcodec_chain_decoded_size(chain, &size));
  CHECK(size == 12);
  zcodec_chain_free(reshaped);
  CHECK_OK(zcodec_chain_with_shape(chain, NULL, 0, &reshaped, &error)); /* a single element */
  CHECK_STATUS(ZCODEC_STATUS_OK, zcodec_chain_decoded_size(reshaped, &size));
  CHECK(size == 2);
  zcodec_chain_free(reshaped);
  reshaped = chain; /* must be overwritten */
  CHECK_FAILS(ZCODEC_STATUS_INVALID_METADATA, zcodec_chain_with_shape(transpose, shape, 1, &reshaped, &error));
  CHECK(reshaped == NULL);
  CHECK(zcodec_chain_with_shape(chain, overflowing, 2, &reshaped, &error) != ZCODEC_STATUS_OK);
  zcodec_error_free(error);
  CHECK_FAILS(ZCODEC_STATUS_UNSUPPORTED, zcodec_chain_with_shape(bytes, shape, 2, &reshaped, &error));
  CHECK_FAILS(ZCODEC_STATUS_NULL_ARGUMENT, zcodec_chain_with_shape(NULL, shape, 2, &reshaped, &error));
  CHECK_FAILS(ZCODEC_STATUS_NULL_ARGUMENT, zcodec_chain_with_shape(chain, NULL, 2, &reshaped, &error));
  CHECK_FAILS(ZCODEC_STATUS_NULL_ARGUMENT, zcodec_chain_with_shape(chain, shape, 2, NULL, &error));
  zcodec_chain_free(chain);
  zcodec_chain_free(transpose);
  zcodec_chain_free(bytes);
}

static void configurations_come_back(void) {
  static const char SCALED[] = "[{\"name\":\"scale_offset\",\"configuration\":{\"offset\":1,\"scale\":2}}]";
  zcodec_chain *scaled = check_chain(SCALED, INPUT);
  zcodec_chain *plain = check_chain("[\"scale_offset\"]", INPUT);
  zcodec_buffer *json = NULL;
  CHECK_OK(zcodec_chain_codecs_json(scaled, &json, &error));
  CHECK(check_buffer_is(json, SCALED));
  CHECK_OK(zcodec_chain_codecs_json(plain, &json, &error));
  CHECK(check_buffer_is(json, "[{\"name\":\"scale_offset\"}]"));
  zcodec_chain_free(scaled);
  zcodec_chain_free(plain);
}

#define LITTLE "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}"

static void warnings_are_a_list(void) {
  zcodec_chain *harmless = check_chain(TO_BYTES, INPUT);
  zcodec_chain *lossy = check_chain("[{\"name\":\"cast_value\",\"configuration\":{\"data_type\":\"float32\"}}]",
                                    "{\"data_type\":\"int64\",\"shape\":[2],\"fill_value\":0}");
  /* The seven bits of its largest number fit in the eight of the significand. */
  zcodec_chain *fitting = check_chain("[{\"name\":\"cast_value\",\"configuration\":{\"data_type\":\"bfloat16\"}}]",
                                      "{\"data_type\":\"int8\",\"shape\":[2],\"fill_value\":0}");
  zcodec_chain *ignoring = check_chain(
      "[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[1],"
      "\"codecs\":[" LITTLE
      "],\"index_codecs\":["
      "{\"name\":\"secret\",\"must_understand\":false}," LITTLE "]}}]",
      "{\"data_type\":\"int64\",\"shape\":[2],\"fill_value\":0}");
  zcodec_buffer *json = NULL;
  CHECK_OK(zcodec_chain_warnings_json(ignoring, &json, &error));
  CHECK(check_buffer_has(json, "\"ignored_codec\""));
  CHECK_OK(zcodec_chain_warnings_json(ignoring, &json, &error));
  CHECK(check_buffer_has(json, "\"path\":\"/0/configuration/index_codecs/0\""));
  zcodec_chain_free(ignoring);
  CHECK_OK(zcodec_chain_warnings_json(harmless, &json, &error));
  CHECK(check_buffer_is(json, "[]"));
  CHECK_OK(zcodec_chain_warnings_json(fitting, &json, &error));
  CHECK(check_buffer_is(json, "[]"));
  CHECK_OK(zcodec_chain_warnings_json(lossy, &json, &error));
  CHECK(check_buffer_has(json, "\"lossy_int_to_float\""));
  CHECK_FAILS(ZCODEC_STATUS_NULL_ARGUMENT, zcodec_chain_warnings_json(NULL, &json, &error));
  CHECK_FAILS(ZCODEC_STATUS_NULL_ARGUMENT, zcodec_chain_warnings_json(harmless, NULL, &error));
  zcodec_chain_free(harmless);
  zcodec_chain_free(fitting);
  zcodec_chain_free(lossy);
}

static void the_library_names_its_version_and_codecs(void) {
  CHECK(strcmp(zcodec_version(), EXPECTED_VERSION) == 0);
  CHECK(strstr(zcodec_supported_json(), "\"" EXPECTED_VERSION "\"") != NULL);
  CHECK(strstr(zcodec_supported_json(), "\"transpose\"") != NULL);
  CHECK(strstr(zcodec_supported_json(), "\"float8_e8m0fnu\"") != NULL);
  CHECK(strstr(zcodec_supported_json(), "\"numpy.datetime64\"") != NULL);
  CHECK(strstr(zcodec_supported_json(), "\"struct\"") != NULL);
}

int main(void) {
  the_kind_is_the_shape_of_the_chain();
  sizes_are_known_before_encoding();
  a_padding_may_be_larger_than_memory();
  the_output_is_json();
  the_codecs_in_canonical_form_make_the_same_chain();
  another_shape_makes_another_chain();
  configurations_come_back();
  warnings_are_a_list();
  the_library_names_its_version_and_codecs();
  return check_result("asking");
}
