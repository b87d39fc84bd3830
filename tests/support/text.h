/* Words in long texts. Not by strstr in a loop: under ASan each of its calls measures the whole rest of the text. */
#ifndef DEVLOG_TESTS_TEXT_H
#define DEVLOG_TESTS_TEXT_H

#include <stdint.h>
#include <string.h>

/* The first place of `what`, which is not empty; NULL when there is none. */
static inline const char *text_find(const char *text, const char *what)
{
    const size_t n = strlen(what);
    while ((text = strchr(text, what[0])) && strncmp(text, what, n) != 0)
        text++;
    return text;
}

/* How often it stands there, not counting places that overlap. */
static inline uint32_t text_count(const char *text, const char *what)
{
    uint32_t times = 0;
    for (; (text = text_find(text, what)); text += strlen(what))
        times++;
    return times;
}

#endif
