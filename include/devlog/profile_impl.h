/* devlog/profile_impl.h: how the markers of profile.h are made. Included by it; not to be included by itself.
 *
 * Every marker is one inline assembly statement, so that its cost is known to the instruction:
 *
 *     1:  lw    h, high(clock)        the three loads overlap
 *         lw    l, low(clock)
 *         lw    g, high(clock)
 *         slli  t, tp, 31 - bits      is the segment full?
 *         bltz  t, 7f
 *         bne   h, g, 1b              the high half moved while the low half was read
 *         slli  h, h, 12
 *         addi  h, h, %lo(site)       the linker fills in the code
 *         sw    h, 0(tp)
 *         sw    l, 4(tp)
 *         addi  tp, tp, 8
 *     4:
 *     7:  jal   t0, devlog_segment_full   out of line; comes back here to try again,
 *         j     1b                        or one instruction further on
 *         j     4b                        when there is no place
 *
 * The site of a marker is a label in a section that is never loaded; its address there is the code. A site is
 * defined once however often its code is inlined (.ifndef). Sections and codes: devlog/record.h. */
#ifndef DEVLOG_PROFILE_IMPL_H
#define DEVLOG_PROFILE_IMPL_H

/* Text for the assembler is laid out by hand. */
/* clang-format off */

#include <stdint.h>

#include "devlog/record.h"
#include "devlog_board.h" /* generated from the board file */

#ifndef DEVLOG_RISC
#error "DEVLOG_RISC is not defined: the index of the RISC that this code is for, see devlog_board.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Text for the assembler ---- */

#define DEVLOG_STR__(x)    #x
#define DEVLOG_STR_(x)     DEVLOG_STR__(x)
#define DEVLOG_CAT__(a, b) a##b
#define DEVLOG_CAT_(a, b)  DEVLOG_CAT__(a, b)

#define DEVLOG_INLINE_ static inline __attribute__((always_inline))

#if defined(DEVLOG_STAMP32)
#define DEVLOG_SITE_STAMP_ DEVLOG_SITE_FLAG_STAMP32
#else
#define DEVLOG_SITE_STAMP_ 0
#endif

#if defined(DEVLOG_WIDE_IDS)
#define DEVLOG_SITE_WIDE_     DEVLOG_SITE_FLAG_WIDE
#define DEVLOG_ID_SECTION_(s) ".devlog.id.wide"
#define DEVLOG_ID_BYTES_(n)   "1"
#else
#define DEVLOG_SITE_WIDE_     0
#define DEVLOG_ID_SECTION_(s) ".devlog.id." s
#define DEVLOG_ID_BYTES_(n)   n
#endif

#define DEVLOG_LABEL_(n) ".Ldevlog_site_" DEVLOG_STR_(n)

/* Defines site n in `section` with `bytes` codes. `name` must be a string literal. */
#define DEVLOG_SITE_IN_(n, section, bytes, kind, cls, flags, name)                                           \
    __asm__ __volatile__(".ifndef " DEVLOG_LABEL_(                                                           \
        n) "\n"                                                                                              \
           "\t.pushsection " section ",\"\",@progbits\n" DEVLOG_LABEL_(                                      \
               n) ":\t.zero " bytes "\n"                                                                     \
                  "\t.popsection\n"                                                                          \
                  "\t.pushsection .devlog.sites,\"\",@progbits\n"                                            \
                  "\t.balign 4\n"                                                                            \
                  "\t.4byte " DEVLOG_LABEL_(                                                                 \
                      n) "\n"                                                                                \
                         "\t.4byte " DEVLOG_STR_(kind) "|" DEVLOG_STR_(cls) "<<8|(" DEVLOG_STR_(             \
                             flags) ")<<16\n"                                                                \
                                    "\t.4byte " DEVLOG_STR_(                                                 \
                                        __LINE__) "\n"                                                       \
                                                  "\t.asciz " DEVLOG_STR_(                                   \
                                                      name) "\n"                                             \
                                                            "\t.asciz " DEVLOG_STR_(                         \
                                                                __FILE__) "\n"                               \
                                                                          "\t.popsection\n"                  \
                                                                          "\t.endif")
