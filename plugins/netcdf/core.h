/* The common library of the plugins of all codecs: libzcodec_hdf5.so. Each plugin is a file with the functions that
 * HDF5 and netCDF-C look for (plugin.c). They pass the name of their codec and their return address, which tells which
 * HDF5 or netCDF-C of the process called. */
#ifndef ZCODEC_PLUGINS_CORE_H
#define ZCODEC_PLUGINS_CORE_H

#include <stddef.h>
#include <stdint.h>

#define CORE_EXPORT __attribute__((visibility("default")))

/* The filter of HDF5; the sizes and memory are as H5Z_func_t has them. */
CORE_EXPORT size_t zcodec_hdf5_filter(const char *id, const void *caller, unsigned flags, size_t count,
                                      const unsigned values[], size_t size, size_t *buffer_size, void **buffer);
/* H5Z_set_local_func_t: adds the data type and shape that the filter gets to its parameters. */
CORE_EXPORT int zcodec_hdf5_set_local(const char *id, const void *caller, int64_t properties, int64_t type);
CORE_EXPORT unsigned zcodec_hdf5_number(const char *id);

/* The functions of NCZ_codec_t. */
CORE_EXPORT int zcodec_nczarr_to_hdf5(const char *id, const void *caller, const char *codec, size_t *count,
                                      unsigned **values);
CORE_EXPORT int zcodec_nczarr_to_codec(const char *id, const void *caller, size_t count, const unsigned *values,
                                       char **codec);
CORE_EXPORT int zcodec_nczarr_modify(const char *id, const void *caller, int ncid, int varid, size_t *visible_count,
                                     unsigned **visible, size_t *working_count, unsigned **working);

#endif
