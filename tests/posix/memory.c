/* A limited address space: allocations of the size of a chunk fail with a status, and the claims of crafted input
 * allocate nothing.
 */
#include "check.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { SIDE = 8192, SIZE = SIDE * SIDE, ROOM = 32 << 20 };

#define BYTES "\"bytes\""
#define TRANSPOSE "{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}}"
#define ZFP "{\"name\":\"zfp\",\"configuration\":{\"mode\":\"reversible\"}}"

/* Limits the address space to the part in use plus this many bytes. */
static void leave(size_t room) {
  struct rlimit limit;
  unsigned long pages = 0;
  FILE *usage = fopen("/proc/self/statm", "r");
  if (usage == NULL || fscanf(usage, "%lu", &pages) != 1 || getrlimit(RLIMIT_AS, &limit) != 0) {
    fprintf(stderr, "memory: how much address space is in use cannot be told\n");
    exit(EXIT_FAILURE);
  }
  fclose(usage);
  limit.rlim_cur = (rlim_t)pages * 4096 + room;
  CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
}

static void leave_all(void) {
  struct rlimit limit;
  CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
  limit.rlim_cur = limit.rlim_max;
  CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
}

/* A chain for an array of bytes, SIDE by SIDE. */
static zcodec_chain *chain_of(const char *codecs, const char *data_type, int side) {
  char input[100];
  snprintf(input, sizeof input, "{\"data_type\":\"%s\",\"shape\":[%d,%d],\"fill_value\":0}", data_type, side, side);
  return check_chain(codecs, input);
}

static void large_chunks_need_memory(uint8_t *decoded, uint8_t *encoded) {
  static const char *const lists[] = {
      "[" BYTES "]",
      "[" BYTES ",\"gzip\"]",
      "[" BYTES ",{\"name\":\"zstd\",\"configuration\":{\"level\":1}}]",
      "[" TRANSPOSE "," BYTES ",\"crc32c\"]",
      "[" TRANSPOSE "," BYTES ",\"zstd\"]",
      "[" ZFP "]",
      "[{\"name\":\"cast_value\",\"configuration\":{\"data_type\":\"uint8\"}},\"packbits\"]",
  };
  size_t i;
  for (i = 0; i < sizeof lists / sizeof *lists; i++) {
    const char *data_type = strstr(lists[i], "zfp") != NULL ? "int32" : "uint8";
    zcodec_chain *chain = chain_of(lists[i], data_type, strstr(lists[i], "zfp") != NULL ? SIDE / 2 : SIDE);
    zcodec_buffer *buffer = (zcodec_buffer *)&checks_made;
    size_t size = 0;
    leave(ROOM);
    CHECK_FAILS(ZCODEC_STATUS_OUT_OF_MEMORY, zcodec_encode_to_buffer(chain, decoded, SIZE, &buffer, &error));
    CHECK(buffer == NULL);
    leave_all();
    /* The same chain still works. */
    CHECK_OK(zcodec_encode(chain, decoded, SIZE, encoded, SIZE + SIZE / 4, &size, &error));
    leave(ROOM);
    CHECK_FAILS(ZCODEC_STATUS_OUT_OF_MEMORY, zcodec_decode_to_buffer(chain, encoded, size, &buffer, &error));
    CHECK(buffer == NULL);
    leave_all();
    CHECK_OK(zcodec_decode_to_buffer(chain, encoded, size, &buffer, &error));
    CHECK(zcodec_buffer_size(buffer) == SIZE && memcmp(zcodec_buffer_data(buffer), decoded, SIZE) == 0);
    zcodec_buffer_free(buffer);
    zcodec_chain_free(chain);
  }
}

/* Between two passes: the caller's buffers are there, the chain's are not. */
static void scratch_memory_is_memory_too(uint8_t *decoded, uint8_t *encoded) {
  zcodec_chain *chain = chain_of("[" TRANSPOSE "," BYTES ",\"zstd\"]", "uint8", SIDE);
  size_t size = 99;
  leave(ROOM);
  CHECK_FAILS(ZCODEC_STATUS_OUT_OF_MEMORY,
              zcodec_encode(chain, decoded, SIZE, encoded, SIZE + SIZE / 4, &size, &error));
  CHECK(size == 0);
  leave_all();
  CHECK_OK(zcodec_encode(chain, decoded, SIZE, encoded, SIZE + SIZE / 4, &size, &error));
  zcodec_chain_free(chain);
}

/* How much a stream decodes to is guessed at first. */
static void less_memory_than_guessed_may_do(uint8_t *decoded, uint8_t *encoded) {
  static const char *const lists[] = {"[\"crc32c\"]", "[{\"name\":\"gzip\",\"configuration\":{\"level\":0}}]"};
  size_t i;
  for (i = 0; i < sizeof lists / sizeof *lists; i++) {
    zcodec_chain *chain = check_chain(lists[i], NULL);
    zcodec_buffer *buffer = NULL;
    size_t size = 0;
    CHECK_OK(zcodec_encode(chain, decoded, SIZE, encoded, SIZE + SIZE / 4, &size, &error));
    leave(SIZE * (i + 1) + ROOM);
    CHECK_OK(zcodec_decode_to_buffer(chain, encoded, size, &buffer, &error));
    leave_all();
    CHECK(zcodec_buffer_size(buffer) == SIZE && memcmp(zcodec_buffer_data(buffer), decoded, SIZE) == 0);
    zcodec_buffer_free(buffer);
    zcodec_chain_free(chain);
  }
}

