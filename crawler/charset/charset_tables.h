/*
 * charset_tables.h - labels and indexes of the Encoding Standard, and struct
 * charset, for charset*.c.
 *
 * Code points are read from iconv at first use and patched where iconv differs
 * from the standard.
 */
#ifndef URLWEIR_CRAWLER_CHARSET_CHARSET_TABLES_H
#define URLWEIR_CRAWLER_CHARSET_CHARSET_TABLES_H

#include <stddef.h>
#include <stdint.h>

enum charset_kind {
    CHARSET_SINGLE, /* ASCII and 128 more */
    CHARSET_UTF8,
    CHARSET_UTF16LE,
    CHARSET_UTF16BE,
    CHARSET_USER_DEFINED,
    CHARSET_REPLACEMENT,
    CHARSET_GBK,
    CHARSET_GB18030,
    CHARSET_BIG5,
    CHARSET_EUC_JP,
    CHARSET_ISO_2022_JP,
    CHARSET_SHIFT_JIS,
    CHARSET_EUC_KR
};

struct charset {
    const char *name;
    enum charset_kind kind;
    const char *iconv_name; /* CHARSET_SINGLE: where its code points are */
    /* The standard's code points where iconv's differ; an octet of 0 is none */
    struct {
        uint8_t octet;
        uint16_t code_point;
    } patches[2];
};
#define CHARSET_COUNT 40
extern const struct charset charsets[CHARSET_COUNT];
extern const struct charset *const charset_of_utf8; /* UTF-8 */

/* Sorted by strcmp(). */
struct charset_label {
    const char *label;
    uint8_t charset; /* its index in charsets */
};
#define CHARSET_LABEL_COUNT 228
extern const struct charset_label charset_labels[CHARSET_LABEL_COUNT];

/* From this pointer on, code points count up from `code_point`. */
struct gb18030_range {
    uint32_t pointer, code_point;
};
#define GB18030_RANGE_COUNT 207
extern const struct gb18030_range gb18030_ranges[GB18030_RANGE_COUNT];

/* The standard's code points for pointers first to last; 0: none. A list of
 * these ends with first == UINT16_MAX. */
struct charset_patch {
    uint16_t first, last;
    uint32_t code_point;
};
extern const struct charset_patch patches_big5[], patches_euc_kr[],
    patches_gb18030[], patches_jis0208[], patches_jis0212[];

#endif
