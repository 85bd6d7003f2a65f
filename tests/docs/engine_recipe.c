/* The recipe in C of docs/engine.md. */
#include "engine_host.h"

#include "engine_snippets_c.h"
