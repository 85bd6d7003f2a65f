/* The host of shards.py: keeps one shard in a file, reads it by plans and changes it by writers, as a program in C
 * would.
 *
 *     gcc -O2 -shared -fPIC -I include benches/shards.c -o shards.so      libzcodec.so must be loaded before it
 *
 * It ends the program if anything fails. Linux only.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zcodec.h>

enum { NDIM = 3, MOST_CHUNKS = 512 };

typedef struct host {
  zcodec_chain *chain;
  zcodec_call_options options;
  zcodec_range index_range;
  size_t element_size;
  char *path, *new_path;
  uint8_t *bytes; /* what was read, in memory that is used again */
  size_t capacity;
} host;

static void expect_ok(zcodec_status status, zcodec_error *const *error) {
  if (status == ZCODEC_STATUS_OK) return;
  fprintf(stderr, "%s\n", zcodec_error_message(*error));
  exit(EXIT_FAILURE);
}

static void expect(int is_true, const char *what) {
  if (is_true) return;
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  exit(EXIT_FAILURE);
}

static void *allocated(size_t size) {
  void *memory = malloc(size);
  expect(memory != NULL, "malloc");
  return memory;
}

static int opened(const char *path, int flags) {
  const int file = open(path, flags, 0666);
  expect(file >= 0, path);
  return file;
}

static uint64_t size_of(int file) {
  struct stat status;
  expect(fstat(file, &status) == 0, "fstat");
  return (uint64_t)status.st_size;
}

static void read_at(int file, void *to, size_t size, uint64_t offset) {
  expect(pread(file, to, size, (off_t)offset) == (ssize_t)size, "pread");
}

static void write_at(int file, const void *from, size_t size, uint64_t offset) {
  expect(pwrite(file, from, size, (off_t)offset) == (ssize_t)size, "pwrite");
}

/* Memory for bytes that are read, until the next call. */
static uint8_t *room(host *self, size_t size) {
  if (size > self->capacity) {
    free(self->bytes);
    self->bytes = allocated(self->capacity = size);
  }
  return self->bytes;
}

/* The elements of a box, in C order. */
static zcodec_view view_of(const host *self, const uint64_t *shape, const void *elements) {
  zcodec_view view = {sizeof view, (void *)elements, self->element_size, 0, NDIM, NULL};
  for (size_t i = 0; i < NDIM; i++) view.memory_size *= shape[i];
  return view;
}

/* The shard at `path`, of an array in three dimensions with one chunk. */
host *host_new(const char *zarr_json, size_t size, size_t element_size, const char *path, uint32_t threads) {
  host *made = allocated(sizeof *made);
  memset(made, 0, sizeof *made);
  zcodec_error *error = NULL;
  expect_ok(zcodec_chain_from_zarr_json(zarr_json, size, &made->chain, &error), &error);
  expect_ok(zcodec_chain_index_range(made->chain, &made->index_range, &error), &error);
  made->element_size = element_size;
  made->options.struct_size = sizeof made->options;
  made->options.max_threads = threads;
  made->path = allocated(strlen(path) + 1);
  made->new_path = allocated(strlen(path) + sizeof ".new");
  strcpy(made->path, path);
  strcat(strcpy(made->new_path, path), ".new");
  return made;
}

/* Reads a box. */
void host_read(host *self, const uint64_t *start, const uint64_t *shape, void *elements) {
  const int file = opened(self->path, O_RDONLY);
  const zcodec_box box = {sizeof box, NDIM, start, shape};
  const zcodec_view view = view_of(self, shape, elements);
  zcodec_plan *plan = NULL;
  zcodec_error *error = NULL;
  expect_ok(zcodec_plan_new(self->chain, &self->options, &box, &view, 1, size_of(file), NULL, &plan, &error), &error);
  for (;;) {
    const zcodec_range *ranges = NULL;
    size_t count = 0, total = 0;
    expect_ok(zcodec_plan_next(plan, &ranges, &count, &error), &error);
    if (count == 0) break;
    expect(count <= MOST_CHUNKS, "the number of ranges");
    size_t sizes[MOST_CHUNKS];
    const void *places[MOST_CHUNKS];
    for (size_t i = 0; i < count; i++) total += sizes[i] = (size_t)ranges[i].size;
    uint8_t *next = room(self, total);
    for (size_t i = 0; i < count; i++) {
      read_at(file, next, sizes[i], ranges[i].offset);
      places[i] = next;
      next += sizes[i];
    }
    expect_ok(zcodec_plan_supply_all(plan, places, sizes, &error), &error);
  }
  zcodec_plan_free(plan);
  close(file);
}

