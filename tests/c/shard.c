/* Shards: plans, indices, tasks, executors, paddings inside. */
#include "check.h"

#define CODECS                                                                              \
  "[{\"name\": \"sharding_indexed\", \"configuration\": {\"chunk_shape\": [2, 3],"          \
  " \"codecs\": [\"bytes\", {\"name\": \"pad\", \"configuration\":"                         \
  " {\"location\": \"start\", \"nbytes\": 2}}],"                                            \
  " \"index_codecs\": [{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}," \
  " \"crc32c\"]}}]"
#define INPUT "{\"data_type\": \"uint8\", \"shape\": [4, 6], \"fill_value\": 0}"
/* Four inner chunks of 8 bytes, one of them left out, and the index. */
#define SHARD_SIZE (3 * 8 + 4 * 16 + 4)

static uint8_t chunk[24], shard[SHARD_SIZE];

static zcodec_chain *make_shard(void) {
  zcodec_chain *chain = check_chain(CODECS, INPUT);
  size_t i, size = 0;
  for (i = 0; i < 24; i++) {
    chunk[i] = i / 6 < 2 && i % 6 < 3 ? 0 : (uint8_t)(i + 1);
  }
  CHECK_OK(zcodec_encode(chain, chunk, sizeof chunk, shard, sizeof shard, &size, &error));
  CHECK(size == sizeof shard);
  return chain;
}

static zcodec_view view_of(void *memory, size_t size) {
  zcodec_view view;
  memset(&view, 0, sizeof view);
  view.struct_size = sizeof view;
  view.memory = memory;
  view.memory_size = size;
  view.ndim = 2;
  return view;
}

static void a_plan_reads_the_index_and_then_what_a_box_needs(const zcodec_chain *chain) {
  static const uint64_t start[2] = {1, 1}, shape[2] = {1, 3}, present_cell[2] = {0, 1}, missing_cell[2] = {0, 0};
  uint8_t row[3] = {9, 9, 9};
  zcodec_box box = {sizeof(zcodec_box), 2, NULL, NULL};
  zcodec_view view = view_of(row, sizeof row);
  zcodec_plan *plan = NULL;
  zcodec_index *index = NULL, *again = NULL;
  const zcodec_range *ranges = NULL;
  zcodec_range range;
  size_t count = 0;
  int32_t present = 0;
  box.start = start;
  box.shape = shape;
  CHECK_OK(zcodec_plan_new(chain, NULL, &box, &view, 1, SHARD_SIZE, NULL, &plan, &error));
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_plan_index(plan, &index, &error));
  CHECK_OK(zcodec_plan_next(plan, &ranges, &count, &error));
  if (!CHECK(count == 1 && ranges[0].offset == 24 && ranges[0].size == 68)) {
    return;
  }
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_plan_next(plan, &ranges, &count, &error));
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_plan_supply(plan, 1, shard, 68, &error));
  CHECK_OK(zcodec_plan_supply(plan, 0, shard + 24, 68, &error));
  CHECK_OK(zcodec_plan_index(plan, &index, &error));
  CHECK(zcodec_index_memory(index) >= 64);
  CHECK_OK(zcodec_plan_next(plan, &ranges, &count, &error));
  /* The inner chunk on the left is missing: it is filled at once. Of the one on the right, one element is needed. */
  if (CHECK(count == 1 && ranges[0].offset == 5 && ranges[0].size == 1)) {
    const void *bytes = shard + 5;
    size_t size = 1;
    CHECK_OK(zcodec_plan_supply_all(plan, &bytes, &size, &error));
  }
  CHECK_OK(zcodec_plan_next(plan, &ranges, &count, &error));
  CHECK(count == 0 && row[0] == 0 && row[1] == 0 && row[2] == chunk[9]);
  zcodec_plan_free(plan);

  again = zcodec_index_ref(index);
  CHECK_OK(zcodec_index_entry(again, present_cell, 2, &range, &present, &error));
  CHECK(present == 1 && range.offset == 0 && range.size == 8);
  CHECK_OK(zcodec_index_entry(again, missing_cell, 2, &range, &present, &error));
  CHECK(present == 0);
  CHECK_OK(zcodec_plan_new(chain, NULL, &box, &view, 1, ZCODEC_SIZE_UNKNOWN, again, &plan, &error));
  zcodec_index_free(again);
  zcodec_index_free(index);
  CHECK_OK(zcodec_plan_next(plan, &ranges, &count, &error));
  if (CHECK(count == 1)) {
    CHECK_FAILS(ZCODEC_STATUS_CORRUPT_DATA, zcodec_plan_supply(plan, 0, shard, 2, &error));
  }
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_plan_next(plan, &ranges, &count, &error));
  CHECK(count == 0);
  /* A plan that has ended reads no arrays. */
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_plan_supply_all(plan, NULL, NULL, &error));
  CHECK_FAILS_WITH(ZCODEC_STATUS_INVALID_ARGUMENT, "can only be freed", zcodec_plan_index(plan, &index, &error));
  zcodec_plan_free(plan);
}

