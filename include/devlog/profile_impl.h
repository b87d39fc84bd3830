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

/* The same as a marker of its own: where a zone begins that is recorded at its end. */
#define DEVLOG_START_(cls)                                                                                   \
    __extension__({                                                                                          \
        uint32_t devlog_l_;                                                                                  \
        __asm__ __volatile__("1:\t" DEVLOG_READ_LOW_("%[l]") "4:\n\t" DEVLOG_PATCH_(DEVLOG_STR_(cls))          \
                             : [l] "=r"(devlog_l_)                                                           \
                             : DEVLOG_CLOCK_INPUT_                                                           \
                             : "memory");                                                                    \
        devlog_l_;                                                                                           \
    })

/* A record. What follows `record` are further inputs, each with a comma in front. */
#define DEVLOG_EMIT_RECORD_(record, ...)                                                                     \
    do {                                                                                                     \
        uint32_t devlog_h_, devlog_l_;                                                                       \
        __asm__ __volatile__(record                                                                          \
                             : [h] "=&r"(devlog_h_), [l] "=&r"(devlog_l_)                                    \
                             : [k] "i"(0) DEVLOG_COMMA_CLOCK_ __VA_ARGS__                                    \
                             : DEVLOG_CLOBBERS_);                                                            \
    } while (0)

/* With the site as a label. */
#define DEVLOG_EMIT_(n, cls, kind, off, payload, bytes, ...)                                                 \
    DEVLOG_EMIT_RECORD_(DEVLOG_RECORD_(DEVLOG_LABEL_(n), DEVLOG_STR_(cls), kind, off, payload, bytes),       \
                        __VA_ARGS__)

#define DEVLOG_EMIT_COMPLETE_(site, cls, start, ...)                                                         \
    DEVLOG_EMIT_RECORD_(DEVLOG_RECORD_COMPLETE_(site, cls), , [s] "r"(start) __VA_ARGS__)

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
    uint32_t cls, start;
#if !defined(__cplusplus)
    const char *site;
#endif
} devlog_pass_;

/* The end of a pass: p is the accumulator, s the start. What is rare is out of line, but for clang (see
 * DEVLOG_FULL_TEST_). */
#define DEVLOG_PASS_CARRY_    "lw %[b],12(%[p])\n\taddi %[b],%[b],1\n\tsw %[b],12(%[p])\n"
#define DEVLOG_PASS_SHORTEST_ "sw %[l],16(%[p])\n"
#define DEVLOG_PASS_LONGEST_  "sw %[l],20(%[p])\n"
#if defined(__clang__)
#define DEVLOG_PASS_RARE_                                                                                    \
    "bgeu %[a],%[l],5f\n\t" DEVLOG_PASS_CARRY_                                                               \
    "5:\tbgeu %[l],%[d],6f\n\t" DEVLOG_PASS_SHORTEST_                                                        \
    "6:\tbgeu %[e],%[l],4f\n\t" DEVLOG_PASS_LONGEST_                                                         \
    "4:\n\t"
#else
#define DEVLOG_PASS_RARE_                                                                                    \
    "bltu %[a],%[l],7f\n"                                                                                   \
    "5:\tbltu %[l],%[d],8f\n"                                                                               \
    "6:\tbltu %[e],%[l],9f\n"                                                                               \
    "4:\n\t"                                                                                                \
    ".subsection 1\n"                                                                                       \
    "7:\t" DEVLOG_PASS_CARRY_ "\tj 5b\n"                                                                    \
    "8:\t" DEVLOG_PASS_SHORTEST_ "\tj 6b\n"                                                                 \
    "9:\t" DEVLOG_PASS_LONGEST_ "\tj 4b\n"                                                                  \
    "3:\n\t.previous\n\t"                                                                                   \
    ".pushsection .devlog.patch,\"?\",@progbits\n\t.4byte 7b,3b,255\n\t.popsection\n\t"
