/* A codec of numcodecs as a chain of the library. Chains are kept and used again: making one parses JSON, and each one
 * keeps the contexts of its compressor between chunks. */
#ifndef ZCODEC_PLUGINS_CHAIN_H
#define ZCODEC_PLUGINS_CHAIN_H

#include "codecs.h"
#include "members.h"

#include <zcodec.h>

enum { MAX_NDIM = 32 };

/* The array that a codec encodes. */
typedef struct array_info {
  const char *data_type; /* of Zarr v3 */
  size_t ndim;
  uint64_t shape[MAX_NDIM];
} array_info;

typedef struct chain_use {
  zcodec_chain *chain;
  int is_kept;
} chain_use;

/* `configuration` is a JSON object; its member "id" is left out. `array` NULL: bytes of any size. */
zcodec_status chain_acquire(const codec_info *codec, span configuration, const array_info *array, chain_use *use,
                            zcodec_error **error);
void chain_release(chain_use *use);

/* Why a call failed, as a sentence that begins with "zcodec: ". `error` may be NULL. */
const char *failure_text(const zcodec_error *error, zcodec_status status, char *buffer, size_t capacity);

#endif
