/*
 * Reads one time step and a box of a Zarr v3 array of float32 in three dimensions whose shards hold Blosc frames, by
 * the byte ranges that they need, and compares them with a .npy file.
 *
 *     shard_box STORE VOLUME.npy
 *
 * The shards lie along the first dimension only. The volume may be longer along it than the array.
 */
#include "json.h"
#include "npy.h"

#include <limits.h>

enum { NDIM = 3 };

typedef struct store {
  const char *directory;
  zcodec_chain *chain;
  uint64_t shape[NDIM];
  uint64_t shard_shape[NDIM];
} store;

static json_span member(json_span object, const char *name) {
  json_span value = json_member(object, name);
  if (value.begin == NULL) {
    fail("zarr.json has no member \"%s\"", name);
  }
  return value;
}

static void open_store(store *self, const char *directory) {
  char path[4096];
  size_t text_size, ndim = 0, axis = 0;
  json_span text, element = {NULL, NULL};
  zcodec_error *error = NULL;
  self->directory = directory;
  snprintf(path, sizeof path, "%s/zarr.json", directory);
  text.begin = read_file(path, &text_size);
  text.end = text.begin + text_size;
  check(zcodec_chain_from_zarr_json(text.begin, text_size, &self->chain, &error), &error);
  check(zcodec_chain_shape(self->chain, self->shard_shape, NDIM, &ndim), NULL);
  while (axis < NDIM && json_next(member(text, "shape"), &element)) {
    self->shape[axis++] = strtoull(element.begin, NULL, 10);
  }
  if (ndim != NDIM || axis != NDIM || self->shard_shape[1] < self->shape[1] || self->shard_shape[2] < self->shape[2]) {
    fail("%s: expected three dimensions, and shards along the first only", path);
  }
  free((void *)text.begin);
}

/* A range of a file; one whose offset is ZCODEC_SIZE_UNKNOWN is its end. */
static void *read_range(FILE *file, const zcodec_range *range) {
  void *bytes = allocate((size_t)range->size);
  const int is_end = range->offset == ZCODEC_SIZE_UNKNOWN;
  if (!is_end && range->offset > LONG_MAX) {
    fail("fseek cannot reach byte %llu of the shard on this platform", (unsigned long long)range->offset);
  }
  if (fseek(file, is_end ? -(long)range->size : (long)range->offset, is_end ? SEEK_END : SEEK_SET) != 0 ||
      fread(bytes, 1, (size_t)range->size, file) != range->size) {
    fail("a range of %zu bytes of the shard cannot be read", (size_t)range->size);
  }
  return bytes;
}

/* Reads a box of a shard to its place, stage by stage; returns how many bytes of the file it needed. */
static size_t read_box(const store *self, FILE *file, const zcodec_box *box, const zcodec_view *view) {
  zcodec_plan *plan = NULL;
  zcodec_error *error = NULL;
  const zcodec_range *ranges = NULL;
  size_t count = 0, i, size = 0;
  check(zcodec_plan_new(self->chain, NULL, box, view, 1, ZCODEC_SIZE_UNKNOWN, NULL, &plan, &error), &error);
  for (;;) {
    check(zcodec_plan_next(plan, &ranges, &count, &error), &error);
    if (count == 0) {
      break;
    }
    for (i = 0; i < count; i++) {
      void *bytes = read_range(file, &ranges[i]);
      check(zcodec_plan_supply(plan, i, bytes, (size_t)ranges[i].size, &error), &error);
      size += (size_t)ranges[i].size;
      free(bytes);
    }
  }
  zcodec_plan_free(plan);
  return size;
}