#endif
#define DEVLOG_PASS_(cls, site)                                                                              \
    "1:\t" DEVLOG_READ_LOW_("%[l]")                                                                          \
    "lw %[a],8(%[p])\n\tlw %[b],4(%[p])\n\tlw %[d],16(%[p])\n\tlw %[e],20(%[p])\n\t"                         \
    "sub %[l],%[l],%[s]\n\t"                                                                                \
    "add %[a],%[a],%[l]\n\tsw %[a],8(%[p])\n\t"                                                             \
    "addi %[b],%[b],1\n\tsw %[b],4(%[p])\n\t" DEVLOG_PASS_RARE_ DEVLOG_PATCH_(cls) site
/* Whose pass it is, for its price (devlog/record.h). */
#define DEVLOG_PASS_OF_(site) "\n\t.pushsection .devlog.passes,\"?\",@progbits\n\t.4byte 1b," site "\n\t.popsection"
#define DEVLOG_END_PASS_(cls, site, sum, start, ...)                                                               \
    do {                                                                                                     \
        uint32_t devlog_l_, devlog_a_, devlog_b_, devlog_d_, devlog_e_;                                      \
        __asm__ __volatile__(DEVLOG_PASS_(cls, site)                                                         \
                             : [l] "=&r"(devlog_l_), [a] "=&r"(devlog_a_), [b] "=&r"(devlog_b_),             \
                               [d] "=&r"(devlog_d_), [e] "=&r"(devlog_e_)                                    \
                             : [p] "r"(sum), [s] "r"(start) DEVLOG_COMMA_CLOCK_ __VA_ARGS__                  \
                             : "memory");                                                                    \
    } while (0)

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
                  = {DEVLOG_START_(cls)})

#define DEVLOG_ZONE_SUM_(n, cls, name)                                                                       \
    DEVLOG_SITE_IN_(n, ".devlog.id.sum", "1", 8, cls, DEVLOG_SITE_FLAG_WIDE, name);                         \
    DEVLOG_SUM_DEFINE_(n);                                                                                   \
    devlog_sum_ *DEVLOG_CAT_(devlog_sum_of_, n);                                                             \
    DEVLOG_SUM_ADDRESS_(n, DEVLOG_CAT_(devlog_sum_of_, n));                                                  \
    DEVLOG_SCOPE_(n, devlog_pass_ pass;,                                                                     \
                  DEVLOG_END_PASS_(DEVLOG_STR_(cls), DEVLOG_PASS_OF_(DEVLOG_LABEL_(n)), pass.sum, pass.start, ), \
                  = {{DEVLOG_CAT_(devlog_sum_of_, n), cls, DEVLOG_START_(cls)}})

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
    DEVLOG_EMIT_RECORD_(DEVLOG_RECORD_("%[site]", "%[cls]", 9, "1", , DEVLOG_AT_("8", "12")),
                        DEVLOG_SITE_INPUTS_(zone));
}
#endif

DEVLOG_INLINE_ void devlog_complete_end_(const devlog_complete_ *zone)
{
    DEVLOG_EMIT_COMPLETE_("%[site]", "%[cls]", zone->start, DEVLOG_SITE_INPUTS_(zone));
}

DEVLOG_INLINE_ void devlog_sum_end_(const devlog_pass_ *pass)
{
    DEVLOG_END_PASS_("%[cls]", DEVLOG_PASS_OF_("%[site]"), pass->sum, pass->start, , [cls] "i"(pass->cls),
                     [site] "i"(pass->site));
}

#else /* without optimisation nothing is propagated: the site is in a register, and cannot be switched off */

DEVLOG_INLINE_ void devlog_zone_end_(const devlog_zone_ *zone)
{
    DEVLOG_EMIT_RECORD_(DEVLOG_RECORD_IN_W_, , [w] "r"(zone->site + DEVLOG_AT_(1u, (9u << 28))));
}

DEVLOG_INLINE_ void devlog_complete_end_(const devlog_complete_ *zone)
{
    DEVLOG_EMIT_RECORD_(DEVLOG_RECORD_COMPLETE_IN_W_,
                        , [w] "r"(zone->site + DEVLOG_AT_(0u, (2u << 28))), [s] "r"(zone->start));
}