/* Messages say which box, view, range and inner chunk is wrong. */
static void messages_name_the_place(const zcodec_chain *chain) {
  static const uint64_t start[2] = {4, 0}, shape[2] = {1, 1};
  uint8_t rows[2][24];
  zcodec_box boxes[2] = {{sizeof(zcodec_box), 2, NULL, NULL}, {sizeof(zcodec_box), 2, NULL, NULL}};
  zcodec_view views[2];
  zcodec_plan *plan = NULL;
  const zcodec_range *ranges = NULL;
  size_t count = 0, size = 4, i;
  const void *bytes = shard;
  for (i = 0; i < 2; i++) {
    views[i] = view_of(rows[i], sizeof rows[i]);
  }
  boxes[1].start = start;
  boxes[1].shape = shape;
  CHECK_FAILS_WITH(ZCODEC_STATUS_INVALID_ARGUMENT,
                   "boxes[1]: ", zcodec_plan_new(chain, NULL, boxes, views, 2, SHARD_SIZE, NULL, &plan, &error));
  boxes[1].start = NULL;
  boxes[1].shape = NULL;
  views[1].memory_size = 23;
  CHECK_FAILS_WITH(ZCODEC_STATUS_INVALID_ARGUMENT,
                   "views[1]: ", zcodec_plan_new(chain, NULL, boxes, views, 2, SHARD_SIZE, NULL, &plan, &error));
  CHECK_OK(zcodec_plan_new(chain, NULL, boxes, views, 1, SHARD_SIZE, NULL, &plan, &error));
  CHECK_OK(zcodec_plan_next(plan, &ranges, &count, &error));
  CHECK_FAILS_WITH(ZCODEC_STATUS_CORRUPT_DATA, "range 0 has 68 bytes, but 4 are supplied",
                   zcodec_plan_supply_all(plan, &bytes, &size, &error));
  zcodec_plan_free(plan);
}

/* An index may claim too much, which shows when the object turns out to be shorter. */
static void an_inner_chunk_of_another_size_is_named(const zcodec_chain *chain) {
  uint8_t decoded[24];
  zcodec_view view = view_of(decoded, sizeof decoded);
  zcodec_box box = {sizeof(zcodec_box), 2, NULL, NULL};
  zcodec_plan *plan = NULL;
  const zcodec_range *ranges = NULL;
  size_t count = 0;
  CHECK_OK(zcodec_plan_new(chain, NULL, &box, &view, 1, ZCODEC_SIZE_UNKNOWN, NULL, &plan, &error));
  CHECK_OK(zcodec_plan_next(plan, &ranges, &count, &error));
  CHECK_OK(zcodec_plan_supply(plan, 0, shard + SHARD_SIZE - ranges[0].size, (size_t)ranges[0].size, &error));
  CHECK_OK(zcodec_plan_next(plan, &ranges, &count, &error));
  CHECK_FAILS_WITH(ZCODEC_STATUS_CORRUPT_DATA, "codecs[0] \"sharding_indexed\": in inner chunk [",
                   zcodec_plan_supply(plan, 0, shard, (size_t)ranges[0].size - 1, &error));
  zcodec_plan_free(plan);
}

