/*
 * charset_index.h - the indexes of the Encoding Standard.
 *
 * An index is made at its first use from iconv's tables and our patches
 * (charset_tables.h), and stays in memory: some hundred kilobytes each, or 256
 * octets of a single-octet encoding. Where
 * the system's iconv lacks an encoding, its index is empty and a warning says
 * so. Any thread.
 */
#ifndef URLWEIR_CRAWLER_CHARSET_CHARSET_INDEX_H
#define URLWEIR_CRAWLER_CHARSET_CHARSET_INDEX_H

#include <stdbool.h>
#include <stdint.h>

enum charset_index {
    INDEX_BIG5,
    INDEX_EUC_KR,
    INDEX_GB18030, /* of GBK as well */
    INDEX_JIS0208, /* of Shift_JIS, EUC-JP and ISO-2022-JP */
    INDEX_JIS0212,
    INDEX_COUNT_
};

struct charset;

/* The code points of the octets 0x80 to 0xFF in a CHARSET_SINGLE; 0: none. */
const uint16_t *charset_high(const struct charset *c);

/* The code point at `pointer`; 0: none. */
uint32_t index_code_point(enum charset_index id, uint32_t pointer);

/* The pointer of `code_point`, outside the range first to last; the standard's
 * rule for encoders chooses between duplicates. False: there is none. */
bool index_pointer(enum charset_index id, uint32_t code_point, uint32_t first,
                   uint32_t last, uint32_t *pointer);

/* As above, for the four-octet part of gb18030. */
uint32_t gb18030_code_point(uint32_t pointer);
uint32_t gb18030_pointer(uint32_t code_point);

#endif