DEVLOG_INLINE_ void devlog_sum_end_(const devlog_pass_ *pass)
{
    DEVLOG_END_PASS_("255", "", pass->sum, pass->start, );
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
    DEVLOG_SCOPE_(n, devlog_complete_, devlog_complete_end_, DEVLOG_SITE_NAME_(n), cls, DEVLOG_START_(cls))

#define DEVLOG_ZONE_SUM_(n, cls, name)                                                                       \
    DEVLOG_SITE_IN_(n, ".devlog.id.sum", "1", 8, cls, DEVLOG_SITE_FLAG_WIDE, name);                         \
    DEVLOG_SUM_DEFINE_(n);                                                                                   \
    devlog_sum_ *DEVLOG_CAT_(devlog_sum_of_, n);                                                             \
    DEVLOG_SUM_ADDRESS_(n, DEVLOG_CAT_(devlog_sum_of_, n));                                                  \
    DEVLOG_SITE_DECL_(n);                                                                                    \
    DEVLOG_SCOPE_(n, devlog_pass_, devlog_sum_end_, DEVLOG_CAT_(devlog_sum_of_, n), cls, DEVLOG_START_(cls), \
                  DEVLOG_SITE_NAME_(n))

#define DEVLOG_ZONE_BEGIN_(tag, n, cls, name)                                                                \
    DEVLOG_ZONE_SITE_(n, cls, name);                                                                         \
    DEVLOG_SITE_DECL_(n);                                                                                    \
    DEVLOG_EMIT_BEGIN_(n, cls);                                                                              \
    const devlog_zone_ devlog_zone_tag_##tag __attribute__((unused)) = {DEVLOG_SITE_NAME_(n), cls}
#define DEVLOG_ZONE_END_(tag) devlog_zone_end_(&devlog_zone_tag_##tag)

#endif

/* ---- Expectations ----
 * Constants in a section that is never loaded. They are objects, not text for the assembler, so that any constant expression
 * will do. */

#define DEVLOG_EXPECT_(n, kind, name, then, low, high)                                                       \
    DEVLOG_EXPECT_AT_(n, kind, name, then, low, high)
#define DEVLOG_EXPECT_AT_(n, kind, name, then, low, high)                                                    \
    static const struct {                                                                                    \
        uint32_t bytes, kind_of, line, none;                                                                 \
        uint64_t least, most;                                                                                \
        char of[sizeof("" name)], other[sizeof("" then)], file[sizeof(__FILE__)];                            \
    } devlog_expect_##n __attribute__((section(".devlog.expect"), used, aligned(8))) = {                     \
        sizeof(devlog_expect_##n), kind, __LINE__, 0, (uint64_t)(low), (uint64_t)(high), "" name, "" then, __FILE__}

/* ---- Text ---- */

/* Stops recording on this RISC for the rest of the launch. */
DEVLOG_INLINE_ void devlog_freeze_(void)
{
    __asm__ __volatile__("jal t0,devlog_segment_freeze" ::: DEVLOG_CLOBBERS_);
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
/* The arguments behind the format, by their number (0 to 8): as inputs, and as stores. */
#define DEVLOG_COUNT_(a, b, c, d, e, f, g, h, i, j, n, ...) n
#define DEVLOG_ARGS0_(f)
#define DEVLOG_ARGS1_(f, a)                        , [a0] "r"(DEVLOG_WORD_(a))
#define DEVLOG_ARGS2_(f, a, b)                     DEVLOG_ARGS1_(f, a), [a1] "r"(DEVLOG_WORD_(b))
#define DEVLOG_ARGS3_(f, a, b, c)                  DEVLOG_ARGS2_(f, a, b), [a2] "r"(DEVLOG_WORD_(c))
#define DEVLOG_ARGS4_(f, a, b, c, d)               DEVLOG_ARGS3_(f, a, b, c), [a3] "r"(DEVLOG_WORD_(d))
#define DEVLOG_ARGS5_(f, a, b, c, d, e)            DEVLOG_ARGS4_(f, a, b, c, d), [a4] "r"(DEVLOG_WORD_(e))
#define DEVLOG_ARGS6_(f, a, b, c, d, e, g)         DEVLOG_ARGS5_(f, a, b, c, d, e), [a5] "r"(DEVLOG_WORD_(g))
#define DEVLOG_ARGS7_(f, a, b, c, d, e, g, h)      DEVLOG_ARGS6_(f, a, b, c, d, e, g), [a6] "r"(DEVLOG_WORD_(h))
#define DEVLOG_ARGS8_(f, a, b, c, d, e, g, h, i)   DEVLOG_ARGS7_(f, a, b, c, d, e, g, h), [a7] "r"(DEVLOG_WORD_(i))
#define DEVLOG_PUT_(arg, narrow, wide) "sw %[" arg "]," DEVLOG_AT_(narrow, wide) "(tp)\n\t"
#define DEVLOG_PUTS0_
#define DEVLOG_PUTS1_ DEVLOG_PUT_("a0", "12", "16")
#define DEVLOG_PUTS2_ DEVLOG_PUTS1_ DEVLOG_PUT_("a1", "16", "20")
#define DEVLOG_PUTS3_ DEVLOG_PUTS2_ DEVLOG_PUT_("a2", "20", "24")
#define DEVLOG_PUTS4_ DEVLOG_PUTS3_ DEVLOG_PUT_("a3", "24", "28")
#define DEVLOG_PUTS5_ DEVLOG_PUTS4_ DEVLOG_PUT_("a4", "28", "32")
#define DEVLOG_PUTS6_ DEVLOG_PUTS5_ DEVLOG_PUT_("a5", "32", "36")
#define DEVLOG_PUTS7_ DEVLOG_PUTS6_ DEVLOG_PUT_("a6", "36", "40")
#define DEVLOG_PUTS8_ DEVLOG_PUTS7_ DEVLOG_PUT_("a7", "40", "44")
#define DEVLOG_ARGS9_(...)                       devlog_printf_has_more_than_8_arguments
#define DEVLOG_PUTS9_
#define DEVLOG_NARGS_(...) DEVLOG_COUNT_(__VA_ARGS__, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0)

#define DEVLOG_PRINTF_(n, cls, ...)                                                                          \
    do {                                                                                                     \
        DEVLOG_PRINT_SITE_(n, cls, DEVLOG_NARGS_(__VA_ARGS__), DEVLOG_FIRST_(__VA_ARGS__, 0));               \
        DEVLOG_EMIT_PRINT_(n, cls, DEVLOG_NARGS_(__VA_ARGS__), DEVLOG_CAT_(DEVLOG_PUTS, DEVLOG_NARGS_(__VA_ARGS__)),   \
                           DEVLOG_CAT_(DEVLOG_CAT_(DEVLOG_ARGS, DEVLOG_NARGS_(__VA_ARGS__)), _)(__VA_ARGS__)); \
    } while (0)

#if defined(DEVLOG_WIDE_IDS)
#define DEVLOG_PRINT_SITE_(n, cls, count, name)                                                              \
    DEVLOG_SITE_IN_(n, ".devlog.id.wide", "1", 7, cls,                                                       \
                    DEVLOG_FLAG_STAMP_|DEVLOG_SITE_FLAG_WIDE|count<<8, name)
#else
#define DEVLOG_PRINT_SITE_(n, cls, count, name)                                                              \
    DEVLOG_SITE_IN_(n, ".devlog.id.print", "1", 7, cls, DEVLOG_FLAG_STAMP_|count<<8, name)
#endif

#define DEVLOG_EMIT_PRINT_(n, cls, count, puts, ...)                                                         \
    DEVLOG_EMIT_(n, cls, 7, "0",                                                                             \
                 "li " DEVLOG_T_ "," DEVLOG_STR_(count) "\n\t"                                               \
                 "sw " DEVLOG_T_ "," DEVLOG_AT_("8", "12") "(tp)\n\t" DEVLOG_CAT_(puts, _),                  \
                 DEVLOG_AT_("12", "16") "+4*" DEVLOG_STR_(count), __VA_ARGS__)

#ifdef __cplusplus
}
#endif

#endif
