/* Errors, where the host puts its own: on the error stack of HDF5, in the log of netCDF-C. */
#ifndef ZCODEC_PLUGINS_REPORT_H
#define ZCODEC_PLUGINS_REPORT_H

#include <zcodec.h>

void report(const void *caller, const char *message);
/* Takes the error, which may be NULL. */
void report_error(const void *caller, zcodec_status status, zcodec_error *error);

#endif
