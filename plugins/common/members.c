#include "members.h"

#include <string.h>

static void skip(span *rest, size_t size) {
  rest->bytes += size;
  rest->size -= size;
}

static int is_space(char byte) { return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n'; }

static void skip_spaces(span *rest) {
  while (rest->size > 0 && is_space(rest->bytes[0])) skip(rest, 1);
}

/* The size of the string that begins here, with its quotes; 0 if none does. */
static size_t string_size(span text) {
  if (text.size == 0 || text.bytes[0] != '"') return 0;
  for (size_t i = 1; i < text.size; i++) {
    if (text.bytes[i] == '\\') {
      i++;
    } else if (text.bytes[i] == '"') {
      return i + 1;
    }
  }
  return 0;
}

/* The size of the value that begins here: up to the comma or bracket that ends it; 0 if there is none. */
static size_t value_size(span text) {
  size_t depth = 0, i = 0;
  while (i < text.size) {
    char byte = text.bytes[i];
    if (byte == '"') {
      size_t size = string_size((span){text.bytes + i, text.size - i});
      if (size == 0) return 0;
      i += size;
      continue;
    }
    if (byte == '{' || byte == '[') depth++;
    if (depth == 0 && (byte == ',' || byte == '}' || byte == ']')) break;
    if (byte == '}' || byte == ']') depth--;
    i++;
  }
  if (depth > 0) return 0;
  while (i > 0 && is_space(text.bytes[i - 1])) i--;
  return i;
}

int member_next(span *rest, member *next) {
  skip_spaces(rest);
  /* A brace comes before the first member, a comma before each other one, and a brace after the last one. */
  if (rest->size == 0) return -1;
  char before = rest->bytes[0];
  if (before == '}') return 0;
  if (before != '{' && before != ',') return -1;
  skip(rest, 1);
  skip_spaces(rest);
  if (before == '{' && rest->size > 0 && rest->bytes[0] == '}') return 0;

  size_t name = string_size(*rest);
  if (name == 0) return -1;
  next->name = (span){rest->bytes + 1, name - 2};
  skip(rest, name);
  skip_spaces(rest);
  if (rest->size == 0 || rest->bytes[0] != ':') return -1;
  skip(rest, 1);
  skip_spaces(rest);
  next->value = (span){rest->bytes, value_size(*rest)};
  skip(rest, next->value.size);
  return next->value.size > 0 ? 1 : -1;
}

int span_equals(span self, const char *string) {
  return self.size == strlen(string) && memcmp(self.bytes, string, self.size) == 0;
}
