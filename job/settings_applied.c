/* SPDX-License-Identifier: MIT */
/*
 * settings_applied.c - applies changed settings to a crawl.
 *
 * Once a setting that drops URLs has changed, queued URLs are checked again for
 * the rest of the crawl (`scope_changed`), as we do not know which settings
 * admitted them. Drops that the old settings caused are judged again; the same
 * transaction writes the note and starts that, so a crash leaves both or
 * neither.
 */
#include "job/settings_applied.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/logger.h"
#include "config/config.h"
#include "job/crawl_setup.h"
#include "job/settings/settings.h"

/* The settings that make an outcome final or drop a link, and the reasons they
 * use. docs/operating.md has the same table, by reason. */
static const struct {
    const char *name;
    uint64_t reasons;
} rules[] = {
    /* What comes to be out of scope may be checked, at any depth. */
    {"scope", REASON_BIT(SCOPE) | REASON_BIT(DEPTH) | REASON_BIT(INCLUDE)},
    {"assets", REASON_BIT(SCOPE) | REASON_BIT(DEPTH) | REASON_BIT(INCLUDE) |
                   REASON_BIT(KIND)},
    {"check-external",
     REASON_BIT(SCOPE) | REASON_BIT(DEPTH) | REASON_BIT(INCLUDE)},
    {"depth", REASON_BIT(DEPTH)},
    {"include", REASON_BIT(INCLUDE)},
    {"exclude", REASON_BIT(EXCLUDE)},
    {"max-url-len", REASON_BIT(URL_LENGTH)},
    {"max-links", REASON_BIT(LINK_COUNT)},
    {"follow", REASON_BIT(KIND)},
    {"ignore", REASON_BIT(KIND)},
    {"sitemap", REASON_BIT(KIND)},
    {"dup-content", REASON_BIT(SAME_CONTENT)},
    {"near-dup", REASON_BIT(NEAR_DUP)},
    {"block-filter", REASON_BIT(BLOCKLIST)},
    {"block-exact", REASON_BIT(BLOCKLIST)},
    {"traps", REASON_BIT(TRAP)},
    {"trap", REASON_BIT(TRAP)},
    /* URLs of another form; url_forms_note says if they have one. */
    {"drop-params", REASON_BIT(URL_FORM)},
    {"drop-tracking", REASON_BIT(URL_FORM)},
    {"drop-empty-params", REASON_BIT(URL_FORM)},
    {"sort-query", REASON_BIT(URL_FORM)},
    {"rewrite", REASON_BIT(URL_FORM)},
    {"mime", REASON_BIT(MIME)},
    {"noindex", REASON_BIT(NOINDEX)},
    {"max-body", REASON_BIT(TRUNCATED_LENGTH)},
    {"warc", REASON_BIT(TRUNCATED_LENGTH)},
    {"max-redirects", REASON_BIT(REDIRECT_LIMIT)},
    {"robots", REASON_BIT(ROBOTS) | REASON_BIT(ROBOTS_UNREACHABLE)},
    /* whose name is looked for in robots.txt and in pages */
    {"user-agent", REASON_BIT(ROBOTS) | REASON_BIT(NOINDEX)},
    {"allow-private", REASON_BIT(ADDRESS)},
    {"allow-net", REASON_BIT(ADDRESS)},
    {"deny-net", REASON_BIT(ADDRESS)},
    {"nat64", REASON_BIT(ADDRESS)},
    {"allow-port", REASON_BIT(PORT)},
    {"proxy", REASON_BIT(ADDRESS) | REASON_BIT(DNS) | REASON_BIT(CONNECT)},
    {"resolve", REASON_BIT(ADDRESS) | REASON_BIT(DNS) | REASON_BIT(CONNECT)},
    {"timeout", REASON_BIT(TIMEOUT) | REASON_BIT(TRUNCATED_TIME)},
    {"connect-timeout", REASON_BIT(CONNECT)},
    {"insecure", REASON_BIT(TLS)},
    {"cacert", REASON_BIT(TLS)},
    {"cert", REASON_BIT(TLS)},
    {"key", REASON_BIT(TLS)},
};