#define DEVLOG_SITE_(n, section, bytes, kind, cls, name)                                                     \
    DEVLOG_SITE_IN_(n, DEVLOG_ID_SECTION_(section), DEVLOG_ID_BYTES_(bytes), kind, cls,                      \
                    DEVLOG_SITE_STAMP_ | DEVLOG_SITE_WIDE_, name)

/* The site as C sees it: its address is the code. */
#define DEVLOG_SITE_NAME_(n) DEVLOG_CAT_(devlog_site_, n)
#define DEVLOG_SITE_DECL_(n) extern const char DEVLOG_SITE_NAME_(n)[] __asm__(DEVLOG_LABEL_(n))

/* The address of a site is a constant of the instruction where the optimiser has propagated it there. */
#if defined(__OPTIMIZE__)
#define DEVLOG_SITE_OPERAND_ "i"
#define DEVLOG_ADD_CODE_(off)                                                                                \
    ".option push\n\t.option norelax\n\taddi %[h],%[h],%%lo(%[site]+" off ")\n\t.option pop\n\t"
#define DEVLOG_SET_CODE_(off)                                                                                \
    ".option push\n\t.option norelax\n\taddi %[h],x0,%%lo(%[site]+" off ")\n\t.option pop\n\t"
#else
#define DEVLOG_SITE_OPERAND_  "r"
#define DEVLOG_ADD_CODE_(off) "add %[h],%[h],%[site]\n\taddi %[h],%[h]," off "\n\t"
#define DEVLOG_SET_CODE_(off) "addi %[h],%[site]," off "\n\t"
#endif
#if defined(DEVLOG_WIDE_IDS)
#undef DEVLOG_ADD_CODE_
#undef DEVLOG_SET_CODE_
#define DEVLOG_ADD_CODE_(off) "addi %[h],%[h],-32\n\t" /* DEVLOG_CODE_WIDE */
#define DEVLOG_SET_CODE_(off) "li %[h],-32\n\t"
#endif

/* ---- Clock ---- */

#if defined(DEVLOG_CLOCK_CSR)
#define DEVLOG_CLOCK_INPUT_
#define DEVLOG_READ_HIGH_(r) "csrr " r ",mcycleh\n\t"
#define DEVLOG_READ_LOW_(r)  "csrr " r ",mcycle\n\t"
#else
#define DEVLOG_CLOCK_INPUT_  [c] "r"(DEVLOG_CLOCK_PAGE)
#define DEVLOG_READ_HIGH_(r) "lw " r "," DEVLOG_STR_(DEVLOG_CLOCK_HIGH_OFFSET) "(%[c])\n\t"
#define DEVLOG_READ_LOW_(r)  "lw " r "," DEVLOG_STR_(DEVLOG_CLOCK_LOW_OFFSET) "(%[c])\n\t"
#endif

#if defined(DEVLOG_STAMP32)
#define DEVLOG_READ_ DEVLOG_READ_LOW_("%[l]")
#define DEVLOG_CHECK_
#define DEVLOG_CODE_(off) DEVLOG_SET_CODE_(off)
#else
#define DEVLOG_READ_      DEVLOG_READ_HIGH_("%[h]") DEVLOG_READ_LOW_("%[l]") DEVLOG_READ_HIGH_("%[g]")
#define DEVLOG_CHECK_     "bne %[h],%[g],1b\n\t"
#define DEVLOG_CODE_(off) "slli %[h],%[h],12\n\t" DEVLOG_ADD_CODE_(off)
#endif

/* The whole clock, not torn, in cycles. */
DEVLOG_INLINE_ uint64_t devlog_clock(void)
{
    uint32_t h, l, g;
    __asm__ __volatile__("1:\t" DEVLOG_READ_HIGH_("%[h]") DEVLOG_READ_LOW_("%[l]")
                             DEVLOG_READ_HIGH_("%[g]") "bne %[h],%[g],1b"
                         : [h] "=&r"(h), [l] "=&r"(l), [g] "=&r"(g)
                         : DEVLOG_CLOCK_INPUT_);
    return (uint64_t)h << 32 | l;
}

/* ---- The marker ---- */

