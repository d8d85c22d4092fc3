/* SPDX-License-Identifier: MIT */
/* candidate.c - a URL before it is admitted. */
#include "frontier/candidate.h"

#include "frontier/url/host.h"

void candidate_form(const struct candidate_rules *r, struct url *u)
{
    url_canonicalise(u);
    url_form_apply(r->form, u);
}

enum url_reason candidate_read(const struct candidate_rules *r, struct url *out,
                               struct bytes text, const struct url *base)
{
    enum url_reason reason = url_parse(out, text, base, NULL);

    if (reason == URL_OK)
        candidate_form(r, out);
    return reason;
}

void candidate_identify(const struct candidate_rules *r, const struct url *u,
                        struct url_item *item)
{
    item->key = url_host(u);
    item->url = url_text(u);
    item->digest = digest_url(r->digest_key, r->crawl, item->key, item->url);
}

bool candidate_is_part(const struct candidate_rules *r,
                       const struct url_lease *l, const struct url *page)
{
    return scope_embeds(r->scope, l->kind) && !l->seed &&
           !scope_check(r->scope, page, l->depth).in;
}

enum outcome_reason candidate_take(const struct candidate_rules *r,
                                   const struct url *u, struct url_item *item)
{
    struct scope_verdict v =
        scope_check_kind(r->scope, u, item->depth, item->kind);

    if (v.in)
        candidate_identify(r, u, item);
    return v.in ? REASON_NONE : v.reason;
}