/* Reasons that another form of a URL may lift. */
#define BY_URL                                                                 \
    (REASON_BIT(SCOPE) | REASON_BIT(DEPTH) | REASON_BIT(INCLUDE) |             \
     REASON_BIT(EXCLUDE) | REASON_BIT(URL_LENGTH) | REASON_BIT(LINK_COUNT) |   \
     REASON_BIT(URL_FORM) | REASON_BIT(TRAP) | REASON_BIT(BLOCKLIST))
/* Those for which a queued URL may be skipped. */
#define BY_SCOPE (BY_URL & ~(REASON_BIT(LINK_COUNT) | REASON_BIT(TRAP)))

#define RULES    (sizeof rules / sizeof *rules)
#define SECRETS  "settings_secrets"

static const struct option_spec *spec_of(size_t rule)
{
    return &crawl_options.spec[settings_index(rules[rule].name)];
}

void settings_that_lift(enum outcome_reason r, struct buf *out)
{
    for (size_t i = 0; i < RULES; i++)
        if ((rules[i].reasons >> r & 1) != 0)
            buf_addf(out, "%s--%s", out->len > 0 ? ", " : "", rules[i].name);
}

/* Reasons that the difference may remove. */
static uint64_t what_is_lifted(const struct crawl_settings *a,
                               const struct crawl_settings *b)
{
    uint64_t lifted = 0;

    for (size_t i = 0; i < RULES; i++)
        if (!option_equal(spec_of(i), a, b))
            lifted |= rules[i].reasons;
    return lifted;
}

/* ---- the note ---- */

static enum status read_note(struct frontier *f, struct buf *text, bool *known)
{
    enum status st = frontier_meta(f, "settings", text);

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
    /* The note of a release with other options is not usable. */
    known = config_read(&crawl_options, was, note, "note", OPTION_FROM_CRAWL,
                        &error) == STATUS_OK;
    if (!known) {
        settings_fini(was);
        option_copy(&crawl_options, was, s, sizeof *was);
    }
    buf_fini(&error);
    return known;
}

enum status settings_applied(struct frontier *f, const struct crawl_settings *s,
                             struct crawl_settings *was, bool *known)
{
    struct buf text;
    enum status st;

    buf_init(&text, CONFIG_CEILING);
    st = read_note(f, &text, known);
    if (st == STATUS_OK && *known)
        *known = settings_of_note(buf_bytes(&text), s, was);
    else if (st == STATUS_OK)
        option_copy(&crawl_options, was, s, sizeof *was);
    buf_fini(&text);
    return st;
}

/* Writes the note unless the store has the same. */
static enum status write_note(struct frontier *f,
                              const struct crawl_settings *s)
{
    struct buf text, there;
    bool known = false;
    enum status st;

    buf_init(&text, CONFIG_CEILING);
    buf_init(&there, CONFIG_CEILING);
    config_write(&crawl_options, s, false, &text);
    st = buf_failed(&text);
    if (st == STATUS_OK)
        st = read_note(f, &there, &known);
    if (st == STATUS_OK &&
        (!known || !bytes_equal(buf_bytes(&text), buf_bytes(&there))))
        st = frontier_set_meta(f, "settings", buf_bytes(&text));
    buf_fini(&text);
    buf_fini(&there);
    return st;
}

/* The note has no secrets, so a digest tells whether those of the rules have
 * changed. Writes it; adds to *lifted what the change may lift. */
