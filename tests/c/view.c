/* Boxes and views: a part of a chunk, in memory of any strides. */
#include "check.h"

#define CODECS "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"big\"}}]"
#define INPUT "{\"data_type\": \"uint16\", \"shape\": [4, 6], \"fill_value\": 7}"

static uint16_t chunk[24];
static uint8_t encoded[48];

static zcodec_chain *make_chain(void) {
  zcodec_chain *chain = check_chain(CODECS, INPUT);
  size_t i, size = 0;
  for (i = 0; i < 24; i++) {
    chunk[i] = (uint16_t)(100 * i + 1);
  }
  CHECK_OK(zcodec_encode(chain, chunk, sizeof chunk, encoded, sizeof encoded, &size, &error));
  CHECK(size == sizeof encoded);
  return chain;
}

static zcodec_view view_of(void *memory, size_t size, const int64_t *strides) {
  zcodec_view view;
  memset(&view, 0, sizeof view);
  view.struct_size = sizeof view;
  view.memory = memory;
  view.memory_size = size;
  view.ndim = 2;
  view.strides = strides;
  return view;
}

static zcodec_box box_of(const uint64_t *start, const uint64_t *shape) {
  zcodec_box box;
  memset(&box, 0, sizeof box);
  box.struct_size = sizeof box;
  box.ndim = 2;
  box.start = start;
  box.shape = shape;
  return box;
}

static void a_box_decodes_in_fortran_order(const zcodec_chain *chain) {
  static const uint64_t start[2] = {1, 2}, shape[2] = {3, 2};
  static const int64_t strides[2] = {2, 6};
  uint16_t part[6];
  zcodec_box box = box_of(start, shape);
  zcodec_view view = view_of(part, sizeof part, strides);
  size_t row, column;
  CHECK_OK(zcodec_decode_view(chain, NULL, encoded, sizeof encoded, &box, &view, &error));
  for (row = 0; row < 3; row++) {
    for (column = 0; column < 2; column++) {
      CHECK(part[row + 3 * column] == chunk[6 * (row + 1) + column + 2]);
    }
  }
}

static void a_part_encodes_with_the_fill_value_around_it(const zcodec_chain *chain) {
  static const uint64_t shape[2] = {2, 6};
  uint8_t found[48];
  uint16_t decoded[24];
  size_t i, size = 0;
  zcodec_box box = box_of(NULL, shape);
  zcodec_view view = view_of(chunk, sizeof chunk, NULL);
  CHECK_OK(zcodec_encode_view(chain, NULL, &box, &view, found, sizeof found, &size, &error));
  CHECK(size == sizeof found && memcmp(found, encoded, 24) == 0);
  CHECK_OK(zcodec_decode(chain, found, size, decoded, sizeof decoded, &size, &error));
  for (i = 12; i < 24; i++) {
    CHECK(decoded[i] == 7);
  }
  CHECK_FAILS(ZCODEC_STATUS_BUFFER_TOO_SMALL,
              zcodec_encode_view(chain, NULL, &box, &view, found, sizeof found - 1, &size, &error));
  CHECK(size == sizeof found);
}

static void views_are_filled_and_recognised(const zcodec_chain *chain) {
  static const uint64_t shape[2] = {2, 2};
  static const int64_t strides[2] = {6, 4};
  uint16_t memory[6] = {1, 1, 1, 1, 1, 1};
  int32_t is_fill = -1;
  zcodec_view view = view_of(memory, sizeof memory, strides);
  CHECK_OK(zcodec_is_fill_view(chain, shape, &view, &is_fill, &error));
  CHECK(is_fill == 0);
  CHECK_OK(zcodec_fill_view(chain, shape, &view, &error));
  CHECK_OK(zcodec_is_fill_view(chain, shape, &view, &is_fill, &error));
  CHECK(is_fill == 1 && memory[0] == 7 && memory[1] == 1 && memory[2] == 7);
}

