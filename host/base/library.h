/* Shared libraries that only some commands need: loaded when they are used, so that the others do not wait
 * for them (a web server's pulls in 12 more). Their functions are called by their own names: a file lists
 * those that it uses and has a table of them. Not for libraries that a user names (transport/ttsim.c).
 *
 *     #define FUNCTIONS(X) X(MHD_start_daemon) X(MHD_stop_daemon)
 *     static struct { FUNCTIONS(DL_LIBRARY_FIELD) } mhd;
 *     static const char *const names[] = {FUNCTIONS(DL_LIBRARY_NAME)};
 *     #define MHD_start_daemon mhd.MHD_start_daemon
 *     ... dl_library_load("libmicrohttpd.so.12", names, sizeof names / sizeof names[0], &mhd, err) */
#ifndef DEVLOG_BASE_LIBRARY_H
#define DEVLOG_BASE_LIBRARY_H

#include "base/error.h"

#define DL_LIBRARY_FIELD(function) __typeof__(function) *(function);
#define DL_LIBRARY_NAME(function)  #function,

/* Loads `file`, the name under which its headers' library is installed, and fills a struct of n pointers to
 * functions. May be called again, and by several threads: the library stays loaded, and the pointers are the
 * same. NOT_FOUND, with what is missing, when it cannot be had. */
devlog_status dl_library_load(const char *file, const char *const *names, size_t n, void *functions,
                              devlog_error *err);

#endif
