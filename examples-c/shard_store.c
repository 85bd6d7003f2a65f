/*
 * A sharded Zarr array in files: written shard by shard, changed in place, and read in part.
 *
 *     shard_store VOLUME.npy DIRECTORY
 *
 * VOLUME.npy has uint16 elements of shape (8, 256, 256). It becomes the array DIRECTORY, in four shards of 32 inner
 * chunks each. Then the elements of a box are inverted: each shard that it touches gets new inner chunks and a new
 * index at its end. A crash before the index is complete would leave the old shard in the first bytes of the file: a
 * host that must survive that stores the old size first, and cuts the file back to it. At last one plane is read back:
 * four threads read what the plans ask for with pread, and the program says how much of the files that was.
 */
#define _POSIX_C_SOURCE 200809L
#include "npy.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#define NDIM 3
#define THREADS 4
#define METADATA                                                                                        \
  "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": [8, 256, 256], \"data_type\": \"uint16\"," \
  " \"chunk_grid\": {\"name\": \"regular\", \"configuration\": {\"chunk_shape\": [8, 128, 128]}},"      \
  " \"chunk_key_encoding\": {\"name\": \"default\"}, \"fill_value\": 0, \"attributes\": {},"            \
  " \"codecs\": [{\"name\": \"sharding_indexed\", \"configuration\": {\"chunk_shape\": [4, 32, 32],"    \
  " \"codecs\": [{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}},"                   \
  " {\"name\": \"zstd\", \"configuration\": {\"level\": 3, \"checksum\": false}}],"                     \
  " \"index_codecs\": [{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}},"             \
  " {\"name\": \"crc32c\"}], \"index_location\": \"end\"}}]}"

static const uint64_t volume_shape[NDIM] = {8, 256, 256}, shard_shape[NDIM] = {8, 128, 128};

/* Part of an array: its first element and its shape. */
typedef struct part {
  uint64_t start[NDIM], shape[NDIM];
} part;

static const part inverted = {{2, 100, 90}, {4, 60, 60}}, plane = {{3, 0, 0}, {1, 256, 256}};

/* A shard in its file. */
typedef struct shard {
  part place; /* in the volume */
  char path[4096];
  int file;
  uint64_t size;
} shard;

static shard shard_at(const char *directory, uint64_t row, uint64_t column) {
  shard at = {{{0, 0, 0}, {8, 128, 128}}, "", -1, 0};
  at.place.start[1] = row * shard_shape[1];
  at.place.start[2] = column * shard_shape[2];
  snprintf(at.path, sizeof at.path, "%s/c/0/%u/%u", directory, (unsigned)row, (unsigned)column);
  return at;
}

static void open_shard(shard *at) {
  struct stat about;
  at->file = open(at->path, O_RDWR);
  if (at->file < 0 || fstat(at->file, &about) != 0) {
    fail("%s: %s", at->path, strerror(errno));
  }
  at->size = (uint64_t)about.st_size;
}

static void read_at(const shard *from, void *bytes, uint64_t size, uint64_t offset) {
  if (pread(from->file, bytes, (size_t)size, (off_t)offset) != (ssize_t)size) {
    fail("%s: cannot read %llu bytes", from->path, (unsigned long long)size);
  }
}

static void write_at(const shard *to, const void *bytes, uint64_t size, uint64_t offset) {
  if (pwrite(to->file, bytes, (size_t)size, (off_t)offset) != (ssize_t)size) {
    fail("%s: cannot write %llu bytes", to->path, (unsigned long long)size);
  }
}

/* Whatever was written stays, also if the power fails after this. */
static void flush(const shard *to) {
  if (fsync(to->file) != 0) {
    fail("%s: %s", to->path, strerror(errno));
  }
}

/* What two parts have in common; 0 if that is nothing. */
static int common_part(const part *a, const part *b, part *common) {
  size_t i;
  for (i = 0; i < NDIM; i++) {
    uint64_t a_end = a->start[i] + a->shape[i], b_end = b->start[i] + b->shape[i];
    uint64_t end = a_end < b_end ? a_end : b_end;
    common->start[i] = a->start[i] > b->start[i] ? a->start[i] : b->start[i];
    if (end <= common->start[i]) {
      return 0;
    }
    common->shape[i] = end - common->start[i];
  }
  return 1;
}

/* The box of a part, counted from the beginning of its shard; `start` is where that is kept. */
static zcodec_box box_in(const part *of, const shard *in, uint64_t *start) {
  zcodec_box box = {sizeof(zcodec_box), NDIM, NULL, NULL};
  size_t i;
  for (i = 0; i < NDIM; i++) {
    start[i] = of->start[i] - in->place.start[i];
  }
  box.start = start;
  box.shape = of->shape;
  return box;
}

