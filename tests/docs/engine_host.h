/* What the recipe in C of docs/engine.md takes from its host; engine.cpp has it. */
#ifndef ZCODEC_TESTS_ENGINE_HOST_H
#define ZCODEC_TESTS_ENGINE_HOST_H

#include "zcodec.h"

#ifdef __cplusplus
extern "C" {
#endif
uint64_t host_size(const char *key);
/* The bytes live until the next call. */
const void *host_read(const char *key, zcodec_range range);

/* The recipe. */
zcodec_status read_box(const zcodec_chain *chain, const char *key, const zcodec_box *box, const zcodec_view *view,
                       zcodec_index **cached, zcodec_error **error);
#ifdef __cplusplus
}
#endif

#endif
