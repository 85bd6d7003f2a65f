/* Writers: shards made and changed by their inner chunks, in both layouts. */
#include "check.h"

/* Inner chunks of 2 x 3 uint8 and 2 bytes before them; the index takes 4 * 16 + 4. */
#define INDEX_SIZE 68
#define CHUNK_SIZE 8
#define SHARDING(before, location, after)                                                 \
  "[" before                                                                              \
  "{\"name\": \"sharding_indexed\", \"configuration\": {\"chunk_shape\": "                \
  "[2, 3], \"codecs\": [\"bytes\", {\"name\": \"pad\", \"configuration\": {\"location\":" \
  " \"start\", \"nbytes\": 2}}], \"index_codecs\": [{\"name\": \"bytes\","                \
  " \"configuration\": {\"endian\": \"little\"}}, \"crc32c\"], \"index_location\": \"" location "\"}}" after "]"
#define INPUT "{\"data_type\": \"uint8\", \"shape\": [4, 6], \"fill_value\": 7}"
#define WITHOUT_FILL "{\"data_type\": \"uint8\", \"shape\": [4, 6]}"

/* An object in an object store, or a file. */
typedef struct object {
  uint8_t bytes[1024];
  size_t size;
} object;

static const object nothing = {{0}, 0};

static zcodec_view view_of(void *memory, size_t size) {
  zcodec_view view;
  memset(&view, 0, sizeof view);
  view.struct_size = sizeof view;
  view.memory = memory;
  view.memory_size = size;
  view.ndim = 2;
  return view;
}

static zcodec_box box_of(const uint64_t *start, const uint64_t *shape) {
  zcodec_box box = {sizeof(zcodec_box), 2, NULL, NULL};
  box.start = start;
  box.shape = shape;
  return box;
}

/* Puts `value` everywhere in a box. */
static zcodec_status put(zcodec_writer *writer, uint64_t row, uint64_t column, uint64_t rows, uint64_t columns,
                         uint8_t value, zcodec_error **error) {
  uint64_t start[2] = {0, 0}, shape[2] = {0, 0};
  uint8_t values[24];
  zcodec_box box = box_of(start, shape);
  zcodec_view view = view_of(values, sizeof values);
  start[0] = row, start[1] = column, shape[0] = rows, shape[1] = columns;
  memset(values, value, sizeof values);
  return zcodec_writer_put(writer, &box, &view, error);
}

static zcodec_index *index_of(const zcodec_chain *chain, const object *shard) {
  zcodec_index *index = NULL;
  zcodec_range range = {0, 0};
  uint64_t offset;
  CHECK_OK(zcodec_chain_index_range(chain, &range, &error));
  offset = range.offset == ZCODEC_SIZE_UNKNOWN ? shard->size - range.size : range.offset;
  CHECK_OK(
      zcodec_index_decode(chain, shard->bytes + offset, (size_t)range.size, (uint64_t)shard->size, &index, &error));
  return index;
}

static zcodec_writer *writer_of(const zcodec_chain *chain, const object *old) {
  zcodec_writer *writer = NULL;
  zcodec_index *index = old->size > 0 ? index_of(chain, old) : NULL;
  CHECK_OK(zcodec_writer_new(chain, NULL, index, old->size, &writer, &error));
  zcodec_index_free(index);
  return writer;
}

/* Supplies what the writer asks for; returns how many ranges. */
static size_t supply(zcodec_writer *writer, const object *old) {
  const zcodec_range *ranges = NULL;
  size_t count = 0, all = 0, i;
  do {
    CHECK_OK(zcodec_writer_next(writer, &ranges, &count, &error));
    for (i = 0; i < count; i++) {
      CHECK_OK(zcodec_writer_supply(writer, i, old->bytes + ranges[i].offset, (size_t)ranges[i].size, &error));
    }
    all += count;
  } while (count > 0);
  return all;
}

