/* SPDX-License-Identifier: MIT */
/*
 * url_params.c - leave parameters out of a query, and sort those that stay.
 *
 * Dropping works in place, moving the parameters that stay to the front, so the
 * common URL, which has no query or nothing to drop, costs one scan.
 */
#include "frontier/url/url_params.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "frontier/url/url_text.h"
#include "frontier/url/url_tracking.h"
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

static bool goes(const struct url_params_drop *d, struct bytes param)
{
    struct bytes name = bytes_of(param.at, url_find(param, '='));

    return (d->empty && (param.len == 0 || name.len + 1 == param.len)) ||
           is_named(name, d->names, d->count) ||
           (d->tracking && url_tracking_has(name));
}

static struct bytes first_param(struct bytes query)
{
    return bytes_of(query.at, url_find(query, '&'));
}

void url_params_drop(struct url *u, const struct url_params_drop *d)
{
    char *text = u->text.at;
    size_t end = u->text.len, from = u->query_at + 1, to = from;
    bool first = true;

    if ((d->count == 0 && !d->tracking && !d->empty) || u->query_at >= end)
        return;
    while (from <= end) {
        struct bytes param = first_param(bytes_of(text + from, end - from));

        if (!goes(d, param)) {
            if (!first)
                text[to++] = '&';
            first = false;
            memmove(text + to, param.at, param.len);
            to += param.len;
        }
        from += param.len + 1;
    }
    buf_truncate(&u->text, to == u->query_at + 1 ? u->query_at : to);
}

/* ---- sorting ---- */

struct param {
    struct bytes text;
    size_t name_len;
};

static int by_name(const void *a, const void *b)
{
    const struct param *x = a, *y = b;
    size_t least = x->name_len < y->name_len ? x->name_len : y->name_len;
    int order = least > 0 ? memcmp(x->text.at, y->text.at, least) : 0;

    if (order == 0)
        order = (x->name_len > y->name_len) - (x->name_len < y->name_len);
    if (order == 0) /* as they stood: both point into one text */
        order = (x->text.at > y->text.at) - (x->text.at < y->text.at);
    return order;
}

/* Splits `query` into at most URL_PARAMS_SORTED parameters; 0: it has more.
 * *sorted: they are in order already. */
static size_t split(struct bytes query, struct param *list, bool *sorted)
{
    size_t n = 0;

    *sorted = true;
    for (size_t at = 0; at <= query.len; n++) {
        struct param *p = &list[n];

        if (n == URL_PARAMS_SORTED)
            return 0;
        p->text = first_param(bytes_skip(query, at));
        p->name_len = url_find(p->text, '=');
        *sorted &= n == 0 || by_name(p - 1, p) <= 0;
        at += p->text.len + 1;
    }
    return n;
}

void url_params_sort(struct url *u)
{
    struct bytes query;
    struct param *list;
    bool sorted;
    size_t n;

    if (u->query_at >= u->text.len)
        return;
    query = bytes_skip(url_text(u), u->query_at + 1);
    if (memchr(query.at, '&', query.len) == NULL)
        return;
    list = xcalloc(URL_PARAMS_SORTED, sizeof *list);
    n = split(query, list, &sorted);
    if (n > 0 && !sorted) {
        struct buf to;

        buf_init(&to, query.len);
        qsort(list, n, sizeof *list, by_name);
        for (size_t i = 0; i < n; i++) {
            if (i > 0)
                buf_add_char(&to, '&');
            buf_add_bytes(&to, list[i].text);
        }
        memcpy(u->text.at + u->query_at + 1, buf_str(&to), query.len);
        buf_fini(&to);
    }
    free(list);
}
