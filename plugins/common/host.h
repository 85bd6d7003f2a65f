/* The functions of the host. A plugin is not linked to a library of its host: wheels bring their own under other names,
 * and a process may have several. */
#ifndef ZCODEC_PLUGINS_HOST_H
#define ZCODEC_PLUGINS_HOST_H

/* The library that holds an address, or NULL: for a function that the host calls, `__builtin_return_address(0)`. */
void *host_library(const void *address);
/* A function or variable of that library or of those that it is linked to; of the process if `library` is NULL. NULL if
 * there is none. */
void *host_symbol(void *library, const char *name);
/* Such a function as a pointer to a function. */
typedef void (*any_function)(void);
any_function host_function(void *library, const char *name);
/* A function of the host with the type that its header declares; NULL if there is none. */
#define HOST_FUNCTION(library, name) ((__typeof__(&name))host_function(library, #name))

int machine_is_little_endian(void);

#endif
