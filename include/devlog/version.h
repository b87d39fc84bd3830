/* devlog/version.h: which devlog this is. The build and the packages take the number from here. */
#ifndef DEVLOG_VERSION_H
#define DEVLOG_VERSION_H

#define DEVLOG_VERSION_MAJOR 0
#define DEVLOG_VERSION_MINOR 2
#define DEVLOG_VERSION_PATCH 0
#define DEVLOG_VERSION       "0.2.0"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* DEVLOG_VERSION of the library that runs, which may be newer than the header; static storage. */
const char *devlog_version(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
