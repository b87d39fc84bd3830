/* Arrays that may become larger than memory should hold. Beyond a few megabytes an array moves into a file
 * without a name in a folder that its user names; the system writes parts that are not in use to the disk and
 * reads them when they are wanted. Without such a folder, or where the file system cannot promise the room,
 * or less would stay free than the array takes, it stays in memory. Not for arrays that are small or used all over all the time. */
#ifndef DEVLOG_BASE_BIG_H
#define DEVLOG_BASE_BIG_H

#include <stdbool.h>
#include <stddef.h>

/* Zero-initialise it; set `folder` and `warm` before it grows; free it with dl_big_free. */
typedef struct dl_big {
    void *data;
    size_t bytes;       /* that it has room for */
    const char *folder; /* borrowed; NULL: memory only */
    size_t
        warm; /* it is used all over the time up to so many bytes: in memory until then, in large pages; 0: DL_BIG_FROM, in any */
    int file; /* descriptor + 1; 0: in memory */
    bool stays; /* in memory, as there is no room in the folder */
} dl_big;

enum { DL_BIG_FROM = 4 * 1024 * 1024 }; /* smaller ones are ordinary memory */

/* Makes room for n bytes; what was there stays, though perhaps elsewhere. False: out of memory. */
bool dl_big_room(dl_big *b, size_t n);
/* Says that nothing of it is wanted at once: memory that it holds may go to others. Its contents stay, and so
 * do pointers into it. Quick; to be called now and then. */
void dl_big_cool(const dl_big *b);
void dl_big_free(dl_big *b);

/* Zeroed memory for an array that must not move and may stay nearly empty: pages that are never used cost nothing (a large
 * calloc costs AddressSanitizer a note for each eight bytes). It holds no pointers to memory of malloc. NULL: out of memory. */
void *dl_big_reserve(size_t bytes);
void dl_big_unreserve(void *array, size_t bytes); /* NULL is allowed */

/* The same in pieces of DL_BIG_PIECE that never move. Zero-initialise it, set `folder`, free it with dl_big_pieces_free. */
typedef struct dl_big_pieces {
    const char *folder; /* borrowed */
    size_t n;
    void **spans; /* several pieces each, one behind the other, so that one call lets them go */
    int file;     /* descriptor + 1 */
} dl_big_pieces;

enum { DL_BIG_PIECE = 2 * 1024 * 1024 };

/* NULL: there is no room, or the file system cannot promise it. */
void *dl_big_piece(dl_big_pieces *p);
void dl_big_pieces_cool(const dl_big_pieces *p);
void dl_big_pieces_free(dl_big_pieces *p);

#endif
