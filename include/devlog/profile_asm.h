/* devlog/profile_asm.h: the text of a marker for the assembler. Included by profile_impl.h only.
 *
 * Every marker is one inline assembly statement, so that its cost is known to the instruction:
 *
 *     1:  slli  t1, tp, 31 - bits     is the segment full?
 *         bltz  t1, 7f
 *         lw    h, high(clock)        the two loads overlap
 *         lw    l, low(clock)
 *         slli  h, h, 12
 *         addi  h, h, %lo(site)       the linker fills in the code
 *         sw    h, 0(tp)
 *         sw    l, 4(tp)
 *         addi  tp, tp, 8
 *     4:
 *     7:  jal   t0, devlog_segment_full   out of line; comes back here when there is no place,
 *         j     4b                        or one instruction further on to try again
 *         j     1b
 *     8:
 *
 * Nothing checks that the halves of the clock belong together: when the low half wraps between the two loads,
 * the stamp is 2^32 too early, and before the one in front of it. The decoder sees that and repairs it
 * (host/decode/capture/records.c).
 *
 * The site of a marker is a label in a section that is never loaded; its address there is the code. A site is
 * defined once however often its code is inlined (.ifndef). Sections and codes: devlog/record.h. */
#ifndef DEVLOG_PROFILE_ASM_H
#define DEVLOG_PROFILE_ASM_H

#include "devlog/record.h"
#include "devlog_board.h" /* generated from the board file */

/* Laid out by hand: */
/* clang-format off */

#define DEVLOG_STR__(x)    #x
#define DEVLOG_STR_(x)     DEVLOG_STR__(x)
#define DEVLOG_CAT__(a, b) a##b
#define DEVLOG_CAT_(a, b)  DEVLOG_CAT__(a, b)

/* As in profile.h, which a kernel that records waits need not include, and which by itself includes nothing. */
#if defined(__cplusplus)
#define DEVLOG_HOLDS_(what, text) static_assert(what, text)
#else
#define DEVLOG_HOLDS_(what, text) _Static_assert(what, text)
#endif

/* ---- Sites ---- */

#if defined(DEVLOG_STAMP32)
#define DEVLOG_FLAG_STAMP_ DEVLOG_SITE_FLAG_STAMP32
#else
#define DEVLOG_FLAG_STAMP_ 0
#endif

#define DEVLOG_LABEL_(n) ".Ldevlog_site_" DEVLOG_STR_(n)

/* Defines site n with `bytes` codes in `section`. `name` must be a string literal, which the host checks
 * (host/program/compile_sites.c); it goes into the table as it is written, with its quotes, because compilers and
 * assemblers do not know the same escape sequences. `flags` may have the number of arguments of a print above its
 * eight bits. */
#define DEVLOG_SITE_IN_(n, section, bytes, kind, cls, flags, name)                                           \
    __asm__ __volatile__(                                                                                    \
        ".ifndef " DEVLOG_LABEL_(n) "\n"                                                                     \
        "\t.pushsection " section ",\"\",@progbits\n"                                                        \
        DEVLOG_LABEL_(n) ":\t.zero " bytes "\n"                                                              \
        "\t.popsection\n"                                                                                    \
        "\t.pushsection .devlog.sites,\"\",@progbits\n"                                                      \
        "\t.balign 4\n"                                                                                      \
        "\t.4byte " DEVLOG_LABEL_(n) "\n"                                                                    \
        "\t.4byte " DEVLOG_STR_(kind) "|" DEVLOG_STR_(cls) "<<8|(" DEVLOG_STR_(flags) ")<<16\n"              \
        "\t.4byte " DEVLOG_STR_(__LINE__) "\n"                                                               \
        "\t.asciz " DEVLOG_STR_(DEVLOG_STR_(name)) "\n"                                                      \
        "\t.asciz " DEVLOG_STR_(__FILE__) "\n"                                                               \
        "\t.popsection\n"                                                                                    \
        "\t.endif");                                                                                         \
    DEVLOG_HOLDS_(((cls) & ~31) == 0, "devlog: DEVLOG_CLASS is a number from 0 to 31")

#if defined(DEVLOG_WIDE_IDS)
#define DEVLOG_SITE_(n, section, bytes, kind, cls, name)                                                     \
    DEVLOG_SITE_IN_(n, ".devlog.id.wide", "1", kind, cls, DEVLOG_FLAG_STAMP_|DEVLOG_SITE_FLAG_WIDE, name)
#else
#define DEVLOG_SITE_(n, section, bytes, kind, cls, name)                                                     \
    DEVLOG_SITE_IN_(n, ".devlog.id." section, bytes, kind, cls, DEVLOG_FLAG_STAMP_, name)
#endif

/* ---- Clock ---- */

