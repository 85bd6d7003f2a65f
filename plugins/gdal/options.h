/* The options that GDAL gives to a codec, texts KEY=VALUE with the members of its metadata, as JSON. */
#ifndef ZCODEC_PLUGINS_OPTIONS_H
#define ZCODEC_PLUGINS_OPTIONS_H

#include "../common/codecs.h"
#include "../common/text.h"

/* The configuration as a JSON object. Values that do not fit their member become JSON strings, so that the library
 * names them. */
void options_to_json(const codec_info *codec, const char *const *options, text *json);
/* 1; 0 if the option ID is the name of another codec, which GDAL would write into the metadata. */
int options_fit_id(const codec_info *codec, const char *const *options);
/* The creation options that GDAL offers, as the XML that it expects: integers and texts, since it writes no others. */
void options_describe(const codec_info *codec, text *xml);

#endif
