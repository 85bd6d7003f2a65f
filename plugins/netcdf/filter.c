/* The filter: codes one chunk from the host's memory into new memory. */
#include "../common/chain.h"
#include "checksum.h"
#include "core.h"
#include "parameters.h"
#include "report.h"

#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

enum { GUESS_COUNT = 64 };

/* The size of the last decoded chunk of each codec. Chunks of a dataset have one size; a wrong one costs a retry. */
static size_t last_decoded_size[GUESS_COUNT];

static zcodec_status encode(const zcodec_chain *chain, const void *decoded, size_t size, void **encoded,
                            size_t *encoded_size, zcodec_error **error) {
  size_t capacity = 0;
  zcodec_status status = zcodec_chain_encoded_bound(chain, size, &capacity);
  if (status == ZCODEC_STATUS_UNKNOWN_SIZE) capacity = size < SIZE_MAX / 2 ? size + size / 2 + 1024 : size;
  do {
    zcodec_error_free(*error); /* of the previous try */
    *error = NULL;
    *encoded = malloc(capacity > 0 ? capacity : 1);
    if (*encoded == NULL) return ZCODEC_STATUS_OUT_OF_MEMORY;
    status = zcodec_encode(chain, decoded, size, *encoded, capacity, encoded_size, error);
    if (status != ZCODEC_STATUS_OK) free(*encoded);
    if (status != ZCODEC_STATUS_BUFFER_TOO_SMALL || *encoded_size <= capacity) return status;
    capacity = *encoded_size;
  } while (1);
}

/* Frees what the chunk does not need: HDF5 may cache it, and counts only the size of the chunk. */
static void shrink(void **chunk, size_t size, size_t capacity) {
  void *smaller = size < capacity ? realloc(*chunk, size > 0 ? size : 1) : NULL;
  if (smaller != NULL) *chunk = smaller;
}

static zcodec_status decode(const zcodec_chain *chain, size_t *guess, const void *encoded, size_t size, void **decoded,
                            size_t *decoded_size, zcodec_error **error) {
  size_t capacity = 0;
  if (zcodec_chain_decoded_size(chain, &capacity) != ZCODEC_STATUS_OK) {
    capacity = __atomic_load_n(guess, __ATOMIC_RELAXED);
  }
  zcodec_status status;
  do {
    zcodec_error_free(*error); /* of the previous try */
    *error = NULL;
    *decoded = malloc(capacity > 0 ? capacity : 1);
    if (*decoded == NULL) return ZCODEC_STATUS_OUT_OF_MEMORY;
    status = zcodec_decode(chain, encoded, size, *decoded, capacity, decoded_size, error);
    if (status != ZCODEC_STATUS_OK) free(*decoded);
    if (status != ZCODEC_STATUS_BUFFER_TOO_SMALL || *decoded_size <= capacity) break;
    capacity = *decoded_size;
  } while (1);
  if (status == ZCODEC_STATUS_OK) {
    __atomic_store_n(guess, *decoded_size, __ATOMIC_RELAXED);
    shrink(decoded, *decoded_size, capacity);
  }
  return status;
}

static zcodec_status copy(span content, void **decoded, size_t *decoded_size) {
  *decoded = malloc(content.size > 0 ? content.size : 1);
  if (*decoded == NULL) return ZCODEC_STATUS_OUT_OF_MEMORY;
  memcpy(*decoded, content.bytes, content.size);
  *decoded_size = content.size;
  return ZCODEC_STATUS_OK;
}

size_t zcodec_hdf5_filter(const char *id, const void *caller, unsigned flags, size_t count, const unsigned values[],
                          size_t size, size_t *buffer_size, void **buffer) {
  const codec_info *codec = codec_find(id);
  chain_use use = {NULL, 0};
  zcodec_error *error = NULL;
  void *result = NULL;
  size_t result_size = 0;
  const char *why = NULL;
  zcodec_status status = parameters_chain(codec, values, count, &use, &error, &why);
  if (status == ZCODEC_STATUS_OK) {
    span content = {*buffer, size};
    if (flags & H5Z_FLAG_REVERSE && flags & H5Z_FLAG_SKIP_EDC && checksum_strip(codec, values, count, &content)) {
      status = copy(content, &result, &result_size);
    } else if (flags & H5Z_FLAG_REVERSE) {
      size_t *guess = &last_decoded_size[(size_t)(codec - CODECS) % GUESS_COUNT];
      status = decode(use.chain, guess, *buffer, size, &result, &result_size, &error);
    } else {
      status = encode(use.chain, *buffer, size, &result, &result_size, &error);
    }
    chain_release(&use);
  }
  if (status == ZCODEC_STATUS_OK && result_size == 0) { /* HDF5 takes this for a failure */
    free(result);
    why = "the chunk is empty";
  }
  if (status != ZCODEC_STATUS_OK || why != NULL) {
    report_failure(caller, id, why, status, error);
    return 0;
  }
  free(*buffer);
  *buffer = result;
  *buffer_size = result_size;
  return result_size;
}

unsigned zcodec_hdf5_number(const char *id) { return codec_find(id)->hdf5_id; }
