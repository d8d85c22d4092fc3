/* SPDX-License-Identifier: MIT */
/*
 * diff_join.c - two crawls URL by URL.
 *
 * The lines of both are one sorted stream, so all lines of a URL come together:
 * first its states, then who redirects to it, then which sides know its links,
 * then its links, each as often as a side has it. What follows is
 * diff_moved.c's.
 */
#include "cli/diff/diff_join.h"

#include <string.h>

#include "cli/diff/diff_moved.h"
#include "cli/diff/diff_side.h"
#include "frontier/outcome.h"

#define LINKS_LISTED ((size_t)64 << 10) /* octets of a list of links */

/* The lines of one URL. */
struct group {
    struct buf url;
    struct buf states[2],
        texts[2]; /* the line of each side, what it points to */
    bool there[2];
    struct fetch_row state[2];
    unsigned known;  /* which sides know its links: bits */
    struct buf link; /* the latest, */
    unsigned sides;  /* and which sides have it: bits */
    uint64_t added, removed;
    struct buf added_list, removed_list;
};

struct join {
    const struct diff_join_options *o;
    struct diff_counts *counts;
    struct diff_moved *moved;
    struct group g;
};

static void group_init(struct group *g)
{
    struct buf *all[] = {&g->url,      &g->states[0], &g->states[1],
                         &g->texts[0], &g->texts[1],  &g->link};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        buf_init(all[i], DIFF_LINE_MOST);
    buf_init(&g->added_list, LINKS_LISTED);
    buf_init(&g->removed_list, LINKS_LISTED);
}

static void group_fini(struct group *g)
{
    struct buf *all[] = {&g->url,        &g->states[0],   &g->states[1],
                         &g->texts[0],   &g->texts[1],    &g->link,
                         &g->added_list, &g->removed_list};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        buf_fini(all[i]);
}

/* ---- states ---- */

static bool is_known(const struct group *g, int side)
{
    return g->there[side] && g->state[side].status != OUTCOME_QUEUED;
}

/* Does the URL lead to something? */
static bool is_page(const struct group *g, int side)
{
    return g->there[side] && (g->state[side].status == OUTCOME_FETCHED ||
                              g->state[side].status == OUTCOME_REDIRECT);
}

static bool is_gone(const struct group *g, int side)
{
    const struct fetch_row *s = &g->state[side];

    return g->there[side] && s->status == OUTCOME_FAILED &&
           (s->http_status == 404 || s->http_status == 410);
}

static enum status take_state(struct group *g, struct bytes rest)
{
    int side = rest.len > 0 && rest.at[0] == '1';

    (void)diff_field(&rest);
    buf_clear(&g->states[side]);
    buf_add_bytes(&g->states[side], rest);
    g->there[side] = true;
    return buf_failed(&g->states[side]);
}

static enum status read_states(struct group *g)
{
    enum status st = STATUS_OK;

    for (int side = 0; side < 2 && st == STATUS_OK; side++) {
        struct bytes line = buf_bytes(&g->states[side]);

        buf_clear(&g->texts[side]);
        if (g->there[side])
            st = diff_state_get(&g->state[side], line, &g->texts[side]);
    }
    return st;
}

/* ---- links ---- */

static void list_link(struct buf *list, struct bytes url)
{
    if (list->len + url.len + 1 > LINKS_LISTED)
        return; /* the count tells that there are more */
    if (list->len > 0)
        buf_add_char(list, ' ');
    buf_add_bytes(list, url);
}

/* A link counts only if both sides know all links of the page. */
static void end_link(struct group *g)
{
    bool counts = g->known == 3;

    if (counts && g->sides == 1) {
        g->removed++;
        list_link(&g->removed_list, buf_bytes(&g->link));
    } else if (counts && g->sides == 2) {
        g->added++;
        list_link(&g->added_list, buf_bytes(&g->link));
    }
    g->sides = 0;
}

static enum status take_link(struct group *g, struct bytes rest)
{
    struct bytes to = diff_field(&rest);
    unsigned side = rest.len > 0 && rest.at[0] == '1' ? 2 : 1;

    if (to.len == 0) {
        g->known |= side;
        return STATUS_OK;
    }
    if (!bytes_equal(to, buf_bytes(&g->link))) {
        end_link(g);
        buf_clear(&g->link);
        buf_add_bytes(&g->link, to);
    }
    g->sides |= side;
    return buf_failed(&g->link);
}

/* ---- what has become of a URL ---- */

