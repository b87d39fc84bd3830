/* Completion of the command line by shells, made of the tables of options: commands, their options, and the words that an
 * option takes. Each ends with a line feed. */
#ifndef DEVLOG_CLI_COMPLETION_H
#define DEVLOG_CLI_COMPLETION_H

#include "base/str.h"

void cli_completion_bash(dl_str *out);
void cli_completion_zsh(dl_str *out);

#endif