/* Decodes with little memory into an array of 4 bytes. */
static void claims(const char *codecs, const void *encoded, size_t encoded_size, zcodec_status expected) {
  zcodec_chain *chain = check_chain(codecs, "{\"data_type\":\"uint8\",\"shape\":[4],\"fill_value\":0}");
  zcodec_buffer *buffer = NULL;
  leave(ROOM);
  CHECK_STATUS(expected, zcodec_decode_to_buffer(chain, encoded, encoded_size, &buffer, NULL));
  CHECK((buffer != NULL) == (expected == ZCODEC_STATUS_OK));
  CHECK(buffer == NULL || memcmp(zcodec_buffer_data(buffer), "abcd", 4) == 0);
  leave_all();
  zcodec_buffer_free(buffer);
  zcodec_chain_free(chain);
}

static void what_encoded_bytes_claim_takes_no_memory(uint8_t *decoded, uint8_t *encoded) {
  /* RFC 8878: magic number, descriptor, window, blocks. Windows of 2 GiB and of 3.75 TB, around 4 plain bytes. */
  static const uint8_t window_31[] = {0x28, 0xB5, 0x2F, 0xFD, 0x00, 0xA8, 0x21, 0, 0, 'a', 'b', 'c', 'd'};
  static const uint8_t window_41[] = {0x28, 0xB5, 0x2F, 0xFD, 0x00, 0xFF, 0x21, 0, 0, 'a', 'b', 'c', 'd'};
  /* A content size of 2^56 bytes. */
  static const uint8_t content[] = {0x28, 0xB5, 0x2F, 0xFD, 0xE0, 0, 0,   0,   0,   0,
                                    0,    0,    1,    0x21, 0,    0, 'a', 'b', 'c', 'd'};
  static const char *const names[] = {"gzip", "zstd"};
  int i;
  claims("[" BYTES ",\"zstd\"]", window_31, sizeof window_31, ZCODEC_STATUS_OK);
  claims("[" BYTES ",\"zstd\"]", window_41, sizeof window_41, ZCODEC_STATUS_CORRUPT_DATA);
  claims("[" BYTES ",\"zstd\"]", content, sizeof content, ZCODEC_STATUS_CORRUPT_DATA);
  memset(decoded, 0, SIZE);
  for (i = 0; i < 2; i++) {
    char codecs[100];
    size_t size = 0;
    zcodec_chain *chain;
    snprintf(codecs, sizeof codecs, "[\"%s\"]", names[i]);
    chain = check_chain(codecs, NULL);
    CHECK_OK(zcodec_encode(chain, decoded, SIZE, encoded, SIZE + SIZE / 4, &size, &error));
    zcodec_chain_free(chain);
    snprintf(codecs, sizeof codecs, "[" BYTES ",\"%s\"]", names[i]);
    claims(codecs, encoded, size, ZCODEC_STATUS_CORRUPT_DATA);
    snprintf(codecs, sizeof codecs, "[" BYTES ",\"crc32c\",\"%s\"]", names[i]);
    claims(codecs, encoded, size, ZCODEC_STATUS_CORRUPT_DATA);
  }
}

/* With any room, a shard of millions of inner chunks gives a status: its index takes 16 bytes for each of them. */
static void indices_are_memory_too(void) {
  static const uint64_t start[1] = {7}, shape[1] = {1};
  zcodec_chain *chain =
      check_chain("[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[1],\"codecs\":[" BYTES
                  "],"
                  "\"index_codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}]}},\"gzip\"]",
                  "{\"data_type\":\"uint8\",\"shape\":[4194304],\"fill_value\":0}");
  zcodec_box box = {sizeof(zcodec_box), 1, start, shape};
  uint8_t *zeros = calloc(4194304, 1), element = 1;
  zcodec_view view = {sizeof(zcodec_view), &element, 1, 0, 1, NULL};
  zcodec_buffer *encoded = NULL;
  zcodec_status status = ZCODEC_STATUS_OK;
  size_t room;
  CHECK_OK(zcodec_encode_to_buffer(chain, zeros, 4194304, &encoded, &error));
  free(zeros);
  for (room = 16; room <= 256; room += 16) {
    zcodec_chain *fresh = NULL; /* without the memory of earlier calls */
    CHECK_OK(zcodec_chain_with_shape(chain, (const uint64_t[1]){4194304}, 1, &fresh, &error));
    leave(room << 20);
    status =
        zcodec_decode_view(fresh, NULL, zcodec_buffer_data(encoded), zcodec_buffer_size(encoded), &box, &view, NULL);
    leave_all();
    CHECK(status == ZCODEC_STATUS_OUT_OF_MEMORY || (room > 64 && status == ZCODEC_STATUS_OK));
    zcodec_chain_free(fresh);
  }
  CHECK(status == ZCODEC_STATUS_OK && element == 0);
  zcodec_buffer_free(encoded);
  zcodec_chain_free(chain);
}