static zcodec_writer *writer_of(host *self, const zcodec_index *index, uint64_t size, const uint64_t *start,
                                const uint64_t *shape, const void *elements) {
  const zcodec_box box = {sizeof box, NDIM, start, shape};
  const zcodec_view view = view_of(self, shape, elements);
  zcodec_writer *writer = NULL;
  zcodec_error *error = NULL;
  const zcodec_range *ranges = NULL;
  size_t count = 0;
  expect_ok(zcodec_writer_new(self->chain, &self->options, index, size, &writer, &error), &error);
  expect_ok(zcodec_writer_put(writer, &box, &view, &error), &error);
  expect_ok(zcodec_writer_next(writer, &ranges, &count, &error), &error);
  expect(count == 0, "whole inner chunks need nothing of the old ones");
  return writer;
}

/* Whether a piece is bytes of the old file that have another place in the new one. */
static int is_moved(const zcodec_piece *piece, int old, int file) {
  return piece->data == NULL && (file != old || piece->offset != piece->source_offset);
}

/* Writes the new pieces, and moves the old ones: in the same file, or from `old` to a new one. Old pieces are all read
 * before anything is written. */
static void finish(host *self, zcodec_writer *writer, int32_t layout, int old, int file) {
  const zcodec_piece *pieces = NULL;
  size_t count = 0, total = 0;
  uint64_t size = 0;
  zcodec_error *error = NULL;
  expect_ok(zcodec_writer_finish(writer, layout, &pieces, &count, &size, &error), &error);
  for (size_t i = 0; i < count; i++)
    if (is_moved(&pieces[i], old, file)) total += (size_t)pieces[i].size;
  uint8_t *moved = room(self, total), *next = moved;
  for (size_t i = 0; i < count; i++) {
    if (!is_moved(&pieces[i], old, file)) continue;
    read_at(old, next, (size_t)pieces[i].size, pieces[i].source_offset);
    next += pieces[i].size;
  }
  next = moved;
  for (size_t i = 0; i < count; i++) {
    if (pieces[i].data != NULL) {
      write_at(file, pieces[i].data, (size_t)pieces[i].size, pieces[i].offset);
    } else if (is_moved(&pieces[i], old, file)) {
      write_at(file, next, (size_t)pieces[i].size, pieces[i].offset);
      next += pieces[i].size;
    }
  }
  if (layout == ZCODEC_LAYOUT_PACKED) expect(ftruncate(file, (off_t)size) == 0, "ftruncate");
  zcodec_writer_free(writer);
}

/* Writes a new shard. */
void host_write(host *self, const uint64_t *shape, const void *elements) {
  static const uint64_t start[NDIM];
  const int file = opened(self->path, O_CREAT | O_TRUNC | O_WRONLY);
  finish(self, writer_of(self, NULL, 0, start, shape, elements), ZCODEC_LAYOUT_PACKED, -1, file);
  close(file);
}

/* Changes whole inner chunks, in the same file or in a new one that takes its name. */
void host_update(host *self, const uint64_t *start, const uint64_t *shape, const void *elements, int32_t layout,
                 int to_new_file) {
  const int old = opened(self->path, O_RDWR);
  const uint64_t size = size_of(old);
  const size_t index_size = (size_t)self->index_range.size;
  uint8_t *bytes = room(self, index_size);
  zcodec_index *index = NULL;
  zcodec_error *error = NULL;
  read_at(old, bytes, index_size, size - index_size);
  expect_ok(zcodec_index_decode(self->chain, bytes, index_size, size, &index, &error), &error);
  zcodec_writer *writer = writer_of(self, index, size, start, shape, elements);
  zcodec_index_free(index);
  const int file = to_new_file ? opened(self->new_path, O_CREAT | O_TRUNC | O_WRONLY) : old;
  finish(self, writer, layout, old, file);
  if (to_new_file) {
    close(file);
    expect(rename(self->new_path, self->path) == 0, "rename");
  }
  close(old);
}
