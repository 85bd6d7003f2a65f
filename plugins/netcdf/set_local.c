/* HDF5 asks once for each dataset that is created. What enters the filter is then stored with it. */
#include "../common/host.h"
#include "core.h"
#include "parameters.h"
#include "report.h"

#include <hdf5.h>
#include <stdio.h>
#include <string.h>

/* A function of the HDF5 that called, as hdf5.h declares it. */
#define HDF5(name) ((__typeof__(&name))host_function(library, #name))

/* The most that HDF5 hands over at once. */
enum { MAX_PARAMETERS = 256 };

static const char *data_type_of(void *library, hid_t type) {
  static const char *const INTEGERS[2][4] = {{"uint8", "uint16", "uint32", "uint64"},
                                             {"int8", "int16", "int32", "int64"}};
  size_t size = HDF5(H5Tget_size)(type), power = 0;
  while (power < 4 && (size_t)1 << power < size) power++;
  if (size == 0 || (size_t)1 << power != size || power > 3) return NULL;
  H5T_order_t native = *(const uint8_t *)&(const uint16_t){1} == 1 ? H5T_ORDER_LE : H5T_ORDER_BE;
  if (size > 1 && HDF5(H5Tget_order)(type) != native) return NULL;
  switch (HDF5(H5Tget_class)(type)) {
    case H5T_INTEGER:
      return INTEGERS[HDF5(H5Tget_sign)(type) == H5T_SGN_2][power];
    case H5T_FLOAT:
      return size == 2 ? "float16" : size == 4 ? "float32" : size == 8 ? "float64" : NULL;
    default:
      return NULL;
  }
}

static int is_first(void *library, hid_t properties, unsigned number) {
  unsigned flags, configuration;
  size_t count = 0;
  return HDF5(H5Pget_filter2)(properties, 0, &flags, &count, NULL, 0, NULL, &configuration) == (H5Z_filter_t)number;
}

/* 1; 0: the codec needs no array; -1: it does, and this is none for it. */
static int find_array(const codec_info *codec, void *library, hid_t properties, hid_t type, array_info *array) {
  hsize_t shape[MAX_NDIM];
  int ndim = HDF5(H5Pget_chunk)(properties, MAX_NDIM, shape);
  const char *data_type = data_type_of(library, type);
  int has_array = ndim > 0 && is_first(library, properties, codec->hdf5_id);
  if (!has_array || (codec->takes_array && data_type == NULL)) return codec->takes_array ? -1 : 0;
  *array = (array_info){data_type, (size_t)ndim, {0}};
  for (int i = 0; i < ndim; i++) array->shape[i] = shape[i];
  if (!codec->takes_array) {
    uint64_t size = HDF5(H5Tget_size)(type);
    for (int i = 0; i < ndim; i++) { /* HDF5 allows no chunk of 4 GiB */
      if (shape[i] != 0 && size > UINT64_MAX / shape[i]) return 0;
      size *= shape[i];
    }
    *array = (array_info){"uint8", 1, {size}};
  }
  return 1;
}

/* The numbers of a registered filter stay as they are, except the element size, which blosc needs. */
static int set_numbers(const codec_info *codec, void *library, hid_t properties, hid_t type) {
  unsigned values[8] = {0}, flags = 0;
  size_t count = 8, size = HDF5(H5Tget_size)(type);
  if (strcmp(codec->id, "blosc") != 0) return 0;
  if (HDF5(H5Pget_filter_by_id2)(properties, (H5Z_filter_t)codec->hdf5_id, &flags, &count, values, 0, NULL, NULL) < 0) {
    return -1;
  }
  if (count > 8) return 0;
  values[0] = values[1] = 2;
  if (size >= 1 && size <= 255) values[2] = (unsigned)size;
  if (count < 3) count = 3;
  return HDF5(H5Pmodify_filter)(properties, (H5Z_filter_t)codec->hdf5_id, flags, count, values);
}

static int set_text(const codec_info *codec, const void *caller, hid_t properties, const array_info *array) {
  void *library = host_library(caller);
  unsigned values[MAX_PARAMETERS] = {0}, flags = 0;
  size_t count = MAX_PARAMETERS;
  H5Z_filter_t number = (H5Z_filter_t)codec->hdf5_id;
  if (HDF5(H5Pget_filter_by_id2)(properties, number, &flags, &count, values, 0, NULL, NULL) < 0) return -1;
  if (count > MAX_PARAMETERS) {
    report(caller, "zcodec: the configuration is longer than HDF5 hands over: 256 parameters");
    return -1;
  }
  parameters changed = {0};
  size_t visible = parameters_visible_count(codec, values, count);
  for (size_t i = 0; i < visible; i++) parameters_add(&changed, values[i]);
  if (visible == 0) parameters_add(&changed, 0); /* the size of no text */
  parameters_add_array(&changed, array);
  int result = -1;
  if (!changed.failed) result = HDF5(H5Pmodify_filter)(properties, number, flags, changed.count, changed.values);
  parameters_free(&changed);
  return result;
}

/* Makes the chain, so that a wrong configuration is an error when the dataset is created: HDF5 stores chunks without an
 * optional filter that fails. */
static int check(const codec_info *codec, const void *caller, hid_t properties) {
  unsigned values[MAX_PARAMETERS] = {0}, flags;
  size_t count = MAX_PARAMETERS;
  H5Z_filter_t number = (H5Z_filter_t)codec->hdf5_id;
  void *library = host_library(caller);
  if (HDF5(H5Pget_filter_by_id2)(properties, number, &flags, &count, values, 0, NULL, NULL) < 0) return -1;
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
  void *library = host_library(caller);
  array_info array;
  int found = codec->convention == CONVENTION_TEXT ? find_array(codec, library, properties, type, &array) : 0;
  if (found < 0) {
    char message[256];
    snprintf(message, sizeof message,
             "zcodec: \"%s\" must be the first filter, and takes numbers of 1 to 8 bytes in the machine's byte order",
             id);
    report(caller, message);
    return -1;
  }
  int status = found > 0 ? set_text(codec, caller, properties, &array) : 0;
  if (codec->convention == CONVENTION_NUMBERS) status = set_numbers(codec, library, properties, type);
  return status < 0 ? status : check(codec, caller, properties);
}
