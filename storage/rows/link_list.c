/* SPDX-License-Identifier: MIT */
/* link_list.c - where the links of one page lead, packed. */
#include "storage/rows/link_list.h"

#include "storage/db/db_row.h"
#include "storage/db/url_kind.h"

#define KINDS       (URL_KIND_MOST + 1u)
#define DIGITS_MOST 14 /* of DB_ID_MOST * KINDS */

void link_list_put(struct buf *out, uint64_t to, uint8_t kind)
{
    char digits[24];
    size_t at = sizeof digits;
    uint64_t n = to * KINDS + kind;

    do
        digits[--at] = (char)('0' + n % 10);
    while ((n /= 10) != 0);
    digits[--at] = out->len == 0 ? '[' : ',';
    buf_add(out, digits + at, sizeof digits - at);
}

void link_list_end(struct buf *out)
{
    buf_add(out, "]", 1);
}

bool link_list_begin(struct bytes *rest)
{
    if (rest->len < 3 || rest->at[0] != '[' || rest->at[rest->len - 1] != ']')
        return false;
    *rest = bytes_of(rest->at + 1, rest->len - 2);
    return true;
}

bool link_list_get(struct bytes *rest, uint64_t *to, uint8_t *kind)
{
    uint64_t n = 0;
    size_t i = 0;

    while (i < rest->len && i <= DIGITS_MOST && rest->at[i] >= '0' &&
           rest->at[i] <= '9')
        n = n * 10 + (unsigned char)(rest->at[i++] - '0');
    if (i == 0 || i > DIGITS_MOST || n / KINDS > DB_ID_MOST ||
        (i > 1 && rest->at[0] == '0'))
        return false;
    *to = n / KINDS;
    *kind = (uint8_t)(n % KINDS);
    if (i < rest->len && (rest->at[i] != ',' || ++i == rest->len))
        return false;
    *rest = bytes_of(rest->at + i, rest->len - i);
    return true;
}