/* Where a part lies in the memory of a larger one. */
static zcodec_view view_of(const part *of, void *memory, const part *in, int64_t *strides) {
  zcodec_view view = {sizeof(zcodec_view), memory, 0, 0, NDIM, NULL};
  uint64_t stride = sizeof(uint16_t);
  size_t i;
  for (i = NDIM; i-- > 0; stride *= in->shape[i]) {
    strides[i] = (int64_t)stride;
    view.offset += (size_t)(stride * (of->start[i] - in->start[i]));
  }
  view.memory_size = (size_t)stride;
  view.strides = strides;
  return view;
}

/* Has a writer put a part of the volume. */
static void put(zcodec_writer *writer, const part *of, const shard *in, void *volume) {
  static const part whole = {{0, 0, 0}, {8, 256, 256}};
  zcodec_error *error = NULL;
  uint64_t start[NDIM];
  int64_t strides[NDIM];
  zcodec_box box = box_in(of, in, start);
  zcodec_view view = view_of(of, volume, &whole, strides);
  check(zcodec_writer_put(writer, &box, &view, &error), &error);
}

static uint64_t write_new(const zcodec_chain *chain, shard *to, void *volume) {
  zcodec_writer *writer = NULL;
  zcodec_error *error = NULL;
  const zcodec_range *ranges = NULL;
  const zcodec_piece *pieces = NULL;
  size_t count = 0, i;
  uint64_t size = 0;
  check(zcodec_writer_new(chain, NULL, NULL, 0, &writer, &error), &error);
  put(writer, &to->place, to, volume);
  check(zcodec_writer_next(writer, &ranges, &count, &error), &error); /* a new shard needs nothing */
  check(zcodec_writer_finish(writer, ZCODEC_LAYOUT_PACKED, &pieces, &count, &size, &error), &error);
  write_file(to->path, "", 0);
  open_shard(to);
  for (i = 0; i < count; i++) {
    write_at(to, pieces[i].data, pieces[i].size, pieces[i].offset);
  }
  zcodec_writer_free(writer);
  flush(to);
  close(to->file);
  return size;
}

static zcodec_index *read_index(const zcodec_chain *chain, const shard *from) {
  zcodec_index *index = NULL;
  zcodec_error *error = NULL;
  zcodec_range range;
  void *bytes;
  check(zcodec_chain_index_range(chain, &range, &error), &error);
  if (range.offset == ZCODEC_SIZE_UNKNOWN) { /* the last bytes */
    range.offset = from->size - range.size;
  }
  bytes = allocate((size_t)range.size);
  read_at(from, bytes, range.size, range.offset);
  check(zcodec_index_decode(chain, bytes, (size_t)range.size, from->size, &index, &error), &error);
  free(bytes);
  return index;
}

/* Changes a part of a shard in place; returns how many bytes were written. */
static uint64_t change(const zcodec_chain *chain, shard *in, const part *of, void *volume) {
  zcodec_writer *writer = NULL;
  zcodec_error *error = NULL;
  zcodec_index *index;
  const zcodec_range *ranges = NULL;
  const zcodec_piece *pieces = NULL;
  size_t count = 0, i;
  uint64_t size = 0, written = 0;
  open_shard(in);
  index = read_index(chain, in);
  check(zcodec_writer_new(chain, NULL, index, in->size, &writer, &error), &error);
  zcodec_index_free(index);
  put(writer, of, in, volume);
  for (;;) { /* the inner chunks of which only a part is put */
    check(zcodec_writer_next(writer, &ranges, &count, &error), &error);
    if (count == 0) {
      break;
    }
    for (i = 0; i < count; i++) {
      void *bytes = allocate((size_t)ranges[i].size);
      read_at(in, bytes, ranges[i].size, ranges[i].offset);
      check(zcodec_writer_supply(writer, i, bytes, (size_t)ranges[i].size, &error), &error);
      free(bytes);
    }
  }
  check(zcodec_writer_finish(writer, ZCODEC_LAYOUT_APPEND, &pieces, &count, &size, &error), &error);
  for (i = 0; i < count; i++) {
    if (i + 1 == count) { /* the index must not come before what it points to */
      flush(in);
    }
    write_at(in, pieces[i].data, pieces[i].size, pieces[i].offset);
    written += pieces[i].size;
  }
  zcodec_writer_free(writer);
  flush(in);
  close(in->file);
  return written;
}

/* What one thread does with a stage of a plan: every fourth range. */
typedef struct job {
  zcodec_plan *plan;
  const shard *from;
  const zcodec_range *ranges;
  size_t first, count;
  uint64_t bytes_read;
} job;

static void *fetch(void *argument) {
  job *work = argument;
  size_t i;
  for (i = work->first; i < work->count; i += THREADS) {
    zcodec_error *error = NULL;
    void *bytes = allocate((size_t)work->ranges[i].size);
    read_at(work->from, bytes, work->ranges[i].size, work->ranges[i].offset);
    check(zcodec_plan_supply(work->plan, i, bytes, (size_t)work->ranges[i].size, &error), &error);
    work->bytes_read += work->ranges[i].size;
    free(bytes);
  }
  return NULL;
}