/* The object that the pieces make of the old one; frees the writer. */
static object finished(zcodec_writer *writer, int32_t layout, const object *old, size_t *piece_count) {
  object made = layout == ZCODEC_LAYOUT_APPEND ? *old : nothing;
  const zcodec_piece *pieces = NULL;
  uint64_t size = 0;
  size_t i;
  CHECK_OK(zcodec_writer_finish(writer, layout, &pieces, piece_count, &size, &error));
  for (i = 0; i < *piece_count; i++) {
    const void *bytes = pieces[i].data != NULL ? pieces[i].data : old->bytes + pieces[i].source_offset;
    memcpy(made.bytes + pieces[i].offset, bytes, (size_t)pieces[i].size);
  }
  made.size = (size_t)size;
  zcodec_writer_free(writer);
  return made;
}

static int decodes_to(const zcodec_chain *chain, const object *shard, const uint8_t *expected) {
  uint8_t decoded[24];
  size_t size = 0;
  CHECK_OK(zcodec_decode(chain, shard->bytes, shard->size, decoded, sizeof decoded, &size, &error));
  return size == 24 && memcmp(decoded, expected, 24) == 0;
}

static void a_new_shard_is_what_encode_makes(const char *codecs) {
  zcodec_chain *chain = check_chain(codecs, INPUT);
  zcodec_writer *writer = writer_of(chain, &nothing);
  uint8_t chunk[24];
  zcodec_view view = view_of(chunk, sizeof chunk);
  object made, encoded;
  size_t i, count = 0;
  for (i = 0; i < 24; i++) {
    chunk[i] = i / 6 < 2 && i % 6 < 3 ? 7 : (uint8_t)(i + 1);
  }
  CHECK_OK(zcodec_encode(chain, chunk, sizeof chunk, encoded.bytes, sizeof encoded.bytes, &encoded.size, &error));
  CHECK_OK(zcodec_writer_put(writer, NULL, &view, &error));
  CHECK(supply(writer, &nothing) == 0);
  made = finished(writer, ZCODEC_LAYOUT_APPEND, &nothing, &count);
  CHECK(count == 4 && made.size == 3 * CHUNK_SIZE + INDEX_SIZE);
  CHECK(made.size == encoded.size && memcmp(made.bytes, encoded.bytes, made.size) == 0);
  zcodec_chain_free(chain);
}

/* Four inner chunks with the values 1 to 4, of which the first and the second are changed. */
static void a_shard_is_changed_in_both_layouts(const char *codecs, int is_index_first) {
  zcodec_chain *chain = check_chain(codecs, INPUT);
  uint8_t expected[24];
  object old, made;
  size_t i, count = 0;
  int32_t layout;
  zcodec_writer *writer = writer_of(chain, &nothing);
  for (i = 0; i < 4; i++) {
    CHECK_OK(put(writer, i / 2 * 2, i % 2 * 3, 2, 3, (uint8_t)(i + 1), &error));
  }
  old = finished(writer, ZCODEC_LAYOUT_PACKED, &nothing, &count);
  CHECK(old.size == 4 * CHUNK_SIZE + INDEX_SIZE);
  for (i = 0; i < 24; i++) {
    expected[i] = (uint8_t)(1 + i / 12 * 2 + i % 6 / 3);
  }
  CHECK(decodes_to(chain, &old, expected));
  expected[1] = expected[2] = 9;
  expected[3] = expected[4] = expected[5] = expected[9] = expected[10] = expected[11] = 7;
  for (layout = ZCODEC_LAYOUT_PACKED; layout <= ZCODEC_LAYOUT_APPEND; layout++) {
    writer = writer_of(chain, &old);
    /* The fill value: the second inner chunk is left out. */
    CHECK_OK(put(writer, 0, 1, 1, 2, 9, &error));
    CHECK_OK(put(writer, 0, 3, 2, 3, 7, &error));
    CHECK(supply(writer, &old) == 1);
    made = finished(writer, layout, &old, &count);
    CHECK(decodes_to(chain, &made, expected));
    if (layout == ZCODEC_LAYOUT_PACKED) {
      /* The third and the fourth are one piece: they stay back to back. */
      CHECK(count == 3 && made.size == 3 * CHUNK_SIZE + INDEX_SIZE);
    } else {
      CHECK(count == 2 && made.size == old.size + CHUNK_SIZE + (is_index_first ? 0 : INDEX_SIZE));
      CHECK(is_index_first || memcmp(made.bytes, old.bytes, old.size) == 0);
    }
  }
  writer = writer_of(chain, &old);
  CHECK(supply(writer, &old) == 0);
  made = finished(writer, ZCODEC_LAYOUT_APPEND, &old, &count);
  CHECK(count == 0 && made.size == old.size);
  zcodec_chain_free(chain);
}

