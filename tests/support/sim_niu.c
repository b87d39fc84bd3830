/* The NoC as software sees it, for tests. */
#include "support/sim_niu.h"

uint32_t niu_x(uint32_t noc, uint32_t index)
{
    uint32_t x = index < 16 ? 1 + index % 4 : index == 16 ? 0 : 5;
    return noc ? 9 - x : x;
}

uint32_t niu_y(uint32_t noc, uint32_t index)
{
    uint32_t y = index < 16 ? 1 + index / 4 : 0;
    return noc ? 11 - y : y;
}

uint32_t niu_mid(uint32_t noc, uint32_t index)
{
    return niu_x(noc, index) << 4 | niu_y(noc, index) << 10;
}

uint32_t niu_base(uint32_t noc, uint32_t initiator)
{
    return (noc ? RIG_NOC1 : RIG_NOC0) + initiator * 0x400;
}

uint32_t niu_counter(sim *s, uint32_t tile, uint32_t noc, uint32_t index)
{
    return rig_word(s, tile, niu_base(noc, 0) + 0x200 + 4 * index);
}

void niu_fill(sim *s, uint32_t tile, const request *r)
{
    const struct {
        uint32_t offset, value;
    } fields[] = {{TARG_LO, r->targ}, {TARG_MID, r->targ_mid}, {RET_LO, r->ret}, {RET_MID, r->ret_mid},
                  {TAG, r->tag},      {CTRL, r->ctrl},         {LEN, r->len},    {DATA, r->data}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        rig_put(s, tile, niu_base(r->noc, r->initiator) + fields[i].offset, fields[i].value);
}

bool niu_issue(sim *s, uint32_t tile, request r)
{
    uint32_t one = 1;
    niu_fill(s, tile, &r);
    return sim_tile_write(s, tile, niu_base(r.noc, r.initiator) + CMD, &one, 4);
}
