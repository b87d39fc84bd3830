/* A saved state: what the memories of a device held and where its harts were, in a file, for looking at it
 * when the device is gone. Written by profiler/save.c, read by the transport "saved".
 *
 * The file, little-endian: "DEVLOGPM", version (4 bytes, 1), length of the board's name (4), the name; then
 * entries: kind, x, y, hart (1 byte each), address or pc (4), number of bytes that follow (4), the bytes. The
 * last entry is of kind 0; a file without it was cut. An entry of kind 3 has two numbers of 8 bytes, a bit
 * for each column and for each row of the NoC that this chip had switched off; without it the grid is the
 * board's. */
#ifndef DEVLOG_TRANSPORT_SAVED_H
#define DEVLOG_TRANSPORT_SAVED_H

#include "base/file.h"
#include "transport/transport.h"

enum { SAVED_END, SAVED_MEMORY, SAVED_PC, SAVED_GRID };

devlog_status saved_create(dl_file_writer *w, const char *path, const char *board, devlog_error *err);
void saved_memory(dl_file_writer *w, dl_target at, uint32_t address, const void *bytes, uint32_t size);
void saved_pc(dl_file_writer *w, dl_target at, uint32_t hart, uint32_t pc);
void saved_grid(dl_file_writer *w, uint64_t dead_columns, uint64_t dead_rows);
/* Ends the file; frees the writer. */
devlog_status saved_commit(dl_file_writer *w, devlog_error *err);

/* From memory, for tests; takes over the bytes, which dl_transport_close frees. */
devlog_status saved_parse(dl_str *bytes, const char *origin, dl_transport *out, devlog_error *err);

#endif
