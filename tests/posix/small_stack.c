/* All of the library on threads with stacks of 64 KiB, and how much of them it takes. Some have more: the encoder of
 * lzma, whose tables a crate builds on the stack, and zfp deep within shards (docs/limits.md); and a program that was
 * compiled with a sanitizer, whose frames are larger. */
#include "check.h"

#include <pthread.h>
#include <sys/mman.h>

#ifndef STACK_KIB
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STACK_KIB 512
#else
#define STACK_KIB 64
#endif
#endif
enum { STACK = STACK_KIB << 10, LARGE_STACK = 2 * STACK, PAGE = 4096, PAINT = 0xA5, MAX_DEPTH = 48, COUNT = 4096 };

typedef struct step {
  void (*run)(const void *argument);
  const void *argument;
} step;

static void *run_step(void *argument) {
  const step *self = (const step *)argument;
  self->run(self->argument);
  return NULL;
}

/* Whether the documents say that these codecs need more: lzma, and zfp in more than five shards of four dimensions. */
static int needs_more(const char *codecs) {
  int depth = 0;
  const char *at = codecs;
  while ((at = strstr(at, "\"chunk_shape\":[4,4,4,4]")) != NULL) {
    depth++;
    at++;
  }
  return strstr(codecs, "numcodecs.lzma") != NULL || depth > 5;
}

/* Runs it on a stack of its own, above a page that nobody may touch, and prints the most that was in use. */
static void on_small_stack(const char *name, void (*run)(const void *argument), const void *argument) {
  step self;
  void *memory = NULL;
  uint8_t *stack;
  const size_t size = needs_more(name) ? LARGE_STACK : STACK;
  size_t untouched = 0;
  pthread_attr_t attributes;
  pthread_t thread;
  self.run = run;
  self.argument = argument;
  if (!CHECK(posix_memalign(&memory, PAGE, size + PAGE) == 0) || !CHECK(mprotect(memory, PAGE, PROT_NONE) == 0)) {
    exit(EXIT_FAILURE);
  }
  stack = (uint8_t *)memory + PAGE;
  memset(stack, PAINT, size);
  CHECK(pthread_attr_init(&attributes) == 0);
  CHECK(pthread_attr_setstack(&attributes, stack, size) == 0);
  if (CHECK(pthread_create(&thread, &attributes, run_step, &self) == 0)) {
    CHECK(pthread_join(thread, NULL) == 0);
  }
  pthread_attr_destroy(&attributes);
  while (untouched < size && stack[untouched] == PAINT) {
    untouched++;
  }
  printf("%6lu bytes of stack: %s\n", (unsigned long)(size - untouched), name);
  CHECK(mprotect(memory, PAGE, PROT_READ | PROT_WRITE) == 0);
  free(memory);
}

/* Text with this many arrays or objects in one another in place of the %s. */
static char *nested(const char *format, int depth, int is_object) {
  char *inner = (char *)malloc(16 * (size_t)depth + 16), *text = (char *)malloc(16 * (size_t)depth + 500);
  char *end = inner;
  int i;
  for (i = 0; i < depth; i++) {
    end += sprintf(end, "%s", is_object ? "{\"a\":" : "[");
  }
  end += sprintf(end, "1");
  for (i = 0; i < depth; i++) {
    *end++ = is_object ? '}' : ']';
  }
  *end = '\0';
  sprintf(text, format, inner);
  free(inner);
  return text;
}

