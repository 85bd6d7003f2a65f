#include "options.h"

#include <string.h>

static const member_info *find_member(const codec_info *codec, const char *name, size_t size) {
  for (const member_info *member = codec->members; member->name != NULL; member++) {
    if (strlen(member->name) == size && equals_in_any_case(member->name, name, size)) return member;
  }
  return NULL;
}

/* After the digits at the beginning; NULL if there are none. */
static const char *after_digits(const char *value) {
  size_t count = strspn(value, "0123456789");
  return count > 0 ? value + count : NULL;
}

/* Whether this is a number of JSON, whatever the locale of the program. */
static int is_number(const char *value) {
  value += *value == '-';
  if (value[0] == '0' && value[1] >= '0' && value[1] <= '9') return 0;
  value = after_digits(value);
  if (value != NULL && *value == '.') value = after_digits(value + 1);
  if (value != NULL && (*value == 'e' || *value == 'E')) {
    value++;
    value = after_digits(value + (*value == '+' || *value == '-'));
  }
  return value != NULL && *value == '\0';
}

static void add_value(const member_info *member, const char *value, text *json) {
  if (member != NULL && value[0] == '\0') { /* GDAL gives a null of the metadata as an empty text */
    text_add_string(json, "null");
    return;
  }
  int is_raw = 0, boolean = boolean_of_gdal(value);
  switch (member != NULL ? member->type : MEMBER_TEXT) {
    case MEMBER_TEXT:
      break;
    case MEMBER_BOOLEAN:
      is_raw = boolean >= 0;
      if (is_raw) value = boolean ? "true" : "false";
      break;
    case MEMBER_JSON:
      is_raw = value[0] == '[' || value[0] == '{';
      break;
    default:
      is_raw = is_number(value);
  }
  if (is_raw || (member != NULL && strcmp(value, "null") == 0)) {
    text_add_string(json, value);
  } else {
    text_add_quoted(json, value, strlen(value));
  }
}

static int is_id(const char *option) { return equals_in_any_case(option, "id=", 3); }

int options_fit_id(const codec_info *codec, const char *const *options) {
  for (; options != NULL && *options != NULL; options++) {
    if (is_id(*options) && strcmp(*options + 3, codec->id) != 0) return 0;
  }
  return 1;
}

void options_to_json(const codec_info *codec, const char *const *options, text *json) {
  const char *before = "{";
  for (; options != NULL && *options != NULL; options++) {
    size_t size = strcspn(*options, "=");
    if ((*options)[size] == '\0' || is_id(*options)) continue;
    const member_info *member = find_member(codec, *options, size);
    text_add_string(json, before);
    text_add_quoted(json, member != NULL ? member->name : *options, size);
    text_add_string(json, ": ");
    add_value(member, *options + size + 1, json);
    before = ", ";
  }
  text_add_string(json, before[0] == '{' ? "{}" : "}");
}

void options_describe(const codec_info *codec, text *xml) {
  /* GDAL writes the codec into the metadata of an array only if an option has a value: this one always has. */
  text_add_string(xml, "OPTIONS=<Options><Option name='ID' type='string-select' description='Name' default='");
  text_add_string(xml, codec->id);
  text_add_string(xml, "'><Value>");
  text_add_string(xml, codec->id);
  text_add_string(xml, "</Value></Option>");
  for (const member_info *member = codec->members; member->name != NULL; member++) {
    if (member->type != MEMBER_INTEGER && member->type != MEMBER_TEXT) continue;
    text_add_string(xml, "<Option name='");
    for (const char *letter = member->name; *letter != '\0'; letter++) {
      char upper = upper_ascii(*letter);
      text_add(xml, &upper, 1);
    }
    text_add_string(xml, member->type == MEMBER_INTEGER ? "' type='int'" : "' type='string'");
    text_add_string(xml, " description='As in numcodecs'/>");
  }
  text_add_string(xml, "</Options>");
}