#if defined(DEVLOG_CLOCK_CSR)
#define DEVLOG_CLOCK_INPUT_
#define DEVLOG_COMMA_CLOCK_
/* csrr r,mcycleh and csrr r,mcycle as numbers: an assembler refuses their names for -march=rv32im, and the
 * toolchain has no libraries for rv32im_zicsr. */
#define DEVLOG_READ_HIGH_(r) ".insn i 0x73,2," r ",x0,-1152\n\t"
#define DEVLOG_READ_LOW_(r)  ".insn i 0x73,2," r ",x0,-1280\n\t"
#else
#define DEVLOG_CLOCK_INPUT_  [c] "r"(DEVLOG_CLOCK_PAGE)
#define DEVLOG_COMMA_CLOCK_  , DEVLOG_CLOCK_INPUT_
#define DEVLOG_READ_HIGH_(r) "lw " r "," DEVLOG_STR_(DEVLOG_CLOCK_HIGH_OFFSET) "(%[c])\n\t"
#define DEVLOG_READ_LOW_(r)  "lw " r "," DEVLOG_STR_(DEVLOG_CLOCK_LOW_OFFSET) "(%[c])\n\t"
#endif

#if defined(DEVLOG_STAMP32)
#define DEVLOG_READ_ DEVLOG_READ_LOW_("%[l]")
#else
#define DEVLOG_READ_ DEVLOG_READ_HIGH_("%[h]") DEVLOG_READ_LOW_("%[l]")
#endif

/* ---- Is there a place? ---- */

/* A temporary that no operand uses, so that what is called out of line knows of a free register. */
#define DEVLOG_T_ "t1"

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

/* Where what follows when there is none is decided (firmware/segment.S). */
#define DEVLOG_FULL_          "devlog_segment_full"
#define DEVLOG_FULL_COMPLETE_ "devlog_segment_full_complete"

#if defined(__clang__)
/* Its assembler does not lengthen a branch that cannot reach the end of a long function: what is rare stays where it
 * is, and is jumped over. */
#define DEVLOG_FULL_TEST_(full)                                                                              \
    "slli " DEVLOG_T_ ",tp," DEVLOG_FULL_SHIFT_ "\n\tbgez " DEVLOG_T_ ",8f\n"                                \
    "7:\tjal t0," full "\n\tj 4f\n\tj 1b\n8:\n\t"
#define DEVLOG_FULL_PATH_(full)
#else
#define DEVLOG_FULL_TEST_(full) "slli " DEVLOG_T_ ",tp," DEVLOG_FULL_SHIFT_ "\n\tbltz " DEVLOG_T_ ",7f\n\t"
#define DEVLOG_FULL_PATH_(full)                                                                               \
    ".subsection 1\n7:\tjal t0," full "\n\tj 4b\n\tj 1b\n8:\n\t.previous\n\t"                         \
    ".pushsection .devlog.patch,\"?\",@progbits\n\t.4byte 7b,8b,255\n\t.popsection\n\t"
#endif
#define DEVLOG_CLOBBERS_ "t0", DEVLOG_T_, "memory"

/* ---- The record ---- */

/* `site` is text: a label, or an operand that is one. Offsets: `off` is added to the code (1: end of a zone). */
#define DEVLOG_ADD_SITE_(to, from, site, off)                                                                \
    ".option push\n\t.option norelax\n\taddi " to "," from ",%%lo(" site "+" off ")\n\t.option pop\n\t"

#if defined(DEVLOG_WIDE_IDS)
/* Code -32 is DEVLOG_CODE_WIDE; the word behind the stamp has the kind and the id. */
#if defined(DEVLOG_STAMP32)
#define DEVLOG_CODE_(site, off) "li %[h],-32\n\t"
#else
#define DEVLOG_CODE_(site, off) "slli %[h],%[h],12\n\taddi %[h],%[h],-32\n\t"
#endif
#define DEVLOG_WIDE_STORE_(site, kind)                                                                       \
    "lui " DEVLOG_T_ ",%%hi(" site "+(" DEVLOG_STR_(kind) "<<28))\n\t"                                                 \
    "addi " DEVLOG_T_ "," DEVLOG_T_ ",%%lo(" site "+(" DEVLOG_STR_(kind) "<<28))\n\t"                                           \
    "sw " DEVLOG_T_ ",8(tp)\n\t"
#define DEVLOG_AT_(narrow, wide) wide
#else
#if defined(DEVLOG_STAMP32)
#define DEVLOG_CODE_(site, off) DEVLOG_ADD_SITE_("%[h]", "x0", site, off)
#else
#define DEVLOG_CODE_(site, off) "slli %[h],%[h],12\n\t" DEVLOG_ADD_SITE_("%[h]", "%[h]", site, off)
#endif
#define DEVLOG_WIDE_STORE_(site, kind)
#define DEVLOG_AT_(narrow, wide) narrow
#endif

