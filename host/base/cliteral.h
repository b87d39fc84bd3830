/* String literals of C and C++, as a preprocessor spells them, into the text that they stand for. */
#ifndef DEVLOG_BASE_CLITERAL_H
#define DEVLOG_BASE_CLITERAL_H

#include <stdbool.h>
#include <stddef.h>

/* Replaces `"a" "\u00e9\n"` by what a compiler makes of it, in UTF-8, in place: adjacent literals, every
 * escape sequence, u8 and raw literals (R"x(..)x"). The result is zero-terminated; *length, which may be
 * NULL, is more than its strlen when the literal has a zero in it. False, and nothing is changed, when the
 * text is something else: a name, a number, a wide literal. */
bool dl_c_literal(char *text, size_t *length);

#endif
