/* GDAL's registry of compressors, as its cpl_compressor.h documents it: the structure, and the functions of the GDAL
 * that loaded this plugin. No header and no library of GDAL is needed. */
#ifndef ZCODEC_PLUGINS_CPL_H
#define ZCODEC_PLUGINS_CPL_H

#include <stdbool.h>
#include <stddef.h>

typedef bool (*cpl_function)(const void *input, size_t input_size, void **output, size_t *output_size,
                             const char *const *options, void *user_data);

enum { CPL_COMPRESSOR = 0, CPL_FILTER = 1 };

typedef struct cpl_compressor {
  int struct_version; /* 1 */
  const char *id;
  int type;
  const char *const *metadata; /* KEY=VALUE texts, ending in NULL */
  cpl_function function;
  void *user_data;
} cpl_compressor;

typedef struct cpl_functions {
  bool (*register_compressor)(const cpl_compressor *);
  bool (*register_decompressor)(const cpl_compressor *);
  const cpl_compressor *(*get_compressor)(const char *id);
  const cpl_compressor *(*get_decompressor)(const char *id);
  void *(*allocate)(size_t size); /* VSIMalloc */
  void (*release)(void *memory);  /* VSIFree */
  const char *(*get_option)(const char *name, const char *otherwise);
  void (*report)(int severity, int number, const char *format, ...);
} cpl_functions;

/* The functions of the GDAL that called this plugin, found by the return address: a process may have several GDALs,
 * such as those of two wheels. They are never freed. NULL if the caller has no registry of compressors, or without
 * memory. */
const cpl_functions *cpl_load(const void *return_address);
/* Reports an error of GDAL. */
void cpl_fail(const cpl_functions *cpl, const char *message);

#endif