/* What becomes of metadata that are nested as deep as may be, and of deeper ones. */
static void deep_json(const void *argument) {
  static const char INPUT[] = "{\"data_type\":\"uint8\",\"shape\":[4],\"fill_value\":0}";
  const int is_object = *(const int *)argument;
  int deeper;
  zcodec_buffer *json = NULL;
  zcodec_chain *chain;
  char *text = nested("[{\"name\":\"x\",\"must_understand\":false,\"configuration\":{\"a\":%s}},\"bytes\"]",
                      MAX_DEPTH - 3, is_object);
  chain = check_chain(text, INPUT);
  CHECK_OK(zcodec_chain_codecs_json(chain, &json, &error));
  zcodec_buffer_free(json);
  CHECK_OK(zcodec_chain_warnings_json(chain, &json, &error));
  zcodec_buffer_free(json);
  zcodec_chain_free(chain);
  free(text);

  /* Shown in a message. */
  text = nested("[{\"name\":\"bytes\",\"configuration\":{\"a\":%s}}]", MAX_DEPTH - 3, is_object);
  CHECK_FAILS(ZCODEC_STATUS_INVALID_METADATA,
              zcodec_chain_new(text, strlen(text), INPUT, strlen(INPUT), &chain, &error));
  free(text);
  text = nested("{\"data_type\":\"uint8\",\"shape\":[4],\"fill_value\":%s}", MAX_DEPTH - 1, is_object);
  CHECK_FAILS(ZCODEC_STATUS_INVALID_METADATA, zcodec_chain_new("[\"bytes\"]", 9, text, strlen(text), &chain, &error));
  free(text);
  text = nested("{\"data_type\":%s,\"shape\":[4],\"fill_value\":0}", MAX_DEPTH - 1, is_object);
  CHECK_FAILS(ZCODEC_STATUS_INVALID_METADATA, zcodec_chain_new("[\"bytes\"]", 9, text, strlen(text), &chain, &error));
  free(text);

  text = nested(
      "{\"zarr_format\":3,\"node_type\":\"array\",\"data_type\":\"uint8\",\"shape\":[9],\"fill_value\":0,"
      "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[4]}},\"codecs\":[\"bytes\"],"
      "\"chunk_key_encoding\":\"default\",\"attributes\":%s}",
      MAX_DEPTH - 1, is_object);
  CHECK_OK(zcodec_chain_from_zarr_json(text, strlen(text), &chain, &error));
  zcodec_chain_free(chain);
  free(text);

  for (deeper = 1; deeper <= 100000; deeper *= 10) {
    text = nested("%s", MAX_DEPTH + deeper, is_object);
    CHECK_FAILS(ZCODEC_STATUS_INVALID_METADATA,
                zcodec_chain_new(text, strlen(text), INPUT, strlen(INPUT), &chain, &error));
    free(text);
  }
}

/* A box of 3 by 5 elements, with room between its rows, is what the chunk of 64 by 64 has there. */
static void check_box(const zcodec_chain *chain, const uint8_t *encoded, size_t encoded_size, const uint8_t *decoded) {
  static uint8_t memory[3 * 6 * 8];
  static const uint64_t start[] = {40, 7}, shape[] = {3, 5};
  int64_t strides[2];
  size_t size = 0, row, column;
  zcodec_box box = {sizeof box, 2, NULL, NULL};
  zcodec_view view = {sizeof view, NULL, sizeof memory, 0, 2, NULL};
  CHECK_STATUS(ZCODEC_STATUS_OK, zcodec_chain_element_size(chain, &size));
  strides[0] = (int64_t)(6 * size);
  strides[1] = (int64_t)size;
  box.start = start;
  box.shape = shape;
  view.memory = memory;
  view.strides = strides;
  CHECK_OK(zcodec_decode_view(chain, NULL, encoded, encoded_size, &box, &view, &error));
  for (row = 0; row < shape[0]; row++) {
    for (column = 0; column < shape[1]; column++) {
      const size_t place = (row + start[0]) * 64 + column + start[1];
      CHECK(memcmp(memory + (row * 6 + column) * size, decoded + place * size, size) == 0);
    }
  }
}

/* Small numbers, and as floating point also subnormal ones. */
static void fill(uint8_t *bytes, size_t size) {
  size_t i;
  for (i = 0; i < size; i++) {
    bytes[i] = (uint8_t)(i * i / 7 % 100);
  }
}

