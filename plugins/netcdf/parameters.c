#include "parameters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ARRAY_MARK = 0x7a636f64, MAX_TEXT_SIZE = 65536 };

static const char *const DATA_TYPES[] = {"uint8", "uint16", "uint32",  "uint64",  "int8",   "int16",
                                         "int32", "int64",  "float16", "float32", "float64"};
enum { DATA_TYPE_COUNT = sizeof DATA_TYPES / sizeof DATA_TYPES[0] };

void parameters_add(parameters *self, unsigned value) {
  if (self->failed) return;
  unsigned *values = realloc(self->values, (self->count + 1) * sizeof *values);
  if (values == NULL) {
    parameters_free(self);
    self->failed = 1;
    return;
  }
  values[self->count++] = value;
  self->values = values;
}

void parameters_free(parameters *self) {
  free(self->values);
  memset(self, 0, sizeof *self);
}

static const member_info *member_at(const codec_info *codec, int parameter) {
  const member_info *member = codec->members;
  while (member->name != NULL && member->parameter != parameter) member++;
  return member->name != NULL ? member : NULL;
}

static int is_boolean(const codec_info *codec, size_t parameter) {
  const member_info *member = member_at(codec, (int)parameter);
  return member != NULL && member->type == MEMBER_BOOLEAN;
}

size_t parameters_number_count(const codec_info *codec) {
  int most = NO_PARAMETER;
  for (const member_info *member = codec->members; member->name != NULL; member++) {
    if (member->parameter > most) most = member->parameter;
  }
  return (size_t)(most + 1);
}

/* A text that GDAL writes for a number or a boolean, in upper or lower case: its options as the user gave them. */
static int number_of_gdal(const member_info *info, const char *text, unsigned *number) {
  if (info->type == MEMBER_BOOLEAN) {
    int value = boolean_of_gdal(text);
    *number = value > 0;
    return value >= 0;
  }
  static const char *const SHUFFLES[] = {"NONE", "BYTE", "BIT"};
  for (unsigned i = 0; i < 3 && strcmp(info->name, "shuffle") == 0; i++) {
    *number = i;
    if (equals_in_any_case(text, SHUFFLES[i], SIZE_MAX)) return 1;
  }
  return 0;
}

/* 1; 0 if the member cannot have this value. */
static int number_of(const member_info *info, span json, unsigned *number) {
  char text[32], *end;
  if (json.size == 0 || json.size >= sizeof text) return 0;
  memcpy(text, json.bytes, json.size);
  text[json.size] = '\0';
  if (info->type == MEMBER_BOOLEAN && text[0] != '"') {
    *number = strcmp(text, "true") == 0;
    return *number || strcmp(text, "false") == 0;
  }
  for (unsigned i = 0; info->words != NULL && info->words[i] != NULL; i++) {
    span word = {json.bytes + 1, json.size - 2};
    *number = i;
    if (text[0] == '"' && span_equals(word, info->words[i])) return 1;
  }
  const char *digits = text;
  if (text[0] == '"') { /* netCDF-C 4.9.0 to 4.9.3 wrote integers as texts */
    text[json.size - 1] = '\0';
    digits++;
    if (number_of_gdal(info, digits, number)) return 1;
  }
  errno = 0;
  long long value = strtoll(digits, &end, 10);
  *number = (unsigned)value;
  int fits = errno == 0 && value >= INT32_MIN && value <= UINT32_MAX; /* netCDF-C writes -1 as 4294967295 */
  int is_number = digits[0] == '-' || (digits[0] >= '0' && digits[0] <= '9');
  int is_integer = info->type != MEMBER_BOOLEAN && info->words == NULL;
  return is_integer && fits && is_number && end != digits && *end == '\0';
}

/* The default of a member; 0 if it has none. */
static unsigned standard_number(const member_info *info) {
  unsigned number = 0;
  if (info->standard != NULL) number_of(info, (span){info->standard, strlen(info->standard)}, &number);
  return number;
}

