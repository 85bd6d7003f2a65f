/* bcryptprimitives.dll for wine 8, which lacks it: good enough for tests, and for nothing else. */
#include <stddef.h>
#include <stdlib.h>

__declspec(dllexport) int ProcessPrng(unsigned char *bytes, size_t size) {
  while (size-- > 0) {
    *bytes++ = (unsigned char)rand();
  }
  return 1;
}
