/* SPDX-License-Identifier: MIT */
/*
 * url_tracking.c - session and tracking parameters by name.
 *
 * The list is sorted octet by octet, so that a name is found by halving. A name
 * of the list is never the beginning of another that ends in a star.
 */
#include "frontier/url/url_tracking.h"

#include <string.h>

#include "base/ascii.h"

static const char *const names[] = {
    "_branch_match_id",
    "_ga",
    "_gl",
    "_hsenc",
    "_hsmi",
    "_openstat",
    "aspsessionid*",
    "cftoken",
    "dclid",
    "fb_action_ids",
    "fb_action_types",
    "fbclid",
    "gad_source",
    "gbraid",
    "gclid",
    "gclsrc",
    "hsa_*",
    "hsctatracking",
    "igsh",
    "igshid",
    "jsessionid",
    "li_fat_id",
    "mc_cid",
    "mc_eid",
    "mkt_tok",
    "ml_subscriber",
    "ml_subscriber_hash",
    "msclkid",
    "mtm_*",
    "oly_anon_id",
    "oly_enc_id",
    "phpsessid",
    "piwik_*",
    "pk_campaign",
    "pk_kwd",
    "pk_medium",
    "pk_source",
    "rb_clickid",
    "srsltid",
    "ttclid",
    "twclid",
    "utm_*",
    "vero_conv",
    "vero_id",
    "wbraid",
    "wickedid",
    "yclid",
    "ysclid",
};
#define NAMES (sizeof names / sizeof *names)

const char *url_tracking_name(size_t i)
{
    return i < NAMES ? names[i] : NULL;
}

/* Compares a name with one of the list, as strcmp does; 0: it is that one. */
static int compare(struct bytes name, const char *listed)
{
    for (size_t i = 0;; i++) {
        int c = i < name.len ? (unsigned char)ascii_lower(name.at[i]) : 0;

        if (listed[i] == '*' || (c == 0 && listed[i] == '\0'))
            return 0;
        if (c != (unsigned char)listed[i])
            return c - (unsigned char)listed[i];
    }
}

bool url_tracking_has(struct bytes name)
{
    size_t low = 0, high = NAMES;

    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = compare(name, names[middle]);

        if (order == 0)
            return true;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

static bool begins_session(const char *at, size_t len)
{
    static const char word[] = ";jsessionid=";

    return len >= sizeof word - 1 &&
           bytes_equal_nocase(bytes_of(at, sizeof word - 1),
                              bytes_of_str(word));
}

size_t url_tracking_strip_path(char *at, size_t len)
{
    size_t to = 0, from = 0;

    if (memchr(at, ';', len) == NULL)
        return len;
    while (from < len) {
        if (at[from] == ';' && begins_session(at + from, len - from))
            do
                from++;
            while (from < len && at[from] != '/' && at[from] != ';');
        else
            at[to++] = at[from++];
    }
    return to;
}
