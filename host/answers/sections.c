/* All sections of an answer. See sections.h. */
#include "answers/sections.h"

#include "answers/causes_answer.h"
#include "answers/memory_answer.h"

devlog_status answer_make(answer *a, const answer_run *r, const answer_wishes *w, devlog_error *err)
{
    devlog_status status = answer_begin(a, err);
    if (status) return status;
    a->cycles = r->cycles;
    answer_add_verdict(a, r);
    bool good = !w->rules || rules_add_indicators(a, r, w->rules);
    good = good && answer_add_savings(a, r) && (!w->rules || rules_add_advice(a, r, w->rules));
    good = good && answer_add_kernels(a, r, w) && answer_add_ops(a, r, w) && answer_add_roofline(a, r, w);
    answer_add_zones(a, r, w);
    if (r->causes) causes_answer_short(a, r->causes, w->top);
    good = answer_add_ranges(a, r, w) && good;
    answer_add_chips(a, r);
    if (r->memory) status = memory_answer_short(a, r->memory, err);
    if (status) return status;
    answer_add_losses(a, r);
    answer_add_summary(a, r);
    if (!good) a->no_memory = true;
    return answer_status(a, err);
}