static void what_is_put_last_wins(void) {
  zcodec_chain *chain = check_chain(SHARDING("", "end", ""), INPUT);
  zcodec_writer *writer = writer_of(chain, &nothing);
  uint8_t expected[24];
  object made;
  size_t count = 0;
  memset(expected, 7, sizeof expected);
  expected[0] = expected[1] = expected[2] = expected[6] = expected[8] = 5;
  expected[7] = 6;
  expected[23] = 8;
  CHECK_OK(put(writer, 0, 0, 1, 1, 4, &error));
  CHECK_OK(put(writer, 0, 0, 2, 3, 5, &error));
  CHECK_OK(put(writer, 1, 1, 1, 1, 6, &error)); /* decodes the inner chunk again */
  CHECK_OK(put(writer, 3, 5, 1, 1, 8, &error));
  CHECK_OK(put(writer, 0, 0, 0, 3, 9, &error)); /* an empty box */
  CHECK(supply(writer, &nothing) == 0);
  made = finished(writer, ZCODEC_LAYOUT_PACKED, &nothing, &count);
  CHECK(count == 3 && decodes_to(chain, &made, expected));
  zcodec_chain_free(chain);
}

static void empty_inner_chunks_are_stored_if_asked(void) {
  zcodec_chain *chain = check_chain(SHARDING("", "end", ""), INPUT);
  zcodec_call_options options;
  zcodec_writer *writer = NULL;
  size_t count = 0;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.flags = ZCODEC_CALL_STORE_EMPTY;
  CHECK_OK(zcodec_writer_new(chain, &options, NULL, 0, &writer, &error));
  CHECK_OK(put(writer, 0, 0, 4, 6, 7, &error));
  CHECK(finished(writer, ZCODEC_LAYOUT_PACKED, &nothing, &count).size == 4 * CHUNK_SIZE + INDEX_SIZE);
  writer = writer_of(chain, &nothing);
  CHECK_OK(put(writer, 0, 0, 4, 6, 7, &error));
  CHECK(finished(writer, ZCODEC_LAYOUT_PACKED, &nothing, &count).size == INDEX_SIZE);
  zcodec_chain_free(chain);
}

static void codecs_before_the_shard_see_what_is_put(void) {
  zcodec_chain *chain =
      check_chain(SHARDING("{\"name\": \"transpose\", \"configuration\": {\"order\": [1, 0]}},"
                           "{\"name\": \"scale_offset\", \"configuration\": {\"offset\": 1, \"scale\": 2}},",
                           "end", ""),
                  "{\"data_type\": \"uint8\", \"shape\": [6, 4], \"fill_value\": 7}");
  zcodec_writer *writer = writer_of(chain, &nothing);
  uint8_t expected[24];
  object old, made;
  size_t count = 0;
  memset(expected, 7, sizeof expected);
  expected[4] = expected[5] = 9;
  CHECK_OK(put(writer, 1, 0, 1, 2, 9, &error));
  CHECK(supply(writer, &nothing) == 0);
  old = finished(writer, ZCODEC_LAYOUT_PACKED, &nothing, &count);
  CHECK(count == 2 && decodes_to(chain, &old, expected));
  expected[8] = expected[4] = 11;
  writer = writer_of(chain, &old);
  CHECK_OK(put(writer, 1, 0, 2, 1, 11, &error));
  CHECK(supply(writer, &old) == 1);
  made = finished(writer, ZCODEC_LAYOUT_PACKED, &old, &count);
  CHECK(decodes_to(chain, &made, expected));
  writer = writer_of(chain, &old);
  CHECK_FAILS(ZCODEC_STATUS_OUT_OF_RANGE, put(writer, 0, 0, 1, 1, 200, &error));
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT, put(writer, 0, 0, 1, 1, 9, &error));
  zcodec_writer_free(writer);
  zcodec_chain_free(chain);
}

