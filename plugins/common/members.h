/* The members of a JSON object, one after the other. The values are not parsed: the library does that, and reports
 * errors in them. */
#ifndef ZCODEC_PLUGINS_MEMBERS_H
#define ZCODEC_PLUGINS_MEMBERS_H

#include <stddef.h>

typedef struct span {
  const char *bytes;
  size_t size;
} span;

typedef struct member {
  span name;  /* without its quotes; escapes are left as they are */
  span value; /* as it stands there */
} member;

/* Puts the next member at `*rest` (at first the whole object) and moves `*rest` past it. 1; 0 after the last member;
 * -1 if the text is not an object. */
int member_next(span *rest, member *next);
int span_equals(span self, const char *string);

#endif
