/* devlog/holds.h: what has to hold while a kernel is compiled, or its text is the error. In C and in C++. Included by the headers of
 * markers; not to be included by itself. */
#ifndef DEVLOG_HOLDS_H
#define DEVLOG_HOLDS_H

#if defined(__cplusplus)
#define DEVLOG_HOLDS_(what, text) static_assert(what, text)
#else
#define DEVLOG_HOLDS_(what, text) _Static_assert(what, text)
#endif

#endif
