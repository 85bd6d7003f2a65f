/* Finds members and elements in text that is known to be JSON: zcodec has accepted it, or this program trusts it. */
#ifndef ZCODEC_JSON_H
#define ZCODEC_JSON_H

#include <stddef.h>
#include <string.h>

/* A part of a text; `begin` is NULL where nothing was found. */
typedef struct json_span {
  const char *begin;
  const char *end;
} json_span;

/* For printf's "%.*s". */
#define JSON_PRINT(span) (int)((span).end - (span).begin), (span).begin

static inline const char *json_skip_space(const char *at, const char *end) {
  while (at < end && strchr(" \t\r\n,:", *at) != NULL && *at != '\0') {
    at++;
  }
  return at;
}

static inline const char *json_skip_string(const char *at, const char *end) {
  for (at++; at < end && *at != '"'; at++) {
    if (*at == '\\') {
      at++;
    }
  }
  return at < end ? at + 1 : end;
}

/* The end of the value that begins at `at`. */
static inline const char *json_skip_value(const char *at, const char *end) {
  size_t depth = 0;
  do {
    if (at < end && *at == '"') {
      at = json_skip_string(at, end);
    } else if (at < end && (*at == '{' || *at == '[')) {
      depth++;
      at++;
    } else if (depth > 0) {
      if (at < end && (*at == '}' || *at == ']')) {
        depth--;
      }
      at++;
    } else {
      while (at < end && strchr(" \t\r\n,:]}", *at) == NULL) {
        at++;
      }
    }
  } while (depth > 0 && at < end);
  return at < end ? at : end;
}

/* The next element of an array, or key or value of an object; start with an empty `element`. Returns 0 at the end. */
static inline int json_next(json_span container, json_span *element) {
  const char *at = element->begin == NULL ? json_skip_space(container.begin, container.end) + 1 : element->end;
  at = json_skip_space(at, container.end);
  if (at >= container.end || *at == ']' || *at == '}') {
    return 0;
  }
  element->begin = at;
  element->end = json_skip_value(at, container.end);
  return element->end > at;
}

/* The value of the member `name` of an object. */
static inline json_span json_member(json_span object, const char *name) {
  const json_span none = {NULL, NULL};
  json_span key = {NULL, NULL};
  size_t size = strlen(name);
  if (object.begin == NULL) {
    return none;
  }
  while (json_next(object, &key)) {
    json_span value = key;
    if (!json_next(object, &value)) {
      return none;
    }
    if ((size_t)(key.end - key.begin) == size + 2 && memcmp(key.begin + 1, name, size) == 0) {
      return value;
    }
    key = value;
  }
  return none;
}

#endif
