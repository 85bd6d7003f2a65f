#include "cpl.h"

#include "../common/host.h"

#include <stdlib.h>

const cpl_functions *cpl_load(const void *return_address) {
  void *library = host_library(return_address);
  cpl_functions found = {
      (bool (*)(const cpl_compressor *))host_function(library, "CPLRegisterCompressor"),
      (bool (*)(const cpl_compressor *))host_function(library, "CPLRegisterDecompressor"),
      (const cpl_compressor *(*)(const char *))host_function(library, "CPLGetCompressor"),
      (const cpl_compressor *(*)(const char *))host_function(library, "CPLGetDecompressor"),
      (void *(*)(size_t))host_function(library, "VSIMalloc"),
      (void (*)(void *))host_function(library, "VSIFree"),
      (const char *(*)(const char *, const char *))host_function(library, "CPLGetConfigOption"),
      (void (*)(int, int, const char *, ...))host_function(library, "CPLError"),
  };
  if (!found.register_compressor || !found.register_decompressor || !found.get_compressor || !found.get_decompressor ||
      !found.allocate || !found.release || !found.get_option || !found.report) {
    return NULL;
  }
  cpl_functions *kept = malloc(sizeof *kept);
  if (kept != NULL) *kept = found;
  return kept;
}

void cpl_fail(const cpl_functions *cpl, const char *message) {
  enum { FAILURE = 3, APPLICATION_DEFINED = 1 };
  cpl->report(FAILURE, APPLICATION_DEFINED, "%s", message);
}