#define DEVLOG_PATCH_(cls) ".pushsection .devlog.patch,\"?\",@progbits\n\t.4byte 1b,4b," cls "\n\t.popsection"

/* All that follows the reading of the clock: `code` makes the first word, `wide` stores the third of a wide
 * record, `payload` what follows the head; `bytes` is the size. */
#define DEVLOG_STORE_(full, code, wide, cls, payload, bytes)                                                   \
    code                                                                                                     \
    "sw %[h],0(tp)\n\tsw %[l],4(tp)\n\t"                                                                     \
    wide                                                                                                     \
    payload                                                                                                  \
    "addi tp,tp," bytes "\n4:\n\t"                                                                           \
    DEVLOG_FULL_PATH_(full)                                                                                    \
    DEVLOG_PATCH_(cls)

#define DEVLOG_RECORD_(site, cls, kind, off, payload, bytes)                                                 \
    "1:\t" DEVLOG_FULL_TEST_(DEVLOG_FULL_) DEVLOG_READ_                                                      \
    DEVLOG_STORE_(DEVLOG_FULL_, DEVLOG_CODE_(site, off), DEVLOG_WIDE_STORE_(site, kind), cls, payload, bytes)

#define DEVLOG_COMPLETE_BYTES_ DEVLOG_AT_("12", "16")
#define DEVLOG_COMPLETE_START_ "sw %[s]," DEVLOG_AT_("8", "12") "(tp)\n\t"
#define DEVLOG_RECORD_COMPLETE_(site, cls)                                                                   \
    "1:\t" DEVLOG_FULL_TEST_(DEVLOG_FULL_COMPLETE_) DEVLOG_READ_                                                                \
    DEVLOG_STORE_(DEVLOG_FULL_COMPLETE_, DEVLOG_CODE_(site, "0"), DEVLOG_WIDE_STORE_(site, 2), cls, DEVLOG_COMPLETE_START_,         \
                  DEVLOG_COMPLETE_BYTES_)

/* The same where the site is no constant but in register `w`: the code, or the third word of a wide record.
 * Such a marker cannot be switched off: class 255. */
#if defined(DEVLOG_WIDE_IDS)
#define DEVLOG_CODE_IN_W_ DEVLOG_CODE_(, )
#define DEVLOG_WIDE_IN_W_ "sw %[w],8(tp)\n\t"
#elif defined(DEVLOG_STAMP32)
#define DEVLOG_CODE_IN_W_ "mv %[h],%[w]\n\t"
#define DEVLOG_WIDE_IN_W_
#else
#define DEVLOG_CODE_IN_W_ "slli %[h],%[h],12\n\tadd %[h],%[h],%[w]\n\t"
#define DEVLOG_WIDE_IN_W_
#endif
#define DEVLOG_RECORD_IN_W_                                                                                  \
    "1:\t" DEVLOG_FULL_TEST_(DEVLOG_FULL_) DEVLOG_READ_                                                      \
    DEVLOG_STORE_(DEVLOG_FULL_, DEVLOG_CODE_IN_W_, DEVLOG_WIDE_IN_W_, "255", , DEVLOG_AT_("8", "12"))
#define DEVLOG_RECORD_COMPLETE_IN_W_                                                                         \
    "1:\t" DEVLOG_FULL_TEST_(DEVLOG_FULL_COMPLETE_) DEVLOG_READ_                                                                \
    DEVLOG_STORE_(DEVLOG_FULL_COMPLETE_, DEVLOG_CODE_IN_W_, DEVLOG_WIDE_IN_W_, "255", DEVLOG_COMPLETE_START_, DEVLOG_COMPLETE_BYTES_)

/* ---- The event stream of the tile: one store ---- */

#if defined(DEVLOG_HW_STREAM)
#if !defined(DEVLOG_TIMESTAMP)
#error "DEVLOG_HW_STREAM: this board has no debug timestamper"
#endif
#define DEVLOG_TIMESTAMP_PAGE_ ((DEVLOG_TIMESTAMP + 0x800u) & 0xFFFFF000u)

#define DEVLOG_EVENT_WORD_(site, off) site "+(" DEVLOG_STR_(DEVLOG_RISC) "<<29)+" off
#define DEVLOG_RECORD_EVENT_(site, cls, off)                                                                 \
    "1:\tlui %[h],%%hi(" DEVLOG_EVENT_WORD_(site, off) ")\n\t"                                                \
    "addi %[h],%[h],%%lo(" DEVLOG_EVENT_WORD_(site, off) ")\n\t"                                              \
    "sw %[h],%[o](%[c])\n4:\n\t"                                                                             \
    DEVLOG_PATCH_(cls)
#endif

#endif
