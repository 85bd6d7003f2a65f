#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int has_room(text *self, size_t size) {
  if (self->failed) return 0;
  if (self->capacity > self->size && self->capacity - self->size > size) return 1;
  size_t capacity = 2 * self->size + size + 64;
  char *bytes = capacity > size ? realloc(self->bytes, capacity) : NULL;
  if (bytes == NULL) {
    text_free(self);
    self->failed = 1;
    return 0;
  }
  self->bytes = bytes;
  self->capacity = capacity;
  return 1;
}

void text_add(text *self, const char *bytes, size_t size) {
  if (!has_room(self, size)) return;
  memcpy(self->bytes + self->size, bytes, size);
  self->size += size;
  self->bytes[self->size] = '\0';
}

void text_add_string(text *self, const char *string) { text_add(self, string, strlen(string)); }

void text_add_number(text *self, int64_t number) {
  char digits[24];
  snprintf(digits, sizeof digits, "%" PRId64, number);
  text_add_string(self, digits);
}

void text_add_quoted(text *self, const char *bytes, size_t size) {
  text_add_string(self, "\"");
  for (size_t i = 0; i < size; i++) {
    unsigned char byte = (unsigned char)bytes[i];
    char escaped[8];
    if (byte < 0x20 || byte == '"' || byte == '\\') {
      snprintf(escaped, sizeof escaped, "\\u%04x", byte);
      text_add_string(self, escaped);
    } else {
      text_add(self, bytes + i, 1);
    }
  }
  text_add_string(self, "\"");
}

void text_free(text *self) {
  free(self->bytes);
  memset(self, 0, sizeof *self);
}

char upper_ascii(char letter) { return letter >= 'a' && letter <= 'z' ? (char)(letter - 'a' + 'A') : letter; }

int equals_in_any_case(const char *one, const char *other, size_t size) {
  for (size_t i = 0; i < size; i++) {
    if (upper_ascii(one[i]) != upper_ascii(other[i])) return 0;
    if (one[i] == '\0') break;
  }
  return 1;
}
