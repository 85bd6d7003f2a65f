/* Shared by the examples: files, the clock, and exiting with a message. */
#ifndef ZCODEC_EXAMPLE_H
#define ZCODEC_EXAMPLE_H

#include "zcodec.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef _WIN32
#include <direct.h>
#define example_mkdir(path) _mkdir(path)
#else
#include <sys/stat.h>
#include <sys/types.h>
#define example_mkdir(path) mkdir(path, 0777)
#endif

/* Prints a message like printf, and ends the program. */
static inline void fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("error: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  exit(EXIT_FAILURE);
}

/*
 * Ends the program with the library's message if a call failed. `error` is the address that the call was given, not
 * the error: C may evaluate the second argument before it makes the call that is the first.
 */
static inline void check(zcodec_status status, zcodec_error *const *error) {
  if (status != ZCODEC_STATUS_OK) {
    fail("%s: %s", zcodec_status_name(status), error != NULL ? zcodec_error_message(*error) : "");
  }
}

/* Allocates memory; ends the program if there is none. */
static inline void *allocate(size_t size) {
  void *memory = malloc(size > 0 ? size : 1);
  if (memory == NULL) {
    fail("no memory for %zu bytes", size);
  }
  return memory;
}

/* Processor time in seconds. */
static inline double seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

/* The whole file, followed by a NUL; the caller frees it. */
static inline char *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  size_t capacity = 1 << 16;
  char *content = allocate(capacity);
  *size = 0;
  if (file == NULL) {
    fail("%s: %s", path, strerror(errno));
  }
  for (;;) {
    *size += fread(content + *size, 1, capacity - 1 - *size, file);
    if (*size < capacity - 1) {
      break;
    }
    capacity *= 2;
    content = realloc(content, capacity);
    if (content == NULL) {
      fail("%s: no memory for %zu bytes", path, capacity);
    }
  }
  if (ferror(file)) {
    fail("%s: %s", path, strerror(errno));
  }
  fclose(file);
  content[*size] = '\0';
  return content;
}

/* Writes a file, and makes its directories. */
static inline void write_file(const char *path, const void *content, size_t size) {
  FILE *file;
  char directory[4096];
  size_t i;
  for (i = 0; path[i] != '\0' && i < sizeof directory - 1; i++) {
    if (path[i] == '/' && i > 0) {
      directory[i] = '\0';
      (void)example_mkdir(directory); /* where it fails, fopen says so */
    }
    directory[i] = path[i];
  }
  file = fopen(path, "wb");
  if (file == NULL || fwrite(content, 1, size, file) != size || fclose(file) != 0) {
    fail("%s: %s", path, strerror(errno));
  }
}

#endif