static void an_inner_chunk_that_does_not_decode_is_named(void) {
  static const char codecs[] =
      "[{\"name\": \"sharding_indexed\", \"configuration\": {\"chunk_shape\": [2, 3],"
      " \"codecs\": [\"bytes\", \"crc32c\"], \"index_codecs\":"
      " [{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}]}}]";
  zcodec_chain *chain = check_chain(codecs, INPUT);
  uint8_t decoded[24], encoded[4 * 10 + 4 * 16];
  size_t i, size = 0;
  for (i = 0; i < sizeof decoded; i++) {
    decoded[i] = (uint8_t)(i + 1);
  }
  CHECK_OK(zcodec_encode(chain, decoded, sizeof decoded, encoded, sizeof encoded, &size, &error));
  CHECK(size == sizeof encoded);
  encoded[25]++; /* of the third */
  CHECK_FAILS_WITH(ZCODEC_STATUS_CORRUPT_DATA, "codecs[1] \"crc32c\": in inner chunk [1, 0], the checksum",
                   zcodec_decode(chain, encoded, sizeof encoded, decoded, sizeof decoded, &size, &error));
  zcodec_chain_free(chain);
}

static void a_shard_has_parts(const zcodec_chain *chain) {
  zcodec_chain *inner = NULL, *bytes = check_chain("[\"bytes\"]", INPUT);
  zcodec_range range = {0, 0};
  zcodec_index *index = NULL;
  uint64_t shape[2] = {0, 0};
  CHECK_OK(zcodec_chain_inner(chain, &inner, &error));
  CHECK(zcodec_chain_codec_count(inner) == 2);
  zcodec_chain_free(inner);
  CHECK_FAILS(ZCODEC_STATUS_UNSUPPORTED, zcodec_chain_inner(bytes, &inner, &error));
  zcodec_chain_free(bytes);
  CHECK_OK(zcodec_chain_index_range(chain, &range, &error));
  CHECK(range.offset == ZCODEC_SIZE_UNKNOWN && range.size == 68);
  CHECK_OK(zcodec_index_decode(chain, shard + 24, 68, SHARD_SIZE, &index, &error));
  zcodec_index_free(index);
  CHECK_FAILS(ZCODEC_STATUS_CORRUPT_DATA, zcodec_index_decode(chain, shard + 23, 68, SHARD_SIZE, &index, &error));
  CHECK_OK(zcodec_chain_granularity(chain, shape, 2, &error));
  CHECK(shape[0] == 2 && shape[1] == 3);
}

static int run_count;

static int32_t run_backwards(void *user_data, void (*job)(void *job_data, uint32_t i, uint32_t worker), void *job_data,
                             uint32_t count) {
  run_count++;
  while (count-- > 0) {
    job(job_data, count, 0);
  }
  return *(int32_t *)user_data;
}

/* Options with that executor of two workers; it returns `*answer`. */
static zcodec_call_options options_with(zcodec_executor *executor, int32_t *answer) {
  zcodec_call_options options;
  memset(executor, 0, sizeof *executor);
  executor->struct_size = sizeof *executor;
  executor->user_data = answer;
  executor->max_workers = 2;
  executor->run = run_backwards;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.executor = executor;
  return options;
}