static void calls_out_of_order_change_nothing(void) {
  static const uint64_t outside[2] = {3, 5};
  zcodec_chain *chain = check_chain(SHARDING("", "end", ""), INPUT);
  zcodec_box box = box_of(outside, NULL);
  uint8_t row[6];
  zcodec_view view = view_of(row, 1);
  const zcodec_range *ranges = NULL;
  const zcodec_piece *pieces = NULL;
  zcodec_writer *writer = writer_of(chain, &nothing);
  object old;
  size_t count = 0;
  uint64_t size = 0;
  CHECK_OK(put(writer, 0, 0, 2, 3, 1, &error));
  old = finished(writer, ZCODEC_LAYOUT_PACKED, &nothing, &count);

  writer = writer_of(chain, &old);
  CHECK_OK(put(writer, 0, 0, 1, 1, 2, &error));
  view.ndim = 1;
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_writer_put(writer, &box, &view, &error));
  view.ndim = 2;
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_writer_put(writer, NULL, &view, &error));
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT, put(writer, 3, 5, 2, 1, 1, &error));
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_writer_supply(writer, 0, old.bytes, CHUNK_SIZE, &error));
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_writer_finish(writer, 0, &pieces, &count, &size, &error));
  CHECK_OK(put(writer, 1, 1, 1, 1, 3, &error));
  CHECK_OK(zcodec_writer_next(writer, &ranges, &count, &error));
  CHECK(count == 1 && ranges[0].offset == 0 && ranges[0].size == CHUNK_SIZE);
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT, put(writer, 0, 0, 1, 1, 2, &error));
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_writer_next(writer, &ranges, &count, &error));
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_writer_finish(writer, 0, &pieces, &count, &size, &error));
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_writer_supply(writer, 1, old.bytes, CHUNK_SIZE, &error));
  CHECK_OK(zcodec_writer_supply(writer, 0, old.bytes, CHUNK_SIZE, &error));
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_writer_supply(writer, 0, old.bytes, CHUNK_SIZE, &error));
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_writer_finish(writer, 2, &pieces, &count, &size, &error));
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_writer_finish(writer, -1, &pieces, &count, &size, &error));
  CHECK_OK(zcodec_writer_finish(writer, ZCODEC_LAYOUT_PACKED, &pieces, &count, &size, &error));
  CHECK(count == 2 && size == old.size);
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_writer_finish(writer, 0, &pieces, &count, &size, &error));
  CHECK(pieces == NULL && count == 0 && size == 0);
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_writer_next(writer, &ranges, &count, &error));
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_writer_supply(writer, 0, old.bytes, CHUNK_SIZE, &error));
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT, put(writer, 0, 0, 1, 1, 2, &error));
  zcodec_writer_free(writer);
  zcodec_chain_free(chain);
}

static void wrong_bytes_end_the_writer(void) {
  zcodec_chain *chain = check_chain(SHARDING("", "end", ""), INPUT);
  const zcodec_range *ranges = NULL;
  const zcodec_piece *pieces = NULL;
  zcodec_writer *writer = writer_of(chain, &nothing);
  object old;
  size_t count = 0;
  uint64_t size = 0;
  CHECK_OK(put(writer, 0, 0, 4, 6, 1, &error));
  old = finished(writer, ZCODEC_LAYOUT_PACKED, &nothing, &count);
  writer = writer_of(chain, &old);
  CHECK_OK(put(writer, 0, 0, 1, 1, 2, &error));
  CHECK_OK(zcodec_writer_next(writer, &ranges, &count, &error));
  CHECK_FAILS(ZCODEC_STATUS_CORRUPT_DATA, zcodec_writer_supply(writer, 0, old.bytes, CHUNK_SIZE - 1, &error));
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_writer_next(writer, &ranges, &count, &error));
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_writer_finish(writer, 0, &pieces, &count, &size, &error));
  zcodec_writer_free(writer);
  zcodec_chain_free(chain);
}

