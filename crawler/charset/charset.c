/* SPDX-License-Identifier: MIT */
/* charset.c - finds the standard's encodings by label. */
#include "crawler/charset/charset.h"

#include <stdlib.h>

#include "base/ascii.h"
#include "crawler/charset/charset_tables.h"

#define LABEL_MOST 32 /* the longest label has 19 octets */

static int compare_label(const void *key, const void *entry)
{
    return strcmp(key, ((const struct charset_label *)entry)->label);
}

const struct charset *charset_of_label(struct bytes label)
{
    const struct charset_label *found;
    char lower[LABEL_MOST];

    label = bytes_trim(label);
    if (label.len == 0 || label.len >= sizeof lower)
        return NULL;
    for (size_t i = 0; i < label.len; i++) {
        char c = label.at[i];

        if (c == '\0')
            return NULL;
        lower[i] = ascii_lower(c);
    }
    lower[label.len] = '\0';
    found = bsearch(lower, charset_labels, CHARSET_LABEL_COUNT,
                    sizeof *charset_labels, compare_label);
    return found != NULL ? &charsets[found->charset] : NULL;
}

const char *charset_name(const struct charset *c)
{
    return c->name;
}

const struct charset *charset_utf8(void)
{
    return charset_of_utf8;
}
