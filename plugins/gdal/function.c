#include "function.h"

#include "../common/chain.h"
#include "../common/text.h"
#include "cpl.h"
#include "options.h"
#include "stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* GDAL takes a result in one of three ways: in memory of its own, in memory allocated for it, or only its size. */
typedef enum way { INTO_MEMORY, NEW_MEMORY, SIZE_ONLY, NO_WAY } way;

static way way_of(void **output, size_t *output_size) {
  if (output_size == NULL) return NO_WAY;
  if (output == NULL) return SIZE_ONLY;
  if (*output == NULL) return NEW_MEMORY;
  return *output_size != 0 ? INTO_MEMORY : NO_WAY;
}

static bool fail(const cpl_functions *cpl, zcodec_status status, zcodec_error *error) {
  char message[2048];
  cpl_fail(cpl, failure_text(error, status, message, sizeof message));
  zcodec_error_free(error);
  return false;
}

static bool refuse(const cpl_functions *cpl, size_t *output_size, const char *message) {
  if (output_size != NULL) *output_size = 0;
  cpl_fail(cpl, message);
  return false;
}

typedef zcodec_status (*coding)(const zcodec_chain *chain, const void *input, size_t input_size, void *output,
                                size_t capacity, size_t *output_size, zcodec_error **error);

/* Encodes or decodes into new memory of GDAL's, when an upper bound of the size is known. */
static zcodec_status into_new(const cpl_functions *cpl, const zcodec_chain *chain, coding code, const void *input,
                              size_t input_size, size_t capacity, void **output, size_t *output_size,
                              zcodec_error **error) {
  void *memory = cpl->allocate(capacity > 0 ? capacity : 1);
  if (memory == NULL) return ZCODEC_STATUS_OUT_OF_MEMORY;
  zcodec_status status = code(chain, input, input_size, memory, capacity, output_size, error);
  if (status == ZCODEC_STATUS_OK) {
    *output = memory;
  } else {
    cpl->release(memory);
    *output_size = 0;
  }
  return status;
}

/* Copies a buffer to memory of GDAL's, and frees it. */
static zcodec_status hand_over(const cpl_functions *cpl, zcodec_buffer *buffer, void **output, size_t *output_size) {
  size_t size = zcodec_buffer_size(buffer);
  *output = cpl->allocate(size > 0 ? size : 1);
  if (*output != NULL) {
    if (size > 0) memcpy(*output, zcodec_buffer_data(buffer), size);
    *output_size = size;
  }
  zcodec_buffer_free(buffer);
  return *output != NULL ? ZCODEC_STATUS_OK : ZCODEC_STATUS_OUT_OF_MEMORY;
}

static zcodec_status encode(const cpl_functions *cpl, const zcodec_chain *chain, const void *input, size_t input_size,
                            void **output, size_t *output_size, zcodec_error **error) {
  zcodec_buffer *buffer = NULL;
  size_t capacity = *output_size;
  zcodec_status status;
  switch (way_of(output, output_size)) {
    case INTO_MEMORY:
      return zcodec_encode(chain, input, input_size, *output, capacity, output_size, error);
    case SIZE_ONLY:
      status = zcodec_chain_encoded_bound(chain, input_size, output_size);
      if (status == ZCODEC_STATUS_UNKNOWN_SIZE) *output_size = 0; /* as GDAL wants it */
      return status == ZCODEC_STATUS_UNKNOWN_SIZE ? ZCODEC_STATUS_OK : status;
    default:
      *output_size = 0;
      if (zcodec_chain_encoded_bound(chain, input_size, &capacity) == ZCODEC_STATUS_OK) {
        return into_new(cpl, chain, zcodec_encode, input, input_size, capacity, output, output_size, error);
      }
      status = zcodec_encode_to_buffer(chain, input, input_size, &buffer, error);
      return status == ZCODEC_STATUS_OK ? hand_over(cpl, buffer, output, output_size) : status;
  }
}