static unsigned what_changed(const struct join *j)
{
    const struct group *g = &j->g;
    const struct fetch_row *a = &g->state[0], *b = &g->state[1];
    enum changed_by by = j->o->changed_by;
    unsigned what = 0;

    if (a->status != b->status || a->reason != b->reason ||
        a->http_status != b->http_status)
        what |= DIFF_STATUS;
    if (!bytes_equal(a->redirect_url, b->redirect_url))
        what |= DIFF_REDIRECT;
    if (a->status != OUTCOME_FETCHED || b->status != OUTCOME_FETCHED)
        return what;
    if (!bytes_equal(a->title, b->title))
        what |= DIFF_TITLE;
    if (!page_same_content(a, b, by)) {
        if (!page_same_body(a, b))
            what |= DIFF_BODY;
        if (page_texts_compare(a, b) && !page_same_text(a, b))
            what |= DIFF_TEXT;
    }
    if (g->added + g->removed > 0)
        what |= DIFF_LINKS;
    return what;
}

static bool is_ours(const struct join *j, enum diff_kind *kind, unsigned *what)
{
    const struct group *g = &j->g;
    bool before = is_page(g, 0), after = is_page(g, 1);

    *kind = DIFF_CHANGED;
    *what = is_known(g, 0) && is_known(g, 1) ? what_changed(j) : 0;
    if (before && !after) {
        if (is_gone(g, 1) || (!g->there[1] && !j->o->after_unfinished))
            *kind = DIFF_GONE;
        else if (!is_known(g, 1))
            *kind = DIFF_UNFETCHED;
    } else if (after && !before) {
        if (is_gone(g, 0) || (!g->there[0] && !j->o->before_unfinished))
            *kind = DIFF_NEW;
        else if (!is_known(g, 0))
            *kind = DIFF_UNFETCHED;
    }
    if (*kind != DIFF_CHANGED)
        *what = 0; /* its kind says it all */
    return *kind != DIFF_CHANGED || *what != 0;
}

static void count(struct join *j)
{
    const struct group *g = &j->g;

    if (!is_page(g, 0) || !is_page(g, 1))
        return;
    j->counts->same++;
    j->counts->other_body += g->state[0].status == OUTCOME_FETCHED &&
                             !page_same_body(&g->state[0], &g->state[1]);
}

static enum status end_group(struct join *j)
{
    struct group *g = &j->g;
    struct diff_row row = {.url = buf_bytes(&g->url)};
    enum status st;

    if (row.url.len == 0)
        return STATUS_OK;
    end_link(g);
    st = read_states(g);
    if (st != STATUS_OK)
        return st;
    if (!is_ours(j, &row.kind, &row.what)) {
        count(j);
        return STATUS_OK;
    }
    row.has_before = is_known(g, 0);
    row.has_after = is_known(g, 1);
    row.before = g->state[0];
    row.after = g->state[1];
    if (row.kind == DIFF_CHANGED && (row.what & DIFF_LINKS) != 0) {
        row.links_added = g->added;
        row.links_removed = g->removed;
        row.added = buf_bytes(&g->added_list);
        row.removed = buf_bytes(&g->removed_list);
    }
    return diff_moved_add(j->moved, &row);
}

static enum status begin_group(struct join *j, struct bytes url)
{
    struct group *g = &j->g;

    g->there[0] = g->there[1] = false;
    g->added = g->removed = 0;
    g->known = 0;
    buf_clear(&g->link);
    buf_clear(&g->added_list);
    buf_clear(&g->removed_list);
    buf_clear(&g->url);
    buf_add_bytes(&g->url, url);
    return buf_failed(&g->url);
}

static enum status take_line(void *ctx, struct bytes line)
{
    struct join *j = ctx;
    struct bytes rest = bytes_of(line.at, line.len - 1); /* the LF */
    struct bytes url = diff_field(&rest);
    enum status st = STATUS_OK;
    char tag;

    if (rest.len == 0)
        return STATUS_FORMAT;
    if (!bytes_equal(url, buf_bytes(&j->g.url))) {
        st = end_group(j);
        if (st == STATUS_OK)
            st = begin_group(j, url);
    }
    if (st != STATUS_OK)
        return st;
    tag = rest.at[0];
    rest = bytes_of(rest.at + 1, rest.len - 1);
    if (tag == DIFF_STATE)
        return take_state(&j->g, rest);
    if (tag == DIFF_LINK)
        return take_link(&j->g, rest);
    (void)diff_field(&rest);
    st = read_states(&j->g);
    return st == STATUS_OK && is_page(&j->g, 1)
               ? diff_moved_redirect(j->moved, rest, url)
               : st;
}

enum status diff_join(
    struct line_sort *lines, const struct diff_join_options *o,
    struct diff_counts *counts,
    enum status (*visit)(void *ctx, const struct diff_row *row), void *ctx)
{
    struct join j = {.o = o, .counts = counts};
    enum status st;

    *counts = (struct diff_counts){0};
    j.moved = diff_moved_new(o->dir, o->memory);
    group_init(&j.g);
    st = line_sort_each(lines, take_line, &j);
    if (st == STATUS_OK)
        st = end_group(&j);
    if (st == STATUS_OK)
        st = diff_moved_each(j.moved, counts, visit, ctx);
    group_fini(&j.g);
    diff_moved_free(j.moved);
    return st;
}
