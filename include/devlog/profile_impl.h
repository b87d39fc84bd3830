/* devlog/profile_impl.h: how the markers of profile.h are made. Included by it; not to be included by itself.
 * The text of a marker for the assembler is in profile_asm.h. */
#ifndef DEVLOG_PROFILE_IMPL_H
#define DEVLOG_PROFILE_IMPL_H

#include <stdint.h>

#include "devlog/profile_asm.h"

#ifndef DEVLOG_RISC
#error "DEVLOG_RISC is not defined: the index of the RISC that this code is for, see devlog_board.h"
#endif

/* Laid out by hand: */
/* clang-format off */

#ifdef __cplusplus
extern "C" {
#endif

#define DEVLOG_INLINE_ static inline __attribute__((always_inline))

/* The whole clock, not torn, in cycles. */
DEVLOG_INLINE_ uint64_t devlog_clock(void)
{
    uint32_t h, l, g;
    __asm__ __volatile__("1:\t" DEVLOG_READ_HIGH_("%[h]") DEVLOG_READ_LOW_("%[l]") DEVLOG_READ_HIGH_("%[g]")
                         "bne %[h],%[g],1b"
                         : [h] "=&r"(h), [l] "=&r"(l), [g] "=&r"(g)
                         : DEVLOG_CLOCK_INPUT_);
    return (uint64_t)h << 32 | l;
}

/* Its low half. */
DEVLOG_INLINE_ uint32_t devlog_clock_low_(void)
{
    uint32_t l;
    __asm__ __volatile__(DEVLOG_READ_LOW_("%[l]") : [l] "=r"(l) : DEVLOG_CLOCK_INPUT_ : "memory");
    return l;
}

/* Records with the site as a label. What follows `bytes` are further inputs, each with a comma in front. */
#define DEVLOG_EMIT_(n, cls, kind, off, payload, bytes, ...)                                                 \
    do {                                                                                                     \
        uint32_t devlog_t_, devlog_h_, devlog_l_, devlog_g_;                                                 \
        __asm__ __volatile__(DEVLOG_RECORD_(DEVLOG_LABEL_(n), DEVLOG_STR_(cls), kind, off, payload, bytes)   \
                             : [t] "=&r"(devlog_t_), [h] "=&r"(devlog_h_), [l] "=&r"(devlog_l_),             \
                               [g] "=&r"(devlog_g_)                                                          \
                             : [k] "i"(0) DEVLOG_COMMA_CLOCK_ __VA_ARGS__                                    \
                             : "t0", "memory");                                                              \
    } while (0)

#define DEVLOG_EMIT_COMPLETE_(site, cls, start, ...)                                                         \
    do {                                                                                                     \
        uint32_t devlog_t_, devlog_h_, devlog_l_;                                                            \
        __asm__ __volatile__(DEVLOG_RECORD_COMPLETE_(site, cls)                                              \
                             : [t] "=&r"(devlog_t_), [h] "=&r"(devlog_h_), [l] "=&r"(devlog_l_)              \
                             : [s] "r"(start) DEVLOG_COMMA_CLOCK_ __VA_ARGS__                                \
                             : "t0", "memory");                                                              \
    } while (0)

/* ---- Zones and events: as records, or in the event stream of the tile ---- */

#if defined(DEVLOG_HW_STREAM)

#define DEVLOG_EMIT_EVENT_(site, cls, off, ...)                                                              \
    do {                                                                                                     \
        uint32_t devlog_h_;                                                                                  \
        __asm__ __volatile__(DEVLOG_RECORD_EVENT_(site, cls, off)                                            \
                             : [h] "=&r"(devlog_h_)                                                          \
                             : [o] "i"((int)(DEVLOG_TIMESTAMP - DEVLOG_TIMESTAMP_PAGE_)),                    \
                               [c] "r"(DEVLOG_TIMESTAMP_PAGE_) __VA_ARGS__                                   \
                             : "memory");                                                                    \
    } while (0)

/* Ids in steps of 8, in a section of their own. */
#define DEVLOG_ZONE_SITE_(n, cls, name)                                                                      \
    DEVLOG_SITE_IN_(n, ".devlog.id.hw", "16", 1, cls, DEVLOG_SITE_FLAG_EVENTS, name)
#define DEVLOG_EVENT_SITE_(n, cls, name)                                                                     \
    DEVLOG_SITE_IN_(n, ".devlog.id.hw", "8", 3, cls, DEVLOG_SITE_FLAG_EVENTS, name)
#define DEVLOG_EMIT_BEGIN_(n, cls)        DEVLOG_EMIT_EVENT_(DEVLOG_LABEL_(n), DEVLOG_STR_(cls), "0", )
#define DEVLOG_EMIT_END_(n, cls)          DEVLOG_EMIT_EVENT_(DEVLOG_LABEL_(n), DEVLOG_STR_(cls), "8", )
#define DEVLOG_EMIT_POINT_(n, cls)        DEVLOG_EMIT_EVENT_(DEVLOG_LABEL_(n), DEVLOG_STR_(cls), "0", )

#else

#define DEVLOG_ZONE_SITE_(n, cls, name)  DEVLOG_SITE_(n, "zone", "2", 1, cls, name)
#define DEVLOG_EVENT_SITE_(n, cls, name) DEVLOG_SITE_(n, "event", "1", 3, cls, name)
#define DEVLOG_EMIT_BEGIN_(n, cls)       DEVLOG_EMIT_(n, cls, 1, "0", , DEVLOG_AT_("8", "12"), )
#define DEVLOG_EMIT_END_(n, cls)         DEVLOG_EMIT_(n, cls, 9, "1", , DEVLOG_AT_("8", "12"), )
#define DEVLOG_EMIT_POINT_(n, cls)       DEVLOG_EMIT_(n, cls, 3, "0", , DEVLOG_AT_("8", "12"), )

#endif

#define DEVLOG_EVENT_(n, cls, name)                                                                          \
    do {                                                                                                     \
        DEVLOG_EVENT_SITE_(n, cls, name);                                                                    \
        DEVLOG_EMIT_POINT_(n, cls);                                                                          \
    } while (0)

/* ---- Values ---- */

#define DEVLOG_NUMBER_VALUE32_ 4
#define DEVLOG_NUMBER_COUNTER_ 6
#define DEVLOG_VALUE32_(n, cls, name, kind, data)                                                             \
    do {                                                                                                     \
        const uint32_t devlog_v_ = (uint32_t)(data);                                                         \
        DEVLOG_SITE_(n, "value32", "1", DEVLOG_NUMBER_##kind##_, cls, name);                                 \
        DEVLOG_EMIT_(n, cls, DEVLOG_NUMBER_##kind##_, "0",                                                   \
                     "sw %[v]," DEVLOG_AT_("8", "12") "(tp)\n\t", DEVLOG_AT_("12", "16"), ,                   \
                     [v] "r"(devlog_v_));                                                                    \
    } while (0)

#define DEVLOG_VALUE64_(n, cls, name, data)                                                                  \
    do {                                                                                                     \
        const uint64_t devlog_v_ = (uint64_t)(data);                                                         \
        DEVLOG_SITE_(n, "value64", "1", 5, cls, name);                                                       \
        DEVLOG_EMIT_(n, cls, 5, "0",                                                                         \
                     "sw %[v]," DEVLOG_AT_("8", "12") "(tp)\n\tsw %[u]," DEVLOG_AT_("12", "16") "(tp)\n\t",   \
                     DEVLOG_AT_("16", "20"), , [v] "r"((uint32_t)devlog_v_),                                 \
                     [u] "r"((uint32_t)(devlog_v_ >> 32)));                                                  \
    } while (0)

/* ---- Sums: accumulated in local data RAM, recorded when the kernel ends ---- */

typedef struct devlog_sum_ {
    uint32_t id, passes, total_low, total_high, shortest, longest;
} devlog_sum_;

typedef struct devlog_pass_ {
    devlog_sum_ *sum;
    uint32_t start;
} devlog_pass_;

DEVLOG_INLINE_ void devlog_sum_end_(const devlog_pass_ *pass)
{
    devlog_sum_ *sum = pass->sum;
    uint32_t cycles = devlog_clock_low_() - pass->start;
    uint32_t low = sum->total_low + cycles;
    sum->total_high += low < cycles;
    sum->total_low = low;
    sum->passes++;
    if (cycles < sum->shortest) sum->shortest = cycles;
    if (cycles > sum->longest) sum->longest = cycles;
}

/* The accumulator of site n, in the section that the end of the kernel walks; *sum is its address. */
#define DEVLOG_SUM_LABEL_(n) ".Ldevlog_sum_" DEVLOG_STR_(n)
#define DEVLOG_SUM_DEFINE_(n)                                                                                \
    __asm__ __volatile__(                                                                                    \
        ".ifndef " DEVLOG_SUM_LABEL_(n) "\n"                                                                 \
        "\t.pushsection .devlog_sums,\"aw\",@progbits\n"                                                      \
        "\t.balign 4\n"                                                                                      \
        DEVLOG_SUM_LABEL_(n) ":\t.4byte " DEVLOG_LABEL_(n) ",0,0,0,0xffffffff,0\n"                            \
        "\t.popsection\n"                                                                                    \
        "\t.endif")
#define DEVLOG_SUM_ADDRESS_(n, sum)                                                                          \
    __asm__("lui %0,%%hi(" DEVLOG_SUM_LABEL_(n) ")\n\taddi %0,%0,%%lo(" DEVLOG_SUM_LABEL_(n) ")" : "=r"(sum))

/* ---- Scopes ----
 * The end of a zone runs when its block is left, by whatever way: in C++ a destructor of a type of its own, which
 * works in templates too; in C a cleanup function, into which the site is propagated as a constant. */

#if defined(__cplusplus)

#define DEVLOG_SCOPE_(n, member, end, ...)                                                                   \
    struct DEVLOG_CAT_(devlog_type_, n) {                                                                    \
        member                                                                                               \
        __attribute__((always_inline)) inline ~DEVLOG_CAT_(devlog_type_, n)() { end; }                       \
    } DEVLOG_CAT_(devlog_zone_at_, n) __VA_ARGS__

#define DEVLOG_ZONE_(n, cls, name)                                                                           \
    DEVLOG_ZONE_SITE_(n, cls, name);                                                                         \
    DEVLOG_EMIT_BEGIN_(n, cls);                                                                              \
    DEVLOG_SCOPE_(n, , DEVLOG_EMIT_END_(n, cls), )

#define DEVLOG_ZONE_COMPLETE_(n, cls, name)                                                                  \
    DEVLOG_SITE_(n, "complete", "1", 2, cls, name);                                                          \
    DEVLOG_SCOPE_(n, uint32_t start;,                                                                        \
                  DEVLOG_EMIT_COMPLETE_(DEVLOG_LABEL_(n), DEVLOG_STR_(cls), start, ),                        \
                  = {devlog_clock_low_()})

#define DEVLOG_ZONE_SUM_(n, cls, name)                                                                       \
    DEVLOG_SITE_IN_(n, ".devlog.id.wide", "1", 8, cls, DEVLOG_SITE_FLAG_WIDE, name);                         \
    DEVLOG_SUM_DEFINE_(n);                                                                                   \
    devlog_sum_ *DEVLOG_CAT_(devlog_sum_of_, n);                                                             \
    DEVLOG_SUM_ADDRESS_(n, DEVLOG_CAT_(devlog_sum_of_, n));                                                  \
    DEVLOG_SCOPE_(n, devlog_pass_ pass;, devlog_sum_end_(&pass),                                             \
                  = {{DEVLOG_CAT_(devlog_sum_of_, n), devlog_clock_low_()}})

#define DEVLOG_ZONE_BEGIN_(tag, n, cls, name)                                                                \
    DEVLOG_ZONE_SITE_(n, cls, name);                                                                         \
    DEVLOG_EMIT_BEGIN_(n, cls);                                                                              \
    struct devlog_zone_tag_##tag {                                                                           \
        __attribute__((always_inline)) static inline void end() { DEVLOG_EMIT_END_(n, cls); }                \
    }
#define DEVLOG_ZONE_END_(tag) devlog_zone_tag_##tag::end()

#else

typedef struct devlog_zone_ {
    const char *site;
    uint32_t cls;
} devlog_zone_;

typedef struct devlog_complete_ {
    const char *site;
    uint32_t cls, start;
} devlog_complete_;

/* The site as C sees it: its address is the code. */
#define DEVLOG_SITE_NAME_(n) DEVLOG_CAT_(devlog_site_, n)
#define DEVLOG_SITE_DECL_(n) extern const char DEVLOG_SITE_NAME_(n)[] __asm__(DEVLOG_LABEL_(n))

#if defined(__OPTIMIZE__)

#define DEVLOG_SITE_INPUTS_(zone) , [site] "i"((zone)->site), [cls] "i"((zone)->cls)

#if defined(DEVLOG_HW_STREAM)
DEVLOG_INLINE_ void devlog_zone_end_(const devlog_zone_ *zone)
{
    DEVLOG_EMIT_EVENT_("%[site]", "%[cls]", "8", DEVLOG_SITE_INPUTS_(zone));
}
#else
DEVLOG_INLINE_ void devlog_zone_end_(const devlog_zone_ *zone)
{
    uint32_t t, h, l, g;
    __asm__ __volatile__(DEVLOG_RECORD_("%[site]", "%[cls]", 9, "1", , DEVLOG_AT_("8", "12"))
                         : [t] "=&r"(t), [h] "=&r"(h), [l] "=&r"(l), [g] "=&r"(g)
                         : [k] "i"(0) DEVLOG_COMMA_CLOCK_ DEVLOG_SITE_INPUTS_(zone)
                         : "t0", "memory");
}
#endif

DEVLOG_INLINE_ void devlog_complete_end_(const devlog_complete_ *zone)
{
    DEVLOG_EMIT_COMPLETE_("%[site]", "%[cls]", zone->start, DEVLOG_SITE_INPUTS_(zone));
}

#else /* without optimisation nothing is propagated: the slow way, and such markers cannot be switched off */

uint32_t devlog_emit_slow(uint32_t code, uint32_t word, uint32_t start);

DEVLOG_INLINE_ void devlog_zone_end_(const devlog_zone_ *zone)
{
    uint32_t site = (uint32_t)(uintptr_t)zone->site;
    devlog_emit_slow(DEVLOG_AT_(site + 1u, DEVLOG_CODE_WIDE), DEVLOG_AT_(0u, site + (9u << 28)), 0u);
}

DEVLOG_INLINE_ void devlog_complete_end_(const devlog_complete_ *zone)
{
    uint32_t site = (uint32_t)(uintptr_t)zone->site;
    devlog_emit_slow(DEVLOG_AT_(site, DEVLOG_CODE_WIDE), DEVLOG_AT_(0u, site + (2u << 28)), zone->start);
}

#endif

#define DEVLOG_SCOPE_(n, type, end, ...)                                                                     \
    const type DEVLOG_CAT_(devlog_zone_at_, n) __attribute__((cleanup(end), unused)) = {__VA_ARGS__}

#define DEVLOG_ZONE_(n, cls, name)                                                                           \
    DEVLOG_ZONE_SITE_(n, cls, name);                                                                         \
    DEVLOG_SITE_DECL_(n);                                                                                    \
    DEVLOG_EMIT_BEGIN_(n, cls);                                                                              \
    DEVLOG_SCOPE_(n, devlog_zone_, devlog_zone_end_, DEVLOG_SITE_NAME_(n), cls)

#define DEVLOG_ZONE_COMPLETE_(n, cls, name)                                                                  \
    DEVLOG_SITE_(n, "complete", "1", 2, cls, name);                                                          \
    DEVLOG_SITE_DECL_(n);                                                                                    \
    DEVLOG_SCOPE_(n, devlog_complete_, devlog_complete_end_, DEVLOG_SITE_NAME_(n), cls, devlog_clock_low_())

#define DEVLOG_ZONE_SUM_(n, cls, name)                                                                       \
    DEVLOG_SITE_IN_(n, ".devlog.id.wide", "1", 8, cls, DEVLOG_SITE_FLAG_WIDE, name);                         \
    DEVLOG_SUM_DEFINE_(n);                                                                                   \
    devlog_sum_ *DEVLOG_CAT_(devlog_sum_of_, n);                                                             \
    DEVLOG_SUM_ADDRESS_(n, DEVLOG_CAT_(devlog_sum_of_, n));                                                  \
    DEVLOG_SCOPE_(n, devlog_pass_, devlog_sum_end_, DEVLOG_CAT_(devlog_sum_of_, n), devlog_clock_low_())

#define DEVLOG_ZONE_BEGIN_(tag, n, cls, name)                                                                \
    DEVLOG_ZONE_SITE_(n, cls, name);                                                                         \
    DEVLOG_SITE_DECL_(n);                                                                                    \
    DEVLOG_EMIT_BEGIN_(n, cls);                                                                              \
    const devlog_zone_ devlog_zone_tag_##tag __attribute__((unused)) = {DEVLOG_SITE_NAME_(n), cls}
#define DEVLOG_ZONE_END_(tag) devlog_zone_end_(&devlog_zone_tag_##tag)

#endif

/* ---- Text ---- */

DEVLOG_INLINE_ void devlog_print_args_(uint32_t place, const uint32_t *args, uint32_t n)
{
    volatile uint32_t *to = (volatile uint32_t *)(uintptr_t)place;
    if (place == 0) return; /* there was no place for the record */
    for (uint32_t i = 0; i < n; i++) to[i] = args[i];
}

/* Stops recording on this RISC for the rest of the launch. */
DEVLOG_INLINE_ void devlog_freeze_(void)
{
    __asm__ __volatile__("jal t0,devlog_segment_freeze" ::: "t0", "memory");
}

/* An argument as a word. What does not fit is refused here; the host compares their number with the format. */
#define DEVLOG_TOO_WIDE_ "devlog: an argument of DEVLOG_PRINTF is a number of at most 32 bits or a pointer: cast it"
#if defined(__cplusplus)
extern "C++" {
template <typename t> struct devlog_is_float_ { static constexpr bool value = false; };
template <> struct devlog_is_float_<float> { static constexpr bool value = true; };
template <> struct devlog_is_float_<double> { static constexpr bool value = true; };
template <typename t> DEVLOG_INLINE_ uint32_t devlog_word_(t value)
{
    static_assert(sizeof(t) <= 4 && !devlog_is_float_<t>::value, DEVLOG_TOO_WIDE_);
    return (uint32_t)value;
}
}
#define DEVLOG_WORD_(a) devlog_word_(a)
#else
#define DEVLOG_FITS_(a)                                                                                      \
    _Generic((a), long long: 0, unsigned long long: 0, float: 0, double: 0, long double: 0, default: 1)
#define DEVLOG_WORD_(a)                                                                                      \
    ((uint32_t)(a) + 0u * (uint32_t)sizeof(struct { _Static_assert(DEVLOG_FITS_(a), DEVLOG_TOO_WIDE_); int i; }))
#endif

#define DEVLOG_FIRST_(first, ...) first
/* The arguments behind the format as words, by their number (0 to 8). */
#define DEVLOG_COUNT_(a, b, c, d, e, f, g, h, i, j, n, ...) n
#define DEVLOG_WORDS0_(f)                         0u
#define DEVLOG_WORDS1_(f, a)                      DEVLOG_WORD_(a)
#define DEVLOG_WORDS2_(f, a, b)                   DEVLOG_WORD_(a), DEVLOG_WORD_(b)
#define DEVLOG_WORDS3_(f, a, b, c)                DEVLOG_WORDS2_(f, a, b), DEVLOG_WORD_(c)
#define DEVLOG_WORDS4_(f, a, b, c, d)             DEVLOG_WORDS3_(f, a, b, c), DEVLOG_WORD_(d)
#define DEVLOG_WORDS5_(f, a, b, c, d, e)          DEVLOG_WORDS4_(f, a, b, c, d), DEVLOG_WORD_(e)
#define DEVLOG_WORDS6_(f, a, b, c, d, e, g)       DEVLOG_WORDS5_(f, a, b, c, d, e), DEVLOG_WORD_(g)
#define DEVLOG_WORDS7_(f, a, b, c, d, e, g, h)    DEVLOG_WORDS6_(f, a, b, c, d, e, g), DEVLOG_WORD_(h)
#define DEVLOG_WORDS8_(f, a, b, c, d, e, g, h, i) DEVLOG_WORDS7_(f, a, b, c, d, e, g, h), DEVLOG_WORD_(i)
#define DEVLOG_WORDS9_(...)                       devlog_printf_has_more_than_8_arguments
#define DEVLOG_NARGS_(...) DEVLOG_COUNT_(__VA_ARGS__, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0)

#define DEVLOG_PRINTF_(n, cls, ...)                                                                          \
    do {                                                                                                     \
        const uint32_t devlog_args_[] = {                                                                    \
            DEVLOG_CAT_(DEVLOG_CAT_(DEVLOG_WORDS, DEVLOG_NARGS_(__VA_ARGS__)), _)(__VA_ARGS__)};             \
        uint32_t devlog_place_ = 0;                                                                          \
        DEVLOG_PRINT_SITE_(n, cls, DEVLOG_NARGS_(__VA_ARGS__), DEVLOG_FIRST_(__VA_ARGS__, 0));               \
        DEVLOG_EMIT_PRINT_(n, cls, devlog_place_, DEVLOG_NARGS_(__VA_ARGS__));                               \
        devlog_print_args_(devlog_place_, devlog_args_, DEVLOG_NARGS_(__VA_ARGS__));                         \
    } while (0)

#if defined(DEVLOG_WIDE_IDS)
#define DEVLOG_PRINT_SITE_(n, cls, count, name)                                                              \
    DEVLOG_SITE_IN_(n, ".devlog.id.wide", "1", 7, cls,                                                       \
                    DEVLOG_FLAG_STAMP_|DEVLOG_SITE_FLAG_WIDE|count<<8, name)
#else
#define DEVLOG_PRINT_SITE_(n, cls, count, name)                                                              \
    DEVLOG_SITE_IN_(n, ".devlog.id.print", "1", 7, cls, DEVLOG_FLAG_STAMP_|count<<8, name)
#endif

/* Reserves the record and leaves in `place` where its arguments go. */
#define DEVLOG_EMIT_PRINT_(n, cls, place, count)                                                             \
    do {                                                                                                     \
        uint32_t devlog_t_, devlog_h_, devlog_l_, devlog_g_;                                                 \
        __asm__ __volatile__(                                                                                \
            DEVLOG_RECORD_(DEVLOG_LABEL_(n), DEVLOG_STR_(cls), 7, "0",                                       \
                           "sw %[a]," DEVLOG_AT_("8", "12") "(tp)\n\t"                                        \
                           "addi %[p],tp," DEVLOG_AT_("12", "16") "\n\t"                                      \
                           "addi tp,tp," DEVLOG_STR_(count) "*4\n\t",                                         \
                           DEVLOG_AT_("12", "16"))                                                           \
            : [t] "=&r"(devlog_t_), [h] "=&r"(devlog_h_), [l] "=&r"(devlog_l_), [g] "=&r"(devlog_g_),        \
              [p] "+&r"(place)                                                                               \
            : [a] "r"((uint32_t)(count)) DEVLOG_COMMA_CLOCK_                                                 \
            : "t0", "memory");                                                                               \
    } while (0)

#ifdef __cplusplus
}
#endif

#endif
