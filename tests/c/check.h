/* Shared by the C and C++ tests: checks that report where they fail, and continue. */
#ifndef ZCODEC_TESTS_CHECK_H
#define ZCODEC_TESTS_CHECK_H

#include "zcodec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int checks_made;
static int checks_failed;

static inline int check_true(int condition, const char *text, const char *file, int line) {
  checks_made++;
  if (!condition) {
    checks_failed++;
    fprintf(stderr, "%s:%d: false: %s\n", file, line, text);
  }
  return condition;
}

static inline int check_status(zcodec_status found, zcodec_status expected, const zcodec_error *error, const char *text,
                               const char *file, int line) {
  checks_made++;
  if (found != expected) {
    checks_failed++;
    fprintf(stderr, "%s:%d: %s: expected %s, found %s: %s\n", file, line, text, zcodec_status_name(expected),
            zcodec_status_name(found), error != NULL ? zcodec_error_message(error) : "no error object");
  }
  return found == expected;
}

#define CHECK(condition) check_true((condition) ? 1 : 0, #condition, __FILE__, __LINE__)

/* A call that takes no error pointer, or NULL for it. */
#define CHECK_STATUS(expected, call) check_status((call), (expected), NULL, #call, __FILE__, __LINE__)

/* A call with `&error` that succeeds: the error is then NULL. */
#define CHECK_OK(call)                                                                   \
  do {                                                                                   \
    zcodec_error *error = (zcodec_error *)&checks_made; /* must be overwritten */        \
    zcodec_status check_found = (call);                                                  \
    if (check_status(check_found, ZCODEC_STATUS_OK, error, #call, __FILE__, __LINE__)) { \
      check_true(error == NULL, "error is NULL after " #call, __FILE__, __LINE__);       \
    } else {                                                                             \
      zcodec_error_free(error);                                                          \
    }                                                                                    \
  } while (0)

/* A call with `&error` that fails: the error has the same status and a message. */
#define CHECK_FAILS(expected, call)                                                                    \
  do {                                                                                                 \
    zcodec_error *error = NULL;                                                                        \
    zcodec_status check_found = (call);                                                                \
    check_status(check_found, (expected), error, #call, __FILE__, __LINE__);                           \
    if (check_true(error != NULL, "an error object after " #call, __FILE__, __LINE__)) {               \
      check_true(zcodec_error_status(error) == check_found, "its status: " #call, __FILE__, __LINE__); \
      check_true(zcodec_error_message(error)[0] != '\0', "its message: " #call, __FILE__, __LINE__);   \
    }                                                                                                  \
    zcodec_error_free(error);                                                                          \
  } while (0)

/* A call with `&error` that fails with a message in which this text is. */
#define CHECK_FAILS_WITH(expected, text, call)                                                    \
  do {                                                                                            \
    zcodec_error *error = NULL;                                                                   \
    zcodec_status check_found = (call);                                                           \
    check_status(check_found, (expected), error, #call, __FILE__, __LINE__);                      \
    if (!CHECK(error != NULL && strstr(zcodec_error_message(error), (text)) != NULL)) {           \
      fprintf(stderr, "expected: %s\n", (text));                                                  \
      fprintf(stderr, "found: %s\n", error != NULL ? zcodec_error_message(error) : "no message"); \
    }                                                                                             \
    zcodec_error_free(error);                                                                     \
  } while (0)

/* A new chain; ends the test if it cannot be made. `input` is NULL for bytes->bytes codecs. */
static inline zcodec_chain *check_chain(const char *codecs, const char *input) {
  zcodec_chain *chain = NULL;
  zcodec_error *error = NULL;
  zcodec_status status =
      zcodec_chain_new(codecs, strlen(codecs), input, input != NULL ? strlen(input) : 0, &chain, &error);
  if (status != ZCODEC_STATUS_OK) {
    fprintf(stderr, "%s of %s: %s\n", codecs, input != NULL ? input : "bytes", zcodec_error_message(error));
    exit(EXIT_FAILURE);
  }
  return chain;
}

/* Whether the buffer holds exactly this text; frees it. */
static inline int check_buffer_is(zcodec_buffer *buffer, const char *text) {
  size_t size = strlen(text);
  int same =
      buffer != NULL && zcodec_buffer_size(buffer) == size && memcmp(zcodec_buffer_data(buffer), text, size) == 0;
  if (!same) {
    fprintf(stderr, "found %.*s, expected %s\n", (int)zcodec_buffer_size(buffer),
            (const char *)zcodec_buffer_data(buffer), text);
  }
  zcodec_buffer_free(buffer);
  return same;
}

/* Whether the buffer holds this text somewhere; frees it. */
static inline int check_buffer_has(zcodec_buffer *buffer, const char *text) {
  size_t i, text_size = strlen(text), size = zcodec_buffer_size(buffer);
  int found = 0;
  for (i = 0; buffer != NULL && i + text_size <= size; i++) {
    found |= memcmp(zcodec_buffer_data(buffer) + i, text, text_size) == 0;
  }
  if (!found) {
    fprintf(stderr, "found %.*s, expected %s in it\n", (int)size, (const char *)zcodec_buffer_data(buffer), text);
  }
  zcodec_buffer_free(buffer);
  return found;
}

/* The exit status for main. */
static inline int check_result(const char *name) {
  printf("%s: %d checks, %d failed\n", name, checks_made, checks_failed);
  return checks_failed == 0 && checks_made > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
