/* What the files of a run's host say of launches, where its log does not: see decode.h. */
#include "decode/decode_internal.h"

void dl_decode_tell_op(dl_decode *d, uint32_t launch, uint32_t op)
{
    dl_launch *l = &dl_pair_launches(d->pair)->items[launch];
    if (!l->op) l->op = op;
}
