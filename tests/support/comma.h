/* A program's locale in which a fraction has a comma. Not for threads' own locales (uselocale). */
#ifndef DEVLOG_TESTS_COMMA_H
#define DEVLOG_TESTS_COMMA_H

/* Makes it the process's, of Debian's package locales; fails the test, or the program, when that cannot be. */
void comma_locale(void);
/* The same for all tests of a group: of the program, as the library has its own. */
int comma_set_up(void **state);

#endif
