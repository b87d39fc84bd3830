/* The C locale, for as long as a function runs: a program that links the library may have another, in which a fraction has a comma for
 * printf and strtod, and "1.2 GHz" is one. Functions of the API that read or write fractions as text begin with DL_IN_C_LOCALE, and so do
 * the library's threads that do: a thread begins with the program's locale. The programs of the project have the C locale anyway. */
#ifndef DEVLOG_BASE_C_LOCALE_H
#define DEVLOG_BASE_C_LOCALE_H

#include <locale.h>

static inline void dl_locale_back(const locale_t *before)
{
    (void)uselocale(*before);
}

/* To the end of the block. It allocates nothing: there is one C locale. */
#define DL_IN_C_LOCALE()                                                                                     \
    __attribute__((unused, cleanup(dl_locale_back))) const locale_t dl_locale_before =                       \
        uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0))

#endif
