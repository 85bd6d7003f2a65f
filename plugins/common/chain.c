#include "chain.h"

#include "text.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Kept chains are never freed, so that no thread can lose one that it uses. When the table is full, a chain lives for
 * one call. A process needs one chain per configuration of its arrays.
 *
 * No thread waits for the lock: in a forked process, the one that held it may not be there to give it back. Such a
 * process makes a chain for each call whose configuration is not kept yet. */
enum { KEPT_COUNT = 64 };

static struct {
  char *key;
  zcodec_chain *chain;
} kept[KEPT_COUNT];
static size_t kept_count;
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;

/* Whether GDAL wrote the configuration of lzma. It adds the distance of a delta filter, which numcodecs does not have;
 * the .xz stream also states it, and decodes by that. */
static int is_lzma_of_gdal(const codec_info *codec, span configuration) {
  member next;
  if (strcmp(codec->id, "lzma") != 0) return 0;
  while (member_next(&configuration, &next) > 0) {
    if (span_equals(next.name, "format")) return 0;
  }
  return 1;
}

static void add_configuration(text *json, const codec_info *codec, span configuration) {
  member next;
  const char *before = "{";
  span rest = configuration;
  int found, is_of_gdal = is_lzma_of_gdal(codec, configuration);
  while ((found = member_next(&rest, &next)) > 0) {
    if (span_equals(next.name, "id") || (is_of_gdal && span_equals(next.name, "delta"))) continue;
    text_add_string(json, before);
    text_add_string(json, "\"");
    text_add(json, next.name.bytes, next.name.size);
    text_add_string(json, "\": ");
    text_add(json, next.value.bytes, next.value.size);
    before = ", ";
  }
  if (found < 0) { /* the library says what is wrong with it */
    text_add(json, configuration.bytes, configuration.size);
  } else {
    text_add_string(json, before[0] == '{' ? "{}" : "}");
  }
}

/* The codecs. Bytes of a known size become an array of uint8, so that the chain checks the size. */
static void add_codecs(text *json, const codec_info *codec, span configuration, int is_array) {
  text_add_string(json, is_array && !codec->takes_array ? "[{\"name\": \"bytes\"}, " : "[");
  text_add_string(json, "{\"name\": \"numcodecs.");
  text_add_string(json, codec->id);
  text_add_string(json, "\", \"configuration\": ");
  add_configuration(json, codec, configuration);
  text_add_string(json, "}]");
}

static void add_array(text *json, const array_info *array) {
  text_add_string(json, "{\"data_type\": \"");
  text_add_string(json, array->data_type);
  text_add_string(json, "\", \"shape\": [");
  for (size_t i = 0; i < array->ndim; i++) {
    char size[32];
    snprintf(size, sizeof size, "%s%llu", i > 0 ? ", " : "", (unsigned long long)array->shape[i]);
    text_add_string(json, size);
  }
  text_add_string(json, "]}");
}

static zcodec_chain *find_kept(const char *key) {
  size_t count = __atomic_load_n(&kept_count, __ATOMIC_ACQUIRE);
  for (size_t i = 0; i < count; i++) {
    if (strcmp(kept[i].key, key) == 0) return kept[i].chain;
  }
  return NULL;
}

/* Keeps the chain, unless the table is full or another thread is keeping one. If another thread has kept the same
 * chain, uses that one. Takes `key`. */
static void keep(text *key, chain_use *use) {
  zcodec_chain *unused = NULL;
  if (pthread_mutex_trylock(&kept_lock) == 0) {
    zcodec_chain *other = find_kept(key->bytes);
    if (other != NULL) {
      unused = use->chain;
      *use = (chain_use){other, 1};
    } else if (kept_count < KEPT_COUNT) {
      kept[kept_count].key = key->bytes;
      kept[kept_count].chain = use->chain;
      __atomic_store_n(&kept_count, kept_count + 1, __ATOMIC_RELEASE);
      use->is_kept = 1;
      memset(key, 0, sizeof *key);
    }
    pthread_mutex_unlock(&kept_lock);
  }
  zcodec_chain_free(unused);
  text_free(key);
}

zcodec_status chain_acquire(const codec_info *codec, span configuration, const array_info *array, chain_use *use,
                            zcodec_error **error) {
  *use = (chain_use){NULL, 0};
  *error = NULL;
  text key = {0};
  add_codecs(&key, codec, configuration, array != NULL);
  size_t codecs_size = key.size;
  if (array != NULL) add_array(&key, array);
  if (key.failed) return ZCODEC_STATUS_OUT_OF_MEMORY;
  use->chain = find_kept(key.bytes);
  if (use->chain != NULL) {
    use->is_kept = 1;
    text_free(&key);
    return ZCODEC_STATUS_OK;
  }
  const char *input = array != NULL ? key.bytes + codecs_size : NULL;
  zcodec_status status = zcodec_chain_new(key.bytes, codecs_size, input, key.size - codecs_size, &use->chain, error);
  if (status != ZCODEC_STATUS_OK) {
    text_free(&key);
  } else {
    keep(&key, use);
  }
  return status;
}

void chain_release(chain_use *use) {
  if (!use->is_kept) zcodec_chain_free(use->chain);
  use->chain = NULL;
}

const char *failure_text(const zcodec_error *error, zcodec_status status, char *buffer, size_t capacity) {
  const char *message = error != NULL ? zcodec_error_message(error) : zcodec_status_name(status);
  snprintf(buffer, capacity, "zcodec: %s", message);
  return buffer;
}