/* An index whose first inner chunk lies outside the object. */
static void a_hostile_index_is_corrupt_where_it_is_used(void) {
  zcodec_chain *chain = check_chain(
      "[{\"name\": \"sharding_indexed\", \"configuration\": {\"chunk_shape\": [2, 3], \"codecs\": [\"bytes\"],"
      " \"index_codecs\": [{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}]}}]",
      INPUT);
  const zcodec_range *ranges = NULL;
  const zcodec_piece *pieces = NULL;
  zcodec_writer *writer = NULL;
  zcodec_index *index = NULL;
  size_t count = 0;
  uint64_t size = 0;
  uint8_t bytes[64];
  int32_t layout;
  memset(bytes, 0xFF, sizeof bytes);
  memset(bytes, 0, 16);
  bytes[1] = 1;
  bytes[8] = 6;
  CHECK_OK(zcodec_index_decode(chain, bytes, sizeof bytes, ZCODEC_SIZE_UNKNOWN, &index, &error));
  CHECK_FAILS(ZCODEC_STATUS_CORRUPT_DATA, zcodec_writer_new(chain, NULL, index, 63, &writer, &error));
  CHECK(writer == NULL);
  CHECK_OK(zcodec_writer_new(chain, NULL, index, 261, &writer, &error));
  CHECK_OK(put(writer, 0, 0, 1, 1, 2, &error));
  CHECK_FAILS(ZCODEC_STATUS_CORRUPT_DATA, zcodec_writer_next(writer, &ranges, &count, &error));
  zcodec_writer_free(writer);
  for (layout = ZCODEC_LAYOUT_PACKED; layout <= ZCODEC_LAYOUT_APPEND; layout++) {
    CHECK_OK(zcodec_writer_new(chain, NULL, index, 261, &writer, &error));
    CHECK_OK(put(writer, 2, 0, 2, 3, 2, &error));
    CHECK_FAILS(ZCODEC_STATUS_CORRUPT_DATA, zcodec_writer_finish(writer, layout, &pieces, &count, &size, &error));
    zcodec_writer_free(writer);
    /* What is put whole is not looked at. */
    CHECK_OK(zcodec_writer_new(chain, NULL, index, 261, &writer, &error));
    CHECK_OK(put(writer, 0, 0, 2, 3, 2, &error));
    CHECK_OK(zcodec_writer_finish(writer, layout, &pieces, &count, &size, &error));
    CHECK(count == 2);
    zcodec_writer_free(writer);
  }
  zcodec_index_free(index);
  zcodec_chain_free(chain);
}

