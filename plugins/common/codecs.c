#include "codecs.h"
#include "text.h"

#include <string.h>

#define END {NULL, MEMBER_JSON, NO_PARAMETER, NULL, NULL}
#define OTHER(name, type, standard) {name, type, NO_PARAMETER, standard, NULL}

static const member_info NONE[] = {END};
static const member_info ZLIB[] = {{"level", MEMBER_INTEGER, 0, "1", NULL}, END};
static const member_info SHUFFLE[] = {{"elementsize", MEMBER_INTEGER, 0, "4", NULL}, END};
static const member_info BZ2[] = {{"level", MEMBER_INTEGER, 0, "1", NULL}, END};
static const member_info ZSTD[] = {
    {"level", MEMBER_INTEGER, 0, "0", NULL}, {"checksum", MEMBER_BOOLEAN, 1, "false", NULL}, END};

/* In the order of c-blosc's numbers. Parameters 0 and 1 are versions of the filter and of the format. */
static const char *const BLOSC_NAMES[] = {"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd", NULL};
static const member_info BLOSC[] = {
    {"typesize", MEMBER_INTEGER, 2, NULL, NULL},       {"blocksize", MEMBER_INTEGER, 3, "0", NULL},
    {"clevel", MEMBER_INTEGER, 4, "5", NULL},          {"shuffle", MEMBER_INTEGER, 5, "1", NULL},
    {"cname", MEMBER_TEXT, 6, "\"lz4\"", BLOSC_NAMES}, END};

static const member_info GZIP[] = {OTHER("level", MEMBER_INTEGER, "1"), END};
static const member_info LZ4[] = {OTHER("acceleration", MEMBER_INTEGER, "1"), END};
static const member_info LZMA[] = {OTHER("format", MEMBER_INTEGER, "1"), OTHER("check", MEMBER_INTEGER, "-1"),
                                   OTHER("preset", MEMBER_INTEGER, "null"), OTHER("filters", MEMBER_JSON, "null"), END};
static const member_info CHECKSUM_AT_START[] = {OTHER("location", MEMBER_TEXT, "\"start\""), END};
static const member_info CHECKSUM_AT_END[] = {OTHER("location", MEMBER_TEXT, "\"end\""), END};
static const member_info JENKINS[] = {OTHER("initval", MEMBER_INTEGER, "0"), OTHER("prefix", MEMBER_JSON, "null"), END};
static const member_info ZFPY[] = {OTHER("mode", MEMBER_INTEGER, "4"),
                                   OTHER("tolerance", MEMBER_NUMBER, "-1"),
                                   OTHER("rate", MEMBER_NUMBER, "-1"),
                                   OTHER("precision", MEMBER_INTEGER, "-1"),
                                   OTHER("compression_kwargs", MEMBER_JSON, NULL),
                                   END};
static const member_info PCODEC[] = {OTHER("level", MEMBER_INTEGER, "8"),
                                     OTHER("mode_spec", MEMBER_TEXT, "\"auto\""),
                                     OTHER("delta_spec", MEMBER_TEXT, "\"auto\""),
                                     OTHER("paging_spec", MEMBER_TEXT, "\"equal_pages_up_to\""),
                                     OTHER("delta_encoding_order", MEMBER_INTEGER, "null"),
                                     OTHER("equal_pages_up_to", MEMBER_INTEGER, "262144"),
                                     END};

static const char *const NO_GUESS[] = {NULL};
static const char *const ANY[] = {"{}", NULL};
static const char *const ANY_END[] = {"{\"location\": \"start\"}", "{\"location\": \"end\"}", NULL};
static const char *const ANY_FORMAT[] = {"{\"format\": 1}", "{\"format\": 2}", NULL}; /* .xz, .lzma */

/* In the order of the filters' numbers. lz4 and zfp also have registered filters (32004 and 32013), but those store
 * their data in other formats. */
const codec_info CODECS[] = {
    {"zlib", 0, 1, CONVENTION_NUMBERS, ZLIB, ANY},
    {"shuffle", 0, 2, CONVENTION_NUMBERS, SHUFFLE, NO_GUESS},
    {"fletcher32", 0, 3, CONVENTION_NUMBERS, NONE, ANY},
    {"bz2", 0, 307, CONVENTION_NUMBERS, BZ2, ANY},
    {"blosc", 0, 32001, CONVENTION_NUMBERS, BLOSC, ANY},
    {"zstd", 0, 32015, CONVENTION_NUMBERS, ZSTD, ANY},
    {"gzip", 0, 62301, CONVENTION_TEXT, GZIP, ANY},
    {"lz4", 0, 62302, CONVENTION_TEXT, LZ4, ANY},
    {"lzma", 0, 62303, CONVENTION_TEXT, LZMA, ANY_FORMAT},
    {"crc32", 0, 62304, CONVENTION_TEXT, CHECKSUM_AT_START, ANY_END},
    {"crc32c", 0, 62305, CONVENTION_TEXT, CHECKSUM_AT_END, ANY_END},
    {"adler32", 0, 62306, CONVENTION_TEXT, CHECKSUM_AT_START, ANY_END},
    {"jenkins_lookup3", 0, 62307, CONVENTION_TEXT, JENKINS, ANY},
    {"zfpy", 1, 62308, CONVENTION_TEXT, ZFPY, ANY},
    {"pcodec", 1, 62309, CONVENTION_TEXT, PCODEC, ANY},
};
const size_t CODEC_COUNT = sizeof CODECS / sizeof CODECS[0];

const codec_info *codec_find(const char *id) {
  for (size_t i = 0; i < CODEC_COUNT; i++) {
    if (strcmp(CODECS[i].id, id) == 0) return &CODECS[i];
  }
  return NULL;
}

int boolean_of_gdal(const char *text) {
  static const char *const TEXTS[] = {"no", "yes", "false", "true", "off", "on", "0", "1"};
  for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
    if (equals_in_any_case(text, TEXTS[i], SIZE_MAX)) return (int)(i % 2);
  }
  return -1;
}
