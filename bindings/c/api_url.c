/* SPDX-License-Identifier: MIT */
/* api_url.c - URLs in the C library. */
#include <stdlib.h>

#include "base/mem.h"
#include "bindings/c/api.h"
#include "frontier/url/surt.h"

struct urlweir_url *urlweir_url_new(void)
{
    struct urlweir_url *u = xcalloc(1, sizeof *u);

    url_init(&u->url);
    u->reason = URL_EMPTY;
    buf_init(&u->key, SURT_CEILING + 64);
    return u;
}

void urlweir_url_free(struct urlweir_url *u)
{
    if (u == NULL)
        return;
    url_fini(&u->url);
    buf_fini(&u->key);
    free(u);
}

enum urlweir_status urlweir_url_parse(struct urlweir_url *u,
                                      struct urlweir_bytes text,
                                      const struct urlweir_url *base,
                                      enum urlweir_form form)
{
    const struct url *from = base != NULL ? &base->url : NULL;

    if (base == u || (base != NULL && base->reason != URL_OK) ||
        !api_form_is_known(form))
        return URLWEIR_ARG;
    u->form = form;
    u->reason = form == URLWEIR_CANONICAL
                    ? url_canonical(&u->url, api_in(text), from, NULL)
                    : url_parse(&u->url, api_in(text), from, NULL);
    return u->reason == URL_OK ? URLWEIR_OK : URLWEIR_FORMAT;
}

const char *urlweir_url_reason(const struct urlweir_url *u)
{
    return u->reason == URL_OK ? "" : url_reason_text(u->reason);
}

static struct urlweir_bytes part(const struct urlweir_url *u,
                                 struct bytes (*of)(const struct url *u))
{
    return api_out(u->reason == URL_OK ? of(&u->url) : bytes_of("", 0));
}

struct urlweir_bytes urlweir_url_text(const struct urlweir_url *u)
{
    return part(u, url_text);
}

struct urlweir_bytes urlweir_url_host(const struct urlweir_url *u)
{
    return part(u, url_host);
}

struct urlweir_bytes urlweir_url_path_query(const struct urlweir_url *u)
{
    return part(u, url_path_query);
}

struct urlweir_bytes urlweir_url_surt(struct urlweir_url *u)
{
    buf_clear(&u->key);
    if (u->reason == URL_OK && u->form == URLWEIR_CANONICAL)
        surt_of(&u->url, &u->key);
    return api_out(buf_bytes(&u->key));
}