/* Reads the elements from `start` to `end` of the array, shard by shard, and compares them. */
static void read_array(const store *self, const uint64_t start[NDIM], const uint64_t end[NDIM],
                       const npy_array *volume) {
  const uint64_t rows = end[1] - start[1], columns = end[2] - start[2], depth = self->shard_shape[0];
  const size_t count = (size_t)((end[0] - start[0]) * rows * columns);
  float *decoded = allocate(count * sizeof *decoded);
  const int64_t strides[NDIM] = {(int64_t)(rows * columns * sizeof *decoded), (int64_t)(columns * sizeof *decoded),
                                 (int64_t)sizeof *decoded};
  uint64_t shard, at, z, y, x;
  size_t read_size = 0, stored_size = 0;
  for (shard = start[0] / depth; shard * depth < end[0]; shard++) {
    const uint64_t first = shard * depth > start[0] ? shard * depth : start[0];
    const uint64_t last = (shard + 1) * depth < end[0] ? (shard + 1) * depth : end[0];
    const uint64_t box_start[NDIM] = {first - shard * depth, start[1], start[2]};
    const uint64_t box_shape[NDIM] = {last - first, rows, columns};
    zcodec_box box = {sizeof box, NDIM, NULL, NULL};
    zcodec_view view = {sizeof view, NULL, 0, 0, NDIM, NULL};
    char path[4096];
    FILE *file;
    box.start = box_start;
    box.shape = box_shape;
    view.memory = decoded;
    view.memory_size = count * sizeof *decoded;
    view.offset = (size_t)(first - start[0]) * (size_t)strides[0];
    view.strides = strides;
    snprintf(path, sizeof path, "%s/c/%u/0/0", self->directory, (unsigned)shard);
    file = fopen(path, "rb");
    if (file == NULL) {
      fail("%s: %s", path, strerror(errno));
    }
    read_size += read_box(self, file, &box, &view);
    fseek(file, 0, SEEK_END);
    stored_size += (size_t)ftell(file);
    fclose(file);
  }
  at = 0;
  for (z = start[0]; z < end[0]; z++) {
    for (y = start[1]; y < end[1]; y++) {
      for (x = start[2]; x < end[2]; x++, at++) {
        const uint64_t place = (z * volume->shape[1] + y) * volume->shape[2] + x;
        if (memcmp(&decoded[at], volume->data + place * sizeof *decoded, sizeof *decoded) != 0) {
          fail("element (%u, %u, %u) differs", (unsigned)z, (unsigned)y, (unsigned)x);
        }
      }
    }
  }
  printf("  %u x %u x %u elements equal: %zu bytes from %zu of %zu stored\n", (unsigned)(end[0] - start[0]),
         (unsigned)rows, (unsigned)columns, count * sizeof *decoded, read_size, stored_size);
  free(decoded);
}

int main(int argc, char **argv) {
  store self;
  npy_array volume;
  uint64_t start[NDIM] = {0, 0, 0}, end[NDIM];
  if (argc != 3) {
    fail("usage: shard_box STORE VOLUME.npy");
  }
  open_store(&self, argv[1]);
  volume = npy_read(argv[2]);
  if (volume.type != 'f' || volume.item_size != sizeof(float) || volume.ndim != NDIM ||
      volume.shape[0] < self.shape[0] || volume.shape[1] != self.shape[1] || volume.shape[2] != self.shape[2]) {
    fail("%s: expected float32 elements of the shape of the array", argv[2]);
  }
  printf("%s:\n", argv[1]);
  memcpy(end, self.shape, sizeof end);
  read_array(&self, start, end, &volume);
  /* One time step, and then a box in the middle of all of them. */
  start[0] = self.shape[0] / 2;
  end[0] = start[0] + 1;
  read_array(&self, start, end, &volume);
  start[0] = 0;
  end[0] = self.shape[0];
  start[1] = self.shape[1] / 4;
  end[1] = self.shape[1] / 2;
  start[2] = self.shape[2] / 4;
  end[2] = self.shape[2] / 2;
  read_array(&self, start, end, &volume);
  zcodec_chain_free(self.chain);
  npy_free(&volume);
  return EXIT_SUCCESS;
}