static void tasks_report_each_by_itself(const zcodec_chain *chain) {
  static const uint64_t outside[2] = {100, 0}, part[2] = {4, 6};
  uint8_t decoded[3][24], out[SHARD_SIZE];
  zcodec_box box = {sizeof box, 2, NULL, NULL};
  zcodec_view views[3];
  zcodec_task tasks[3];
  int32_t answer = 0;
  size_t i;
  zcodec_executor executor;
  zcodec_call_options options = options_with(&executor, &answer);
  memset(tasks, 0, sizeof tasks);
  for (i = 0; i < 3; i++) {
    views[i] = view_of(decoded[i], 24);
    tasks[i].struct_size = sizeof tasks[i];
    tasks[i].chain = chain;
    tasks[i].view = &views[i];
    tasks[i].encoded = shard;
    tasks[i].encoded_size = i == 1 ? 10 : sizeof shard;
  }
  tasks[2].flags = ZCODEC_TASK_MISSING;
  CHECK_STATUS(ZCODEC_STATUS_CORRUPT_DATA, zcodec_decode_tasks(tasks, 3, &options));
  CHECK(tasks[0].status == ZCODEC_STATUS_OK && tasks[0].error == NULL && memcmp(decoded[0], chunk, 24) == 0);
  CHECK(tasks[1].status == ZCODEC_STATUS_CORRUPT_DATA && tasks[1].error != NULL);
  zcodec_error_free(tasks[1].error);
  CHECK(tasks[2].status == ZCODEC_STATUS_OK && decoded[2][23] == 0);
  box.start = outside;
  box.shape = part;
  tasks[2].box = &box;
  CHECK_STATUS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_decode_tasks(&tasks[2], 1, &options));
  zcodec_error_free(tasks[2].error);
  tasks[0].encoded_to = out;
  tasks[0].encoded_capacity = sizeof out;
  CHECK_STATUS(ZCODEC_STATUS_OK, zcodec_encode_tasks(tasks, 1, &options));
  CHECK(tasks[0].encoded_size == sizeof shard && memcmp(out, shard, sizeof shard) == 0);
  views[0] = view_of(out + sizeof out - 24, 24);
  CHECK_STATUS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_encode_tasks(tasks, 1, &options));
  zcodec_error_free(tasks[0].error);
  tasks[0].encoded = out;
  tasks[0].encoded_size = sizeof out;
  CHECK_STATUS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_decode_tasks(tasks, 1, &options));
  zcodec_error_free(tasks[0].error);
  CHECK(memcmp(out, shard, sizeof shard) == 0);
  executor.max_workers = 0;
  CHECK_STATUS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_decode_tasks(tasks, 1, &options));
  CHECK_STATUS(ZCODEC_STATUS_NULL_ARGUMENT, zcodec_decode_tasks(NULL, 1, NULL));
}

/* Each task gets the status, whatever its memory had before. */
static void an_executor_that_fails_fails_every_task(void) {
  enum { size = 1 << 20 };
  zcodec_chain *chain = check_chain("[\"bytes\"]", "{\"data_type\":\"uint8\",\"shape\":[1048576],\"fill_value\":0}");
  uint8_t *encoded = calloc(size, 1), *decoded = malloc(2 * size);
  zcodec_view views[2];
  zcodec_task tasks[2];
  int32_t answer = 5;
  size_t i;
  zcodec_executor executor;
  zcodec_call_options options = options_with(&executor, &answer);
  memset(tasks, 0, sizeof tasks);
  for (i = 0; i < 2; i++) {
    memset(&views[i], 0, sizeof views[i]);
    views[i].struct_size = sizeof views[i];
    views[i].memory = decoded + i * size;
    views[i].memory_size = size;
    views[i].ndim = 1;
    tasks[i].struct_size = sizeof tasks[i];
    tasks[i].chain = chain;
    tasks[i].view = &views[i];
    tasks[i].encoded = encoded;
    tasks[i].encoded_size = size;
    tasks[i].status = 0x5A5A;
    tasks[i].error = (zcodec_error *)&answer;
  }
  CHECK_STATUS(ZCODEC_STATUS_CALLBACK_FAILED, zcodec_decode_tasks(tasks, 2, &options));
  for (i = 0; i < 2; i++) {
    CHECK(tasks[i].status == ZCODEC_STATUS_CALLBACK_FAILED);
    CHECK(tasks[i].error != (zcodec_error *)&answer);
    if (tasks[i].error != (zcodec_error *)&answer) {
      zcodec_error_free(tasks[i].error);
    }
  }
  zcodec_chain_free(chain);
  free(encoded);
  free(decoded);
}

