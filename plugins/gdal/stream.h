/* The description in the header of a stream. GDAL gives a decompressor no data type, shape or configuration; the
 * streams of the codecs that take arrays begin with them. */
#ifndef ZCODEC_PLUGINS_STREAM_H
#define ZCODEC_PLUGINS_STREAM_H

#include "../common/chain.h"
#include "../common/text.h"

/* Fills `array` and adds the configuration. 0 if the stream is not of that codec; `why` then says so. `capacity` is the
 * size of the array in bytes if the host knows it, else 0. */
int stream_describe(const codec_info *codec, const uint8_t *stream, size_t size, size_t capacity, array_info *array,
                    text *configuration, const char **why);

#endif
