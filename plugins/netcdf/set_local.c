/* HDF5 calls this for each new dataset, and stores the data type and shape that the filter gets with the dataset. */
#include "../common/host.h"
#include "core.h"
#include "parameters.h"
#include "report.h"

#include <hdf5.h>
#include <stdio.h>
#include <string.h>

/* The most that HDF5 hands over at once. */
enum { MAX_PARAMETERS = 256 };

/* The functions of the HDF5 that called. */
typedef struct hdf5_functions {
  __typeof__(&H5Tget_size) type_size;
  __typeof__(&H5Tget_order) type_order;
  __typeof__(&H5Tget_class) type_class;
  __typeof__(&H5Tget_sign) type_sign;
  __typeof__(&H5Pget_chunk) chunk;
  __typeof__(&H5Pget_filter2) filter_at;
  __typeof__(&H5Pget_filter_by_id2) filter;
  __typeof__(&H5Pmodify_filter) modify_filter;
} hdf5_functions;

/* 1; 0 if they cannot be found: a program that contains HDF5 may hide it. */
static int find_functions(const void *caller, hdf5_functions *hdf5) {
  void *library = host_library(caller);
  *hdf5 = (hdf5_functions){
      HOST_FUNCTION(library, H5Tget_size),          HOST_FUNCTION(library, H5Tget_order),
      HOST_FUNCTION(library, H5Tget_class),         HOST_FUNCTION(library, H5Tget_sign),
      HOST_FUNCTION(library, H5Pget_chunk),         HOST_FUNCTION(library, H5Pget_filter2),
      HOST_FUNCTION(library, H5Pget_filter_by_id2), HOST_FUNCTION(library, H5Pmodify_filter),
  };
  return hdf5->type_size && hdf5->type_order && hdf5->type_class && hdf5->type_sign && hdf5->chunk && hdf5->filter_at &&
         hdf5->filter && hdf5->modify_filter;
}

static const char *data_type_of(const hdf5_functions *hdf5, hid_t type) {
  static const char *const INTEGERS[2][4] = {{"uint8", "uint16", "uint32", "uint64"},
                                             {"int8", "int16", "int32", "int64"}};
  size_t size = hdf5->type_size(type), power = 0;
  while (power < 4 && (size_t)1 << power < size) power++;
  if (size == 0 || (size_t)1 << power != size || power > 3) return NULL;
  H5T_order_t native = machine_is_little_endian() ? H5T_ORDER_LE : H5T_ORDER_BE;
  if (size > 1 && hdf5->type_order(type) != native) return NULL;
  switch (hdf5->type_class(type)) {
    case H5T_INTEGER:
      return INTEGERS[hdf5->type_sign(type) == H5T_SGN_2][power];
    case H5T_FLOAT:
      return size == 2 ? "float16" : size == 4 ? "float32" : size == 8 ? "float64" : NULL;
    default:
      return NULL;
  }
}

static int is_first(const hdf5_functions *hdf5, hid_t properties, unsigned number) {
  unsigned flags, configuration;
  size_t count = 0;
  return hdf5->filter_at(properties, 0, &flags, &count, NULL, 0, NULL, &configuration) == (H5Z_filter_t)number;
}

/* 1; 0 if there is none, and the codec needs none; -1 if it needs one. */
static int find_array(const codec_info *codec, const hdf5_functions *hdf5, hid_t properties, hid_t type,
                      array_info *array) {
  hsize_t shape[MAX_NDIM];
  int ndim = hdf5->chunk(properties, MAX_NDIM, shape);
  const char *data_type = data_type_of(hdf5, type);
  int has_array = ndim > 0 && is_first(hdf5, properties, codec->hdf5_id);
  if (!has_array || (codec->takes_array && data_type == NULL)) return codec->takes_array ? -1 : 0;
  *array = (array_info){data_type, (size_t)ndim, {0}};
  for (int i = 0; i < ndim; i++) array->shape[i] = shape[i];
  if (!codec->takes_array) {
    uint64_t size = hdf5->type_size(type);
    for (int i = 0; i < ndim; i++) { /* HDF5 allows no chunk of 4 GiB */
      if (shape[i] != 0 && size > UINT64_MAX / shape[i]) return 0;
      size *= shape[i];
    }
    *array = (array_info){"uint8", 1, {size}};
  }
  return 1;
}