/* Whatever the workers do for a codec. */
static void an_executor_that_fails_is_no_fault_of_a_codec(void) {
  enum { size = 4 << 20 };
  static const char *const codecs[3] = {
      "[\"bytes\",{\"name\":\"blosc\",\"configuration\":{\"cname\":\"lz4\",\"clevel\":1,\"shuffle\":\"noshuffle\","
      "\"typesize\":1,\"blocksize\":0}}]",
      "[{\"name\":\"bytes\"}]",
      "[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[65536],\"codecs\":[\"bytes\"],"
      "\"index_codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}]}}]"};
  enum { capacity = size + 1024 }; /* the bound of the shard */
  uint8_t *decoded = calloc(size, 1), *encoded = malloc(capacity);
  int32_t answer = 0;
  size_t i;
  zcodec_executor executor;
  zcodec_call_options options = options_with(&executor, &answer);
  for (i = 0; i < 3; i++) {
    zcodec_chain *chain = check_chain(codecs[i], "{\"data_type\":\"uint8\",\"shape\":[4194304],\"fill_value\":1}");
    zcodec_error *error = NULL;
    size_t encoded_size = 0, decoded_size = 0;
    answer = 0;
    CHECK_OK(zcodec_encode_with(chain, &options, decoded, size, encoded, capacity, &encoded_size, &error));
    answer = 5;
    if (i == 2) {
      CHECK_FAILS_WITH(ZCODEC_STATUS_CALLBACK_FAILED, "the executor returned 5",
                       zcodec_encode_with(chain, &options, decoded, size, encoded, capacity, &decoded_size, &error));
    }
    CHECK_STATUS(ZCODEC_STATUS_CALLBACK_FAILED,
                 zcodec_decode_with(chain, &options, encoded, encoded_size, decoded, size, &decoded_size, &error));
    CHECK(strcmp(zcodec_error_code(error), "executor") == 0 && strcmp(zcodec_error_path(error), "") == 0);
    CHECK(strcmp(zcodec_error_message(error), "the executor returned 5") == 0);
    zcodec_error_free(error);
    zcodec_chain_free(chain);
  }
  free(encoded);
  free(decoded);
}

/* Chunks that one thread must decode are shared as a whole, however few they are; so are ranges of a plan, by what they
 * decode to. */
static void few_chunks_that_cannot_be_divided_are_shared(void) {
  enum { size = 1 << 20, count = 3 };
  static const char input[] = "{\"data_type\":\"uint8\",\"shape\":[1048576],\"fill_value\":0}";
  static const char three[] = "{\"data_type\":\"uint8\",\"shape\":[3145728],\"fill_value\":1}";
  zcodec_chain *chain = check_chain("[\"bytes\",{\"name\":\"gzip\",\"configuration\":{\"level\":1}}]", input);
  zcodec_chain *whole = check_chain(
      "[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[1048576],\"codecs\":[\"bytes\",{\"name\":"
      "\"gzip\",\"configuration\":{\"level\":1}}],\"index_codecs\":[{\"name\":\"bytes\",\"configuration\":"
      "{\"endian\":\"little\"}}]}}]",
      three);
  uint8_t *decoded = calloc(count * size, 1), *encoded = malloc(count * 2 * size);
  zcodec_view views[count], view;
  zcodec_task tasks[count];
  zcodec_box box = {sizeof(zcodec_box), 1, NULL, NULL};
  zcodec_plan *plan = NULL;
  const zcodec_range *ranges = NULL;
  const void *bytes[count];
  size_t sizes[count], i, range_count = 0, shard_size = 0;
  int32_t answer = 0;
  zcodec_executor executor;
  zcodec_call_options options = options_with(&executor, &answer);
  executor.max_workers = 4;
  memset(tasks, 0, sizeof tasks);
  for (i = 0; i < count; i++) {
    views[i] = view_of(decoded + i * size, size);
    views[i].ndim = 1;
    tasks[i].struct_size = sizeof tasks[i];
    tasks[i].chain = chain;
    tasks[i].view = &views[i];
    tasks[i].encoded_to = encoded + i * 2 * size;
    tasks[i].encoded_capacity = 2 * size;
  }
  run_count = 0;
  CHECK_STATUS(ZCODEC_STATUS_OK, zcodec_encode_tasks(tasks, count, &options));
  CHECK(run_count == 1);
  for (i = 0; i < count; i++) {
    tasks[i].encoded = tasks[i].encoded_to;
  }
  CHECK_STATUS(ZCODEC_STATUS_OK, zcodec_decode_tasks(tasks, count, &options));
  CHECK(run_count == 2);

  CHECK_OK(zcodec_encode(whole, decoded, count * size, encoded, count * 2 * size, &shard_size, &error));
  view = view_of(decoded, count * size);
  view.ndim = 1;
  CHECK_OK(zcodec_plan_new(whole, &options, &box, &view, 1, shard_size, NULL, &plan, &error));
  CHECK_OK(zcodec_plan_next(plan, &ranges, &range_count, &error));
  CHECK_OK(zcodec_plan_supply(plan, 0, encoded + ranges[0].offset, (size_t)ranges[0].size, &error));
  CHECK_OK(zcodec_plan_next(plan, &ranges, &range_count, &error));
  if (CHECK(range_count == count)) {
    for (i = 0; i < count; i++) {
      bytes[i] = encoded + ranges[i].offset;
      sizes[i] = (size_t)ranges[i].size;
    }
    CHECK_OK(zcodec_plan_supply_all(plan, bytes, sizes, &error));
    CHECK(run_count == 3 && decoded[0] == 0 && decoded[count * size - 1] == 0);
  }
  zcodec_plan_free(plan);
  zcodec_chain_free(whole);
  zcodec_chain_free(chain);
  free(decoded);
  free(encoded);
}

