/* SPDX-License-Identifier: MIT */
/*
 * url_params.c - leave chosen parameters out of a query.
 *
 * It works in place, moving the parameters that stay to the front, so the
 * common URL, which has no query or nothing to drop, costs one scan.
 */
#include "frontier/url/url_params.h"

#include <stdbool.h>
#include <string.h>

static bool is_named(struct bytes name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(names[i]);

        if (len > 0 && names[i][len - 1] == '*'
                ? name.len >= len - 1 && memcmp(name.at, names[i], len - 1) == 0
                : bytes_is(name, names[i]))
            return true;
    }
    return false;
}

void url_drop_params(struct url *u, const char *const *names, size_t count)
{
    char *text = u->text.at;
    size_t end = u->text.len, from = u->query_at + 1, to = from;

    if (count == 0 || u->query_at >= end)
        return;
    while (from <= end) {
        const char *amp = memchr(text + from, '&', end - from);
        size_t stop = amp != NULL ? (size_t)(amp - text) : end;
        const char *eq = memchr(text + from, '=', stop - from);
        size_t name_end = eq != NULL ? (size_t)(eq - text) : stop;

        if (!is_named(bytes_of(text + from, name_end - from), names, count)) {
            if (to > u->query_at + 1)
                text[to++] = '&';
            memmove(text + to, text + from, stop - from);
            to += stop - from;
        }
        from = stop + 1;
    }
    buf_truncate(&u->text, to == u->query_at + 1 ? u->query_at : to);
}
