/* A chain that was used with threads still works in both processes after fork. */
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 512 * 1024, SIZE = 2 * COUNT };

static const char CODECS[] =
    "[{\"name\":\"scale_offset\",\"configuration\":{\"offset\":1}},"
    "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}},\"zstd\",\"gzip\",\"crc32c\","
    "{\"name\":\"pad\",\"configuration\":{\"location\":\"start\",\"nbytes\":4}}]";
static const char INPUT[] = "{\"data_type\":\"int16\",\"shape\":[524288],\"fill_value\":1}";

/* Writes the number of the process. */
static int32_t generate(void *user_data, void *call_data, const uint8_t *chunk, size_t chunk_size, uint8_t *padding,
                        size_t padding_size) {
  const uint32_t process = (uint32_t)getpid();
  (void)user_data;
  (void)call_data;
  (void)chunk;
  (void)chunk_size;
  memcpy(padding, &process, padding_size);
  return 0;
}

static void round_trip(const zcodec_chain *chain) {
  static int16_t decoded[COUNT], again[COUNT];
  static uint8_t encoded[2 * SIZE];
  const uint32_t process = (uint32_t)getpid();
  zcodec_call_options options = {0};
  size_t size = 0, again_size = 0;
  int i;
  options.struct_size = sizeof options;
  options.max_threads = 3;
  for (i = 0; i < COUNT; i++) {
    decoded[i] = (int16_t)(i / 9 % 30000);
  }
  CHECK_OK(zcodec_encode_with(chain, &options, decoded, SIZE, encoded, sizeof encoded, &size, &error));
  CHECK(memcmp(encoded, &process, 4) == 0);
  CHECK_OK(zcodec_decode_with(chain, &options, encoded, size, again, SIZE, &again_size, &error));
  CHECK(again_size == SIZE && memcmp(again, decoded, SIZE) == 0);
  CHECK_FAILS(ZCODEC_STATUS_CORRUPT_DATA,
              zcodec_decode_with(chain, &options, encoded, size / 2, again, SIZE, &again_size, &error));
}

int main(void) {
  zcodec_chain *chain = check_chain(CODECS, INPUT);
  pid_t child;
  int status = -1;
  CHECK_OK(zcodec_chain_set_padding(chain, 5, generate, NULL, NULL, NULL, &error));
  round_trip(chain);
  child = fork();
  if (child == 0) {
    round_trip(chain);
    zcodec_chain_free(chain);
    return check_result("fork, child");
  }
  CHECK(child > 0);
  round_trip(chain);
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS);
  round_trip(chain);
  zcodec_chain_free(chain);
  return check_result("fork");
}
