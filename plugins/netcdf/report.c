#include "report.h"

#include "../common/chain.h"
#include "../common/host.h"

#include <hdf5.h>
#include <stdio.h>

_Static_assert(sizeof(hid_t) == 8, "HDF5 1.10 or later is needed");

/* HDF5 2 pauses its error stack while it calls a filter: errors pushed then are lost, and a stack that is resumed is
 * cleared when it is paused again. So the error goes to a new stack, which then becomes the current one. */
static void push(void *library, const char *message) {
  herr_t (*is_paused)(hid_t, _Bool *) = (herr_t (*)(hid_t, _Bool *))host_function(library, "H5Eis_paused");
  __typeof__(&H5Epush2) push_error = HOST_FUNCTION(library, H5Epush2);
  __typeof__(&H5Ecreate_stack) create_stack = HOST_FUNCTION(library, H5Ecreate_stack);
  __typeof__(&H5Eset_current_stack) set_current_stack = HOST_FUNCTION(library, H5Eset_current_stack);
  const hid_t *class_id = host_symbol(library, "H5E_ERR_CLS_g");
  const hid_t *major = host_symbol(library, "H5E_PLINE_g");
  const hid_t *minor = host_symbol(library, "H5E_CALLBACK_g");
  if (push_error == NULL || class_id == NULL || major == NULL || minor == NULL) return;
  hid_t stack = H5E_DEFAULT;
  _Bool paused = 0;
  if (is_paused != NULL && is_paused(H5E_DEFAULT, &paused) >= 0 && paused) {
    if (create_stack == NULL || set_current_stack == NULL) return;
    stack = create_stack();
  }
  if (stack < 0) return;
  push_error(stack, "zcodec", "filter", 0, *class_id, *major, *minor, "%s", message);
  if (stack != H5E_DEFAULT) set_current_stack(stack); /* which closes it */
}

/* netCDF-C is linked to HDF5, but not HDF5 to netCDF-C, so a caller with nclog is netCDF-C. */
void report(const void *caller, const char *message) {
  enum { LOG_ERROR = 1 };
  void *library = host_library(caller);
  void (*log)(int, const char *, ...) = (void (*)(int, const char *, ...))host_function(library, "nclog");
  if (log != NULL) {
    log(LOG_ERROR, "%s", message);
  } else {
    push(library, message);
  }
}

void report_failure(const void *caller, const char *id, const char *why, zcodec_status status, zcodec_error *error) {
  char message[2048];
  if (why != NULL) {
    snprintf(message, sizeof message, "zcodec: \"%s\": %s", id, why);
  } else {
    failure_text(error, status, message, sizeof message);
  }
  report(caller, message);
  zcodec_error_free(error);
}
