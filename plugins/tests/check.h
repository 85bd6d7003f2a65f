/* Checks that end the test. */
#ifndef ZCODEC_PLUGINS_TESTS_CHECK_H
#define ZCODEC_PLUGINS_TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      exit(EXIT_FAILURE);                                             \
    }                                                                 \
  } while (0)

#endif