static void what_metadata_claims_takes_no_memory(char *text) {
  /* Sizes are 64-bit numbers, and take no memory until a chunk does: an array of up to 2^63 - 1 bytes makes a chain. */
  static const char *const large[] = {
      "{\"data_type\":\"uint8\",\"shape\":[4611686018427387904],\"fill_value\":0}",
      "{\"data_type\":\"uint8\",\"shape\":[2147483648,1073741824],\"fill_value\":0}",
      "{\"data_type\":\"uint8\",\"shape\":[9223372036854775807],\"fill_value\":0}",
  };
  static const char *const inputs[] = {
      "{\"data_type\":\"uint8\",\"shape\":[9223372036854775808],\"fill_value\":0}",
      "{\"data_type\":\"uint16\",\"shape\":[4611686018427387904],\"fill_value\":0}",
      "{\"data_type\":\"uint8\",\"shape\":[4294967296,4294967296],\"fill_value\":0}",
      "{\"data_type\":\"r4294967288\",\"shape\":[1],\"fill_value\":[0]}",
  };
  zcodec_chain *chain = NULL;
  size_t i;
  leave(ROOM);
  for (i = 0; i < sizeof large / sizeof *large; i++) {
    CHECK_OK(zcodec_chain_new("[\"bytes\"]", 9, large[i], strlen(large[i]), &chain, &error));
    zcodec_chain_free(chain);
  }
  for (i = 0; i < sizeof inputs / sizeof *inputs; i++) {
    CHECK_FAILS(ZCODEC_STATUS_INVALID_METADATA,
                zcodec_chain_new("[\"bytes\"]", 9, inputs[i], strlen(inputs[i]), &chain, &error));
  }
  memset(text, '[', 1 << 20);
  CHECK_FAILS(ZCODEC_STATUS_INVALID_METADATA, zcodec_chain_new(text, 1 << 20, NULL, 0, &chain, &error));
  leave_all();
}

/* What the format of a codec cannot hold is UNSUPPORTED, not a lack of memory. The chunk is never read. */
static void what_a_format_cannot_hold_is_refused(void) {
  static const char *const lists[] = {
      "[{\"name\":\"blosc\",\"configuration\":{\"cname\":\"lz4\",\"clevel\":5,\"shuffle\":\"noshuffle\",\"blocksize\":"
      "0}}]",
      "[{\"name\":\"numcodecs.blosc\",\"configuration\":{\"cname\":\"zstd\",\"clevel\":1,\"shuffle\":1}}]",
      "[\"numcodecs.lz4\"]",
  };
  const size_t size = (size_t)1 << 31;
  int file = open("/dev/zero", O_RDONLY);
  void *zeros = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
  size_t i;
  CHECK(zeros != MAP_FAILED);
  leave(ROOM);
  for (i = 0; i < sizeof lists / sizeof *lists; i++) {
    zcodec_chain *chain = check_chain(lists[i], NULL);
    zcodec_buffer *buffer = NULL;
    uint8_t encoded[64];
    size_t encoded_size = 99;
    CHECK_FAILS_WITH(ZCODEC_STATUS_UNSUPPORTED, "this chunk has 2147483648",
                     zcodec_encode(chain, zeros, size, encoded, sizeof encoded, &encoded_size, &error));
    CHECK(encoded_size == 0);
    CHECK_FAILS(ZCODEC_STATUS_UNSUPPORTED, zcodec_encode_to_buffer(chain, zeros, size, &buffer, &error));
    CHECK(buffer == NULL);
    zcodec_chain_free(chain);
  }
  leave_all();
  munmap(zeros, size);
  close(file);
}

int main(void) {
  uint8_t *decoded = malloc(SIZE), *encoded = malloc(SIZE + SIZE / 4);
  size_t i;
  void *volatile probe; /* or compilers leave out an allocation that nothing uses */
  if (decoded == NULL || encoded == NULL) {
    fprintf(stderr, "memory: this test needs %d MiB\n", (SIZE / 4 * 9) >> 20);
    return EXIT_FAILURE;
  }
  leave(ROOM);
  probe = malloc(2 * ROOM);
  leave_all();
  if (!CHECK(probe == NULL)) {
    fprintf(stderr, "memory: the limit of the address space does not hold here\n");
    return check_result("memory");
  }
  for (i = 0; i < SIZE; i++) {
    decoded[i] = (uint8_t)(i / 1000 % 2);
  }
  large_chunks_need_memory(decoded, encoded);
  scratch_memory_is_memory_too(decoded, encoded);
  less_memory_than_guessed_may_do(decoded, encoded);
  what_encoded_bytes_claim_takes_no_memory(decoded, encoded);
  indices_are_memory_too();
  what_metadata_claims_takes_no_memory((char *)encoded);
  what_a_format_cannot_hold_is_refused();
  free(decoded);
  free(encoded);
  return check_result("memory");
}
