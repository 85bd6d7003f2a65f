#include "checksum.h"

#include "parameters.h"

#include <string.h>

enum { CHECKSUM_SIZE = 4 };

/* Where numcodecs puts the checksum, as JSON; NULL if the codec has none. */
static const char *default_location(const codec_info *codec) {
  if (strcmp(codec->id, "jenkins_lookup3") == 0) return "\"end\"";
  const member_info *member = codec->members;
  while (member->name != NULL && strcmp(member->name, "location") != 0) member++;
  return member->standard;
}

int checksum_strip(const codec_info *codec, const unsigned *values, size_t count, span *chunk) {
  const char *location = default_location(codec);
  if (location == NULL || chunk->size < CHECKSUM_SIZE) return 0;
  int is_at_start = strcmp(location, "\"start\"") == 0;
  text json = {0};
  parameters_to_json(codec, values, count, 0, &json);
  span rest = {json.bytes, json.size};
  member next;
  while (!json.failed && member_next(&rest, &next) > 0) {
    if (span_equals(next.name, "location")) is_at_start = span_equals(next.value, "\"start\"");
  }
  int is_known = !json.failed;
  text_free(&json);
  if (is_at_start) chunk->bytes += CHECKSUM_SIZE;
  chunk->size -= CHECKSUM_SIZE;
  return is_known;
}
