/* The numbers that are part of the ABI. They are never changed; new ones are added here. */
#include "check.h"

static void statuses_have_their_numbers(void) {
  CHECK(ZCODEC_STATUS_OK == 0);
  CHECK(ZCODEC_STATUS_NULL_ARGUMENT == 1);
  CHECK(ZCODEC_STATUS_INVALID_ARGUMENT == 2);
  CHECK(ZCODEC_STATUS_INVALID_METADATA == 3);
  CHECK(ZCODEC_STATUS_UNSUPPORTED == 4);
  CHECK(ZCODEC_STATUS_BUFFER_TOO_SMALL == 5);
  CHECK(ZCODEC_STATUS_UNKNOWN_SIZE == 6);
  CHECK(ZCODEC_STATUS_CORRUPT_DATA == 7);
  CHECK(ZCODEC_STATUS_OUT_OF_RANGE == 8);
  CHECK(ZCODEC_STATUS_CALLBACK_FAILED == 9);
  CHECK(ZCODEC_STATUS_OUT_OF_MEMORY == 10);
  CHECK(ZCODEC_STATUS_INTERNAL == 11);
}

static void kinds_have_their_numbers(void) {
  CHECK(ZCODEC_KIND_ARRAY_TO_ARRAY == 1);
  CHECK(ZCODEC_KIND_ARRAY_TO_BYTES == 2);
  CHECK(ZCODEC_KIND_BYTES_TO_BYTES == 3);
}

static void layouts_have_their_numbers(void) {
  CHECK(ZCODEC_LAYOUT_PACKED == 0);
  CHECK(ZCODEC_LAYOUT_APPEND == 1);
}

static void enums_have_32_bits(void) {
  CHECK(sizeof(zcodec_status) == 4);
  CHECK(sizeof(zcodec_kind) == 4);
  CHECK(sizeof(zcodec_layout) == 4);
}

static void call_options_have_their_layout(void) {
  const size_t pointer = sizeof(void *);
  CHECK(sizeof(size_t) == pointer);
  CHECK(ZCODEC_CALL_STORE_EMPTY == 1);
  CHECK(offsetof(zcodec_call_options, struct_size) == 0);
  CHECK(offsetof(zcodec_call_options, call_data) == pointer);
  CHECK(offsetof(zcodec_call_options, max_threads) == 2 * pointer);
  CHECK(offsetof(zcodec_call_options, executor) == 3 * pointer);
  CHECK(offsetof(zcodec_call_options, flags) == 4 * pointer);
  CHECK(sizeof(zcodec_call_options) == 4 * pointer + 8);
}

static void structs_of_the_engine_have_their_layout(void) {
  const size_t pointer = sizeof(void *);
  CHECK(offsetof(zcodec_box, struct_size) == 0);
  CHECK(offsetof(zcodec_box, ndim) == pointer);
  CHECK(offsetof(zcodec_box, start) == 2 * pointer);
  CHECK(offsetof(zcodec_box, shape) == 3 * pointer);
  CHECK(sizeof(zcodec_box) == 4 * pointer);
  CHECK(offsetof(zcodec_view, struct_size) == 0);
  CHECK(offsetof(zcodec_view, memory) == pointer);
  CHECK(offsetof(zcodec_view, memory_size) == 2 * pointer);
  CHECK(offsetof(zcodec_view, offset) == 3 * pointer);
  CHECK(offsetof(zcodec_view, ndim) == 4 * pointer);
  CHECK(offsetof(zcodec_view, strides) == 5 * pointer);
  CHECK(sizeof(zcodec_view) == 6 * pointer);
  CHECK(ZCODEC_SIZE_UNKNOWN == UINT64_MAX);
  CHECK(offsetof(zcodec_range, offset) == 0);
  CHECK(offsetof(zcodec_range, size) == 8);
  CHECK(sizeof(zcodec_range) == 16);
  CHECK(offsetof(zcodec_piece, offset) == 0);
  CHECK(offsetof(zcodec_piece, size) == 8);
  CHECK(offsetof(zcodec_piece, source_offset) == 16);
  CHECK(offsetof(zcodec_piece, data) == 24);
  CHECK(sizeof(zcodec_piece) == 32 || pointer == 4);
  CHECK(offsetof(zcodec_executor, struct_size) == 0);
  CHECK(offsetof(zcodec_executor, user_data) == pointer);
  CHECK(offsetof(zcodec_executor, max_workers) == 2 * pointer);
  CHECK(offsetof(zcodec_executor, reserved) == 2 * pointer + 4);
  CHECK(offsetof(zcodec_executor, run) == 2 * pointer + 8);
  CHECK(sizeof(zcodec_executor) == 3 * pointer + 8);
}