/* What lies in memory above the bits of an element is not looked at. */
static void bits_that_the_type_lacks_are_not_compared(void) {
  static const char *const inputs[] = {"{\"data_type\":\"uint4\",\"shape\":[3],\"fill_value\":7}",
                                       "{\"data_type\":\"bool\",\"shape\":[3],\"fill_value\":true}",
                                       "{\"data_type\":\"int2\",\"shape\":[3],\"fill_value\":-1}"};
  static const uint8_t equal[3][3] = {{0x07, 0x17, 0xF7}, {1, 2, 255}, {0xFF, 0x03, 0x0B}};
  static const uint8_t different[3] = {0x78, 0, 0xFE};
  static const char structure[] =
      "{\"data_type\":{\"name\":\"struct\",\"configuration\":{\"fields\":["
      "{\"name\":\"a\",\"data_type\":\"bool\"},{\"name\":\"b\",\"data_type\":\"uint4\"},"
      "{\"name\":\"c\",\"data_type\":\"int8\"}]}},\"shape\":[1],"
      "\"fill_value\":{\"a\":true,\"b\":8,\"c\":-1}}";
  static const uint8_t structures[3][3] = {{5, 0xF8, 0xFF}, {5, 0xF9, 0xFF}, {5, 0xF8, 0x7F}};
  static const uint64_t shape[1] = {3}, one[1] = {1};
  zcodec_chain *of_structures = check_chain("[\"bytes\"]", structure);
  size_t i;
  for (i = 0; i < 3; i++) {
    int32_t is_fill = -1;
    uint8_t element[3];
    zcodec_view view = view_of(element, sizeof element, NULL);
    view.ndim = 1;
    memcpy(element, structures[i], sizeof element);
    CHECK_OK(zcodec_is_fill_view(of_structures, one, &view, &is_fill, &error));
    CHECK(is_fill == (i == 0));
  }
  zcodec_chain_free(of_structures);
  for (i = 0; i < 3; i++) {
    zcodec_chain *chain = NULL;
    uint8_t memory[3];
    int32_t is_fill = -1;
    zcodec_view view = view_of(memory, sizeof memory, NULL);
    view.ndim = 1;
    memcpy(memory, equal[i], sizeof memory);
    CHECK_OK(zcodec_chain_new("[\"bytes\"]", 9, inputs[i], strlen(inputs[i]), &chain, &error));
    CHECK_OK(zcodec_is_fill_view(chain, shape, &view, &is_fill, &error));
    CHECK(is_fill == 1);
    memory[2] = different[i];
    CHECK_OK(zcodec_is_fill_view(chain, shape, &view, &is_fill, &error));
    CHECK(is_fill == 0);
    zcodec_chain_free(chain);
  }
}

static void wrong_numbers_are_refused(const zcodec_chain *chain) {
  static const uint64_t start[2] = {0, 5}, shape[2] = {4, 2};
  static const int64_t backwards[2] = {-12, -2};
  uint16_t part[24];
  zcodec_box box = box_of(start, shape);
  zcodec_view view = view_of(part, sizeof part, NULL);
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT,
              zcodec_decode_view(chain, NULL, encoded, sizeof encoded, &box, &view, &error));
  view.strides = backwards;
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT,
              zcodec_decode_view(chain, NULL, encoded, sizeof encoded, NULL, &view, &error));
  view.offset = 46;
  CHECK_OK(zcodec_decode_view(chain, NULL, encoded, sizeof encoded, NULL, &view, &error));
  CHECK(part[23] == chunk[0] && part[0] == chunk[23]);
  view.struct_size = 8;
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT,
              zcodec_decode_view(chain, NULL, encoded, sizeof encoded, NULL, &view, &error));
  CHECK_FAILS(ZCODEC_STATUS_NULL_ARGUMENT,
              zcodec_decode_view(chain, NULL, encoded, sizeof encoded, NULL, NULL, &error));
}

