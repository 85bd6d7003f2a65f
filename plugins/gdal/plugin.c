/* gdal_zcodec.so: registers with GDAL the codecs of Zarr v2 that it lacks. GDAL finds it in the directories of
 * GDAL_DRIVER_PATH by its name, and calls GDALRegister_zcodec. */
#include "../common/codecs.h"
#include "../common/text.h"
#include "cpl.h"
#include "function.h"
#include "options.h"

#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT void GDALRegister_zcodec(void);
EXPORT void GDALRegisterMe(void);

/* GDAL copies its arguments, but keeps the pointer to the registration. */
static void register_codec(const codec_info *codec, const cpl_functions *cpl) {
  if (cpl->get_compressor(codec->id) != NULL && cpl->get_decompressor(codec->id) != NULL) return;
  text options = {0};
  options_describe(codec, &options);
  registration *self = malloc(sizeof *self);
  if (self == NULL || options.failed) {
    text_free(&options);
    free(self);
    return;
  }
  *self = (registration){codec, cpl};
  const char *const metadata[] = {options.bytes, NULL};
  int type = strcmp(codec->id, "shuffle") == 0 ? CPL_FILTER : CPL_COMPRESSOR;
  cpl_compressor description = {1, codec->id, type, metadata, gdal_encode, self};
  if (cpl->get_compressor(codec->id) == NULL) cpl->register_compressor(&description);
  description.function = gdal_decode;
  description.metadata = NULL;
  if (cpl->get_decompressor(codec->id) == NULL) cpl->register_decompressor(&description);
  text_free(&options);
}

static void register_all(const void *return_address) {
  const cpl_functions *cpl = cpl_load(return_address);
  if (cpl == NULL) return; /* the caller is not a GDAL with compressors, so nothing can be reported */
  for (size_t i = 0; i < CODEC_COUNT; i++) register_codec(&CODECS[i], cpl);
}

void GDALRegister_zcodec(void) { register_all(__builtin_return_address(0)); }

/* The name that older versions of GDAL look for. */
void GDALRegisterMe(void) { register_all(__builtin_return_address(0)); }