static enum status note_secrets(struct frontier *f,
                                const struct crawl_settings *s,
                                uint64_t *lifted)
{
    struct buf secret, was;
    struct digest d;
    char is[40];
    enum status st;

    buf_init(&secret, CONFIG_CEILING);
    buf_init(&was, sizeof is);
    for (size_t i = 0; i < RULES; i++) {
        if ((spec_of(i)->flags & OPTION_SECRET) == 0)
            continue;
        option_text(spec_of(i), s, 0, &secret);
        buf_add_char(&secret, '\n');
    }
    d = digest_bytes(frontier_get_digest_key(f), buf_bytes(&secret));
    snprintf(is, sizeof is, "%016llx%016llx", (unsigned long long)d.hi,
             (unsigned long long)d.lo);
    st = frontier_meta(f, SECRETS, &was);
    for (size_t i = 0; st == STATUS_OK && i < RULES; i++)
        if ((spec_of(i)->flags & OPTION_SECRET) != 0 &&
            !bytes_is(buf_bytes(&was), is))
            *lifted |= rules[i].reasons;
    if (st == STATUS_NOT_FOUND ||
        (st == STATUS_OK && !bytes_is(buf_bytes(&was), is)))
        st = frontier_set_meta(f, SECRETS, bytes_of_str(is));
    buf_fini(&secret);
    buf_fini(&was);
    return st;
}

enum status settings_note_first(struct frontier *f,
                                const struct crawl_settings *s,
                                const struct url_form *form)
{
    enum status st = frontier_rejudge(f, 0, clock_mono());
    uint64_t none = 0;
    bool other;

    if (st == STATUS_OK)
        st = note_secrets(f, s, &none);
    if (st == STATUS_OK)
        st = url_forms_note(f, form, &other);
    return st == STATUS_OK ? write_note(f, s) : st;
}

/* ---- effects ---- */

/* Has drops of these reasons judged again. */
static enum status let_in(struct frontier *f, uint64_t lifted)
{
    struct frontier_counts s;

    frontier_get_counts(f, &s);
    if (lifted != 0 && s.drops_lost > 0)
        log_warn("the crawl may stay incomplete: there was no room to keep "
                 "drops that these settings would let in",
                 "lost=%llu option=keep-dropped",
                 (unsigned long long)s.drops_lost);
    return frontier_rejudge(f, lifted, clock_mono());
}

static enum status note_scope(struct frontier *f, bool changed, bool *recheck)
{
    struct buf mark;
    enum status st;

    buf_init(&mark, 64);
    st = frontier_meta(f, "scope_changed", &mark);
    *recheck = changed || st == STATUS_OK;
    if (st == STATUS_NOT_FOUND)
        st = changed ? frontier_set_meta(f, "scope_changed", bytes_of_str("1"))
                     : STATUS_OK;
    buf_fini(&mark);
    return st;
}

enum status settings_note(struct frontier *f, const struct crawl_settings *s,
                          const struct url_form *form, bool *recheck)
{
    struct crawl_settings was;
    bool known, reformed = false;
    uint64_t lifted;
    enum status st = settings_applied(f, s, &was, &known);

    *recheck = false;
    if (st != STATUS_OK)
        return st;
    lifted = known ? what_is_lifted(&was, s) : REASONS_MAY_RETURN;
    st = url_forms_note(f, form, &reformed);
    settings_fini(&was);
    if (st != STATUS_OK)
        return st;
    if (reformed && known)
        log_warn("URLs have another form now; what is queued gets it when its "
                 "turn comes, and what is done stays done",
                 "options=drop-params,drop-tracking,drop-empty-params,"
                 "sort-query,rewrite");
    if (reformed) /* the new form of a URL may pass if the old one did not */
        lifted |= BY_URL;
    st = note_secrets(f, s, &lifted);
    if (st == STATUS_OK)
        st = let_in(f, lifted);
    if (st == STATUS_OK)
        st = note_scope(f, (lifted & BY_SCOPE) != 0, recheck);
    return st == STATUS_OK ? write_note(f, s) : st; /* last */
}

enum status settings_put_in_force(struct frontier *f, struct crawl_setup *c,
                                  const struct crawl_settings *s)
{
    bool recheck;
    enum status st = settings_note(f, s, c->form, &recheck);

    if (st == STATUS_OK && recheck)
        frontier_recheck(f, c->scope);
    if (st == STATUS_OK)
        st = crawl_setup_reopen(f, c, s);
    return st == STATUS_OK
               ? frontier_turn(f, true, clock_mono(), clock_wall_ms(), NULL)
               : st;
}
