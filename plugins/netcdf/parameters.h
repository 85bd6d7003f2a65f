/* The configuration of a codec as the parameters of a filter of HDF5: 32-bit numbers.
 *
 * A filter that is registered with The HDF Group takes its members as numbers, as its other implementations do. All
 * others take the JSON object as text: its size in bytes, then the bytes, four to a number, the first in the lowest
 * bits. Without parameters the codec has its default configuration.
 *
 * The array that the first filter of a chunk gets may follow: a mark, the data type, the number of dimensions, and two
 * numbers for each size, the low one first. HDF5 stores it with the dataset; netCDF-C keeps it in memory. */
#ifndef ZCODEC_PLUGINS_PARAMETERS_H
#define ZCODEC_PLUGINS_PARAMETERS_H

#include "../common/chain.h"
#include "../common/text.h"

typedef struct parameters {
  unsigned *values; /* malloc */
  size_t count;
  int failed; /* no memory */
} parameters;

void parameters_add(parameters *self, unsigned value);
void parameters_free(parameters *self);

/* From the JSON object in a .zarray. 1; 0 after an error, which `why` explains unless there is no memory. */
int parameters_from_json(const codec_info *codec, span json, parameters *result, text *why);
/* The JSON object, with its id. NULL, or why it failed; `json` then has only a part. */
const char *parameters_to_json(const codec_info *codec, const unsigned *values, size_t count, int is_netcdf,
                               text *json);

/* How many numbers a registered filter has. */
size_t parameters_number_count(const codec_info *codec);
/* How many of the values belong to the configuration. */
size_t parameters_visible_count(const codec_info *codec, const unsigned *values, size_t count);

/* Adds what the caller left out, with the defaults of the codec. */
void parameters_complete(const codec_info *codec, parameters *self);

/* The array, bytes as an array of uint8. */
void parameters_add_array(parameters *self, const array_info *array);
/* 1; 0 if the values have no array. */
int parameters_array(const codec_info *codec, const unsigned *values, size_t count, array_info *array);

/* The chain that the values describe. After an error, `*error` or `*why` may say why; the other one is NULL. */
zcodec_status parameters_chain(const codec_info *codec, const unsigned *values, size_t count, chain_use *use,
                               zcodec_error **error, const char **why);

#endif