/* Why a member cannot have this value. */
static void explain(const member_info *info, span json, text *why) {
  text_add_string(why, "\"");
  text_add_string(why, info->name);
  text_add_string(why, "\" is not ");
  if (info->type == MEMBER_BOOLEAN) {
    text_add_string(why, "true or false");
  } else if (info->words == NULL) {
    text_add_string(why, "an integer of 32 bits");
  } else {
    text_add_string(why, "one of");
    for (size_t i = 0; info->words[i] != NULL; i++) {
      text_add_string(why, i > 0 ? ", " : " ");
      text_add_quoted(why, info->words[i], strlen(info->words[i]));
    }
  }
  text_add_string(why, ": ");
  text_add(why, json.bytes, json.size);
}

static int numbers_from_json(const codec_info *codec, span json, parameters *result, text *why) {
  unsigned numbers[8] = {0};
  for (const member_info *info = codec->members; info->name != NULL; info++) {
    numbers[info->parameter] = standard_number(info);
  }
  if (strcmp(codec->id, "blosc") == 0) numbers[0] = numbers[1] = 2; /* versions of the filter and of the format */
  member next;
  int found;
  while ((found = member_next(&json, &next)) > 0) {
    if (span_equals(next.name, "id") || span_equals(next.value, "null")) continue;
    const member_info *info = codec->members;
    while (info->name != NULL && !span_equals(next.name, info->name)) info++;
    if (info->name == NULL) {
      text_add_string(why, "the codec has no member \"");
      text_add(why, next.name.bytes, next.name.size);
      text_add_string(why, "\"");
      return 0;
    }
    if (!number_of(info, next.value, &numbers[info->parameter])) {
      explain(info, next.value, why);
      return 0;
    }
  }
  size_t count = parameters_number_count(codec);
  /* A checksum that is off is left out: netCDF-C takes a zstd for its own if it has one parameter. */
  while (count > 0 && numbers[count - 1] == 0 && is_boolean(codec, count - 1)) count--;
  for (size_t i = 0; i < count; i++) parameters_add(result, numbers[i]);
  if (found < 0) text_add_string(why, "the codec is not a JSON object");
  return found == 0;
}

static void add_text(parameters *result, span text) {
  parameters_add(result, (unsigned)text.size);
  for (size_t i = 0; i < text.size; i += 4) {
    unsigned value = 0;
    for (size_t k = 0; k < 4 && i + k < text.size; k++) value |= (unsigned)(unsigned char)text.bytes[i + k] << 8 * k;
    parameters_add(result, value);
  }
}

int parameters_from_json(const codec_info *codec, span json, parameters *result, text *why) {
  if (codec->convention == CONVENTION_NUMBERS) {
    if (!numbers_from_json(codec, json, result, why)) return 0;
  } else if (json.size > MAX_TEXT_SIZE) {
    text_add_string(why, "the configuration has ");
    text_add_number(why, (int64_t)json.size);
    text_add_string(why, " bytes, expected at most ");
    text_add_number(why, MAX_TEXT_SIZE);
    return 0;
  } else {
    add_text(result, json);
  }
  return !result->failed;
}

size_t parameters_visible_count(const codec_info *codec, const unsigned *values, size_t count) {
  size_t visible = parameters_number_count(codec);
  if (codec->convention == CONVENTION_TEXT && count > 0) visible = 1 + ((size_t)values[0] + 3) / 4;
  return visible < count ? visible : count;
}

void parameters_complete(const codec_info *codec, parameters *self) {
  if (codec->convention == CONVENTION_TEXT) {
    if (self->count == 0) parameters_add(self, 0); /* the size of no text */
    return;
  }
  for (size_t i = self->count; i < parameters_number_count(codec); i++) {
    const member_info *info = member_at(codec, (int)i);
    parameters_add(self, info != NULL ? standard_number(info) : 0);
  }
}

static void number_to_json(const member_info *info, unsigned value, text *json) {
  size_t word_count = 0;
  while (info->words != NULL && info->words[word_count] != NULL) word_count++;
  text_add_string(json, ", \"");
  text_add_string(json, info->name);
  text_add_string(json, "\": ");
  if (value < word_count) {
    text_add_quoted(json, info->words[value], strlen(info->words[value]));
  } else if (info->type == MEMBER_BOOLEAN) {
    text_add_string(json, value == 1 ? "true" : "false");
  } else {
    text_add_number(json, (int32_t)value);
  }
}