static void chains_that_have_no_writer_are_refused(void) {
  zcodec_chain *chain = check_chain("[\"bytes\"]", INPUT), *shard = check_chain(SHARDING("", "end", ""), INPUT);
  zcodec_chain *other =
      check_chain(SHARDING("", "end", ""), "{\"data_type\": \"uint8\", \"shape\": [2, 6], \"fill_value\": 7}");
  zcodec_writer *writer = NULL;
  zcodec_index *index = NULL;
  object made;
  size_t count = 0;
  made = finished(writer_of(other, &nothing), ZCODEC_LAYOUT_PACKED, &nothing, &count);
  index = index_of(other, &made);
  CHECK_FAILS(ZCODEC_STATUS_UNSUPPORTED, zcodec_writer_new(chain, NULL, NULL, 0, &writer, &error));
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_writer_new(shard, NULL, index, 100, &writer, &error));
  /* Somebody has appended since the index was read. */
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_writer_new(other, NULL, index, made.size + 8, &writer, &error));
  CHECK_OK(zcodec_writer_new(other, NULL, index, made.size, &writer, &error));
  zcodec_writer_free(writer);
  writer = NULL;
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT,
              zcodec_writer_new(shard, NULL, NULL, ZCODEC_SIZE_UNKNOWN, &writer, &error));
  /* An index that could not be read must not make a new shard of an old one. */
  CHECK_FAILS(ZCODEC_STATUS_INVALID_ARGUMENT, zcodec_writer_new(shard, NULL, NULL, 100, &writer, &error));
  CHECK(writer == NULL);
  CHECK_FAILS(ZCODEC_STATUS_NULL_ARGUMENT, zcodec_writer_new(NULL, NULL, NULL, 0, &writer, &error));
  CHECK_FAILS(ZCODEC_STATUS_NULL_ARGUMENT, zcodec_writer_new(shard, NULL, NULL, 0, NULL, &error));
  CHECK_FAILS(ZCODEC_STATUS_NULL_ARGUMENT, zcodec_writer_put(NULL, NULL, NULL, &error));
  zcodec_index_free(index);
  zcodec_chain_free(chain);
  zcodec_chain_free(other);
  chain = check_chain(SHARDING("", "end", ", \"crc32c\""), INPUT);
  CHECK_FAILS_WITH(ZCODEC_STATUS_UNSUPPORTED, "codecs[1] \"crc32c\": follows sharding_indexed",
                   zcodec_writer_new(chain, NULL, NULL, 0, &writer, &error));
  zcodec_chain_free(chain);
  chain = check_chain(SHARDING("{\"name\": \"numcodecs.delta\", \"configuration\": {\"dtype\": \"|u1\"}},", "end", ""),
                      INPUT);
  CHECK_FAILS_WITH(ZCODEC_STATUS_UNSUPPORTED, "codecs[0] \"numcodecs.delta\": precedes sharding_indexed",
                   zcodec_writer_new(chain, NULL, NULL, 0, &writer, &error));
  zcodec_chain_free(chain);
  chain = check_chain(SHARDING("{\"name\": \"reshape\", \"configuration\": {\"shape\": [4, 6]}},", "end", ""),
                      "{\"data_type\": \"uint8\", \"shape\": [24], \"fill_value\": 7}");
  CHECK_FAILS(ZCODEC_STATUS_UNSUPPORTED, zcodec_writer_new(chain, NULL, NULL, 0, &writer, &error));
  zcodec_chain_free(chain);
  CHECK(writer == NULL);
  zcodec_chain_free(shard);
}

static void without_a_fill_value_new_inner_chunks_are_whole(void) {
  zcodec_chain *chain = check_chain(SHARDING("", "end", ""), WITHOUT_FILL);
  zcodec_writer *writer = writer_of(chain, &nothing);
  const zcodec_range *ranges = NULL;
  size_t count = 0;
  CHECK_OK(put(writer, 0, 0, 1, 3, 1, &error));
  CHECK_OK(put(writer, 1, 0, 1, 3, 1, &error));
  CHECK(supply(writer, &nothing) == 0);
  CHECK(finished(writer, ZCODEC_LAYOUT_PACKED, &nothing, &count).size == CHUNK_SIZE + INDEX_SIZE);
  writer = writer_of(chain, &nothing);
  CHECK_OK(put(writer, 0, 0, 1, 3, 1, &error));
  CHECK_FAILS(ZCODEC_STATUS_UNSUPPORTED, zcodec_writer_next(writer, &ranges, &count, &error));
  zcodec_writer_free(writer);
  zcodec_chain_free(chain);
}

/* What a callback of a writer's or a plan's own call does with it. */
typedef struct reentry {
  zcodec_writer *writer;
  zcodec_plan *plan;
  int uses_alone; /* whether the call that runs the callback has the object for itself */
  int count;
} reentry;

static int32_t use_again(reentry *self) {
  const zcodec_piece *pieces = NULL;
  const zcodec_range *ranges = NULL;
  size_t count = 0;
  uint64_t size = 0;
  self->count++;
  if (self->plan != NULL) {
    CHECK_FAILS_WITH(ZCODEC_STATUS_INVALID_ARGUMENT, "another call is using the plan",
                     zcodec_plan_next(self->plan, &ranges, &count, &error));
    return 0;
  }
  CHECK_FAILS_WITH(ZCODEC_STATUS_INVALID_ARGUMENT, "another call is using the writer",
                   zcodec_writer_next(self->writer, &ranges, &count, &error));
  CHECK_FAILS_WITH(ZCODEC_STATUS_INVALID_ARGUMENT, "another call is using the writer",
                   zcodec_writer_finish(self->writer, ZCODEC_LAYOUT_PACKED, &pieces, &count, &size, &error));
  if (self->uses_alone) {
    CHECK_FAILS_WITH(ZCODEC_STATUS_INVALID_ARGUMENT, "another call is using the writer",
                     put(self->writer, 2, 3, 2, 3, 9, &error));
    CHECK_FAILS_WITH(ZCODEC_STATUS_INVALID_ARGUMENT, "another call is using the writer",
                     zcodec_writer_supply(self->writer, 0, "", 0, &error));
  }
  return 0;
}

