/* Text that grows. Without memory it becomes NULL and `failed`, and further additions do nothing. */
#ifndef ZCODEC_PLUGINS_TEXT_H
#define ZCODEC_PLUGINS_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* All zero is an empty text. */
typedef struct text {
  char *bytes; /* NUL-terminated; NULL while empty */
  size_t size;
  size_t capacity;
  int failed;
} text;

void text_add(text *self, const char *bytes, size_t size);
void text_add_string(text *self, const char *string);
void text_add_number(text *self, int64_t number);
/* As a JSON string, with its quotes. */
void text_add_quoted(text *self, const char *bytes, size_t size);
void text_free(text *self);

/* Letters of ASCII in any locale: in Turkish ones, toupper and strcasecmp do not take "i" and "I" for one letter. */
char upper_ascii(char letter);
/* Compares up to `size` characters, or to the end of both strings. */
int equals_in_any_case(const char *one, const char *other, size_t size);

#endif