static void numbers_to_json(const codec_info *codec, const unsigned *values, size_t count, int is_netcdf, text *json) {
  size_t given = parameters_visible_count(codec, values, count);
  for (size_t i = 0; i < parameters_number_count(codec); i++) {
    const member_info *info = member_at(codec, (int)i);
    if (i >= given) {
      if (is_boolean(codec, i)) number_to_json(info, standard_number(info), json);
      continue;
    }
    if (info == NULL || (strcmp(info->name, "typesize") == 0 && values[i] == 0)) continue;
    /* The registered filter for blosc puts the size of a chunk where netCDF-C puts the size of a block. */
    if (strcmp(info->name, "blocksize") == 0 && !is_netcdf) continue;
    number_to_json(info, values[i], json);
  }
}

/* The members of a text, with or without the id. 1; 0 if it is not an object. */
static int text_to_json(const unsigned *values, size_t count, text *json) {
  text bytes = {0};
  for (size_t i = 0; i < values[0] && 1 + i / 4 < count; i++) {
    char byte = (char)(values[1 + i / 4] >> 8 * (i % 4));
    text_add(&bytes, &byte, 1);
  }
  span rest = {bytes.bytes, bytes.size};
  member next;
  int found = bytes.size > 0 ? 1 : 0;
  while (found > 0 && (found = member_next(&rest, &next)) > 0) {
    if (span_equals(next.name, "id")) continue;
    text_add_string(json, ", \"");
    text_add(json, next.name.bytes, next.name.size);
    text_add_string(json, "\": ");
    text_add(json, next.value.bytes, next.value.size);
  }
  if (bytes.failed) {
    text_free(json);
    json->failed = 1;
  }
  int is_object = json->failed || (found >= 0 && bytes.size == values[0]);
  text_free(&bytes);
  return is_object;
}

const char *parameters_to_json(const codec_info *codec, const unsigned *values, size_t count, int is_netcdf,
                               text *json) {
  text_add_string(json, "{\"id\": \"");
  text_add_string(json, codec->id);
  text_add_string(json, "\"");
  if (codec->convention == CONVENTION_NUMBERS) {
    numbers_to_json(codec, values, count, is_netcdf, json);
  } else if (count > 0 && !text_to_json(values, count, json)) {
    return "the filter's parameters are not a JSON object";
  }
  text_add_string(json, "}");
  return NULL;
}

void parameters_add_array(parameters *self, const array_info *array) {
  unsigned type = 0;
  while (type < DATA_TYPE_COUNT && strcmp(DATA_TYPES[type], array->data_type) != 0) type++;
  parameters_add(self, ARRAY_MARK);
  parameters_add(self, type);
  parameters_add(self, (unsigned)array->ndim);
  for (size_t i = 0; i < array->ndim; i++) {
    parameters_add(self, (unsigned)array->shape[i]);
    parameters_add(self, (unsigned)(array->shape[i] >> 32));
  }
}

int parameters_array(const codec_info *codec, const unsigned *values, size_t count, array_info *array) {
  size_t visible = parameters_visible_count(codec, values, count);
  const unsigned *rest = values + visible;
  if (count - visible < 3 || rest[0] != ARRAY_MARK || rest[1] >= DATA_TYPE_COUNT) return 0;
  array->data_type = DATA_TYPES[rest[1]];
  array->ndim = rest[2];
  if (array->ndim > MAX_NDIM || count - visible < 3 + 2 * array->ndim) return 0;
  for (size_t i = 0; i < array->ndim; i++) {
    array->shape[i] = rest[3 + 2 * i] | (uint64_t)rest[4 + 2 * i] << 32;
  }
  return 1;
}

zcodec_status parameters_chain(const codec_info *codec, const unsigned *values, size_t count, chain_use *use,
                               zcodec_error **error, const char **why) {
  text json = {0};
  array_info array;
  int has_array = parameters_array(codec, values, count, &array);
  *use = (chain_use){NULL, 0};
  *error = NULL;
  /* Only netCDF-C has an array after the numbers of a registered filter. */
  *why = parameters_to_json(codec, values, count, has_array, &json);
  zcodec_status status = *why != NULL ? ZCODEC_STATUS_INVALID_METADATA : ZCODEC_STATUS_OUT_OF_MEMORY;
  if (*why == NULL && !json.failed) {
    span configuration = {json.bytes, json.size};
    status = chain_acquire(codec, configuration, has_array ? &array : NULL, use, error);
  }
  text_free(&json);
  return status;
}
