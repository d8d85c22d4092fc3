/* SPDX-License-Identifier: MIT */
/*
 * settings_applied.c - what was in force, what is, and what follows from the
 * difference.
 *
 * Once a scope has changed, queued URLs are asked again for as long as the
 * crawl lives (`scope_changed`): which of them were admitted under which scope
 * is not known.
 */
#include "job/settings_applied.h"

#include "config/config.h"
#include "job/settings.h"

/* What of the settings makes the scope. */
static const char *const of_scope[] = {"scope", "depth", "include", "exclude",
                                       "max-url-len"};

static bool scope_differs(const struct crawl_settings *a,
                          const struct crawl_settings *b)
{
    bool differs = false;

    for (size_t i = 0; i < sizeof of_scope / sizeof *of_scope; i++)
        differs |=
            !option_equal(&crawl_options.spec[settings_index(of_scope[i])], a,
                          b);
    return differs;
}

/* ---- the note ---- */

static enum status read_note(struct engine *e, struct buf *text, bool *known)
{
    enum status st = e->ops->meta(e, "settings", text);

    *known = st == STATUS_OK;
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

bool settings_of_note(struct bytes note, const struct crawl_settings *s,
                      struct crawl_settings *was)
{
    struct buf error;
    bool known;

    buf_init(&error, 4096);
    option_copy(&crawl_options, was, s, sizeof *was);
    /* Of a release that had other options: not known. */
    known = config_read(&crawl_options, was, note, "note", OPTION_FROM_CRAWL,
                        &error) == STATUS_OK;
    if (!known) {
        settings_fini(was);
        option_copy(&crawl_options, was, s, sizeof *was);
    }
    buf_fini(&error);
    return known;
}

enum status settings_applied(struct engine *e, const struct crawl_settings *s,
                             struct crawl_settings *was, bool *known)
{
    struct buf text;
    enum status st;

    buf_init(&text, CONFIG_CEILING);
    st = read_note(e, &text, known);
    if (st == STATUS_OK && *known)
        *known = settings_of_note(buf_bytes(&text), s, was);
    else if (st == STATUS_OK)
        option_copy(&crawl_options, was, s, sizeof *was);
    buf_fini(&text);
    return st;
}

/* A note that is there already is not written again. */
static enum status write_note(struct engine *e, const struct crawl_settings *s)
{
    struct buf text, there;
    bool known = false;
    enum status st;

    buf_init(&text, CONFIG_CEILING);
    buf_init(&there, CONFIG_CEILING);
    config_write(&crawl_options, s, false, &text);
    st = buf_failed(&text);
    if (st == STATUS_OK)
        st = read_note(e, &there, &known);
    if (st == STATUS_OK &&
        (!known || !bytes_equal(buf_bytes(&text), buf_bytes(&there))))
        st = e->ops->set_meta(e, "settings", buf_bytes(&text));
    buf_fini(&text);
    buf_fini(&there);
    return st;
}

enum status settings_note_first(struct engine *e,
                                const struct crawl_settings *s)
{
    return write_note(e, s);
}

/* ---- what follows ---- */

static enum status note_scope(struct engine *e, bool changed, bool *recheck)
{
    struct buf mark;
    enum status st;

    buf_init(&mark, 64);
    st = e->ops->meta(e, "scope_changed", &mark);
    *recheck = changed || st == STATUS_OK;
    if (st == STATUS_NOT_FOUND)
        st = changed ? e->ops->set_meta(e, "scope_changed", bytes_of_str("1"))
                     : STATUS_OK;
    buf_fini(&mark);
    return st;
}

enum status settings_note(struct engine *e, const struct crawl_settings *s,
                          bool *recheck)
{
    struct crawl_settings was;
    bool known;
    enum status st = settings_applied(e, s, &was, &known);

    *recheck = false;
    if (st != STATUS_OK)
        return st;
    st = note_scope(e, !known || scope_differs(&was, s), recheck);
    settings_fini(&was);
    return st == STATUS_OK ? write_note(e, s) : st; /* last */
}

enum status settings_put_in_force(struct engine *e, struct crawl_setup *c,
                                  const struct crawl_settings *s)
{
    bool recheck;
    enum status st = settings_note(e, s, &recheck);

    if (st == STATUS_OK && recheck)
        e->ops->recheck(e, c->scope);
    return st == STATUS_OK ? crawl_setup_reopen(e, c, s) : st;
}
