/* Many threads share one chain: encodes, decodes, chains of other shapes, all with callbacks. */
#include "check.h"

#include <pthread.h>

enum { THREADS = 16, ROUNDS = 150, COUNT = 4096 };

static const char CODECS[] =
    "[{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}},{\"name\":\"bytes\",\"configuration\":{\"endian\":"
    "\"big\"}},"
    "{\"name\":\"zstd\",\"configuration\":{\"level\":1,\"checksum\":true}},\"crc32c\","
    "{\"name\":\"pad\",\"configuration\":{\"location\":\"start\",\"nbytes\":8}}]";
static const char INPUT[] = "{\"data_type\":\"uint16\",\"shape\":[64,64],\"fill_value\":0}";

/* The state of one thread; `id` is the call_data that its callbacks must see. */
typedef struct worker {
  const zcodec_chain *chain;
  uint32_t id;
  int failures;
} worker;

static int32_t generate(void *user_data, void *call_data, const uint8_t *chunk, size_t chunk_size, uint8_t *padding,
                        size_t padding_size) {
  const uint32_t size = (uint32_t)chunk_size;
  (void)chunk;
  if (user_data != (void *)CODECS || padding_size != 8) {
    return 1;
  }
  memcpy(padding, &((const worker *)call_data)->id, 4);
  memcpy(padding + 4, &size, 4);
  return 0;
}

static int32_t check(void *user_data, void *call_data, const uint8_t *chunk, size_t chunk_size, const uint8_t *padding,
                     size_t padding_size) {
  uint8_t expected[8];
  return generate(user_data, call_data, chunk, chunk_size, expected, padding_size) != 0 ||
         memcmp(expected, padding, 8) != 0;
}

static void one_round(worker *self, const zcodec_chain *chain, size_t count, uint32_t round) {
  uint16_t decoded[COUNT], again[COUNT];
  uint8_t encoded[4 * COUNT];
  size_t i, encoded_size = 0, decoded_size = 0;
  zcodec_call_options options = {0};
  options.struct_size = sizeof options;
  options.call_data = self;
  options.max_threads = round % 3;
  for (i = 0; i < count; i++) {
    decoded[i] = (uint16_t)(i * (self->id + 1) + round);
  }
  self->failures += zcodec_encode_with(chain, &options, decoded, count * 2, encoded, sizeof encoded, &encoded_size,
                                       NULL) != ZCODEC_STATUS_OK;
  self->failures += zcodec_decode_with(chain, &options, encoded, encoded_size, again, sizeof again, &decoded_size,
                                       NULL) != ZCODEC_STATUS_OK;
  self->failures += decoded_size != count * 2 || memcmp(decoded, again, count * 2) != 0;
  encoded[0] ^= 1; /* the header of another thread's chunk */
  self->failures += zcodec_decode_with(chain, &options, encoded, encoded_size, again, sizeof again, &decoded_size,
                                       NULL) != ZCODEC_STATUS_CORRUPT_DATA;
}

static void *work(void *argument) {
  static const uint64_t shape[2] = {10, 20};
  worker *self = argument;
  uint32_t round;
  for (round = 0; round < ROUNDS; round++) {
    zcodec_chain *reshaped = NULL;
    one_round(self, self->chain, COUNT, round);
    self->failures += zcodec_chain_with_shape(self->chain, shape, 2, &reshaped, NULL) != ZCODEC_STATUS_OK;
    one_round(self, reshaped, 200, round);
    zcodec_chain_free(reshaped);
  }
  return NULL;
}

int main(void) {
  zcodec_chain *chain = check_chain(CODECS, INPUT);
  pthread_t threads[THREADS];
  worker workers[THREADS];
  uint32_t i;
  CHECK_OK(zcodec_chain_set_padding(chain, 4, generate, check, (void *)CODECS, NULL, &error));
  for (i = 0; i < THREADS; i++) {
    workers[i].chain = chain;
    workers[i].id = i;
    workers[i].failures = 0;
    if (!CHECK(pthread_create(&threads[i], NULL, work, &workers[i]) == 0)) {
      return check_result("threads");
    }
  }
  for (i = 0; i < THREADS; i++) {
    CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(workers[i].failures == 0);
  }
  zcodec_chain_free(chain);
  return check_result("threads");
}
