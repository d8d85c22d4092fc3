/* SPDX-License-Identifier: MIT */
/*
 * kind_trap.c - endless spaces of URLs: a calendar, a directory that contains
 * itself, a shop that deals out session numbers.
 *
 * Only the entries are things of the web, with a hidden page each; the URLs
 * behind them are endless and so not in the truth.
 */
#include "tests/support/web/trap.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/web/spell.h"

enum trap { TRAP_CALENDAR, TRAP_DIRECTORY, TRAP_SESSION, TRAP_COUNT_ };

uint32_t trap_count(const struct web *w)
{
    return web_has(w, PROFILE_TRAP) ? TRAP_COUNT_ : 0;
}

static uint32_t trap_host(const struct web *w, uint32_t n)
{
    return w->own[KIND_TRAP] + n;
}

static void trap_path(const struct web *w, uint32_t n, struct buf *out)
{
    static const char *const PATHS[] = {"/calendar/month-c0?year=2024&month=6",
                                        "/files-c1/", "/shop-c2?page=1"};

    (void)w;
    buf_add_str(out, PATHS[n]);
}

static void trap_links(const struct web *w, uint32_t n, struct links *out)
{
    links_add(out, (struct link){.to = web_hidden(w, KIND_TRAP, n)});
}

/* The number after `name` in the target, or `missing`. */
static unsigned number_of(struct bytes target, const char *name,
                          unsigned missing)
{
    const char *at = memmem(target.at, target.len, name, strlen(name));
    unsigned n = 0;

    if (at == NULL)
        return missing;
    at += strlen(name);
    while (at < target.at + target.len && *at >= '0' && *at <= '9')
        n = n * 10 + (unsigned)(*at++ - '0');
    return n;
}

static void write_calendar(struct bytes target, struct buf *out)
{
    unsigned month = number_of(target, "month=", 6);
    unsigned at = number_of(target, "year=", 2024) * 12 + month - 1;

    buf_addf(out,
             "<a href=\"?year=%u&amp;month=%u\">before</a> "
             "<a href=\"?year=%u&amp;month=%u\">after</a>\n",
             (at - 1) / 12, (at - 1) % 12 + 1, (at + 1) / 12,
             (at + 1) % 12 + 1);
}

static void write_session(const struct web *w, struct bytes target,
                          struct buf *out)
{
    unsigned page = number_of(target, "page=", 1);
    unsigned sid = number_of(target, "sid=", 0);
    unsigned next = (unsigned)(web_dice(w, sid, page) % 1000000000);

    buf_addf(out,
             "<a href=\"?page=%u&amp;sid=%u\">next</a> "
             "<a href=\"?page=1&amp;sid=%u\">start</a>\n",
             page + 1, sid, next);
}

bool trap_answer(const struct web *w, const struct request *rq,
                 struct answer *an)
{
    uint32_t n = rq->host - w->own[KIND_TRAP];

    if (rq->host < w->own[KIND_TRAP] || n >= trap_count(w))
        return false;
    buf_add_str(&an->body, "<!DOCTYPE html><title>More</title>\n<a href=\"");
    spell_absolute(w, web_hidden(w, KIND_TRAP, n), &an->body);
    buf_add_str(&an->body, "\">A page</a>\n");
    if (n == TRAP_CALENDAR)
        write_calendar(rq->target, &an->body);
    else if (n == TRAP_SESSION)
        write_session(w, rq->target, &an->body);
    else
        buf_add_str(&an->body, "<a href=\"files/\">files</a> "
                               "<a href=\"./more/\">more</a>\n");
    answer_text(an, 200, "text/html", "");
    return true;
}

static void answer_entry(const struct web *w, uint32_t n,
                         const struct request *rq, struct answer *an)
{
    (void)n;
    (void)trap_answer(w, rq, an); /* the host is a trap's */
}

static struct expect trap_expect(const struct web *w, uint32_t n)
{
    (void)w;
    (void)n;
    return (struct expect){FATE_FETCH, 200, 1, 1};
}

const struct kind_ops kind_trap = {
    .letter = 'c',
    .shares = 1,
    .stride = 1,
    .hides = 1,
    .count = trap_count,
    .host = trap_host,
    .path = trap_path,
    .links = trap_links,
    .answer = answer_entry,
    .expect = trap_expect,
};