/* Reads a part of a shard to its place in `target`, which holds the part `in`; returns how many bytes were read. */
static uint64_t read_part(const zcodec_chain *chain, shard *from, const part *of, void *target, const part *in) {
  zcodec_plan *plan = NULL;
  zcodec_error *error = NULL;
  uint64_t start[NDIM], bytes_read = 0;
  int64_t strides[NDIM];
  zcodec_box box = box_in(of, from, start);
  zcodec_view view = view_of(of, target, in, strides);
  const zcodec_range *ranges = NULL;
  size_t count = 0, i;
  open_shard(from);
  check(zcodec_plan_new(chain, NULL, &box, &view, 1, from->size, NULL, &plan, &error), &error);
  for (;;) { /* first the index, then the inner chunks */
    pthread_t threads[THREADS];
    job jobs[THREADS];
    check(zcodec_plan_next(plan, &ranges, &count, &error), &error);
    if (count == 0) {
      break;
    }
    for (i = 0; i < THREADS; i++) {
      job work = {NULL, NULL, NULL, 0, 0, 0};
      work.plan = plan, work.from = from, work.ranges = ranges, work.first = i, work.count = count;
      jobs[i] = work;
      if (pthread_create(&threads[i], NULL, fetch, &jobs[i]) != 0) {
        fail("no thread");
      }
    }
    for (i = 0; i < THREADS; i++) {
      pthread_join(threads[i], NULL);
      bytes_read += jobs[i].bytes_read;
    }
  }
  zcodec_plan_free(plan);
  close(from->file);
  return bytes_read;
}

static void invert(uint16_t *volume, const part *of) {
  uint64_t z, y, x;
  for (z = of->start[0]; z < of->start[0] + of->shape[0]; z++) {
    for (y = of->start[1]; y < of->start[1] + of->shape[1]; y++) {
      for (x = of->start[2]; x < of->start[2] + of->shape[2]; x++) {
        uint16_t *element = &volume[(z * volume_shape[1] + y) * volume_shape[2] + x];
        *element = (uint16_t)(UINT16_MAX - *element);
      }
    }
  }
}

int main(int argc, char **argv) {
  npy_array volume;
  zcodec_chain *chain = NULL;
  zcodec_error *error = NULL;
  uint64_t row, column, size = 0, changed = 0, bytes_read = 0;
  uint16_t *read_back;
  char path[4096];
  part common;

  if (argc != 3) {
    fail("usage: shard_store VOLUME.npy DIRECTORY");
  }
  volume = npy_read(argv[1]);
  if (volume.type != 'u' || volume.item_size != 2 || volume.ndim != NDIM ||
      memcmp(volume.shape, volume_shape, sizeof volume_shape) != 0) {
    fail("%s: expected uint16 of shape (8, 256, 256)", argv[1]);
  }
  snprintf(path, sizeof path, "%s/zarr.json", argv[2]);
  write_file(path, METADATA, strlen(METADATA));
  check(zcodec_chain_from_zarr_json(METADATA, strlen(METADATA), &chain, &error), &error);

  for (row = 0; row < 2; row++) {
    for (column = 0; column < 2; column++) {
      shard to = shard_at(argv[2], row, column);
      size += write_new(chain, &to, volume.data);
    }
  }
  printf("  %zu bytes in 4 shards of %llu bytes\n", volume.size, (unsigned long long)size);

  invert((uint16_t *)(void *)volume.data, &inverted);
  for (row = 0; row < 2; row++) {
    for (column = 0; column < 2; column++) {
      shard in = shard_at(argv[2], row, column);
      changed += common_part(&inverted, &in.place, &common) ? change(chain, &in, &common, volume.data) : 0;
    }
  }
  printf("  a box of 4 x 60 x 60 changed in place: %llu bytes written\n", (unsigned long long)changed);
  size += changed;

  read_back = allocate(256 * 256 * sizeof(uint16_t));
  for (row = 0; row < 2; row++) {
    for (column = 0; column < 2; column++) {
      shard from = shard_at(argv[2], row, column);
      bytes_read += common_part(&plane, &from.place, &common) ? read_part(chain, &from, &common, read_back, &plane) : 0;
    }
  }
  if (memcmp(read_back, volume.data + 3 * 256 * 256 * sizeof(uint16_t), 256 * 256 * sizeof(uint16_t)) != 0) {
    fail("the plane does not come back");
  }
  printf("  a plane read by %d threads: %llu of the files' %llu bytes, equal\n", THREADS,
         (unsigned long long)bytes_read, (unsigned long long)size);
  free(read_back);
  npy_free(&volume);
  zcodec_chain_free(chain);
  return EXIT_SUCCESS;
}
