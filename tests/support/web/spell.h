/*
 * spell.h - one URL in many spellings, all of which mean the same.
 *
 * Each spelling is a reference which the URL Standard, HTML's tokenizer and
 * the crawler's canonical form (fragment and userinfo gone, escapes of
 * unreserved octets decoded, empty query gone) bring back to the one URL.
 */
#ifndef URLWEIR_TESTS_SUPPORT_WEB_SPELL_H
#define URLWEIR_TESTS_SUPPORT_WEB_SPELL_H

#include "tests/support/web/web.h"

/* The base of relative references on a page. */
struct spell_base {
    uint32_t host;
    struct buf path; /* canonical, with or without query */
};

/* Append ` href="..."` (or `name` instead of href) for the thing `to`. Without
 * the profile variants: one plain form; with it, a form chosen by `dice`. */
void spell_attribute(const struct web *w, const struct spell_base *base,
                     const char *name, uint32_t to, uint64_t dice,
                     struct buf *out);
/* Append the absolute URL, `&` as `&amp;`, for use inside an attribute. */
void spell_absolute(const struct web *w, uint32_t to, struct buf *out);

#endif
