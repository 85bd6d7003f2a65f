/* The plugins for HDF5 in a program that hides most functions of its HDF5: this one has the few below, which its linker
 * exports. It also lacks memory at times. */
#include "../netcdf/core.h"
#include "../netcdf/report.h"
#include "check.h"

#include <hdf5.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hid_t H5E_ERR_CLS_g = 1, H5E_PLINE_g = 2, H5E_CALLBACK_g = 3;
herr_t H5Eis_paused(hid_t stack, _Bool *paused);
void *__wrap_malloc(size_t size);
void *__real_malloc(size_t size);

static _Bool stack_is_paused;
static size_t refused_size;
static char pushed[256];

herr_t H5Eis_paused(hid_t stack, _Bool *paused) {
  (void)stack;
  *paused = stack_is_paused;
  return 0;
}

herr_t H5Epush2(hid_t stack, const char *file, const char *function, unsigned line, hid_t class_id, hid_t major,
                hid_t minor, const char *format, ...) {
  va_list arguments;
  (void)stack, (void)file, (void)function, (void)line, (void)class_id, (void)major, (void)minor;
  va_start(arguments, format);
  vsnprintf(pushed, sizeof pushed, format, arguments);
  va_end(arguments);
  return 0;
}

/* All calls of malloc come here (ld --wrap). */
void *__wrap_malloc(size_t size) { return refused_size != 0 && size == refused_size ? NULL : __real_malloc(size); }

static const void *const THIS_PROGRAM = pushed; /* an address in it */

static void set_local_without_functions(void) {
  CHECK(zcodec_hdf5_set_local("zlib", THIS_PROGRAM, 0, 0) == 0);
  CHECK(zcodec_hdf5_set_local("blosc", THIS_PROGRAM, 0, 0) == 0);
  CHECK(zcodec_hdf5_set_local("gzip", THIS_PROGRAM, 0, 0) == 0);
  CHECK(pushed[0] == '\0');
  CHECK(zcodec_hdf5_set_local("zfpy", THIS_PROGRAM, 0, 0) == -1);
  CHECK(strcmp(pushed, "zcodec: the functions of HDF5 cannot be found: the program hides them") == 0);
}

static void report_without_functions(void) {
  pushed[0] = '\0';
  stack_is_paused = 1;
  report(THIS_PROGRAM, "lost");
  CHECK(pushed[0] == '\0');
  stack_is_paused = 0;
  report(THIS_PROGRAM, "seen");
  CHECK(strcmp(pushed, "seen") == 0);
}

/* How large the chunk is becomes known by a first try; there is no memory for the second one. */
static void decode_without_memory(void) {
  enum { SIZE = 12345 };
  void *chunk = calloc(SIZE, 1);
  size_t capacity = SIZE, size;
  CHECK(chunk != NULL);
  size = zcodec_hdf5_filter("zlib", THIS_PROGRAM, 0, 0, NULL, SIZE, &capacity, &chunk);
  CHECK(size > 0);
  refused_size = SIZE;
  CHECK(zcodec_hdf5_filter("zlib", THIS_PROGRAM, H5Z_FLAG_REVERSE, 0, NULL, size, &capacity, &chunk) == 0);
  CHECK(strcmp(pushed, "zcodec: ZCODEC_STATUS_OUT_OF_MEMORY") == 0);
  refused_size = 0;
  CHECK(zcodec_hdf5_filter("zlib", THIS_PROGRAM, H5Z_FLAG_REVERSE, 0, NULL, size, &capacity, &chunk) == SIZE);
  free(chunk);
}

/* A chunk after a large one: HDF5 may keep it in its cache. */
static void a_small_chunk_takes_little_memory(void) {
  enum { LARGE = 8 << 20, SMALL = 40 };
  static const size_t sizes[] = {LARGE, SMALL};
  for (size_t i = 0; i < 2; i++) {
    void *chunk = calloc(sizes[i], 1);
    size_t capacity = sizes[i];
    CHECK(chunk != NULL);
    size_t size = zcodec_hdf5_filter("bz2", THIS_PROGRAM, 0, 0, NULL, sizes[i], &capacity, &chunk);
    CHECK(size > 0);
    CHECK(zcodec_hdf5_filter("bz2", THIS_PROGRAM, H5Z_FLAG_REVERSE, 0, NULL, size, &capacity, &chunk) == sizes[i]);
    CHECK(capacity == sizes[i] && malloc_usable_size(chunk) < sizes[i] + 4096);
    free(chunk);
  }
}

int main(void) {
  set_local_without_functions();
  report_without_functions();
  decode_without_memory();
  a_small_chunk_takes_little_memory();
  return 0;
}