/* Changes one number of a registered filter: the element size, which blosc needs. */
static int set_numbers(const codec_info *codec, const hdf5_functions *hdf5, hid_t properties, hid_t type) {
  unsigned values[8] = {0}, flags = 0;
  size_t count = 8, size = hdf5->type_size(type);
  if (strcmp(codec->id, "blosc") != 0) return 0;
  if (hdf5->filter(properties, (H5Z_filter_t)codec->hdf5_id, &flags, &count, values, 0, NULL, NULL) < 0) {
    return -1;
  }
  if (count > 8) return 0;
  values[0] = values[1] = 2;
  if (size >= 1 && size <= 255) values[2] = (unsigned)size;
  if (count < 3) count = 3;
  return hdf5->modify_filter(properties, (H5Z_filter_t)codec->hdf5_id, flags, count, values);
}

/* The parameters of a filter, and how many there are; -1 if that fails. */
static int get_parameters(const hdf5_functions *hdf5, const void *caller, hid_t properties, H5Z_filter_t number,
                          unsigned *flags, unsigned values[MAX_PARAMETERS], size_t *count) {
  *count = MAX_PARAMETERS;
  if (hdf5->filter(properties, number, flags, count, values, 0, NULL, NULL) < 0) return -1;
  if (*count > MAX_PARAMETERS) {
    report(caller, "zcodec: the configuration is longer than HDF5 hands over: 256 parameters");
    return -1;
  }
  return 0;
}

/* The array, or NULL, takes the place of one that is there: the parameters may be those of another dataset. */
static int set_array(const codec_info *codec, const hdf5_functions *hdf5, const void *caller, hid_t properties,
                     const array_info *array) {
  unsigned values[MAX_PARAMETERS] = {0}, flags = 0;
  size_t count = 0;
  H5Z_filter_t number = (H5Z_filter_t)codec->hdf5_id;
  if (get_parameters(hdf5, caller, properties, number, &flags, values, &count) < 0) return -1;
  parameters changed = {0};
  size_t visible = parameters_visible_count(codec, values, count);
  if (array == NULL && visible == count) return 0;
  for (size_t i = 0; i < visible; i++) parameters_add(&changed, values[i]);
  parameters_complete(codec, &changed);
  if (array != NULL) parameters_add_array(&changed, array);
  int result = -1;
  if (!changed.failed) result = hdf5->modify_filter(properties, number, flags, changed.count, changed.values);
  parameters_free(&changed);
  return result;
}

/* Makes the chain, so that a wrong configuration is an error when the dataset is created: HDF5 stores chunks without an
 * optional filter that fails. */
static int check(const codec_info *codec, const hdf5_functions *hdf5, const void *caller, hid_t properties) {
  unsigned values[MAX_PARAMETERS] = {0}, flags = 0;
  size_t count = 0;
  H5Z_filter_t number = (H5Z_filter_t)codec->hdf5_id;
  if (get_parameters(hdf5, caller, properties, number, &flags, values, &count) < 0) return -1;
  chain_use use = {NULL, 0};
  zcodec_error *error = NULL;
  const char *why = NULL;
  zcodec_status status = parameters_chain(codec, values, count, &use, &error, &why);
  if (status != ZCODEC_STATUS_OK) {
    report_failure(caller, codec->id, why, status, error);
    return -1;
  }
  chain_release(&use);
  return 0;
}

int zcodec_hdf5_set_local(const char *id, const void *caller, int64_t properties, int64_t type) {
  const codec_info *codec = codec_find(id);
  hdf5_functions hdf5;
  array_info array;
  if (!find_functions(caller, &hdf5)) { /* codecs of bytes work without what is added here */
    if (codec->takes_array) report(caller, "zcodec: the functions of HDF5 cannot be found: the program hides them");
    return codec->takes_array ? -1 : 0;
  }
  int found = codec->convention == CONVENTION_TEXT ? find_array(codec, &hdf5, properties, type, &array) : 0;
  if (found < 0) {
    char message[256];
    snprintf(message, sizeof message,
             "zcodec: \"%s\" must be the first filter, and takes numbers of 1 to 8 bytes in the machine's byte order",
             id);
    report(caller, message);
    return -1;
  }
  int status = codec->convention == CONVENTION_TEXT
                   ? set_array(codec, &hdf5, caller, properties, found > 0 ? &array : NULL)
                   : set_numbers(codec, &hdf5, properties, type);
  return status < 0 ? status : check(codec, &hdf5, caller, properties);
}
