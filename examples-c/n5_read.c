/*
 * Reads an N5 dataset of three dimensions and uint16 elements as a Zarr v3 array, and compares it with a .npy file.
 *
 *     n5_read DATASET VOLUME.npy [n5_default]
 *
 * The header of each block, which zcodec's `pad` codec removes, is checked by a callback; a truncated block gets a
 * chain of its own shape. With `n5_default`, the codec of that name reads the header, and one chain decodes all blocks.
 * VOLUME.npy is indexed [z, y, x] where N5 has x, y, z; it may be larger than the dataset.
 */
#include "json.h"
#include "n5.h"
#include "npy.h"

typedef struct dataset {
  uint64_t dimensions[N5_NDIM];
  uint64_t block_size[N5_NDIM];
  zcodec_chain *chain; /* for whole blocks */
  int is_n5_default;
} dataset;

/* The same as N5_CODECS, by the codec that knows N5. */
static const char N5_DEFAULT_CODECS[] =
    "    {\"name\": \"n5_default\", \"configuration\": {\"codecs\": [\n"
    "      {\"name\": \"transpose\", \"configuration\": {\"order\": [2, 1, 0]}},\n"
    "      {\"name\": \"bytes\", \"configuration\": {\"endian\": \"big\"}},\n"
    "      %s\n"
    "    ]}}\n";

/* Accepts a block only if its header is that of the block that we are reading: `call_data`. */
static int32_t check_header(void *user_data, void *call_data, const uint8_t *chunk, size_t chunk_size,
                            const uint8_t *padding, size_t padding_size) {
  uint8_t expected[N5_HEADER_SIZE];
  (void)user_data;
  (void)chunk;
  (void)chunk_size;
  n5_make_header(expected, call_data);
  return padding_size != N5_HEADER_SIZE || memcmp(padding, expected, N5_HEADER_SIZE) != 0;
}

static json_span attribute(const char *path, json_span object, const char *name) {
  json_span value = json_member(object, name);
  if (value.begin == NULL) {
    fail("%s: no member \"%s\"", path, name);
  }
  return value;
}

static void parse_sizes(const char *path, json_span array, uint64_t sizes[N5_NDIM]) {
  json_span element = {NULL, NULL};
  int axis = 0;
  while (axis <= N5_NDIM && json_next(array, &element)) {
    if (axis < N5_NDIM) {
      sizes[axis] = strtoull(element.begin, NULL, 10);
    }
    axis++;
  }
  if (axis != N5_NDIM || sizes[0] == 0 || sizes[1] == 0 || sizes[2] == 0) {
    fail("%s: %.*s is not three sizes", path, JSON_PRINT(array));
  }
}

/* Makes Zarr metadata from the dataset's attributes.json, and a chain from that. */
static dataset open_dataset(const char *directory, int is_n5_default) {
  dataset dataset;
  char path[4096], metadata[4096], codec[64] = "\"gzip\"", codecs[1024];
  size_t text_size;
  char *text;
  json_span attributes, dimensions, block_size, compression;
  zcodec_error *error = NULL;

  snprintf(path, sizeof path, "%s/attributes.json", directory);
  text = read_file(path, &text_size);
  attributes.begin = text;
  attributes.end = text + text_size;
  dimensions = attribute(path, attributes, "dimensions");
  block_size = attribute(path, attributes, "blockSize");
  parse_sizes(path, dimensions, dataset.dimensions);
  parse_sizes(path, block_size, dataset.block_size);
  compression = attribute(path, attribute(path, attributes, "compression"), "type");
  snprintf(codec, sizeof codec, "%.*s", JSON_PRINT(compression));
  snprintf(codecs, sizeof codecs, is_n5_default ? N5_DEFAULT_CODECS : N5_CODECS, codec);
  snprintf(metadata, sizeof metadata, N5_METADATA, JSON_PRINT(dimensions),
           JSON_PRINT(attribute(path, attributes, "dataType")), JSON_PRINT(block_size), codecs);
  dataset.is_n5_default = is_n5_default;
  printf("%s as Zarr v3:\n%s", directory, metadata);
  check(zcodec_chain_from_zarr_json(metadata, strlen(metadata), &dataset.chain, &error), &error);
  if (!is_n5_default) {
    check(zcodec_chain_set_padding(dataset.chain, N5_PAD_INDEX, NULL, check_header, NULL, NULL, &error), &error);
  }
  free(text);
  return dataset;
}

/* The decoded block is indexed [x, y, z], the volume [z, y, x]. */
static void compare(const char *path, const n5_block *block, const uint16_t *decoded, const npy_array *volume) {
  uint64_t x, y, z;
  for (x = 0; x < block->shape[0]; x++) {
    for (y = 0; y < block->shape[1]; y++) {
      for (z = 0; z < block->shape[2]; z++) {
        uint64_t at =
            ((block->start[2] + z) * volume->shape[1] + block->start[1] + y) * volume->shape[2] + block->start[0] + x;
        uint16_t expected, found = *decoded++;
        memcpy(&expected, volume->data + at * sizeof expected, sizeof expected);
        if (found != expected) {
          fail("%s: element (%u, %u, %u) is %u, expected %u", path, (unsigned)x, (unsigned)y, (unsigned)z, found,
               expected);
        }
      }
    }
  }
}

