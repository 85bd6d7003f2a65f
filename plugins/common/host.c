#define _GNU_SOURCE /* dladdr, RTLD_DEFAULT */
#include "host.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

void *host_library(const void *address) {
  Dl_info info;
  if (dladdr(address, &info) == 0 || info.dli_fname == NULL) return NULL;
  /* The library is loaded already, so this only gets its handle. It is never closed: the host stays loaded. */
  return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

void *host_symbol(void *library, const char *name) { return dlsym(library != NULL ? library : RTLD_DEFAULT, name); }

any_function host_function(void *library, const char *name) {
  void *symbol = host_symbol(library, name);
  any_function function = NULL;
  memcpy(&function, &symbol, sizeof function); /* ISO C has no cast from one to the other */
  return function;
}

int machine_is_little_endian(void) {
  const uint16_t one = 1;
  return *(const uint8_t *)&one == 1;
}
