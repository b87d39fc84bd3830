/* Text of the documents that the program makes of its tables: plain text in lines, and troff for man(1). Not
 * for what the documents say (options_doc.c, environment.c). */
#ifndef DEVLOG_CLI_DOC_TEXT_H
#define DEVLOG_CLI_DOC_TEXT_H

#include "base/str.h"

void cli_spaces(dl_str *out, size_t n);
/* Text wrapped at 90 columns, every line but the first `indent` blanks in; ends with a line feed. `at` is the
 * column where the first line begins. */
void cli_wrap(dl_str *out, const char *text, size_t n, size_t at, size_t indent);
/* One piece of text for troff: backslashes and hyphens as they are, no line that is taken for a request. */
void cli_troff(dl_str *out, const char *text, size_t n);
void cli_troff_text(dl_str *out, const char *text);

#endif
