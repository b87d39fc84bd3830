/* Inline functions and templates with markers, for several files to include. */
#include <devlog/kernel.h>
#include <devlog/profile.h>

inline __attribute__((noinline)) uint32_t shared_work(uint32_t n)
{
    DEVLOG_ZONE("shared");
    {
        DEVLOG_ZONE_COMPLETE("shared complete");
        DEVLOG_VALUE("shared value", n);
    }
    DEVLOG_ZONE_SUM("shared sum");
    return n + 1;
}

template <typename t> __attribute__((noinline)) t generic_work(t n)
{
    DEVLOG_ZONE("generic");
    DEVLOG_ZONE_BEGIN(inner, "generic inner");
    DEVLOG_EVENT("generic event");
    DEVLOG_ZONE_END(inner);
    return n + 1;
}

/* Small enough to be inlined in some places and called in others. */
inline uint32_t little_work(uint32_t n)
{
    DEVLOG_ZONE("little");
    return n * 3;
}

struct worker {
    uint32_t n;
    worker(uint32_t m) : n(m) { DEVLOG_EVENT("constructed"); }
    uint32_t work() const
    {
        DEVLOG_PRINTF("work %u", n);
        return little_work(n);
    }
};

extern "C" uint32_t second_unit(uint32_t n); /* compilers do not agree on what uint32_t is */
