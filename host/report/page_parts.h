/* The parts of the pages, from page/, made into C by cmake/embed.cmake when devlog is built. */
#ifndef DEVLOG_REPORT_PAGE_PARTS_H
#define DEVLOG_REPORT_PAGE_PARTS_H

#define PAGE_PART(name)                                                                                      \
    extern const unsigned char page_##name[];                                                                \
    extern const unsigned long page_##name##_size
/* "'sha256-...'" of its text, for the content security policy. */
#define PAGE_HASHED(name)                                                                                    \
    PAGE_PART(name);                                                                                         \
    extern const char page_##name##_hash[]

PAGE_PART(head);
PAGE_PART(body);
PAGE_HASHED(style);
PAGE_HASHED(script);

/* The list of logs of `devlog serve`. */
PAGE_PART(serve_head);
PAGE_PART(serve_body);
PAGE_HASHED(serve_style);
PAGE_HASHED(serve_script);

/* Two runs beside one another. */
PAGE_PART(pair_head);
PAGE_PART(pair_body);
PAGE_HASHED(pair_style);
PAGE_HASHED(pair_script);

/* The history of an archive. */
PAGE_PART(history_head);
PAGE_PART(history_body);
PAGE_HASHED(history_style);
PAGE_HASHED(history_script);

#endif