static int32_t generate_again(void *user_data, void *call_data, const uint8_t *chunk, size_t chunk_size,
                              uint8_t *padding, size_t padding_size) {
  (void)call_data, (void)chunk, (void)chunk_size;
  memset(padding, 5, padding_size);
  return use_again(user_data);
}

static int32_t check_again(void *user_data, void *call_data, const uint8_t *chunk, size_t chunk_size,
                           const uint8_t *padding, size_t padding_size) {
  (void)call_data, (void)chunk, (void)chunk_size, (void)padding, (void)padding_size;
  return use_again(user_data);
}

static void callbacks_do_not_use_what_runs_them(void) {
  zcodec_chain *chain = check_chain(SHARDING("", "end", ""), INPUT);
  reentry self = {NULL, NULL, 0, 0};
  const zcodec_range *ranges = NULL;
  uint8_t expected[24], decoded[24];
  zcodec_box box = box_of(NULL, NULL);
  zcodec_view view = view_of(decoded, sizeof decoded);
  size_t count = 0, i;
  object made;
  CHECK_OK(zcodec_chain_set_padding_at(chain, "/0/configuration/codecs/1", generate_again, check_again, &self, NULL,
                                       &error));
  self.writer = writer_of(chain, &nothing);
  CHECK_OK(put(self.writer, 0, 0, 2, 3, 1, &error)); /* encodes an inner chunk */
  CHECK(self.count == 1);
  CHECK_OK(put(self.writer, 2, 0, 1, 1, 2, &error));
  self.uses_alone = 1;
  CHECK_OK(zcodec_writer_next(self.writer, &ranges, &count, &error)); /* encodes the other one */
  CHECK(self.count == 2 && count == 0);
  made = finished(self.writer, ZCODEC_LAYOUT_PACKED, &nothing, &count);
  self.writer = writer_of(chain, &nothing);
  CHECK_OK(put(self.writer, 2, 0, 1, 1, 2, &error));
  made = finished(self.writer, ZCODEC_LAYOUT_PACKED, &made, &count); /* so does this, without a zcodec_writer_next */
  CHECK(self.count == 3);

  CHECK_OK(zcodec_plan_new(chain, NULL, &box, &view, 1, made.size, NULL, &self.plan, &error));
  do {
    CHECK_OK(zcodec_plan_next(self.plan, &ranges, &count, &error));
    for (i = 0; i < count; i++) {
      CHECK_OK(zcodec_plan_supply(self.plan, i, made.bytes + ranges[i].offset, (size_t)ranges[i].size, &error));
    }
  } while (count > 0);
  CHECK(self.count == 4);
  memset(expected, 7, sizeof expected);
  expected[12] = 2;
  CHECK(memcmp(decoded, expected, sizeof expected) == 0);
  zcodec_plan_free(self.plan);
  zcodec_chain_free(chain);
}

int main(void) {
  a_new_shard_is_what_encode_makes(SHARDING("", "end", ""));
  a_new_shard_is_what_encode_makes(SHARDING("", "start", ""));
  a_shard_is_changed_in_both_layouts(SHARDING("", "end", ""), 0);
  a_shard_is_changed_in_both_layouts(SHARDING("", "start", ""), 1);
  what_is_put_last_wins();
  empty_inner_chunks_are_stored_if_asked();
  codecs_before_the_shard_see_what_is_put();
  calls_out_of_order_change_nothing();
  wrong_bytes_end_the_writer();
  a_hostile_index_is_corrupt_where_it_is_used();
  chains_that_have_no_writer_are_refused();
  without_a_fill_value_new_inner_chunks_are_whole();
  callbacks_do_not_use_what_runs_them();
  zcodec_writer_free(NULL);
  return check_result("writer");
}
