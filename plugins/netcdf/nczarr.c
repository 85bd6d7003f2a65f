/* The functions that netCDF-C calls for codecs of Zarr v2. They convert between JSON and parameters, and add to the
 * parameters what only netCDF-C knows. */
#include "../common/host.h"
#include "core.h"
#include "parameters.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of netcdf.h. */
enum { NETCDF_OK = 0, NETCDF_INVALID = -36, NETCDF_NO_MEMORY = -61, NETCDF_FILTER = -132 };
enum { NETCDF_NATIVE_ENDIAN = 0, NETCDF_LITTLE_ENDIAN = 1, NETCDF_BIG_ENDIAN = 2 };

static int refuse(const char *id, const void *caller, const char *why) {
  report_failure(caller, id, why, ZCODEC_STATUS_OK, NULL);
  return NETCDF_FILTER;
}

int zcodec_nczarr_to_hdf5(const char *id, const void *caller, const char *codec, size_t *count, unsigned **values) {
  parameters result = {0};
  if (codec == NULL || count == NULL || values == NULL) return NETCDF_INVALID;
  text why = {0};
  if (!parameters_from_json(codec_find(id), (span){codec, strlen(codec)}, &result, &why)) {
    int status = result.failed || why.bytes == NULL ? NETCDF_NO_MEMORY : refuse(id, caller, why.bytes);
    parameters_free(&result);
    text_free(&why);
    return status;
  }
  *count = result.count;
  *values = result.values;
  return NETCDF_OK;
}

int zcodec_nczarr_to_codec(const char *id, const void *caller, size_t count, const unsigned *values, char **codec) {
  text json = {0};
  if (codec == NULL || (count > 0 && values == NULL)) return NETCDF_INVALID;
  const char *why = parameters_to_json(codec_find(id), values, count, 1, &json);
  *codec = NULL;
  if (why != NULL) {
    text_free(&json);
    return refuse(id, caller, why);
  }
  *codec = json.bytes;
  return json.failed ? NETCDF_NO_MEMORY : NETCDF_OK;
}

/* The data types of netcdf.h from 1, NC_BYTE, to 11, NC_UINT64. */
static const struct {
  const char *name;
  uint64_t size;
} TYPES[] = {{NULL, 0},      {"int8", 1},  {"uint8", 1},  {"int16", 2},  {"int32", 4}, {"float32", 4},
             {"float64", 8}, {"uint8", 1}, {"uint16", 2}, {"uint32", 4}, {"int64", 8}, {"uint64", 8}};

enum { NETCDF_CHAR = 2, MAX_FILTERS = 64 };

typedef struct variable {
  int type;
  int ndim;
  int endian;
  unsigned filters[MAX_FILTERS];
  size_t filter_count;
  size_t chunk[MAX_NDIM];
} variable;

static int inquire(void *library, int ncid, int varid, variable *self) {
  typedef int (*inq_int)(int, int, int *);
  typedef int (*inq_chunking)(int, int, int *, size_t *);
  typedef int (*inq_filters)(int, int, size_t *, unsigned *);
  inq_int type = (inq_int)host_function(library, "nc_inq_vartype");
  inq_int ndim = (inq_int)host_function(library, "nc_inq_varndims");
  inq_int endian = (inq_int)host_function(library, "nc_inq_var_endian");
  inq_chunking chunking = (inq_chunking)host_function(library, "nc_inq_var_chunking");
  inq_filters filters = (inq_filters)host_function(library, "nc_inq_var_filter_ids");
  enum { CHUNKED = 0 };
  int storage;
  if (!type || !ndim || !endian || !chunking || !filters) return 0;
  if (type(ncid, varid, &self->type) || ndim(ncid, varid, &self->ndim) || self->ndim < 0 || self->ndim > MAX_NDIM) {
    return 0;
  }
  if (endian(ncid, varid, &self->endian) || chunking(ncid, varid, &storage, self->chunk) || storage != CHUNKED)
    return 0;
  size_t count = 0;
  if (filters(ncid, varid, &count, NULL) || count == 0 || count > MAX_FILTERS) return 0;
  if (filters(ncid, varid, &count, self->filters)) return 0;
  self->filter_count = count;
  return 1;
}

/* Whether the filter is the first one. One that is there twice may be either: netCDF-C does not say which. */
static int is_first(const variable *self, unsigned filter) {
  size_t count = 0;
  for (size_t i = 0; i < self->filter_count; i++) count += self->filters[i] == filter;
  return count == 1 && self->filters[0] == filter;
}

