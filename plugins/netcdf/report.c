#include "report.h"

#include "../common/chain.h"
#include "../common/host.h"

#include <hdf5.h>

_Static_assert(sizeof(hid_t) == 8, "HDF5 1.10 or later is needed");

/* netCDF-C is linked to HDF5, but not the other way, so that a caller with nclog is netCDF-C. */
void report(const void *caller, const char *message) {
  enum { LOG_ERROR = 1 };
  void *library = host_library(caller);
  void (*log)(int, const char *, ...) = (void (*)(int, const char *, ...))host_function(library, "nclog");
  if (log != NULL) {
    log(LOG_ERROR, "%s", message);
    return;
  }
  __typeof__(&H5Epush2) push = (__typeof__(&H5Epush2))host_function(library, "H5Epush2");
  const hid_t *class_id = host_symbol(library, "H5E_ERR_CLS_g");
  const hid_t *major = host_symbol(library, "H5E_PLINE_g");
  const hid_t *minor = host_symbol(library, "H5E_CALLBACK_g");
  if (push != NULL && class_id != NULL && major != NULL && minor != NULL) {
    push(H5E_DEFAULT, "zcodec", "filter", 0, *class_id, *major, *minor, "%s", message);
  }
}

void report_error(const void *caller, zcodec_status status, zcodec_error *error) {
  char message[2048];
  report(caller, failure_text(error, status, message, sizeof message));
  zcodec_error_free(error);
}
