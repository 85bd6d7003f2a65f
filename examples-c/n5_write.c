/*
 * Writes a volume of uint16 elements as an N5 dataset, whose block headers a callback makes.
 *
 *     n5_write VOLUME.npy CONTAINER
 *
 * The dataset CONTAINER/volume has blocks of 96 x 96 x 6 elements; those at the upper border are truncated, as in
 * any N5 dataset. Any N5 reader opens it.
 */
#include "n5.h"
#include "npy.h"

static const uint64_t BLOCK_SIZE[N5_NDIM] = {96, 96, 6};
static const char COMPRESSION[] = "{\"name\": \"gzip\", \"configuration\": {\"level\": 5}}";

/* The header of the block that we are writing: `call_data`. */
static int32_t write_header(void *user_data, void *call_data, const uint8_t *chunk, size_t chunk_size, uint8_t *padding,
                            size_t padding_size) {
  (void)user_data;
  (void)chunk;
  (void)chunk_size;
  if (padding_size != N5_HEADER_SIZE) {
    return 1;
  }
  n5_make_header(padding, call_data);
  return 0;
}

static zcodec_chain *make_chain(const uint64_t dimensions[N5_NDIM]) {
  char metadata[4096], codecs[1024], shape[80], block_shape[80];
  zcodec_chain *chain = NULL;
  zcodec_error *error = NULL;
  int shape_size = snprintf(shape, sizeof shape, "[%u, %u, %u]", (unsigned)dimensions[0], (unsigned)dimensions[1],
                            (unsigned)dimensions[2]);
  int block_size = snprintf(block_shape, sizeof block_shape, "[%u, %u, %u]", (unsigned)BLOCK_SIZE[0],
                            (unsigned)BLOCK_SIZE[1], (unsigned)BLOCK_SIZE[2]);
  snprintf(codecs, sizeof codecs, N5_CODECS, COMPRESSION);
  snprintf(metadata, sizeof metadata, N5_METADATA, shape_size, shape, 8, "\"uint16\"", block_size, block_shape, codecs);
  check(zcodec_chain_from_zarr_json(metadata, strlen(metadata), &chain, &error), &error);
  check(zcodec_chain_set_padding(chain, N5_PAD_INDEX, write_header, NULL, NULL, NULL, &error), &error);
  return chain;
}

static void write_attributes(const char *container, const uint64_t dimensions[N5_NDIM]) {
  char path[4096], text[1024];
  snprintf(path, sizeof path, "%s/attributes.json", container);
  write_file(path, "{\"n5\": \"2.0.0\"}\n", 16);
  snprintf(path, sizeof path, "%s/volume/attributes.json", container);
  snprintf(text, sizeof text,
           "{\"dimensions\": [%u, %u, %u], \"blockSize\": [%u, %u, %u], \"dataType\": \"uint16\", "
           "\"compression\": {\"type\": \"gzip\", \"level\": 5}}\n",
           (unsigned)dimensions[0], (unsigned)dimensions[1], (unsigned)dimensions[2], (unsigned)BLOCK_SIZE[0],
           (unsigned)BLOCK_SIZE[1], (unsigned)BLOCK_SIZE[2]);
  write_file(path, text, strlen(text));
}

/* The volume is indexed [z, y, x], the block [x, y, z]. */
static void copy_block(const npy_array *volume, const n5_block *block, uint16_t *decoded) {
  uint64_t x, y, z;
  for (x = 0; x < block->shape[0]; x++) {
    for (y = 0; y < block->shape[1]; y++) {
      for (z = 0; z < block->shape[2]; z++) {
        uint64_t at =
            ((block->start[2] + z) * volume->shape[1] + block->start[1] + y) * volume->shape[2] + block->start[0] + x;
        memcpy(decoded++, volume->data + at * sizeof *decoded, sizeof *decoded);
      }
    }
  }
}

/* Encodes and writes one block; returns its encoded size and adds to `time`. */
static size_t write_block(const char *container, const zcodec_chain *whole_block_chain, const n5_block *block,
                          const npy_array *volume, double *time) {
  zcodec_chain *chain = n5_chain_for(whole_block_chain, block);
  n5_block header = *block; /* call_data is not const */
  zcodec_call_options options = {0};
  zcodec_error *error = NULL;
  char path[4096];
  size_t bound, encoded_size = 0, size = n5_block_count(block) * sizeof(uint16_t);
  uint16_t *decoded = allocate(size);
  uint8_t *encoded;
  double start;

  options.struct_size = sizeof options;
  options.call_data = &header;
  check(zcodec_chain_encoded_bound(chain, size, &bound), NULL);
  encoded = allocate(bound);
  copy_block(volume, block, decoded);
  start = seconds();
  check(zcodec_encode_with(chain, &options, decoded, size, encoded, bound, &encoded_size, &error), &error);
  *time += seconds() - start;
  snprintf(path, sizeof path, "%s/volume/%u/%u/%u", container, (unsigned)(block->start[0] / BLOCK_SIZE[0]),
           (unsigned)(block->start[1] / BLOCK_SIZE[1]), (unsigned)(block->start[2] / BLOCK_SIZE[2]));
  write_file(path, encoded, encoded_size);
  printf("  %s: %zu -> %zu bytes, ratio %.2f, %u x %u x %u elements\n", path, size, encoded_size,
         (double)size / (double)encoded_size, (unsigned)block->shape[0], (unsigned)block->shape[1],
         (unsigned)block->shape[2]);
  free(encoded);
  free(decoded);
  zcodec_chain_free(chain);
  return encoded_size;
}

int main(int argc, char **argv) {
  npy_array volume;
  zcodec_chain *chain;
  uint64_t dimensions[N5_NDIM], index[N5_NDIM];
  size_t encoded_size = 0;
  double time = 0;
  int axis;

  if (argc != 3) {
    fail("usage: n5_write VOLUME.npy CONTAINER");
  }
  volume = npy_read(argv[1]);
  if (volume.type != 'u' || volume.item_size != 2 || volume.ndim != N5_NDIM || volume.count == 0) {
    fail("%s: expected three dimensions of uint16", argv[1]);
  }
  for (axis = 0; axis < N5_NDIM; axis++) {
    dimensions[axis] = volume.shape[N5_NDIM - 1 - axis];
  }
  printf("N5 dataset %s/volume\n", argv[2]);
  write_attributes(argv[2], dimensions);
  chain = make_chain(dimensions);
  for (index[0] = 0; index[0] * BLOCK_SIZE[0] < dimensions[0]; index[0]++) {
    for (index[1] = 0; index[1] * BLOCK_SIZE[1] < dimensions[1]; index[1]++) {
      for (index[2] = 0; index[2] * BLOCK_SIZE[2] < dimensions[2]; index[2]++) {
        n5_block block = n5_block_at(index, BLOCK_SIZE, dimensions);
        encoded_size += write_block(argv[2], chain, &block, &volume, &time);
      }
    }
  }
  printf("  volume: %zu -> %zu bytes, ratio %.2f, encode %.0f MB/s\n", volume.size, encoded_size,
         (double)volume.size / (double)encoded_size, (double)volume.size / time / 1e6);
  zcodec_chain_free(chain);
  npy_free(&volume);
  return EXIT_SUCCESS;
}