/* What is read and what is written lie apart; bytes beside and between the elements may be anything. */
static void a_view_that_overlaps_the_encoded_bytes_is_refused(const zcodec_chain *chain) {
  static const int64_t backwards[2] = {-12, -2};
  uint8_t memory[100];
  zcodec_view view = view_of(memory, sizeof memory, NULL);
  size_t size = 9;
  memset(memory, 3, sizeof memory);
  memcpy(memory + 50, encoded, sizeof encoded);
  view.offset = 2;
  CHECK_OK(zcodec_decode_view(chain, NULL, memory + 50, sizeof encoded, NULL, &view, &error));
  CHECK(memcmp(memory + 2, chunk, sizeof chunk) == 0 && memory[0] == 3);
  CHECK_OK(zcodec_encode_view(chain, NULL, NULL, &view, memory + 50, 50, &size, &error));
  CHECK(size == sizeof encoded && memcmp(memory + 50, encoded, size) == 0);
  view.offset = 3;
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT,
              zcodec_decode_view(chain, NULL, memory + 50, sizeof encoded, NULL, &view, &error));
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT,
              zcodec_encode_view(chain, NULL, NULL, &view, memory + 50, 50, &size, &error));
  CHECK(size == 0);
  view.offset = 98;
  view.strides = backwards;
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT,
              zcodec_decode_view(chain, NULL, memory + 5, sizeof encoded, NULL, &view, &error));
  CHECK(memcmp(memory + 50, encoded, sizeof encoded) == 0);
  CHECK_FAILS(ZCODEC_STATUS_CORRUPT_DATA, zcodec_decode_view(chain, NULL, memory + 4, 46, NULL, &view, &error));
}

static void encoded_bytes_may_lie_between_the_rows_of_a_view(const zcodec_chain *chain) {
  static const int64_t strides[2] = {64, 2};
  uint8_t memory[3 * 64 + 12];
  zcodec_view view = view_of(memory, sizeof memory, strides);
  size_t row, size = 0;
  memcpy(memory + 12, encoded, sizeof encoded);
  CHECK_OK(zcodec_decode_view(chain, NULL, memory + 12, sizeof encoded, NULL, &view, &error));
  for (row = 0; row < 4; row++) {
    CHECK(memcmp(memory + 64 * row, chunk + 6 * row, 12) == 0);
  }
  memset(memory + 12, 0, sizeof encoded);
  CHECK_OK(zcodec_encode_view(chain, NULL, NULL, &view, memory + 12, 52, &size, &error));
  CHECK(size == sizeof encoded && memcmp(memory + 12, encoded, size) == 0);
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT,
              zcodec_decode_view(chain, NULL, memory + 17, sizeof encoded, NULL, &view, &error));
}

static void a_part_does_not_encode_without_a_fill_value(void) {
  static const char codecs[] = "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}]";
  static const uint64_t start[2] = {1, 2}, shape[2] = {2, 2};
  zcodec_chain *chain = check_chain(codecs, "{\"data_type\":\"uint16\",\"shape\":[4,6]}");
  uint16_t part[4] = {1, 2, 3, 4};
  uint8_t memory[48];
  zcodec_view view = view_of(part, sizeof part, NULL);
  zcodec_box box = box_of(start, shape);
  size_t capacity, size = 9;
  for (capacity = 0; capacity <= sizeof memory; capacity += sizeof memory) {
    CHECK_FAILS(ZCODEC_STATUS_UNSUPPORTED,
                zcodec_encode_view(chain, NULL, &box, &view, memory, capacity, &size, &error));
    CHECK(size == 0);
  }
  zcodec_chain_free(chain);
}

static void an_empty_box_touches_nothing(void) {
  static const uint64_t start[2] = {1, 2}, shape[2] = {0, 3};
  static const char *const codecs[] = {"[\"bytes\",\"crc32c\"]", "[\"bytes\",\"zstd\"]"};
  zcodec_view view = view_of(NULL, 0, NULL);
  zcodec_box box = box_of(start, shape);
  size_t i;
  for (i = 0; i < 2; i++) {
    zcodec_chain *chain = check_chain(codecs[i], "{\"data_type\": \"uint8\", \"shape\": [4, 6], \"fill_value\": 0}");
    CHECK_OK(zcodec_decode_view(chain, NULL, "junk", 4, &box, &view, &error));
    CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_decode_view(chain, NULL, "junk", 4, NULL, &view, &error));
    zcodec_chain_free(chain);
  }
}

static int32_t accept(void *user_data, void *call_data, const uint8_t *bytes, size_t size, const uint8_t *padding,
                      size_t padding_size) {
  (void)user_data, (void)call_data, (void)bytes, (void)size, (void)padding, (void)padding_size;
  return 0;
}

