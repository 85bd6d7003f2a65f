/* Reports errors where the host reports its own: on the error stack of HDF5, in the log of netCDF-C. */
#ifndef ZCODEC_PLUGINS_REPORT_H
#define ZCODEC_PLUGINS_REPORT_H

#include <zcodec.h>

void report(const void *caller, const char *message);
/* Reports why the codec with this id failed: `why` if the plugin itself refuses something, else the library's error.
 * Frees the error, which may be NULL. */
void report_failure(const void *caller, const char *id, const char *why, zcodec_status status, zcodec_error *error);

#endif
