/* SPDX-License-Identifier: MIT */
/* url_form.c - the form that a crawl gives its URLs. */
#include "frontier/url/url_form.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "frontier/url/url_rewrite.h"
#include "frontier/url/url_tracking.h"

#define RULES_HEAD   "rewrite:\n"
#define TEXT_CEILING ((size_t)16 << 20)

struct url_form {
    struct url_params_drop drop;
    char **names; /* owned, what drop.names is */
    bool sort;
    struct url_rewrite *rewrite; /* NULL: none */
    struct buf text;             /* url_form_text */
};

/* ---- applying ---- */

/* Reads the text of `u` again, from `text`. */
static bool read_again(struct url *u, struct bytes text)
{
    return url_canonical(u, text, NULL, NULL) == URL_OK;
}

/* Only path parameters can bring out dot segments; then the URL is read again.
 */
static void strip_path(struct url *u)
{
    size_t len = u->query_at - u->path_at;
    char *path = u->text.at + u->path_at;
    size_t left = url_tracking_strip_path(path, len);
    struct buf text;

    if (left == len)
        return;
    buf_init(&text, u->text.len);
    buf_add(&text, u->text.at, u->path_at + left);
    buf_add(&text, u->text.at + u->query_at, u->text.len - u->query_at);
    (void)read_again(u, buf_bytes(&text)); /* it can only be shorter */
    buf_fini(&text);
}

static void arrange(const struct url_form *f, struct url *u)
{
    if (f->drop.tracking)
        strip_path(u);
    url_params_drop(u, &f->drop);
    if (f->sort)
        url_params_sort(u);
}

enum ending { RESTS, RESTLESS, NO_URL };

/* Leaves the form of `u` in `u`, if the rules come to rest; otherwise it is
 * unspecified. */
static enum ending rewrite(const struct url_form *f, struct url *u)
{
    struct buf text;
    bool rests = false, is_one = true, is_short = true;

    buf_init(&text, URL_REWRITE_LENGTH + 1);
    for (unsigned i = 0; i < URL_FORM_ROUNDS && !rests; i++) {
        buf_clear(&text);
        buf_add_bytes(&text, url_text(u));
        is_short = buf_failed(&text) == STATUS_OK &&
                   url_rewrite_apply(f->rewrite, &text);
        rests = is_short && bytes_equal(buf_bytes(&text), url_text(u));
        is_one = !is_short || rests || read_again(u, buf_bytes(&text));
        if (!is_short || !is_one)
            break;
        arrange(f, u);
    }
    buf_fini(&text);
    return rests ? RESTS : is_one ? RESTLESS : NO_URL;
}

static enum ending apply(const struct url_form *f, struct url *u)
{
    struct buf before;
    enum ending end;

    arrange(f, u);
    if (f->rewrite == NULL || u->text.len > URL_REWRITE_LENGTH)
        return RESTS;
    buf_init(&before, URL_REWRITE_LENGTH + 1);
    buf_add_bytes(&before, url_text(u));
    end = rewrite(f, u);
    if (end != RESTS)
        (void)read_again(u, buf_bytes(&before)); /* a canonical URL */
    buf_fini(&before);
    return end;
}

void url_form_apply(const struct url_form *f, struct url *u)
{
    if (f != NULL)
        (void)apply(f, u);
}

/* ---- making ---- */

static bool rests_on(const struct url_form *f, struct bytes sample)
{
    struct url u;
    bool rests;

    url_init(&u);
    rests = url_canonical(&u, sample, NULL, NULL) != URL_OK ||
            apply(f, &u) != RESTLESS;
    url_fini(&u);
    return rests;
}

static enum status try_samples(const struct url_form *f, struct buf *why)
{
    struct buf url;
    enum status st = STATUS_OK;

    buf_init(&url, 4 * URL_REWRITE_LENGTH);
    for (size_t i = 0; st == STATUS_OK && i < url_rewrite_count(f->rewrite);
         i++)
        for (unsigned n = 0;
             st == STATUS_OK && url_rewrite_sample(f->rewrite, i, n, &url); n++)
            if (!rests_on(f, buf_bytes(&url))) {
                buf_addf(why,
                         "%zu: on %.200s the rules do not come to rest: "
                         "applied to their own result, they change it again "
                         "and again",
                         url_rewrite_line(f->rewrite, i), buf_str(&url));
                st = STATUS_FORMAT;
            }
    buf_fini(&url);
    return st;
}

static void copy_names(struct url_form *f, const struct url_params_drop *d)
{
    f->names = xcalloc(d->count + 1, sizeof *f->names);
    for (size_t i = 0; i < d->count; i++)
        f->names[i] = xstrdup(d->names[i]);
    f->drop = *d;
    f->drop.names = (const char *const *)f->names;
}

static void write_text(const struct url_form_options *o, struct buf *out)
{
    buf_addf(out, "canonical form: %d\n", URL_CANONICAL_FORM);
    for (size_t i = 0; i < o->drop.count; i++)
        buf_addf(out, "drop: %s\n", o->drop.names[i]);
    if (o->drop.tracking)
        buf_addf(out, "drop tracking: list %d\n", URL_TRACKING_VERSION);
    if (o->drop.empty)
        buf_add_str(out, "drop empty\n");
    if (o->sort)
        buf_add_str(out, "sort\n");
    if (o->rewrite.len > 0) {
        buf_add_str(out, RULES_HEAD);
        buf_add_bytes(out, o->rewrite);
    }
}

enum status url_form_new(struct url_form **out,
                         const struct url_form_options *o, struct buf *why)
{
    struct url_form *f = xcalloc(1, sizeof *f);
    enum status st = STATUS_OK;

    buf_init(&f->text, TEXT_CEILING);
    write_text(o, &f->text);
    copy_names(f, &o->drop);
    f->sort = o->sort;
    if (o->rewrite.len > 0)
        st = url_rewrite_new(&f->rewrite, o->rewrite, why);
    if (st == STATUS_OK && f->rewrite != NULL)
        st = try_samples(f, why);
    if (st != STATUS_OK) {
        url_form_free(f);
        return st;
    }
    *out = f;
    return STATUS_OK;
}

void url_form_free(struct url_form *f)
{
    if (f == NULL)
        return;
    for (size_t i = 0; i < f->drop.count; i++)
        free(f->names[i]);
    free(f->names);
    url_rewrite_free(f->rewrite);
    buf_fini(&f->text);
    free(f);
}

/* ---- as text ---- */

struct bytes url_form_text(const struct url_form *f)
{
    return buf_bytes(&f->text);
}

struct bytes url_form_rules(struct bytes text)
{
    while (text.len > 0 && !bytes_starts_with(text, RULES_HEAD)) {
        const char *lf = memchr(text.at, '\n', text.len);

        text = bytes_skip(text,
                          lf != NULL ? (size_t)(lf - text.at) + 1 : text.len);
    }
    return bytes_skip(text, text.len > 0 ? sizeof RULES_HEAD - 1 : 0);
}
