/* What moving memory takes by itself: the limits that README.md names, each compared with a copy of as many bytes.
 *
 *     gcc -O2 -march=native -fno-tree-vectorize benches/limits.c -o limits && ./limits
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#ifdef __AVX512BW__
#include <immintrin.h>
#endif

enum { LINE = 64, LARGE_PAGE = 2 << 20, ROUNDS = 101 };
#define MIB ((size_t)1 << 20)

/* A cache line, at any address. */
typedef uint64_t line __attribute__((vector_size(LINE), aligned(1), may_alias));
typedef void work(const uint8_t *source, uint8_t *target, size_t size);

static void copy(const uint8_t *source, uint8_t *target, size_t size) { memcpy(target, source, size); }

static void read_all(const uint8_t *source, uint8_t *target, size_t size) {
  line a = {0}, b = {0}, c = {0}, d = {0};
  for (size_t at = 0; at < size; at += 4 * LINE) {
    const line *lines = (const line *)(source + at);
    a |= lines[0];
    b |= lines[1];
    c |= lines[2];
    d |= lines[3];
  }
  *(line *)target = a | b | c | d;
}

#ifdef __AVX512BW__
static void pack_bools(const uint8_t *source, uint8_t *target, size_t size) {
  for (size_t at = 0; at < size; at += LINE) {
    const __m512i bools = _mm512_loadu_si512(source + at);
    const uint64_t bits = _mm512_test_epi8_mask(bools, bools);
    memcpy(target + at / 8, &bits, sizeof bits);
  }
}
#endif

enum { COLUMNS = 16 << 10 }; /* bytes of a row */

static void read_columns(const uint8_t *source, uint8_t *target, size_t size) {
  line sum = {0};
  for (size_t column = 0; column < COLUMNS; column += LINE)
    for (size_t row = 0; row < size; row += COLUMNS) sum |= *(const line *)(source + row + column);
  *(line *)target = sum;
}

static void write_columns(const uint8_t *source, uint8_t *target, size_t size) {
  const line value = *(const line *)source;
  for (size_t column = 0; column < COLUMNS; column += LINE)
    for (size_t row = 0; row < size; row += COLUMNS) *(line *)(target + row + column) = value;
}

/* The lines of uint8 [256, 64, 64] and of the reversal of its dimensions. Nothing is transposed. */
static const uint8_t *line_from(const uint8_t *source, size_t x, size_t y) { return source + (x * 64 + y) * 64; }
static uint8_t *line_to(uint8_t *target, size_t z, size_t y, size_t tile) {
  return target + (z * 64 + y) * 256 + tile * LINE;
}

static void move_tiles(const uint8_t *source, uint8_t *target, size_t size) {
  (void)size;
  for (size_t y = 0; y < 64; y++)
    for (size_t tile = 0; tile < 4; tile++)
      for (size_t first = 0; first < 64; first += 16) {
        line lines[16];
        for (size_t i = 0; i < 16; i++) lines[i] = *(const line *)line_from(source, tile * 64 + first + i, y);
        for (size_t i = 0; i < 16; i++) *(line *)line_to(target, first + i, y, tile) = lines[i];
      }
}

static void move_rows_of_tiles(const uint8_t *source, uint8_t *target, size_t size) {
  (void)size;
  for (size_t y = 0; y < 64; y++)
    for (size_t z = 0; z < 64; z++)
      for (size_t tile = 0; tile < 4; tile++)
        *(line *)line_to(target, z, y, tile) = *(const line *)line_from(source, tile * 64 + z, y);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static uint8_t *memory(size_t size) {
  uint8_t *bytes = aligned_alloc(LARGE_PAGE, (size + LARGE_PAGE) / LARGE_PAGE * LARGE_PAGE);
  if (bytes == NULL) exit(EXIT_FAILURE);
  madvise(bytes, size, MADV_HUGEPAGE);
  memset(bytes, 1, size);
  return bytes;
}

/* Times the work and a copy in turn. Both sides begin `offset` bytes after a line. */
static void measure(const char *name, work *work, size_t size, size_t offset) {
  uint8_t *source = memory(size + offset), *target = memory(size + offset);
  const int repeats = (int)(16 * MIB / size) + 1;
  double copies[ROUNDS], times[ROUNDS];
  for (int round = 0; round < ROUNDS; round++) {
    const double start = seconds();
    for (int i = 0; i < repeats; i++) copy(source + offset, target + offset, size);
    const double middle = seconds();
    for (int i = 0; i < repeats; i++) work(source + offset, target + offset, size);
    copies[round] = middle - start;
    times[round] = seconds() - middle;
  }
  qsort(copies, ROUNDS, sizeof *copies, compare);
  qsort(times, ROUNDS, sizeof *times, compare);
  const double lines = (double)size / LINE * repeats;
  printf("%-44s %3zu MiB, offset %2zu: %5.2f ns for a line, %.2f of a copy\n", name, size / MIB, offset,
         times[ROUNDS / 2] / lines * 1e9, copies[ROUNDS / 2] / times[ROUNDS / 2]);
  free(source);
  free(target);
}

int main(void) {
  measure("copy", copy, MIB, 0);
  measure("read", read_all, MIB, 0);
#ifdef __AVX512BW__
  measure("read bools, write a bit for each", pack_bools, MIB, 0);
#endif
  for (size_t offset = 0; offset <= 16; offset += 16) {
    measure("move lines, 64 from a tile", move_tiles, MIB, offset);
    measure("move lines, four side by side", move_rows_of_tiles, MIB, offset);
  }
  measure("copy", copy, 64 * MIB, 0);
  measure("read lines column by column", read_columns, 64 * MIB, 0);
  measure("write lines column by column", write_columns, 64 * MIB, 0);
  return EXIT_SUCCESS;
}
