/* SPDX-License-Identifier: MIT */
/* url_forms.c - the form of a crawl's URLs, from its settings. */
#include "job/url_forms.h"

#include "base/file/file.h"
#include "config/config.h"
#include "frontier/url/url_pattern.h"

#define NOTE         "url_form"
#define NOTE_CEILING (CONFIG_CEILING + URL_REWRITE_CEILING)

static struct url_form_options options_of(const struct crawl_settings *s,
                                          struct bytes rules)
{
    return (struct url_form_options){.drop = {.names = s->drop_params.item,
                                              .count = s->drop_params.count,
                                              .tracking = s->drop_tracking,
                                              .empty = s->drop_empty_params},
                                     .sort = s->sort_query,
                                     .rewrite = s->rewrite != NULL
                                                    ? rules
                                                    : bytes_of("", 0)};
}

enum status url_forms_make(struct url_form **out,
                           const struct crawl_settings *s, struct buf *why)
{
    struct url_form_options o;
    struct buf rules;
    size_t was = why->len;
    enum status st = STATUS_OK;

    buf_init(&rules, URL_REWRITE_CEILING);
    buf_addf(why, "--rewrite %s: ", s->rewrite != NULL ? s->rewrite : "");
    if (s->rewrite != NULL)
        st = file_read(s->rewrite, &rules);
    if (st != STATUS_OK) {
        buf_add_str(why, status_text(st));
    } else {
        o = options_of(s, buf_bytes(&rules));
        st = url_form_new(out, &o, why);
    }
    if (st == STATUS_OK)
        buf_truncate(why, was);
    buf_fini(&rules);
    return st;
}

enum status url_forms_read(struct url_form **out,
                           const struct crawl_settings *s, struct reader *r)
{
    struct url_form_options o;
    struct buf text, why;
    enum status st;

    buf_init(&text, NOTE_CEILING);
    buf_init(&why, 4096);
    st = frontier_store_meta(r->store, NOTE, &text);
    if (st == STATUS_OK || st == STATUS_NOT_FOUND) {
        o = options_of(s, url_form_rules(buf_bytes(&text)));
        st = url_form_new(out, &o, &why);
    }
    buf_fini(&why);
    buf_fini(&text);
    return st;
}

enum status url_forms_note(struct frontier *f, const struct url_form *form,
                           bool *other)
{
    struct buf text;
    bool noted;
    enum status st;

    buf_init(&text, NOTE_CEILING);
    st = frontier_meta(f, NOTE, &text);
    noted = st == STATUS_OK;
    if (st == STATUS_NOT_FOUND)
        st = STATUS_OK;
    *other =
        st == STATUS_OK && !bytes_equal(buf_bytes(&text), url_form_text(form));
    if (st == STATUS_OK && (*other || !noted))
        st = frontier_set_meta(f, NOTE, url_form_text(form));
    buf_fini(&text);
    return st;
}
