/* SPDX-License-Identifier: MIT */
/*
 * crawl_job_scope.c - the scope that a crawl job began with.
 *
 * The scope under which queued URLs were admitted is remembered in the store,
 * as is that it ever changed: from then on they are asked again in their turn.
 */
#include "frontier/engine.h"
#include "job/crawl_jobs_impl.h"
#include "job/settings.h"

/* What of the settings makes the scope. */
static void scope_text(const struct crawl_settings *s, struct buf *out)
{
    static const char *const names[] = {"scope",   "depth",       "include",
                                        "exclude", "max-url-len", NULL};

    for (size_t i = 0; names[i] != NULL; i++) {
        size_t at = option_find(&crawl_options, bytes_of_str(names[i]));

        for (size_t k = 0; k < option_items(&crawl_options.spec[at], s); k++) {
            buf_addf(out, "%s: ", names[i]);
            option_text(&crawl_options.spec[at], s, k, out);
            buf_add_char(out, '\n');
        }
    }
}

static bool has_meta(struct engine *e, const char *name, struct buf *out)
{
    buf_clear(out);
    return e->ops->meta(e, name, out) == STATUS_OK;
}

enum status crawl_job_note_scope(struct engine *e,
                                 const struct crawl_settings *s, bool *changed)
{
    struct buf now, before;
    enum status st = STATUS_OK;
    bool known;

    buf_init(&now, (size_t)1 << 20);
    buf_init(&before, (size_t)1 << 20);
    scope_text(s, &now);
    *changed = has_meta(e, "scope_changed", &before);
    known = has_meta(e, "scope", &before);
    if (!known || !bytes_equal(buf_bytes(&now), buf_bytes(&before))) {
        st = e->ops->set_meta(e, "scope", buf_bytes(&now));
        if (st == STATUS_OK && known && !*changed) {
            st = e->ops->set_meta(e, "scope_changed", bytes_of_str("1"));
            *changed = true;
        }
    }
    buf_fini(&now);
    buf_fini(&before);
    return st;
}