static zcodec_status decode(const cpl_functions *cpl, const zcodec_chain *chain, const void *input, size_t input_size,
                            void **output, size_t *output_size, zcodec_error **error) {
  zcodec_buffer *buffer = NULL;
  size_t capacity = *output_size;
  zcodec_status status;
  switch (way_of(output, output_size)) {
    case INTO_MEMORY:
      return zcodec_decode(chain, input, input_size, *output, capacity, output_size, error);
    case SIZE_ONLY:
      status = zcodec_decode(chain, input, input_size, NULL, 0, output_size, error);
      if (status != ZCODEC_STATUS_BUFFER_TOO_SMALL) return status;
      zcodec_error_free(*error);
      *error = NULL;
      return ZCODEC_STATUS_OK;
    default:
      *output_size = 0;
      if (zcodec_chain_decoded_size(chain, &capacity) == ZCODEC_STATUS_OK) {
        return into_new(cpl, chain, zcodec_decode, input, input_size, capacity, output, output_size, error);
      }
      status = zcodec_decode_to_buffer(chain, input, input_size, &buffer, error);
      return status == ZCODEC_STATUS_OK ? hand_over(cpl, buffer, output, output_size) : status;
  }
}

enum { DATA_TYPE_CAPACITY = 32 };

/* The array to encode, from the configuration options of GDAL. NULL, or why they do not describe one. The data type is
 * copied to `data_type`: GDAL may free an option at the next call. */
static const char *configured_array(const cpl_functions *cpl, array_info *array, char data_type[DATA_TYPE_CAPACITY]) {
  const char *option = cpl->get_option("ZCODEC_DATA_TYPE", NULL);
  snprintf(data_type, DATA_TYPE_CAPACITY, "%s", option != NULL ? option : "");
  array->data_type = data_type;
  const char *shape = cpl->get_option("ZCODEC_CHUNK_SHAPE", NULL);
  if (data_type[0] == '\0' || shape == NULL) {
    return "zcodec: GDAL does not tell a codec what it encodes: set ZCODEC_DATA_TYPE (such as float32) and "
           "ZCODEC_CHUNK_SHAPE (such as 256,256)";
  }
  if (strspn(data_type, "abcdefghijklmnopqrstuvwxyz0123456789") != strlen(data_type)) {
    return "zcodec: ZCODEC_DATA_TYPE is not the name of a data type, such as float32";
  }
  for (array->ndim = 0; array->ndim < MAX_NDIM;) {
    char *end;
    if (*shape < '0' || *shape > '9') break;
    array->shape[array->ndim++] = strtoull(shape, &end, 10);
    if (*end == '\0') return NULL;
    if (*end != ',') break;
    shape = end + 1;
  }
  return "zcodec: ZCODEC_CHUNK_SHAPE is not a list of sizes, such as 256,256";
}

bool gdal_encode(const void *input, size_t input_size, void **output, size_t *output_size, const char *const *options,
                 void *user_data) {
  const registration *self = user_data;
  const codec_info *codec = self->codec;
  array_info array;
  char data_type[DATA_TYPE_CAPACITY];
  const char *why = codec->takes_array ? configured_array(self->cpl, &array, data_type) : NULL;
  if (why == NULL && !options_fit_id(codec, options)) why = "zcodec: the option ID is the name of another codec";
  if (why != NULL || way_of(output, output_size) == NO_WAY) {
    return refuse(self->cpl, output_size, why != NULL ? why : "zcodec: no output_size, or one of 0");
  }
  text json = {0};
  options_to_json(codec, options, &json);
  chain_use use = {NULL, 0};
  zcodec_error *error = NULL;
  zcodec_status status = ZCODEC_STATUS_OUT_OF_MEMORY;
  if (!json.failed) {
    span configuration = {json.bytes, json.size};
    status = chain_acquire(codec, configuration, codec->takes_array ? &array : NULL, &use, &error);
  }
  text_free(&json);
  if (status == ZCODEC_STATUS_OK) {
    status = encode(self->cpl, use.chain, input, input_size, output, output_size, &error);
    chain_release(&use);
  } else {
    *output_size = 0;
  }
  return status == ZCODEC_STATUS_OK || fail(self->cpl, status, error);
}

