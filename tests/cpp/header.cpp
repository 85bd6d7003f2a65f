// zcodec.h and zcodec.hpp need nothing before them and may be included twice.
#include "zcodec.h"
#include "zcodec.h"
#include "zcodec.hpp"
#include "zcodec.hpp"

int main() { return zcodec::version().empty(); }