/* 1; 0 if the array is not known, or the filter is not the first one. */
static int find_array(const codec_info *codec, void *library, int ncid, int varid, array_info *array) {
  variable var = {0};
  if (!inquire(library, ncid, varid, &var) || !is_first(&var, codec->hdf5_id)) return 0;
  if (var.type < 1 || var.type > 11 || (codec->takes_array && var.type == NETCDF_CHAR)) return 0;
  *array = (array_info){TYPES[var.type].name, (size_t)var.ndim, {0}};
  uint64_t size = TYPES[var.type].size;
  for (int i = 0; i < var.ndim; i++) {
    array->shape[i] = var.chunk[i];
    if (var.chunk[i] != 0 && size > UINT64_MAX / var.chunk[i]) return 0;
    size *= var.chunk[i];
  }
  int native = machine_is_little_endian() ? NETCDF_LITTLE_ENDIAN : NETCDF_BIG_ENDIAN;
  int is_native = TYPES[var.type].size == 1 || var.endian == NETCDF_NATIVE_ENDIAN || var.endian == native;
  if (codec->takes_array) return is_native;
  *array = (array_info){"uint8", 1, {size}};
  return 1;
}

/* The size of an element; 0 if it is not known. */
static unsigned element_size(void *library, int ncid, int varid) {
  variable var = {0};
  int is_known = inquire(library, ncid, varid, &var) && var.type >= 1 && var.type <= 11;
  return is_known ? (unsigned)TYPES[var.type].size : 0;
}

/* blosc needs the size of an element, which numcodecs does not store in its metadata. */
static void set_typesize(const codec_info *codec, void *library, int ncid, int varid, parameters *working) {
  enum { TYPESIZE = 2 };
  if (strcmp(codec->id, "blosc") != 0 || working->count <= TYPESIZE || working->values[TYPESIZE] != 0) return;
  unsigned size = element_size(library, ncid, varid);
  if (size != 0) working->values[TYPESIZE] = size;
}

/* netCDF-C gives shuffle no parameter, or 0, and stores what it gave: neither is the size of an element to other
 * readers. What it should have given, or 0 if that is not known or not needed. */
static unsigned missing_element_size(const codec_info *codec, void *library, int ncid, int varid, size_t count,
                                     const unsigned *values) {
  if (strcmp(codec->id, "shuffle") != 0 || (count > 0 && values[0] != 0)) return 0;
  return element_size(library, ncid, varid);
}

/* Stores the only parameter of a filter. 1; 0 if there is no memory. */
static int set_only_value(unsigned value, size_t *count, unsigned **values) {
  if (*count == 0) {
    unsigned *one = malloc(sizeof *one);
    if (one == NULL) return 0;
    free(*values);
    *values = one;
    *count = 1;
  }
  (*values)[0] = value;
  return 1;
}

/* Makes the chain, so that the log says early what is wrong. It is no error yet, because netCDF-C would open no array
 * of the dataset: the filter refuses the first chunk. */
static void check(const codec_info *codec, const void *caller, const parameters *working) {
  chain_use use;
  zcodec_error *error = NULL;
  const char *why = NULL;
  zcodec_status status = parameters_chain(codec, working->values, working->count, &use, &error, &why);
  if (status == ZCODEC_STATUS_OK) {
    chain_release(&use);
  } else {
    report_failure(caller, codec->id, why, status, error);
  }
}

int zcodec_nczarr_modify(const char *id, const void *caller, int ncid, int varid, size_t *visible_count,
                         unsigned **visible, size_t *working_count, unsigned **working) {
  const codec_info *codec = codec_find(id);
  void *library = host_library(caller);
  parameters result = {0};
  array_info array;
  if (visible_count == NULL || visible == NULL || working_count == NULL || working == NULL) return NETCDF_INVALID;
  int has_array = find_array(codec, library, ncid, varid, &array);
  unsigned size = missing_element_size(codec, library, ncid, varid, *visible_count, *visible);
  size_t count = size != 0 ? 0 : parameters_visible_count(codec, *visible, *visible_count);
  for (size_t i = 0; i < count; i++) parameters_add(&result, (*visible)[i]);
  if (size != 0) parameters_add(&result, size);
  parameters_complete(codec, &result); /* the array comes after all numbers */
  set_typesize(codec, library, ncid, varid, &result);
  if (has_array) parameters_add_array(&result, &array);
  if (result.failed) return NETCDF_NO_MEMORY;
  if (size != 0 && !set_only_value(size, visible_count, visible)) {
    parameters_free(&result);
    return NETCDF_NO_MEMORY;
  }
  if (codec->takes_array && !has_array) {
    report_failure(caller, id, "it must be the first filter, and takes numbers in the machine's byte order",
                   ZCODEC_STATUS_OK, NULL);
  } else {
    check(codec, caller, &result);
  }
  free(*working);
  *working_count = result.count;
  *working = result.values;
  return NETCDF_OK;
}