/* By a chain for the shape of the block, whose header the callback checks. */
static void decode_by_pad(const dataset *dataset, n5_block *block, const char *encoded, size_t encoded_size,
                          uint16_t *decoded) {
  zcodec_chain *chain = n5_chain_for(dataset->chain, block);
  zcodec_call_options options = {0};
  zcodec_error *error = NULL;
  size_t size = n5_block_count(block) * sizeof *decoded, decoded_size = 0;
  options.struct_size = sizeof options;
  options.call_data = block;
  check(zcodec_decode_with(chain, &options, encoded, encoded_size, decoded, size, &decoded_size, &error), &error);
  zcodec_chain_free(chain);
}

/* By the chain for whole blocks, of which a truncated one is a box. */
static void decode_by_n5_default(const dataset *dataset, const n5_block *block, const char *encoded,
                                 size_t encoded_size, uint16_t *decoded) {
  zcodec_box box = {sizeof box, N5_NDIM, NULL, NULL};
  zcodec_view view = {sizeof view, NULL, 0, 0, N5_NDIM, NULL};
  zcodec_error *error = NULL;
  box.shape = block->shape;
  view.memory = decoded;
  view.memory_size = n5_block_count(block) * sizeof *decoded;
  check(zcodec_decode_view(dataset->chain, NULL, encoded, encoded_size, &box, &view, &error), &error);
}

/* Decodes one block and compares it; returns its encoded size and adds to `time`. */
static size_t read_block(const char *directory, const dataset *dataset, const uint64_t index[N5_NDIM],
                         const npy_array *volume, double *time) {
  n5_block block = n5_block_at(index, dataset->block_size, dataset->dimensions);
  char path[4096];
  size_t encoded_size, size = n5_block_count(&block) * sizeof(uint16_t);
  uint16_t *decoded = allocate(size);
  char *encoded;
  double start;

  snprintf(path, sizeof path, "%s/%u/%u/%u", directory, (unsigned)index[0], (unsigned)index[1], (unsigned)index[2]);
  encoded = read_file(path, &encoded_size);
  start = seconds();
  if (dataset->is_n5_default) {
    decode_by_n5_default(dataset, &block, encoded, encoded_size, decoded);
  } else {
    decode_by_pad(dataset, &block, encoded, encoded_size, decoded);
  }
  *time += seconds() - start;
  compare(path, &block, decoded, volume);
  printf("  %s: %zu -> %zu bytes, ratio %.2f, %u x %u x %u elements\n", path, encoded_size, size,
         (double)size / (double)encoded_size, (unsigned)block.shape[0], (unsigned)block.shape[1],
         (unsigned)block.shape[2]);
  free(encoded);
  free(decoded);
  return encoded_size;
}

int main(int argc, char **argv) {
  npy_array volume;
  dataset dataset;
  uint64_t index[N5_NDIM], count[N5_NDIM];
  size_t encoded_size = 0, decoded_size = sizeof(uint16_t);
  double time = 0;
  int axis;

  if (argc != 3 && !(argc == 4 && strcmp(argv[3], "n5_default") == 0)) {
    fail("usage: n5_read DATASET VOLUME.npy [n5_default]");
  }
  dataset = open_dataset(argv[1], argc == 4);
  volume = npy_read(argv[2]);
  if (volume.type != 'u' || volume.item_size != 2 || volume.ndim != N5_NDIM) {
    fail("%s: expected three dimensions of uint16", argv[2]);
  }
  for (axis = 0; axis < N5_NDIM; axis++) {
    if (volume.shape[N5_NDIM - 1 - axis] < dataset.dimensions[axis]) {
      fail("%s is smaller than the dataset", argv[2]);
    }
    count[axis] = (dataset.dimensions[axis] - 1) / dataset.block_size[axis] + 1;
    decoded_size *= (size_t)dataset.dimensions[axis];
  }
  for (index[0] = 0; index[0] < count[0]; index[0]++) {
    for (index[1] = 0; index[1] < count[1]; index[1]++) {
      for (index[2] = 0; index[2] < count[2]; index[2]++) {
        encoded_size += read_block(argv[1], &dataset, index, &volume, &time);
      }
    }
  }
  printf("  all blocks equal %s: %zu -> %zu bytes, ratio %.2f, decode %.0f MB/s\n", argv[2], encoded_size, decoded_size,
         (double)decoded_size / (double)encoded_size, (double)decoded_size / time / 1e6);
  zcodec_chain_free(dataset.chain);
  npy_free(&volume);
  return EXIT_SUCCESS;
}