/* slli by this puts the bit of the cursor that says "full" into the sign. */
#if DEVLOG_SEGMENT_BITS == 9
#define DEVLOG_FULL_SHIFT_ "22"
#elif DEVLOG_SEGMENT_BITS == 10
#define DEVLOG_FULL_SHIFT_ "21"
#elif DEVLOG_SEGMENT_BITS == 11
#define DEVLOG_FULL_SHIFT_ "20"
#elif DEVLOG_SEGMENT_BITS == 12
#define DEVLOG_FULL_SHIFT_ "19"
#elif DEVLOG_SEGMENT_BITS == 13
#define DEVLOG_FULL_SHIFT_ "18"
#elif DEVLOG_SEGMENT_BITS == 14
#define DEVLOG_FULL_SHIFT_ "17"
#elif DEVLOG_SEGMENT_BITS == 15
#define DEVLOG_FULL_SHIFT_ "16"
#elif DEVLOG_SEGMENT_BITS == 16
#define DEVLOG_FULL_SHIFT_ "15"
#else
#error "DEVLOG_SEGMENT_BITS must be from 9 to 16"
#endif

#define DEVLOG_FULL_TEST_ "slli %[t],tp," DEVLOG_FULL_SHIFT_ "\n\tbltz %[t],7f\n\t"
#define DEVLOG_FULL_PATH_ ".subsection 1\n7:\tjal t0,devlog_segment_full\n\tj 1b\n\tj 4b\n\t.previous\n\t"
#define DEVLOG_PATCH_     ".pushsection .devlog.patch,\"\",@progbits\n\t.4byte 1b,4b,%[cls]\n\t.popsection"

/* Offsets of the payload, and what a wide id adds in front of it. */
#if defined(DEVLOG_WIDE_IDS)
#define DEVLOG_WIDE_STORE_             "sw %[w],8(tp)\n\t"
#define DEVLOG_WIDE_INPUT_(kind, site) , [w] "r"(((uint32_t)(kind) << 28) + (uint32_t)(uintptr_t)(site))
#define DEVLOG_AT_(narrow, wide)       wide
#else
#define DEVLOG_WIDE_STORE_
#define DEVLOG_WIDE_INPUT_(kind, site)
#define DEVLOG_AT_(narrow, wide) narrow
#endif

#if defined(DEVLOG_CLOCK_CSR)
#define DEVLOG_COMMA_CLOCK_
#else
#define DEVLOG_COMMA_CLOCK_ , DEVLOG_CLOCK_INPUT_
#endif

/* Code that is not optimised cannot pass the class to where it is needed: 255 says "cannot be switched". */
#if defined(__OPTIMIZE__)
#define DEVLOG_CLASS_OPERAND_(cls) (cls)
#else
#define DEVLOG_CLASS_OPERAND_(cls) (255 + 0 * sizeof(cls))
#endif

/* One record: `off` is added to the code, `payload` stores what follows word 1, `bytes` is its size. */
#define DEVLOG_RECORD_(off, payload, bytes)                                                                  \
    "1:\t" DEVLOG_READ_ DEVLOG_FULL_TEST_ DEVLOG_CHECK_ DEVLOG_CODE_(                                        \
        off) "sw %[h],0(tp)\n\tsw %[l],4(tp)\n\t" DEVLOG_WIDE_STORE_ payload "addi tp,tp," bytes             \
             "\n4:\n\t" DEVLOG_FULL_PATH_ DEVLOG_PATCH_
#define DEVLOG_OUTPUTS_ [t] "=&r"(t), [h] "=&r"(h), [l] "=&r"(l), [g] "=&r"(g)
#define DEVLOG_INPUTS_(s_, kind_, cls_)                                                                      \
    [site] DEVLOG_SITE_OPERAND_(s_), [cls] "i"(DEVLOG_CLASS_OPERAND_(cls_))DEVLOG_COMMA_CLOCK_               \
                                     DEVLOG_WIDE_INPUT_(kind_, s_)

/* What a site needs at both ends of a zone; after optimisation nothing of it is left. */
typedef struct devlog_zone_ {
    const char *site;
    uint32_t cls;
} devlog_zone_;