static void tasks_have_their_layout(void) {
  const size_t pointer = sizeof(void *);
  CHECK(ZCODEC_TASK_MISSING == 1);
  CHECK(offsetof(zcodec_task, struct_size) == 0);
  CHECK(offsetof(zcodec_task, chain) == pointer);
  CHECK(offsetof(zcodec_task, call_data) == 2 * pointer);
  CHECK(offsetof(zcodec_task, encoded) == 3 * pointer);
  CHECK(offsetof(zcodec_task, encoded_size) == 4 * pointer);
  CHECK(offsetof(zcodec_task, encoded_to) == 5 * pointer);
  CHECK(offsetof(zcodec_task, encoded_capacity) == 6 * pointer);
  CHECK(offsetof(zcodec_task, box) == 7 * pointer);
  CHECK(offsetof(zcodec_task, view) == 8 * pointer);
  CHECK(offsetof(zcodec_task, flags) == 9 * pointer);
  CHECK(offsetof(zcodec_task, status) == 9 * pointer + 4);
  CHECK(offsetof(zcodec_task, error) == 9 * pointer + 8);
  CHECK(sizeof(zcodec_task) == 10 * pointer + 8);
}

static void codecs_of_the_host_have_their_layout(void) {
  const size_t pointer = sizeof(void *);
  CHECK(ZCODEC_CODEC_TOO_SMALL == 1);
  CHECK(offsetof(zcodec_codec, struct_size) == 0);
  CHECK(offsetof(zcodec_codec, name) == pointer);
  CHECK(offsetof(zcodec_codec, kind) == 2 * pointer);
  CHECK(offsetof(zcodec_codec, reserved) == 2 * pointer + 4);
  CHECK(offsetof(zcodec_codec, user_data) == 2 * pointer + 8);
  CHECK(offsetof(zcodec_codec, free_user_data) == 3 * pointer + 8);
  CHECK(offsetof(zcodec_codec, bind) == 4 * pointer + 8);
  CHECK(offsetof(zcodec_codec, free_state) == 5 * pointer + 8);
  CHECK(offsetof(zcodec_codec, encoded_bound) == 6 * pointer + 8);
  CHECK(offsetof(zcodec_codec, encode) == 7 * pointer + 8);
  CHECK(offsetof(zcodec_codec, decode) == 8 * pointer + 8);
  CHECK(sizeof(zcodec_codec) == 9 * pointer + 8);
  CHECK(offsetof(zcodec_chain_options, struct_size) == 0);
  CHECK(offsetof(zcodec_chain_options, registry) == pointer);
  CHECK(offsetof(zcodec_chain_options, max_decoded_size) == 2 * pointer);
  CHECK(sizeof(zcodec_chain_options) == 2 * pointer + 8);
}

int main(void) {
  statuses_have_their_numbers();
  kinds_have_their_numbers();
  layouts_have_their_numbers();
  enums_have_32_bits();
  call_options_have_their_layout();
  structs_of_the_engine_have_their_layout();
  tasks_have_their_layout();
  codecs_of_the_host_have_their_layout();
  return check_result("abi");
}
