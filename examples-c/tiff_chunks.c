/*
 * Writes a volume as two Zarr v3 arrays whose every chunk, one plane, is a TIFF file at the same time.
 *
 *     tiff_chunks VOLUME.npy DIRECTORY
 *
 * DIRECTORY/tiff.zarr       raw pixels: every chunk has the same TIFF header, which is in the metadata
 * DIRECTORY/tiff_zstd.zarr  compressed pixels: the header says how many bytes they take, and a callback writes it
 *
 * Any TIFF reader opens the chunks DIRECTORY/.../c/0/0/0, c/1/0/0, ... (the second array: one that knows zstd).
 */
#include "npy.h"

enum {
  WIDTH = 256,
  HEIGHT = 256,
  HEADER_SIZE = 162, /* 8 + 2 + 11 entries of 12 + 4 + two resolutions of 8 */
  REPEATS = 20       /* of each encode and decode, for the clock */
};

static const char METADATA[] =
    "{\n"
    "  \"zarr_format\": 3,\n"
    "  \"node_type\": \"array\",\n"
    "  \"shape\": [%u, 256, 256],\n"
    "  \"data_type\": \"uint16\",\n"
    "  \"chunk_grid\": {\"name\": \"regular\", \"configuration\": {\"chunk_shape\": [1, 256, 256]}},\n"
    "  \"chunk_key_encoding\": {\"name\": \"default\", \"configuration\": {\"separator\": \"/\"}},\n"
    "  \"codecs\": [\n%s\n  ],\n"
    "  \"fill_value\": 0\n"
    "}\n";

static const char PLAIN_CODECS[] =
    "    {\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}},\n"
    "    {\"name\": \"pad\", \"configuration\": {\"location\": \"start\", \"nbytes\": 110, \"padding\": "
    "\"SUkqAAgAAAAIAAABAwABAAAAAAEAAAEBAwABAAAAAAEAAAIBAwABAAAAEAAAAAMBAwABAAAAAQAAAAYBAwABAAAAAQAAABEBBAABAAAAbgAAABYB"
    "AwABAAAAAAEAABcBBAABAAAAAAACAAAAAAA=\"}}";

static const char COMPRESSED_CODECS[] =
    "    {\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}},\n"
    "    {\"name\": \"zstd\", \"configuration\": {\"level\": 3, \"checksum\": false}},\n"
    "    {\"name\": \"pad\", \"configuration\": {\"location\": \"start\", \"nbytes\": 162}}";

static void put16(uint8_t *at, uint32_t value) {
  at[0] = (uint8_t)value;
  at[1] = (uint8_t)(value >> 8);
}

static void put32(uint8_t *at, uint32_t value) {
  put16(at, value);
  put16(at + 2, value >> 16);
}

/* The header of a baseline grayscale TIFF with one strip of `strip_size` bytes. */
static void make_header(uint8_t header[HEADER_SIZE], uint32_t strip_size) {
  enum { SHORT = 3, LONG = 4, RATIONAL = 5, ZSTD = 50000, X_AT = 146, Y_AT = 154 };
  const uint32_t entries[11][3] = {
      {256, SHORT, WIDTH},      /* ImageWidth */
      {257, SHORT, HEIGHT},     /* ImageLength */
      {258, SHORT, 16},         /* BitsPerSample */
      {259, SHORT, ZSTD},       /* Compression */
      {262, SHORT, 1},          /* PhotometricInterpretation: BlackIsZero */
      {273, LONG, HEADER_SIZE}, /* StripOffsets */
      {278, SHORT, HEIGHT},     /* RowsPerStrip */
      {279, LONG, strip_size},  /* StripByteCounts */
      {282, RATIONAL, X_AT},    /* XResolution */
      {283, RATIONAL, Y_AT},    /* YResolution */
      {296, SHORT, 1}           /* ResolutionUnit: none, the resolutions are a ratio */
  };
  size_t i;
  memcpy(header, "II*\0\x08\0\0\0", 8);
  put16(header + 8, 11);
  for (i = 0; i < 11; i++) {
    uint8_t *entry = header + 10 + 12 * i;
    put16(entry, entries[i][0]);
    put16(entry + 2, entries[i][1]);
    put32(entry + 4, 1);
    put32(entry + 8, entries[i][2]);
  }
  put32(header + 142, 0); /* no further image */
  for (i = X_AT; i < HEADER_SIZE; i += 4) {
    put32(header + i, 1); /* both resolutions are 1/1 */
  }
}

