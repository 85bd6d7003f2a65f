/* Errors, where the host puts its own: on the error stack of HDF5, in the log of netCDF-C. */
#ifndef ZCODEC_PLUGINS_REPORT_H
#define ZCODEC_PLUGINS_REPORT_H

#include <zcodec.h>

void report(const void *caller, const char *message);
/* Says of the codec with this id why it failed: what the plugin itself refuses, or, if `why` is NULL, what the library
 * says. Takes the error, which may be NULL. */
void report_failure(const void *caller, const char *id, const char *why, zcodec_status status, zcodec_error *error);

#endif