static void round_trip(const void *argument) {
  static uint8_t decoded[COUNT * 8], again[COUNT * 8], encoded[COUNT * 20];
  const char *const *list = (const char *const *)argument;
  zcodec_chain *chain = check_chain(list[0], list[1]);
  zcodec_chain *another = NULL;
  const uint64_t shape[] = {32, 48}, whole[] = {64, 64};
  size_t i, size = 0, encoded_size = 0, again_size = 0;
  CHECK_STATUS(ZCODEC_STATUS_OK, zcodec_chain_decoded_size(chain, &size));
  fill(decoded, size);
  if (strstr(list[1], "\"bool\"") != NULL) {
    for (i = 0; i < size; i++) {
      decoded[i] &= 1;
    }
  }
  CHECK_OK(zcodec_encode(chain, decoded, size, encoded, sizeof encoded, &encoded_size, &error));
  CHECK_OK(zcodec_decode(chain, encoded, encoded_size, again, size, &again_size, &error));
  CHECK(again_size == size);
  check_box(chain, encoded, encoded_size, again);
  encoded[encoded_size / 2] ^= 255;
  zcodec_decode(chain, encoded, encoded_size, again, size, &again_size, NULL);
  CHECK_FAILS(ZCODEC_STATUS_BUFFER_TOO_SMALL, zcodec_encode(chain, decoded, size, encoded, 1, &encoded_size, &error));
  CHECK_OK(zcodec_chain_with_shape(chain, strstr(list[0], "[64,64]") ? whole : shape, 2, &another, &error));
  zcodec_chain_free(another);
  zcodec_chain_free(chain);
}

/* A shard made by a writer, and read by a plan. */
static void plan_and_writer(const void *argument) {
  static uint8_t decoded[COUNT * 8], again[COUNT * 8], object[COUNT * 20];
  const char *const *list = (const char *const *)argument;
  static const uint64_t start[] = {0, 0}, shape[] = {64, 64};
  zcodec_chain *chain = check_chain(list[0], list[1]);
  zcodec_box box = {sizeof box, 2, NULL, NULL};
  zcodec_view view = {sizeof view, NULL, 0, 0, 2, NULL};
  zcodec_writer *writer = NULL;
  zcodec_plan *plan = NULL;
  const zcodec_piece *pieces = NULL;
  const zcodec_range *ranges = NULL;
  uint64_t object_size = 0;
  size_t i, size = 0, count = 0;
  CHECK_STATUS(ZCODEC_STATUS_OK, zcodec_chain_decoded_size(chain, &size));
  for (i = 0; i < size; i++) {
    decoded[i] = (uint8_t)(i * i / 7);
  }
  box.start = start;
  box.shape = shape;
  view.memory = decoded;
  view.memory_size = size;
  CHECK_OK(zcodec_writer_new(chain, NULL, NULL, 0, &writer, &error));
  CHECK_OK(zcodec_writer_put(writer, &box, &view, &error));
  CHECK_OK(zcodec_writer_next(writer, &ranges, &count, &error));
  CHECK(count == 0);
  CHECK_OK(zcodec_writer_finish(writer, ZCODEC_LAYOUT_PACKED, &pieces, &count, &object_size, &error));
  CHECK(object_size <= sizeof object);
  for (i = 0; i < count; i++) {
    memcpy(object + pieces[i].offset, pieces[i].data, (size_t)pieces[i].size);
  }
  zcodec_writer_free(writer);

  view.memory = again;
  CHECK_OK(zcodec_plan_new(chain, NULL, &box, &view, 1, object_size, NULL, &plan, &error));
  for (;;) {
    CHECK_OK(zcodec_plan_next(plan, &ranges, &count, &error));
    if (count == 0) {
      break;
    }
    for (i = 0; i < count; i++) {
      CHECK_OK(zcodec_plan_supply(plan, i, object + ranges[i].offset, (size_t)ranges[i].size, &error));
    }
  }
  zcodec_plan_free(plan);
  CHECK(memcmp(decoded, again, size) == 0);
  zcodec_chain_free(chain);
}

/* Arrays of any rank, and documents of Zarr v2 ("{"). */
static void any_array(const void *argument) {
  static uint8_t decoded[COUNT * 8], encoded[COUNT * 20];
  const char *const *list = (const char *const *)argument;
  zcodec_chain *chain = NULL;
  size_t size = 0, encoded_size = 0, again_size = 0;
  if (list[0][0] == '{') {
    CHECK_OK(zcodec_chain_from_zarr_json(list[0], strlen(list[0]), &chain, &error));
  } else {
    chain = check_chain(list[0], list[1]);
  }
  CHECK_STATUS(ZCODEC_STATUS_OK, zcodec_chain_decoded_size(chain, &size));
  CHECK(size == sizeof decoded);
  memset(decoded, 1, size);
  CHECK_OK(zcodec_encode(chain, decoded, size, encoded, sizeof encoded, &encoded_size, &error));
  CHECK_OK(zcodec_decode(chain, encoded, encoded_size, decoded, size, &again_size, &error));
  CHECK(again_size == size);
  zcodec_chain_free(chain);
}