static void a_padding_that_is_checked_needs_the_whole_chunk(void) {
  zcodec_chain *chain =
      check_chain("[\"bytes\",{\"name\":\"pad\",\"configuration\":{\"location\":\"start\",\"nbytes\":2}}]",
                  "{\"data_type\": \"uint8\", \"shape\": [4, 6], \"fill_value\": 0}");
  uint64_t shape[2] = {0, 0};
  CHECK_OK(zcodec_chain_granularity(chain, shape, 2, &error));
  CHECK(shape[0] == 1 && shape[1] == 1);
  CHECK_OK(zcodec_chain_set_padding(chain, 1, NULL, accept, NULL, NULL, &error));
  CHECK_OK(zcodec_chain_granularity(chain, shape, 2, &error));
  CHECK(shape[0] == 4 && shape[1] == 6);
  zcodec_chain_free(chain);
}

static void a_chain_says_its_shape(const zcodec_chain *chain) {
  uint64_t shape[2] = {0, 0};
  size_t ndim = 0, size = 0;
  zcodec_buffer *json = NULL;
  CHECK_STATUS(ZCODEC_STATUS_BUFFER_TOO_SMALL, zcodec_chain_shape(chain, NULL, 0, &ndim));
  CHECK(ndim == 2);
  CHECK_STATUS(ZCODEC_STATUS_OK, zcodec_chain_shape(chain, shape, 2, &ndim));
  CHECK(shape[0] == 4 && shape[1] == 6);
  CHECK_STATUS(ZCODEC_STATUS_OK, zcodec_chain_element_size(chain, &size));
  CHECK(size == 2);
  CHECK_OK(zcodec_chain_granularity(chain, shape, 2, &error));
  CHECK(shape[0] == 1 && shape[1] == 1);
  CHECK_OK(zcodec_chain_input_json(chain, &json, &error));
  CHECK(check_buffer_is(json, "{\"data_type\":\"uint16\",\"shape\":[4,6],\"fill_value\":7}"));
}

/* After a transpose, too, the part is one of the array that the caller sees. */
static void a_transposed_block_of_zfp_is_a_part(void) {
  static const char input[] = "{\"data_type\": \"float32\", \"shape\": [2, 10], \"fill_value\": 0}";
  zcodec_chain *chain = check_chain(
      "[{\"name\": \"transpose\", \"configuration\": {\"order\": [1, 0]}},"
      " {\"name\": \"zfp\", \"configuration\": {\"mode\": \"fixed_rate\", \"rate\": 8}}]",
      input);
  uint64_t shape[2] = {0, 0};
  CHECK_OK(zcodec_chain_granularity(chain, shape, 2, &error));
  CHECK(shape[0] == 2 && shape[1] == 4);
  zcodec_chain_free(chain);
}

static void bytes_have_no_boxes(void) {
  zcodec_chain *chain = check_chain("[\"crc32c\"]", NULL);
  zcodec_view view = view_of(NULL, 0, NULL);
  size_t ndim = 9;
  CHECK_FAILS(ZCODEC_STATUS_UNSUPPORTED, zcodec_decode_view(chain, NULL, NULL, 0, NULL, &view, &error));
  CHECK_STATUS(ZCODEC_STATUS_UNSUPPORTED, zcodec_chain_shape(chain, NULL, 0, &ndim));
  CHECK(ndim == 0);
  zcodec_chain_free(chain);
}

int main(void) {
  zcodec_chain *chain = make_chain();
  a_box_decodes_in_fortran_order(chain);
  a_part_encodes_with_the_fill_value_around_it(chain);
  views_are_filled_and_recognised(chain);
  bits_that_the_type_lacks_are_not_compared();
  wrong_numbers_are_refused(chain);
  a_view_that_overlaps_the_encoded_bytes_is_refused(chain);
  encoded_bytes_may_lie_between_the_rows_of_a_view(chain);
  a_part_does_not_encode_without_a_fill_value();
  an_empty_box_touches_nothing();
  a_padding_that_is_checked_needs_the_whole_chunk();
  a_chain_says_its_shape(chain);
  a_transposed_block_of_zfp_is_a_part();
  bytes_have_no_boxes();
  zcodec_chain_free(chain);
  return check_result("view");
}