static int32_t write_size(void *user_data, void *call_data, const uint8_t *bytes, size_t size, uint8_t *padding,
                          size_t padding_size) {
  (void)user_data, (void)call_data, (void)bytes;
  padding[0] = (uint8_t)size;
  padding[padding_size - 1] = 0xEE;
  return 0;
}

static void paddings_inside_have_a_path(zcodec_chain *chain) {
  uint8_t out[SHARD_SIZE];
  size_t size = 0;
  CHECK_FAILS_WITH(ZCODEC_STATUS_INVALID_ARGUMENT, "codec_index is 4, but there is no codec 4: the list has 1",
                   zcodec_chain_set_padding(chain, 4, write_size, NULL, NULL, NULL, &error));
  CHECK_FAILS_WITH(ZCODEC_STATUS_INVALID_ARGUMENT, "path is \"/4\", but there is no codec 4: the list has 1",
                   zcodec_chain_set_padding_at(chain, "/4", write_size, NULL, NULL, NULL, &error));
  CHECK_FAILS_WITH(
      ZCODEC_STATUS_INVALID_ARGUMENT,
      "codecs[0] \"sharding_indexed\": path is \"/0/configuration/codecs/7\", but there is no codec 7",
      zcodec_chain_set_padding_at(chain, "/0/configuration/codecs/7", write_size, NULL, NULL, NULL, &error));
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT,
              zcodec_chain_set_padding_at(chain, "/0/configuration/codecs/0", write_size, NULL, NULL, NULL, &error));
  CHECK_OK(zcodec_chain_set_padding_at(chain, "/0/configuration/codecs/1", write_size, NULL, NULL, NULL, &error));
  CHECK_OK(zcodec_encode(chain, chunk, sizeof chunk, out, sizeof out, &size, &error));
  CHECK(out[0] == 6 && out[1] == 0xEE && out[8] == 6);
}

static void errors_name_the_codec_inside(const zcodec_chain *chain) {
  uint8_t damaged[SHARD_SIZE], decoded[24];
  size_t size = 0;
  zcodec_error *error = NULL;
  memcpy(damaged, shard, sizeof shard);
  damaged[SHARD_SIZE - 1] ^= 1;
  CHECK_STATUS(ZCODEC_STATUS_CORRUPT_DATA,
               zcodec_decode(chain, damaged, sizeof damaged, decoded, sizeof decoded, &size, &error));
  CHECK(strcmp(zcodec_error_path(error), "/0/configuration/index_codecs/1") == 0);
  CHECK(strcmp(zcodec_error_code(error), "checksum") == 0);
  CHECK(zcodec_error_codec_index(error) == 0);
  zcodec_error_free(error);
  CHECK(strcmp(zcodec_error_path(NULL), "") == 0 && strcmp(zcodec_error_code(NULL), "") == 0);
}

int main(void) {
  zcodec_chain *chain = make_shard();
  a_plan_reads_the_index_and_then_what_a_box_needs(chain);
  a_shard_has_parts(chain);
  tasks_report_each_by_itself(chain);
  an_executor_that_fails_fails_every_task();
  an_executor_that_fails_is_no_fault_of_a_codec();
  few_chunks_that_cannot_be_divided_are_shared();
  errors_name_the_codec_inside(chain);
  messages_name_the_place(chain);
  an_inner_chunk_of_another_size_is_named(chain);
  an_inner_chunk_that_does_not_decode_is_named();
  paddings_inside_have_a_path(chain);
  zcodec_plan_free(NULL);
  zcodec_index_free(NULL);
  zcodec_chain_free(chain);
  return check_result("shard");
}