/* Bytes, with less room than they need, too. */
static void bytes_to_bytes(const void *argument) {
  static uint8_t decoded[COUNT], again[COUNT], encoded[COUNT * 2];
  zcodec_chain *chain = check_chain((const char *)argument, NULL);
  size_t encoded_size = 0, again_size = 0;
  fill(decoded, sizeof decoded);
  CHECK_OK(zcodec_encode(chain, decoded, sizeof decoded, encoded, sizeof encoded, &encoded_size, &error));
  CHECK_FAILS(ZCODEC_STATUS_BUFFER_TOO_SMALL,
              zcodec_decode(chain, encoded, encoded_size, again, 1, &again_size, &error));
  CHECK(again_size == sizeof decoded);
  CHECK_OK(zcodec_decode(chain, encoded, encoded_size, again, sizeof again, &again_size, &error));
  CHECK(again_size == sizeof decoded && memcmp(again, decoded, sizeof decoded) == 0);
  zcodec_chain_free(chain);
}

/* Tasks both ways, on the calling thread. */
static void tasks_of_two_chunks(const void *argument) {
  enum { ROWS = 64, BOUND = 2 * COUNT };
  static uint8_t decoded[2][COUNT], encoded[2][BOUND];
  static const int64_t strides[] = {ROWS, 1};
  const char *const *list = (const char *const *)argument;
  zcodec_chain *chain = check_chain(list[0], list[1]);
  zcodec_view views[2];
  zcodec_task tasks[2];
  int i;
  for (i = 0; i < 2; i++) {
    const zcodec_view view = {sizeof view, decoded[i], COUNT, 0, 2, strides};
    memset(decoded[i], 7 * i, COUNT);
    memset(&tasks[i], 0, sizeof tasks[i]);
    views[i] = view;
    tasks[i].struct_size = sizeof tasks[i];
    tasks[i].chain = chain;
    tasks[i].view = &views[i];
    tasks[i].encoded_to = encoded[i];
    tasks[i].encoded_capacity = BOUND;
  }
  CHECK_STATUS(ZCODEC_STATUS_OK, zcodec_encode_tasks(tasks, 2, NULL));
  for (i = 0; i < 2; i++) {
    memset(decoded[i], 99, COUNT);
    tasks[i].encoded = encoded[i];
  }
  CHECK_STATUS(ZCODEC_STATUS_OK, zcodec_decode_tasks(tasks, 2, NULL));
  CHECK(decoded[0][COUNT - 1] == 0 && decoded[1][COUNT - 1] == 7);
  zcodec_chain_free(chain);
}

#define LITTLE "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}"
#define CODEC(name, configuration) "{\"name\":\"" name "\",\"configuration\":" configuration "}"
#define COMPRESSED(name, configuration) "[" LITTLE "," CODEC(name, configuration) "]"
#define BLOSC(cname, level, shuffle)                                                         \
  COMPRESSED("blosc", "{\"cname\":\"" cname "\",\"clevel\":" level ",\"shuffle\":\"" shuffle \
                      "\",\"typesize\":4,\"blocksize\":0}")
#define SHARD(chunk_shape, codecs) \
  CODEC("sharding_indexed",        \
        "{\"chunk_shape\":" chunk_shape ",\"codecs\":" codecs ",\"index_codecs\":[" LITTLE ",\"crc32c\"]}")
#define SHARDS(chunk_shape, codecs) "[" SHARD(chunk_shape, codecs) "]"
#define CAST_SHARDS(data_type, codecs) \
  "[" CODEC("cast_value", "{\"data_type\":\"" data_type "\"}") "," SHARD("[64,64]", codecs) "]"
