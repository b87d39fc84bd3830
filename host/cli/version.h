/* What `devlog --version` prints: the version on the first line, then one line for each thing that depends on how it was built and on
 * what the machine has, "what: yes" or "what: no, why". */
#ifndef DEVLOG_CLI_VERSION_H
#define DEVLOG_CLI_VERSION_H

void cli_version(void);

#endif