#if defined(DEVLOG_HW_STREAM)

#if !defined(DEVLOG_TIMESTAMP)
#error "DEVLOG_HW_STREAM: this board has no debug timestamper"
#endif
#if !defined(__OPTIMIZE__)
#error "DEVLOG_HW_STREAM: compile with optimisation, so that a marker is one store"
#endif
#define DEVLOG_TIMESTAMP_PAGE_ ((DEVLOG_TIMESTAMP + 0x800u) & 0xFFFFF000u)

/* One store; `off` is 0, or 8 for the end of a zone. `kind` and `cls` as for records. */
#define DEVLOG_HW_EVENT_(s_, off, cls_)                                                                      \
    do {                                                                                                     \
        uint32_t h;                                                                                          \
        __asm__ __volatile__("1:\tlui %[h],%%hi(%[site]+%[k])\n\t"                                            \
                             "addi %[h],%[h],%%lo(%[site]+%[k])\n\t"                                         \
                             "sw %[h],%[o](%[c])\n4:\n\t" DEVLOG_PATCH_                                       \
                             : [h] "=&r"(h)                                                                  \
                             : [site] "i"(s_), [cls] "i"(DEVLOG_CLASS_OPERAND_(cls_)),                       \
                               [k] "i"((DEVLOG_RISC << DEVLOG_EVENT_RISC_SHIFT) + DEVLOG_EVENT_APPEND + (off)), \
                               [o] "i"((int)(DEVLOG_TIMESTAMP - DEVLOG_TIMESTAMP_PAGE_)),                    \
                               [c] "r"(DEVLOG_TIMESTAMP_PAGE_)                                               \
                             : "memory");                                                                    \
    } while (0)

DEVLOG_INLINE_ void devlog_zone_begin_(const char *site, uint32_t cls)
{
    DEVLOG_HW_EVENT_(site, 0, cls);
}

DEVLOG_INLINE_ void devlog_zone_end_(const devlog_zone_ *zone)
{
    DEVLOG_HW_EVENT_(zone->site, 8, zone->cls);
}

DEVLOG_INLINE_ void devlog_event_(const char *site, uint32_t cls)
{
    DEVLOG_HW_EVENT_(site, 0, cls);
}

/* Sites of zones and events: ids in steps of 8, in a section of their own. */
#define DEVLOG_ZONE_SITE_(n, cls, name)                                                                      \
    DEVLOG_SITE_IN_(n, ".devlog.id.hw", "16", 1, cls, DEVLOG_SITE_FLAG_EVENTS, name)
#define DEVLOG_EVENT_SITE_(n, cls, name)                                                                     \
    DEVLOG_SITE_IN_(n, ".devlog.id.hw", "8", 3, cls, DEVLOG_SITE_FLAG_EVENTS, name)

#else

#define DEVLOG_ZONE_SITE_(n, cls, name)  DEVLOG_SITE_(n, "zone", "2", 1, cls, name)
#define DEVLOG_EVENT_SITE_(n, cls, name) DEVLOG_SITE_(n, "event", "1", 3, cls, name)

DEVLOG_INLINE_ void devlog_zone_begin_(const char *site, uint32_t cls)
{
    uint32_t t, h, l, g;
    __asm__ __volatile__(DEVLOG_RECORD_("0", , DEVLOG_AT_("8", "12"))
                         : DEVLOG_OUTPUTS_
                         : DEVLOG_INPUTS_(site, DEVLOG_KIND_ZONE, cls)
                         : "t0", "memory");
}

DEVLOG_INLINE_ void devlog_zone_end_(const devlog_zone_ *zone)
{
    uint32_t t, h, l, g;
    __asm__ __volatile__(DEVLOG_RECORD_("1", , DEVLOG_AT_("8", "12"))
                         : DEVLOG_OUTPUTS_
                         : DEVLOG_INPUTS_(zone->site, DEVLOG_KIND_ZONE_END, zone->cls)
                         : "t0", "memory");
}

