/* The functions that GDAL calls for a chunk. `user_data` is a registration. */
#ifndef ZCODEC_PLUGINS_FUNCTION_H
#define ZCODEC_PLUGINS_FUNCTION_H

#include "../common/codecs.h"
#include "cpl.h"

typedef struct registration {
  const codec_info *codec;
  const cpl_functions *cpl; /* of the GDAL that calls */
} registration;

bool gdal_encode(const void *input, size_t input_size, void **output, size_t *output_size, const char *const *options,
                 void *user_data);
bool gdal_decode(const void *input, size_t input_size, void **output, size_t *output_size, const char *const *options,
                 void *user_data);

#endif
