/* Chunks whose checksum the host does not want checked (H5Pset_edc_check), so that it can read damaged data. */
#ifndef ZCODEC_PLUGINS_CHECKSUM_H
#define ZCODEC_PLUGINS_CHECKSUM_H

#include "../common/codecs.h"
#include "../common/members.h"

/* Takes the checksum off the chunk. The values are those of a valid filter. 1; 0 if there is none, or no memory. */
int checksum_strip(const codec_info *codec, const unsigned *values, size_t count, span *chunk);

#endif
