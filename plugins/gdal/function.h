/* The functions that GDAL calls for a chunk. `user_data` is the codec_info. */
#ifndef ZCODEC_PLUGINS_FUNCTION_H
#define ZCODEC_PLUGINS_FUNCTION_H

#include <stdbool.h>
#include <stddef.h>

bool gdal_encode(const void *input, size_t input_size, void **output, size_t *output_size, const char *const *options,
                 void *user_data);
bool gdal_decode(const void *input, size_t input_size, void **output, size_t *output_size, const char *const *options,
                 void *user_data);

#endif