/* Decodes with one configuration. */
static zcodec_status decode_as(const registration *self, span configuration, const array_info *array, const void *input,
                               size_t input_size, void **output, size_t *output_size, zcodec_error **error) {
  chain_use use;
  zcodec_status status = chain_acquire(self->codec, configuration, array, &use, error);
  if (status == ZCODEC_STATUS_OK) {
    status = decode(self->cpl, use.chain, input, input_size, output, output_size, error);
    chain_release(&use);
  } else {
    *output_size = 0;
  }
  return status;
}

/* GDAL hands the configuration to filters, not to compressors. Each likely configuration is tried. If all of them find
 * the chunk damaged, the first error is reported. */
static zcodec_status decode_guessing(const registration *self, const void *input, size_t input_size, void **output,
                                     size_t *output_size, zcodec_error **error) {
  size_t capacity = *output_size, size = 0;
  zcodec_status reported = ZCODEC_STATUS_CORRUPT_DATA;
  for (const char *const *guess = self->codec->guesses; *guess != NULL; guess++) {
    zcodec_error *found = NULL;
    *output_size = capacity;
    span configuration = {*guess, strlen(*guess)};
    zcodec_status status = decode_as(self, configuration, NULL, input, input_size, output, output_size, &found);
    if (guess == self->codec->guesses || status != ZCODEC_STATUS_CORRUPT_DATA) {
      zcodec_error_free(*error);
      *error = found;
      reported = status;
      size = *output_size;
    } else {
      zcodec_error_free(found);
    }
    if (status != ZCODEC_STATUS_CORRUPT_DATA) break;
  }
  *output_size = size;
  return reported;
}

/* Decodes a stream that describes itself. */
static bool decode_array(const registration *self, const void *input, size_t input_size, void **output,
                         size_t *output_size) {
  size_t capacity = way_of(output, output_size) == INTO_MEMORY ? *output_size : 0;
  text configuration = {0};
  array_info array;
  const char *why = NULL;
  if (!stream_describe(self->codec, input, input_size, capacity, &array, &configuration, &why)) {
    char message[256];
    snprintf(message, sizeof message, "zcodec: codecs[0] \"numcodecs.%s\": %s", self->codec->id, why);
    text_free(&configuration);
    return refuse(self->cpl, output_size, message);
  }
  zcodec_error *error = NULL;
  zcodec_status status = ZCODEC_STATUS_OUT_OF_MEMORY;
  if (!configuration.failed) {
    status = decode_as(self, (span){configuration.bytes, configuration.size}, &array, input, input_size, output,
                       output_size, &error);
  }
  text_free(&configuration);
  return status == ZCODEC_STATUS_OK || fail(self->cpl, status, error);
}

bool gdal_decode(const void *input, size_t input_size, void **output, size_t *output_size, const char *const *options,
                 void *user_data) {
  const registration *self = user_data;
  const codec_info *codec = self->codec;
  if (way_of(output, output_size) == NO_WAY)
    return refuse(self->cpl, output_size, "zcodec: no output_size, or one of 0");
  if (codec->takes_array) return decode_array(self, input, input_size, output, output_size);
  zcodec_error *error = NULL;
  zcodec_status status;
  if (options == NULL && self->codec->guesses[0] == NULL) {
    return refuse(self->cpl, output_size,
                  "zcodec: GDAL tells a compressor none of its options, and this codec cannot be decoded "
                  "without them; it works as a filter");
  } else if (options == NULL) {
    status = decode_guessing(self, input, input_size, output, output_size, &error);
  } else {
    text json = {0};
    options_to_json(codec, options, &json);
    status = ZCODEC_STATUS_OUT_OF_MEMORY;
    if (!json.failed) {
      status = decode_as(self, (span){json.bytes, json.size}, NULL, input, input_size, output, output_size, &error);
    }
    text_free(&json);
  }
  return status == ZCODEC_STATUS_OK || fail(self->cpl, status, error);
}