DEVLOG_INLINE_ void devlog_event_(const char *site, uint32_t cls)
{
    uint32_t t, h, l, g;
    __asm__ __volatile__(DEVLOG_RECORD_("0", , DEVLOG_AT_("8", "12"))
                         : DEVLOG_OUTPUTS_
                         : DEVLOG_INPUTS_(site, DEVLOG_KIND_EVENT, cls)
                         : "t0", "memory");
}

#endif

DEVLOG_INLINE_ void devlog_value32_(const char *site, uint32_t cls, uint32_t kind, uint32_t value)
{
    uint32_t t, h, l, g;
    (void)kind;
    __asm__ __volatile__(DEVLOG_RECORD_("0",
                                        "sw %[v]," DEVLOG_AT_("8", "12") "(tp)\n\t",
                                        DEVLOG_AT_("12", "16"))
                         : DEVLOG_OUTPUTS_
                         : DEVLOG_INPUTS_(site, kind, cls), [v] "r"(value)
                         : "t0", "memory");
}

DEVLOG_INLINE_ void devlog_value64_(const char *site, uint32_t cls, uint64_t value)
{
    uint32_t t, h, l, g;
    __asm__ __volatile__(DEVLOG_RECORD_("0",
                                        "sw %[v]," DEVLOG_AT_("8", "12") "(tp)\n\t"
                                        "sw %[u]," DEVLOG_AT_("12", "16") "(tp)\n\t",
                                        DEVLOG_AT_("16", "20"))
                         : DEVLOG_OUTPUTS_
                         : DEVLOG_INPUTS_(site, DEVLOG_KIND_VALUE64, cls), [v] "r"((uint32_t)value),
                           [u] "r"((uint32_t)(value >> 32))
                         : "t0", "memory");
}

/* ---- Complete zones: the start stays in a register ---- */

typedef struct devlog_complete_ {
    const char *site;
    uint32_t cls, start;
} devlog_complete_;

DEVLOG_INLINE_ uint32_t devlog_clock_low_(void)
{
    uint32_t l;
    __asm__ __volatile__(DEVLOG_READ_LOW_("%[l]") : [l] "=r"(l) : DEVLOG_CLOCK_INPUT_ : "memory");
    return l;
}

#if defined(DEVLOG_STAMP32)
#define DEVLOG_READ_END_ DEVLOG_READ_LOW_("%[l]")
#else
#define DEVLOG_READ_END_ DEVLOG_READ_LOW_("%[l]") DEVLOG_READ_HIGH_("%[h]")
#endif

DEVLOG_INLINE_ void devlog_complete_end_(const devlog_complete_ *zone)
{
    uint32_t t, h, l;
    __asm__ __volatile__("1:\t" DEVLOG_READ_END_
                         DEVLOG_FULL_TEST_
                         DEVLOG_CODE_("0")
                         "sw %[h],0(tp)\n\tsw %[l],4(tp)\n\t" DEVLOG_WIDE_STORE_
                         "sw %[s]," DEVLOG_AT_("8", "12") "(tp)\n\t"
                         "addi tp,tp," DEVLOG_AT_("12", "16") "\n4:\n\t"
                         DEVLOG_FULL_PATH_
                         DEVLOG_PATCH_
                         : [t] "=&r"(t), [h] "=&r"(h), [l] "=&r"(l)
                         : DEVLOG_INPUTS_(zone->site, DEVLOG_KIND_COMPLETE, zone->cls), [s] "r"(zone->start)
                         : "t0", "memory");
}

/* ---- Sums: accumulated in local data RAM, recorded when the kernel ends ---- */

typedef struct devlog_sum_ {
    uint32_t id, passes, total_low, total_high, shortest, longest;
} devlog_sum_;

typedef struct devlog_pass_ {
    devlog_sum_ *sum;
    uint32_t start;
} devlog_pass_;

/* The accumulator of site n, in the section that the end of the kernel walks. */
#define DEVLOG_SUM_LABEL_(n) ".Ldevlog_sum_" DEVLOG_STR_(n)
#define DEVLOG_SUM_DEFINE_(n)                                                                                \
    __asm__ __volatile__(                                                                                    \
        ".ifndef " DEVLOG_SUM_LABEL_(n) "\n"                                                                 \
        "\t.pushsection .devlog_sums,\"aw\",@progbits\n"                                                      \
        "\t.balign 4\n"                                                                                      \
        DEVLOG_SUM_LABEL_(n) ":\t.4byte " DEVLOG_LABEL_(n) ",0,0,0,0xffffffff,0\n"                            \
        "\t.popsection\n"                                                                                    \
        "\t.endif")

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