/* `chunk` is the compressed strip; the header comes before it. */
static int32_t write_header(void *user_data, void *call_data, const uint8_t *chunk, size_t chunk_size, uint8_t *padding,
                            size_t padding_size) {
  (void)user_data;
  (void)call_data;
  (void)chunk;
  if (padding_size != HEADER_SIZE || chunk_size > UINT32_MAX) {
    return 1;
  }
  make_header(padding, (uint32_t)chunk_size);
  return 0;
}

/* Accepts the chunk only if its header is the one that we would write. */
static int32_t check_header(void *user_data, void *call_data, const uint8_t *chunk, size_t chunk_size,
                            const uint8_t *padding, size_t padding_size) {
  uint8_t expected[HEADER_SIZE];
  int32_t failed = write_header(user_data, call_data, chunk, chunk_size, expected, padding_size);
  return failed != 0 ? failed : memcmp(padding, expected, padding_size) != 0;
}

static void write_array(const char *directory, const char *name, zcodec_chain *chain, const npy_array *volume) {
  const size_t plane_size = (size_t)WIDTH * HEIGHT * volume->item_size;
  uint8_t *decoded = allocate(plane_size);
  uint8_t *encoded;
  size_t bound, encoded_size = 0, decoded_size = 0, total_size = 0;
  double encode_time = 0, decode_time = 0, start;
  zcodec_error *error = NULL;
  uint64_t z;
  int i;

  check(zcodec_chain_encoded_bound(chain, plane_size, &bound), NULL);
  encoded = allocate(bound);
  for (z = 0; z < volume->shape[0]; z++) {
    const uint8_t *plane = volume->data + z * plane_size;
    char path[4096];

    start = seconds();
    for (i = 0; i < REPEATS; i++) {
      check(zcodec_encode(chain, plane, plane_size, encoded, bound, &encoded_size, &error), &error);
    }
    encode_time += seconds() - start;
    snprintf(path, sizeof path, "%s/%s/c/%u/0/0", directory, name, (unsigned)z);
    write_file(path, encoded, encoded_size);

    start = seconds();
    for (i = 0; i < REPEATS; i++) {
      check(zcodec_decode(chain, encoded, encoded_size, decoded, plane_size, &decoded_size, &error), &error);
    }
    decode_time += seconds() - start;
    if (decoded_size != plane_size || memcmp(decoded, plane, plane_size) != 0) {
      fail("%s: decoding gives other pixels", path);
    }
    printf("  %s: %zu -> %zu bytes, ratio %.2f\n", path, plane_size, encoded_size,
           (double)plane_size / (double)encoded_size);
    total_size += encoded_size;
  }
  printf("  %s: %zu -> %zu bytes, ratio %.2f, encode %.0f MB/s, decode %.0f MB/s\n", name, volume->size, total_size,
         (double)volume->size / (double)total_size, (double)volume->size * REPEATS / encode_time / 1e6,
         (double)volume->size * REPEATS / decode_time / 1e6);
  free(encoded);
  free(decoded);
}

static zcodec_chain *make_chain(const char *directory, const char *name, const char *codecs, const npy_array *volume) {
  zcodec_chain *chain = NULL;
  zcodec_error *error = NULL;
  char metadata[2048], path[4096];
  int size = snprintf(metadata, sizeof metadata, METADATA, (unsigned)volume->shape[0], codecs);
  check(zcodec_chain_from_zarr_json(metadata, (size_t)size, &chain, &error), &error);
  snprintf(path, sizeof path, "%s/%s/zarr.json", directory, name);
  write_file(path, metadata, (size_t)size);
  return chain;
}

int main(int argc, char **argv) {
  npy_array volume;
  zcodec_chain *chain;
  zcodec_error *error = NULL;

  if (argc != 3) {
    fail("usage: tiff_chunks VOLUME.npy DIRECTORY");
  }
  volume = npy_read(argv[1]);
  if (volume.type != 'u' || volume.item_size != 2 || volume.ndim != 3 || volume.shape[1] != HEIGHT ||
      volume.shape[2] != WIDTH) {
    fail("%s: expected planes of %d x %d pixels of uint16", argv[1], HEIGHT, WIDTH);
  }

  printf("TIFF header in the metadata, pixels as they are\n");
  chain = make_chain(argv[2], "tiff.zarr", PLAIN_CODECS, &volume);
  write_array(argv[2], "tiff.zarr", chain, &volume);
  zcodec_chain_free(chain);

  printf("TIFF header from a callback, pixels compressed with zstd\n");
  chain = make_chain(argv[2], "tiff_zstd.zarr", COMPRESSED_CODECS, &volume);
  check(zcodec_chain_set_padding(chain, 2, write_header, check_header, NULL, NULL, &error), &error);
  write_array(argv[2], "tiff_zstd.zarr", chain, &volume);
  zcodec_chain_free(chain);

  npy_free(&volume);
  return EXIT_SUCCESS;
}
