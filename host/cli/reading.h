/* How far reading a log is, as a line on the terminal: for dl_decode_options.progress. */
#ifndef DEVLOG_CLI_READING_H
#define DEVLOG_CLI_READING_H

#include <stdint.h>

/* `progress`: a dl_progress. `size`: 0: not known; both in bytes of the file. */
void cli_show_reading(void *progress, const char *input, uint64_t taken, uint64_t size, uint64_t rows);

#endif
