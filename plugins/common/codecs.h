/* The codecs of Zarr v2 that the plugins bring to their hosts: their ids in numcodecs and their JSON members. */
#ifndef ZCODEC_PLUGINS_CODECS_H
#define ZCODEC_PLUGINS_CODECS_H

#include <stddef.h>

typedef enum member_type {
  MEMBER_INTEGER,
  MEMBER_NUMBER,
  MEMBER_BOOLEAN,
  MEMBER_TEXT,
  MEMBER_JSON /* a list or an object */
} member_type;

/* The number of a member that is no parameter of a filter. */
enum { NO_PARAMETER = -1 };

typedef struct member_info {
  const char *name;
  member_type type;
  int parameter;            /* which parameter of the filter it is, for CONVENTION_NUMBERS; or NO_PARAMETER */
  const char *standard;     /* the default of numcodecs, as JSON */
  const char *const *words; /* the allowed texts, each a number to HDF5, ending in NULL; or NULL */
} member_info;

typedef enum convention {
  CONVENTION_NUMBERS, /* the parameters of a registered filter: members as numbers */
  CONVENTION_TEXT     /* our own filters: the configuration as JSON text */
} convention;

typedef struct codec_info {
  const char *id;
  int takes_array;  /* the data type and the shape of the chunk matter */
  unsigned hdf5_id; /* registered with The HDF Group if CONVENTION_NUMBERS, else in the range for private use */
  convention convention;
  const member_info *members; /* ending in a name NULL */
  /* Configurations to try on decode, in order, if the host has none; ending in NULL. Empty if a wrong one would give
   * wrong values without an error. */
  const char *const *guesses;
} codec_info;

extern const codec_info CODECS[];
extern const size_t CODEC_COUNT;

const codec_info *codec_find(const char *id);

/* What GDAL takes for a boolean, in upper or lower case: 1 (yes, true, on, 1), 0 (no, false, off, 0), or -1. */
int boolean_of_gdal(const char *text);

#endif
