/* zcodec.h needs no other header before it, and may be included twice. */
#include "zcodec.h"
#include "zcodec.h"

int main(void) { return zcodec_version() == NULL; }
