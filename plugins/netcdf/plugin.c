/* One codec as a plugin of HDF5 and of netCDF-C: CMake compiles this file for each, with its id in ZCODEC_ID. HDF5
 * finds the first two functions in the directories of HDF5_PLUGIN_PATH, netCDF-C all three. */
#include "core.h"

#include <H5PLextern.h>

/* As netCDF-C's netcdf_filter_build.h has it. */
typedef struct nczarr_codec {
  int version; /* 1 */
  int sort;    /* 1: between HDF5's filters and codecs */
  const char *id;
  unsigned hdf5_id;
  void (*initialize)(void);
  void (*finalize)(void);
  int (*to_hdf5)(const char *codec, size_t *count, unsigned **values);
  int (*to_codec)(size_t count, const unsigned *values, char **codec);
  int (*modify)(int ncid, int varid, size_t *visible_count, unsigned **visible, size_t *working_count,
                unsigned **working);
} nczarr_codec;

CORE_EXPORT H5PL_type_t H5PLget_plugin_type(void);
CORE_EXPORT const void *H5PLget_plugin_info(void);
CORE_EXPORT const void *NCZ_get_codec_info(void);

static size_t filter(unsigned flags, size_t count, const unsigned values[], size_t size, size_t *buffer_size,
                     void **buffer) {
  return zcodec_hdf5_filter(ZCODEC_ID, __builtin_return_address(0), flags, count, values, size, buffer_size, buffer);
}

static herr_t set_local(hid_t properties, hid_t type, hid_t space) {
  (void)space;
  return zcodec_hdf5_set_local(ZCODEC_ID, __builtin_return_address(0), properties, type);
}

static int to_hdf5(const char *codec, size_t *count, unsigned **values) {
  return zcodec_nczarr_to_hdf5(ZCODEC_ID, __builtin_return_address(0), codec, count, values);
}

static int to_codec(size_t count, const unsigned *values, char **codec) {
  return zcodec_nczarr_to_codec(ZCODEC_ID, __builtin_return_address(0), count, values, codec);
}

static int modify(int ncid, int varid, size_t *visible_count, unsigned **visible, size_t *working_count,
                  unsigned **working) {
  return zcodec_nczarr_modify(ZCODEC_ID, __builtin_return_address(0), ncid, varid, visible_count, visible,
                              working_count, working);
}

H5PL_type_t H5PLget_plugin_type(void) { return H5PL_TYPE_FILTER; }

const void *H5PLget_plugin_info(void) {
  static H5Z_class2_t filter_class = {H5Z_CLASS_T_VERS, 0, 1, 1, "zcodec: " ZCODEC_ID, NULL, set_local, filter};
  filter_class.id = (H5Z_filter_t)zcodec_hdf5_number(ZCODEC_ID);
  return &filter_class;
}

const void *NCZ_get_codec_info(void) {
  static nczarr_codec codec = {1, 1, ZCODEC_ID, 0, NULL, NULL, to_hdf5, to_codec, modify};
  codec.hdf5_id = zcodec_hdf5_number(ZCODEC_ID);
  return &codec;
}
