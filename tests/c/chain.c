/* Making and freeing chains. */
#include "check.h"

static const char CODECS[] = "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}}]";
static const char INPUT[] = "{\"data_type\":\"uint16\",\"shape\":[2,3],\"fill_value\":7}";
static const char ZARR_JSON[] =
    "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[20,30],\"data_type\":\"uint16\","
    "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[2,3]}},"
    "\"chunk_key_encoding\":{\"name\":\"default\"},"
    "\"codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}},\"crc32c\"],\"fill_value\":7}";

static zcodec_status new_chain(const char *codecs, const char *input, zcodec_error **error) {
  zcodec_chain *chain = (zcodec_chain *)&checks_made; /* must be overwritten */
  zcodec_status status =
      zcodec_chain_new(codecs, strlen(codecs), input, input != NULL ? strlen(input) : 0, &chain, error);
  CHECK((chain != NULL) == (status == ZCODEC_STATUS_OK));
  zcodec_chain_free(chain);
  return status;
}

static void the_three_shapes_can_be_made(void) {
  CHECK_OK(new_chain("[{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}}]", INPUT, &error));
  CHECK_OK(new_chain(CODECS, INPUT, &error));
  CHECK_OK(new_chain("[\"crc32c\"]", NULL, &error));
}

static void a_zarr_json_makes_a_chain_of_its_chunk_shape(void) {
  zcodec_chain *chain = NULL;
  size_t size = 0;
  CHECK_OK(zcodec_chain_from_zarr_json(ZARR_JSON, strlen(ZARR_JSON), &chain, &error));
  CHECK(zcodec_chain_codec_count(chain) == 2);
  CHECK_STATUS(ZCODEC_STATUS_OK, zcodec_chain_decoded_size(chain, &size));
  CHECK(size == 12);
  zcodec_chain_free(chain);
}

static void wrong_metadata_is_told(void) {
  zcodec_chain *chain = NULL;
  CHECK_FAILS(ZCODEC_STATUS_INVALID_METADATA, new_chain("[{]", INPUT, &error));
  CHECK_FAILS(ZCODEC_STATUS_INVALID_METADATA, new_chain("{}", INPUT, &error));
  CHECK_FAILS(ZCODEC_STATUS_INVALID_METADATA, new_chain("\xff\xfe", INPUT, &error));
  CHECK_FAILS(ZCODEC_STATUS_INVALID_METADATA, new_chain("", INPUT, &error));
  CHECK_FAILS(ZCODEC_STATUS_INVALID_METADATA, new_chain(CODECS, "{\"data_type\":\"uint16\"}", &error));
  CHECK_FAILS(ZCODEC_STATUS_INVALID_METADATA, new_chain("[\"bytes\"]", INPUT, &error)); /* no endian */
  CHECK_FAILS(ZCODEC_STATUS_INVALID_METADATA, zcodec_chain_from_zarr_json("{}", 2, &chain, &error));
  CHECK(chain == NULL);
}

static void unknown_codecs_and_types_are_unsupported(void) {
  CHECK_FAILS(ZCODEC_STATUS_UNSUPPORTED, new_chain("[\"nobodys_codec\"]", INPUT, &error));
  CHECK_FAILS(ZCODEC_STATUS_UNSUPPORTED,
              new_chain(CODECS, "{\"data_type\":\"int7\",\"shape\":[2],\"fill_value\":0}", &error));
}

static void sizes_of_texts_count_and_not_a_nul(void) {
  zcodec_chain *chain = NULL;
  const char codecs[] = "[\"crc32c\"]garbage";
  CHECK_OK(zcodec_chain_new(codecs, 10, NULL, 0, &chain, &error));
  zcodec_chain_free(chain);
}

static void deep_nesting_is_refused(void) {
  enum { DEPTH = 100000 };
  char *text = malloc(DEPTH);
  zcodec_chain *chain = NULL;
  memset(text, '[', DEPTH);
  CHECK_FAILS(ZCODEC_STATUS_INVALID_METADATA, zcodec_chain_new(text, DEPTH, INPUT, strlen(INPUT), &chain, &error));
  CHECK_FAILS(ZCODEC_STATUS_INVALID_METADATA, zcodec_chain_from_zarr_json(text, DEPTH, &chain, &error));
  free(text);
}

static void a_shape_that_overflows_is_refused(void) {
  const char *input = "{\"data_type\":\"uint64\",\"shape\":[4294967296,4294967296],\"fill_value\":0}";
  zcodec_error *error = NULL;
  zcodec_status status = new_chain("[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}]", input, &error);
  CHECK(status == ZCODEC_STATUS_INVALID_METADATA || status == ZCODEC_STATUS_UNSUPPORTED);
  zcodec_error_free(error);
}

static void null_is_a_status(void) {
  zcodec_chain *chain = NULL;
  CHECK_FAILS(ZCODEC_STATUS_NULL_ARGUMENT, zcodec_chain_new(NULL, 5, INPUT, strlen(INPUT), &chain, &error));
  CHECK_FAILS(ZCODEC_STATUS_NULL_ARGUMENT, zcodec_chain_new(CODECS, strlen(CODECS), NULL, 5, &chain, &error));
  CHECK_FAILS(ZCODEC_STATUS_NULL_ARGUMENT,
              zcodec_chain_new(CODECS, strlen(CODECS), INPUT, strlen(INPUT), NULL, &error));
  CHECK_FAILS(ZCODEC_STATUS_NULL_ARGUMENT, zcodec_chain_from_zarr_json(NULL, 5, &chain, &error));
  CHECK_FAILS(ZCODEC_STATUS_NULL_ARGUMENT, zcodec_chain_from_zarr_json(ZARR_JSON, strlen(ZARR_JSON), NULL, &error));
  CHECK_STATUS(ZCODEC_STATUS_NULL_ARGUMENT, zcodec_chain_new(CODECS, strlen(CODECS), INPUT, strlen(INPUT), NULL, NULL));
  CHECK(chain == NULL);
  zcodec_chain_free(NULL);
}

int main(void) {
  the_three_shapes_can_be_made();
  a_zarr_json_makes_a_chain_of_its_chunk_shape();
  wrong_metadata_is_told();
  unknown_codecs_and_types_are_unsupported();
  sizes_of_texts_count_and_not_a_nul();
  deep_nesting_is_refused();
  a_shape_that_overflows_is_refused();
  null_is_a_status();
  return check_result("chain");
}
