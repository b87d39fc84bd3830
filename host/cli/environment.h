/* The environment's variables as documents, of the table of base/settings.h. Each ends with a line feed. */
#ifndef DEVLOG_CLI_ENVIRONMENT_H
#define DEVLOG_CLI_ENVIRONMENT_H

#include "base/str.h"

void cli_environment_text(dl_str *out);     /* devlog help environment */
void cli_environment_man(dl_str *out);      /* devlog-environment(7) */
void cli_environment_markdown(dl_str *out); /* docs/environment.md, behind its first paragraphs */

#endif