#define IN_TWO_CASTS(codecs) CAST_SHARDS("int32", CAST_SHARDS("int16", codecs))
#define IN_TWO(codecs) SHARDS("[64,64]", SHARDS("[64,64]", codecs))
/* As deep as codecs may be nested. */
#define IN_EIGHT(codecs) IN_TWO(IN_TWO(IN_TWO(IN_TWO(codecs))))
#define IN_FOUR_CASTS(codecs) IN_TWO_CASTS(IN_TWO_CASTS(codecs))
#define IN_CUBES(codecs) SHARDS("[4,4,4,4]", codecs)
#define IN_FIVE_CUBES(codecs) IN_CUBES(IN_CUBES(IN_CUBES(IN_CUBES(IN_CUBES(codecs)))))
#define ARRAY(data_type) "{\"data_type\":\"" data_type "\",\"shape\":[64,64],\"fill_value\":1}"

int main(void) {
  static const char *const lists[][2] = {
      {"[\"bytes\"]", ARRAY("uint8")},
      {"[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}},\"crc32c\"]", ARRAY("float64")},
      {"[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}},"
       "{\"name\":\"gzip\",\"configuration\":{\"level\":1}}]",
       ARRAY("int16")},
      {"[\"bytes\",{\"name\":\"gzip\",\"configuration\":{\"level\":9}}]", ARRAY("int8")},
      {"[\"bytes\",{\"name\":\"zstd\",\"configuration\":{\"level\":-5}}]", ARRAY("uint8")},
      {"[\"bytes\",{\"name\":\"zstd\",\"configuration\":{\"level\":3,\"checksum\":true}}]", ARRAY("uint8")},
      {"[\"bytes\",{\"name\":\"zstd\",\"configuration\":{\"level\":22}}]", ARRAY("uint8")},
      {"[{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}},"
       "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}]",
       ARRAY("int64")},
      {"[{\"name\":\"scale_offset\",\"configuration\":{\"offset\":1,\"scale\":2}},"
       "{\"name\":\"cast_value\",\"configuration\":{\"data_type\":\"uint8\",\"out_of_range\":\"clamp\","
       "\"scalar_map\":{\"encode\":[[\"NaN\",0]]}}},\"packbits\"]",
       ARRAY("float32")},
      {"[{\"name\":\"cast_value\",\"configuration\":{\"data_type\":\"float16\"}},"
       "\"packbits\"]",
       ARRAY("uint8")},
      {"[{\"name\":\"zfp\",\"configuration\":{\"mode\":\"reversible\"}}]", ARRAY("float64")},
      {"[{\"name\":\"zfp\",\"configuration\":{\"mode\":\"fixed_rate\",\"rate\":12.5}}]", ARRAY("float32")},
      {"[{\"name\":\"zfp\",\"configuration\":{\"mode\":\"fixed_accuracy\",\"tolerance\":0.01}}]", ARRAY("float64")},
      {"[" CODEC("bitround", "{\"keepbits\":5}") "," LITTLE "]", ARRAY("float32")},
      {BLOSC("blosclz", "9", "shuffle"), ARRAY("float32")},
      {BLOSC("lz4", "5", "bitshuffle"), ARRAY("float32")},
      {BLOSC("lz4hc", "9", "shuffle"), ARRAY("float32")},
      {BLOSC("snappy", "5", "shuffle"), ARRAY("float32")},
      {BLOSC("zlib", "9", "shuffle"), ARRAY("float32")},
      {BLOSC("zstd", "9", "bitshuffle"), ARRAY("float32")},
      {"[" CODEC("sharding_indexed", "{\"chunk_shape\":[8,16],\"codecs\":[" LITTLE
                                     ",\"crc32c\"],\"index_codecs\":[" LITTLE ",\"crc32c\"]}") "]",
       ARRAY("float64")},
      {"[" CODEC("reshape", "{\"shape\":[[0,1]]}") "," LITTLE "]", ARRAY("int64")},
      {COMPRESSED("pad", "{\"location\":\"end\",\"nbytes\":100}"), ARRAY("uint16")},
      {COMPRESSED("offset", "{\"offset\":3,\"prefix\":\"AAAA\"}"), ARRAY("uint16")},
      {COMPRESSED("conditional", "{\"codecs\":[" CODEC("numcodecs.shuffle", "{\"elementsize\":2}") "," CODEC(
                                     "zstd", "{\"level\":19}") ",\"crc32c\"]}"),
       ARRAY("uint16")},
      {COMPRESSED("numcodecs.blosc", "{\"cname\":\"zstd\",\"clevel\":3,\"shuffle\":2}"), ARRAY("uint16")},
      {COMPRESSED("numcodecs.lz4", "{}"), ARRAY("uint16")},
      {COMPRESSED("numcodecs.zstd", "{\"level\":22}"), ARRAY("uint16")},
      {COMPRESSED("numcodecs.zlib", "{\"level\":9}"), ARRAY("uint16")},
      {COMPRESSED("numcodecs.gzip", "{\"level\":6}"), ARRAY("uint16")},
      {COMPRESSED("numcodecs.bz2", "{\"level\":9}"), ARRAY("uint16")},
      {COMPRESSED("numcodecs.lzma", "{\"format\":1,\"check\":4,\"preset\":6}"), ARRAY("uint16")},
      {COMPRESSED("numcodecs.lzma", "{\"format\":2}"), ARRAY("uint16")},
      {COMPRESSED("numcodecs.lzma", "{\"format\":3,\"filters\":[{\"id\":3,\"dist\":2},{\"id\":33,\"preset\":1}]}"),
       ARRAY("uint16")},
      {COMPRESSED("numcodecs.shuffle", "{\"elementsize\":8}"), ARRAY("float64")},
      {COMPRESSED("numcodecs.fletcher32", "{}"), ARRAY("uint16")},
      {COMPRESSED("numcodecs.jenkins_lookup3", "{}"), ARRAY("uint16")},
      {COMPRESSED("numcodecs.crc32", "{}"), ARRAY("uint16")},
      {COMPRESSED("numcodecs.crc32c", "{}"), ARRAY("uint16")},
      {COMPRESSED("numcodecs.adler32", "{}"), ARRAY("uint16")},
      {"[" CODEC("numcodecs.delta", "{\"dtype\":\"<i4\"}") "," LITTLE "]", ARRAY("int32")},
      {"[" CODEC("numcodecs.fixedscaleoffset",
                 "{\"offset\":1,\"scale\":2,\"dtype\":\"<u2\",\"astype\":\"<i4\"}") "," LITTLE "]",
       ARRAY("uint16")},
      {"[" CODEC("numcodecs.quantize", "{\"digits\":3,\"dtype\":\"<f8\"}") "," LITTLE "]", ARRAY("float64")},
      {"[" CODEC("numcodecs.bitround", "{\"keepbits\":5}") "," LITTLE "]", ARRAY("float64")},
      {"[" CODEC("numcodecs.astype", "{\"encode_dtype\":\"<f8\",\"decode_dtype\":\"<i4\"}") "," LITTLE "]",
       ARRAY("int32")},
      {"[\"numcodecs.packbits\",\"bytes\"]", "{\"data_type\":\"bool\",\"shape\":[64,64],\"fill_value\":true}"},
      {"[\"numcodecs.pcodec\"]", ARRAY("float64")},
      {"[" CODEC("numcodecs.pcodec", "{\"level\":12}") "]", ARRAY("uint16")},
      {"[" CODEC("numcodecs.zfpy", "{\"mode\":4,\"tolerance\":0.01}") "]", ARRAY("float64")},
      {"[" CODEC("n5_default", "{\"codecs\":[" CODEC("transpose", "{\"order\":[1,0]}") "," CODEC(
                                   "bytes", "{\"endian\":\"big\"}") "," CODEC("gzip", "{\"level\":5}") "]}") "]",
       ARRAY("uint16")},
  };
  static const char *const shards[][2] = {
      {SHARDS("[8,16]", "[\"bytes\"]"), ARRAY("uint8")},
      {SHARDS("[8,16]", "[" CODEC("transpose", "{\"order\":[1,0]}") "," LITTLE "," CODEC("zstd", "{\"level\":19}") "]"),
       ARRAY("int64")},
      {IN_EIGHT(BLOSC("zstd", "9", "bitshuffle")), ARRAY("float32")},
      {IN_EIGHT("[" CODEC("cast_value", "{\"data_type\":\"int16\"}") "," LITTLE "]"), ARRAY("uint8")},
      {IN_EIGHT("[" CODEC("cast_value", "{\"data_type\":\"int16\"}") "," CODEC("scale_offset",
                                                                               "{\"scale\":2}") "," LITTLE "]"),
       ARRAY("uint8")},
      {IN_FOUR_CASTS("[" LITTLE "]"), ARRAY("uint8")},
      {IN_EIGHT("[\"numcodecs.pcodec\"]"), ARRAY("uint16")},
      {IN_EIGHT("[\"numcodecs.pcodec\"]"), ARRAY("float64")},
      {IN_EIGHT("[" CODEC("numcodecs.pcodec", "{\"level\":12}") "]"), ARRAY("int64")},
      {IN_EIGHT(
           COMPRESSED("numcodecs.lzma", "{\"format\":3,\"filters\":[{\"id\":3,\"dist\":2},{\"id\":33,\"preset\":1}]}")),
       ARRAY("uint16")},
  };
  static const char *const arrays[][2] = {
      {"[" CODEC("zfp", "{\"mode\":\"reversible\"}") "]",
       "{\"data_type\":\"float64\",\"shape\":[4096],\"fill_value\":0}"},
      {"[" CODEC("zfp", "{\"mode\":\"fixed_precision\",\"precision\":30}") "]",
       "{\"data_type\":\"int64\",\"shape\":[16,16,16],\"fill_value\":0}"},
      {"[" CODEC("zfp", "{\"mode\":\"fixed_rate\",\"rate\":9}") "]",
       "{\"data_type\":\"float64\",\"shape\":[8,8,8,8],\"fill_value\":0}"},
      {IN_FIVE_CUBES("[" CODEC("zfp", "{\"mode\":\"reversible\"}") "]"),
       "{\"data_type\":\"float64\",\"shape\":[8,8,8,8],\"fill_value\":0}"},
      {IN_CUBES(IN_CUBES(IN_CUBES(IN_FIVE_CUBES("[" CODEC("zfp", "{\"mode\":\"fixed_rate\",\"rate\":9}") "]")))),
       "{\"data_type\":\"float64\",\"shape\":[8,8,8,8],\"fill_value\":0}"},
      {"{\"zarr_format\":2,\"shape\":[4096],\"chunks\":[4096],\"dtype\":\">i8\",\"order\":\"F\",\"fill_value\":0,"
       "\"filters\":[{\"id\":\"delta\",\"dtype\":\">i8\"}],\"compressor\":{\"id\":\"blosc\",\"cname\":\"zstd\","
       "\"clevel\":5,\"shuffle\":2,\"blocksize\":0}}",
       NULL},
  };
  static const char *const bytes[] = {
      "[\"gzip\"]",
      "[\"zstd\"]",
      "[\"zstd\",\"crc32c\",\"gzip\"]",
      "[" CODEC("blosc", "{\"cname\":\"lz4\",\"clevel\":5,\"shuffle\":\"shuffle\",\"typesize\":4,\"blocksize\":0}") "]",
      "[\"numcodecs.lz4\"]",
      "[\"numcodecs.zlib\"]",
      "[\"numcodecs.bz2\"]",
      "[\"numcodecs.lzma\"]",
      "[" CODEC("conditional", "{\"codecs\":[\"zstd\"]}") "]",
  };
  static const char *const tasks[] = {"[\"bytes\",\"gzip\"]", ARRAY("uint8")};
  static const int shapes[] = {0, 1};
  size_t i;
  on_small_stack("nested arrays", deep_json, &shapes[0]);
  on_small_stack("nested objects", deep_json, &shapes[1]);
  for (i = 0; i < sizeof lists / sizeof *lists; i++) {
    on_small_stack(lists[i][0], round_trip, lists[i]);
  }
  for (i = 0; i < sizeof shards / sizeof *shards; i++) {
    on_small_stack(shards[i][0], round_trip, shards[i]);
    on_small_stack(shards[i][0], plan_and_writer, shards[i]);
  }
  for (i = 0; i < sizeof arrays / sizeof *arrays; i++) {
    on_small_stack(arrays[i][0], any_array, arrays[i]);
  }
  for (i = 0; i < sizeof bytes / sizeof *bytes; i++) {
    on_small_stack(bytes[i], bytes_to_bytes, bytes[i]);
  }
  on_small_stack("tasks", tasks_of_two_chunks, tasks);
  return check_result("small_stack");
}
