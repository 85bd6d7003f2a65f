/* The static library together with other copies of the compressors in it: each side works, with its own copy. */
#include "check.h"

#include <libdeflate.h>
#include <zlib.h>
#include <zstd.h>

#ifdef _WIN32
/* tests/static/other.rs */
unsigned other_library(unsigned number);
#else
#include <blosc.h>
#endif

enum { SIZE = 100000 };

static uint8_t decoded[SIZE], encoded[2 * SIZE], again[SIZE];

static void theirs(void) {
  struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(6);
  struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
  uLongf size = sizeof encoded, again_size = SIZE;
  size_t written = ZSTD_compress(encoded, sizeof encoded, decoded, SIZE, 3);
  CHECK(ZSTD_decompress(again, SIZE, encoded, written) == SIZE && memcmp(again, decoded, SIZE) == 0);
  CHECK(ZSTD_versionNumber() == ZSTD_VERSION_NUMBER);

  written = libdeflate_gzip_compress(compressor, decoded, SIZE, encoded, sizeof encoded);
  CHECK(libdeflate_gzip_decompress(decompressor, encoded, written, again, SIZE, NULL) == LIBDEFLATE_SUCCESS);
  CHECK(memcmp(again, decoded, SIZE) == 0);
  libdeflate_free_compressor(compressor);
  libdeflate_free_decompressor(decompressor);

  CHECK(compress(encoded, &size, decoded, SIZE) == Z_OK);
  CHECK(uncompress(again, &again_size, encoded, size) == Z_OK && memcmp(again, decoded, SIZE) == 0);
  CHECK(strcmp(zlibVersion(), ZLIB_VERSION) == 0);

#ifdef _WIN32
  CHECK(other_library(10) == 286);
#else
  blosc_init();
  CHECK(blosc_set_compressor("zstd") >= 0);
  CHECK(blosc_compress(5, 1, 4, SIZE, decoded, encoded, sizeof encoded) > 0);
  CHECK(blosc_decompress(encoded, again, SIZE) == SIZE && memcmp(again, decoded, SIZE) == 0);
  CHECK(strcmp(blosc_get_version_string(), BLOSC_VERSION_STRING) == 0);
  blosc_destroy();
#endif
}

static void ours(void) {
  static const char *const lists[] = {"[\"bytes\",\"zstd\"]", "[\"bytes\",\"gzip\"]"};
  size_t i, size = 0, again_size = 0;
  for (i = 0; i < 2; i++) {
    zcodec_chain *chain = check_chain(lists[i], "{\"data_type\":\"uint8\",\"shape\":[100000],\"fill_value\":0}");
    CHECK_OK(zcodec_encode(chain, decoded, SIZE, encoded, sizeof encoded, &size, &error));
    CHECK_OK(zcodec_decode(chain, encoded, size, again, SIZE, &again_size, &error));
    CHECK(memcmp(again, decoded, SIZE) == 0);
    zcodec_chain_free(chain);
  }
}

int main(void) {
  int i;
  for (i = 0; i < SIZE; i++) {
    decoded[i] = (uint8_t)(i / 7 % 50);
  }
  ours();
  theirs();
  ours();
  printf("the program runs zstd %s, libdeflate %s, zlib %s\n", ZSTD_versionString(), LIBDEFLATE_VERSION_STRING,
         zlibVersion());
#ifndef _WIN32
  printf("and blosc %s\n", blosc_get_version_string());
#endif
  return check_result("static");
}