/* ---- Text ---- */

/* Reserves a record for n arguments and returns where they go; NULL when there is no place. */
DEVLOG_INLINE_ uint32_t *devlog_print_begin_(const char *site, uint32_t cls, uint32_t n)
{
    uint32_t t, h, l, g;
    uint32_t *place = 0;
    __asm__ __volatile__(DEVLOG_RECORD_("0",
                                        "sw %[n]," DEVLOG_AT_("8", "12") "(tp)\n\t"
                                        "addi %[p],tp," DEVLOG_AT_("12", "16") "\n\t"
                                        "slli %[h],%[n],2\n\t"
                                        "add tp,tp,%[h]\n\t",
                                        DEVLOG_AT_("12", "16"))
                         : DEVLOG_OUTPUTS_, [p] "+&r"(place)
                         : DEVLOG_INPUTS_(site, DEVLOG_KIND_PRINT, cls), [n] "r"(n)
                         : "t0", "memory");
    return place;
}

DEVLOG_INLINE_ void devlog_print_(const char *site, uint32_t cls, const uint32_t *args, uint32_t n)
{
    volatile uint32_t *place = devlog_print_begin_(site, cls, n);
    if (!place) return;
    for (uint32_t i = 0; i < n; i++)
        place[i] = args[i];
}

__attribute__((format(printf, 1, 2))) static inline void devlog_print_check_(const char *format, ...)
{
    (void)format;
}

/* Stops recording on this RISC for the rest of the launch. */
DEVLOG_INLINE_ void devlog_freeze_(void)
{
    __asm__ __volatile__("jal t0,devlog_segment_freeze" ::: "t0", "memory");
}

#ifdef __cplusplus
}
#endif

/* ---- The macros of profile.h, with the number of their site ---- */

#define DEVLOG_ZONE_(n, cls, name)                                                                           \
    DEVLOG_ZONE_SITE_(n, cls, name);                                                                         \
    DEVLOG_SITE_DECL_(n);                                                                                    \
    devlog_zone_begin_(DEVLOG_SITE_NAME_(n), cls);                                                           \
    const devlog_zone_ DEVLOG_CAT_(devlog_zone_at_, n)                                                       \
        __attribute__((cleanup(devlog_zone_end_), unused)) = {DEVLOG_SITE_NAME_(n), cls}

#define DEVLOG_ZONE_BEGIN_(tag, n, cls, name)                                                                \
    DEVLOG_ZONE_SITE_(n, cls, name);                                                                         \
    DEVLOG_SITE_DECL_(n);                                                                                    \
    devlog_zone_begin_(DEVLOG_SITE_NAME_(n), cls);                                                           \
    const devlog_zone_ devlog_zone_tag_##tag = {DEVLOG_SITE_NAME_(n), cls}
#define DEVLOG_ZONE_END_(tag) devlog_zone_end_(&devlog_zone_tag_##tag)

#define DEVLOG_ZONE_COMPLETE_(n, cls, name)                                                                  \
    DEVLOG_SITE_(n, "complete", "1", 2, cls, name);                                                          \
    DEVLOG_SITE_DECL_(n);                                                                                    \
    const devlog_complete_ DEVLOG_CAT_(devlog_zone_at_, n)                                                   \
        __attribute__((cleanup(devlog_complete_end_), unused)) =                                             \
            {DEVLOG_SITE_NAME_(n), cls, devlog_clock_low_()}

#define DEVLOG_ZONE_SUM_(n, cls, name)                                                                       \
    DEVLOG_SITE_IN_(n, ".devlog.id.wide", "1", 8, cls, DEVLOG_SITE_FLAG_WIDE, name);                         \
    DEVLOG_SUM_DEFINE_(n);                                                                                   \
    extern devlog_sum_ DEVLOG_CAT_(devlog_sum_of_, n) __asm__(DEVLOG_SUM_LABEL_(n));                         \
    const devlog_pass_ DEVLOG_CAT_(devlog_zone_at_, n)                                                       \
        __attribute__((cleanup(devlog_sum_end_), unused)) = {&DEVLOG_CAT_(devlog_sum_of_, n), devlog_clock_low_()}

