/* What far.c wants of far_launches.c. */
#ifndef DEVLOG_MPI_FAR_LAUNCHES_H
#define DEVLOG_MPI_FAR_LAUNCHES_H

#include "decode/wire.h"
#include "far.h"

/* Rank 0 says which launches are wanted. */
void far_say_launches(dl_wire *w, const dl_far_launch *wanted, size_t n);
/* All ranks look for them and rank 0, whose `all` it is, has what each has found. */
void far_answer_launches(far_samples *f, dl_wire *w, dl_str *all);
/* Rank 0: what a rank has found of launches, whose places are below `end`, behind what is there. */
devlog_status far_read_samples(const far_samples *f, const dl_str *said, uint32_t end,
                               dl_far_sample **samples, size_t *n_samples, devlog_error *err);

#endif