#define DEVLOG_EVENT_(n, cls, name)                                                                          \
    do {                                                                                                     \
        DEVLOG_EVENT_SITE_(n, cls, name);                                                                    \
        DEVLOG_SITE_DECL_(n);                                                                                \
        devlog_event_(DEVLOG_SITE_NAME_(n), cls);                                                            \
    } while (0)

#define DEVLOG_NUMBER_VALUE32_ 4
#define DEVLOG_NUMBER_COUNTER_ 6
#define DEVLOG_VALUE32_(n, cls, name, kind, v)                                                               \
    do {                                                                                                     \
        DEVLOG_SITE_(n, "value32", "1", DEVLOG_NUMBER_##kind##_, cls, name);                                 \
        DEVLOG_SITE_DECL_(n);                                                                                \
        devlog_value32_(DEVLOG_SITE_NAME_(n), cls, DEVLOG_NUMBER_##kind##_, (uint32_t)(v));                  \
    } while (0)

#define DEVLOG_VALUE64_(n, cls, name, v)                                                                     \
    do {                                                                                                     \
        DEVLOG_SITE_(n, "value64", "1", 5, cls, name);                                                       \
        DEVLOG_SITE_DECL_(n);                                                                                \
        devlog_value64_(DEVLOG_SITE_NAME_(n), cls, (uint64_t)(v));                                           \
    } while (0)

#define DEVLOG_FIRST_(first, ...) first
/* The arguments behind the format as an array of words, by their number (0 to 8). */
#define DEVLOG_COUNT_(a, b, c, d, e, f, g, h, i, n, ...) n
#define DEVLOG_WORDS0_(f)                                0u
#define DEVLOG_WORDS1_(f, a)                             (uint32_t)(a)
#define DEVLOG_WORDS2_(f, a, b)                          (uint32_t)(a), (uint32_t)(b)
#define DEVLOG_WORDS3_(f, a, b, c)                       (uint32_t)(a), (uint32_t)(b), (uint32_t)(c)
#define DEVLOG_WORDS4_(f, a, b, c, d)                    DEVLOG_WORDS3_(f, a, b, c), (uint32_t)(d)
#define DEVLOG_WORDS5_(f, a, b, c, d, e)                 DEVLOG_WORDS4_(f, a, b, c, d), (uint32_t)(e)
#define DEVLOG_WORDS6_(f, a, b, c, d, e, g)              DEVLOG_WORDS5_(f, a, b, c, d, e), (uint32_t)(g)
#define DEVLOG_WORDS7_(f, a, b, c, d, e, g, h)           DEVLOG_WORDS6_(f, a, b, c, d, e, g), (uint32_t)(h)
#define DEVLOG_WORDS8_(f, a, b, c, d, e, g, h, i)        DEVLOG_WORDS7_(f, a, b, c, d, e, g, h), (uint32_t)(i)
#define DEVLOG_NARGS_(...)                               DEVLOG_COUNT_(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0)

#define DEVLOG_PRINTF_(n, cls, ...)                                                                          \
    do {                                                                                                     \
        if (0) devlog_print_check_(__VA_ARGS__);                                                             \
        DEVLOG_SITE_(n, "print", "1", 7, cls, DEVLOG_FIRST_(__VA_ARGS__, 0));                                \
        DEVLOG_SITE_DECL_(n);                                                                                \
        const uint32_t devlog_args_[] = {                                                                    \
            DEVLOG_CAT_(DEVLOG_CAT_(DEVLOG_WORDS, DEVLOG_NARGS_(__VA_ARGS__)), _)(__VA_ARGS__)};             \
        devlog_print_(DEVLOG_SITE_NAME_(n), cls, devlog_args_, DEVLOG_NARGS_(__VA_ARGS__));                  \
    } while (0)

#endif
