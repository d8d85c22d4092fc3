/* SPDX-License-Identifier: MIT */
/* test_diff_join.c - what is new, gone, changed and moved, against a model. */
#include "cli/diff/diff_join.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontier/outcome.h"
#include "tests/unit/unit.h"

#define URLS 400

/* A URL's state in one crawl: 0: unknown, 1: queued, 2: 404, above: the page
 * with this body. */
enum { UNKNOWN, QUEUED, MISSING, BODIES };

static void add_state(struct line_sort *s, const char *url, char side,
                      const struct fetch_row *state)
{
    struct buf line;

    buf_init(&line, DIFF_LINE_MOST);
    buf_addf(&line, "%s\t%c%c\t", url, DIFF_STATE, side);
    diff_state_put(&line, state);
    ck_ok(line_sort_add(s, buf_bytes(&line)));
    buf_fini(&line);
}

static void add_page(struct line_sort *s, int n, char side, unsigned is)
{
    struct fetch_row row = {.status = OUTCOME_FETCHED, .http_status = 200};
    char url[32];

    snprintf(url, sizeof url, "http://h/%03d", n);
    if (is == UNKNOWN)
        return;
    if (is == QUEUED)
        row = (struct fetch_row){.status = OUTCOME_QUEUED};
    else if (is == MISSING)
        row = (struct fetch_row){.status = OUTCOME_FAILED,
                                 .reason = REASON_HTTP,
                                 .http_status = 404};
    row.body_print = is < BODIES ? 0 : is;
    row.text_digest = (struct digest){row.body_print, 0};
    add_state(s, url, side, &row);
}

struct seen {
    uint64_t kinds[DIFF_KINDS];
    char last[64];
    char moved[64];
};

static enum status take(void *ctx, const struct diff_row *row)
{
    struct seen *s = ctx;

    ck_assert_int_lt(strncmp(s->last, row->url.at, row->url.len), 0);
    snprintf(s->last, sizeof s->last, "%.*s", (int)row->url.len, row->url.at);
    s->kinds[row->kind]++;
    if (row->kind == DIFF_MOVED)
        snprintf(s->moved, sizeof s->moved, "%.*s %.*s %s", (int)row->url.len,
                 row->url.at, (int)row->to.len, row->to.at,
                 diff_by_name(row->by));
    return STATUS_OK;
}

static struct seen join(struct line_sort *s, bool unfinished)
{
    const struct diff_join_options o = {.dir = "/tmp",
                                        .memory = 4096,
                                        .changed_by = CHANGED_BY_TEXT,
                                        .before_unfinished = unfinished,
                                        .after_unfinished = unfinished};
    struct diff_counts counts;
    struct seen seen = {.last = ""};

    ck_ok(diff_join(s, &o, &counts, take, &seen));
    for (int k = 0; k < DIFF_KINDS; k++)
        ck_assert_uint_eq(counts.kinds[k], seen.kinds[k]);
    line_sort_free(s);
    return seen;
}

/* The same by counting. */
static struct seen model(unsigned (*is)[2], bool unfinished)
{
    static unsigned gone[BODIES + URLS], found[BODIES + URLS];
    struct seen m = {.last = ""};

    memset(gone, 0, sizeof gone);
    memset(found, 0, sizeof found);
    for (int i = 0; i < URLS; i++) {
        unsigned a = is[i][0], b = is[i][1];

        if (a >= BODIES && b >= BODIES)
            m.kinds[DIFF_CHANGED] += a != b;
        else if (a >= BODIES && (b == MISSING || (b == UNKNOWN && !unfinished)))
            gone[a]++;
        else if (b >= BODIES && (a == MISSING || (a == UNKNOWN && !unfinished)))
            found[b]++;
        else if (a >= BODIES || b >= BODIES)
            m.kinds[DIFF_UNFETCHED]++;
    }
    for (size_t i = 0; i < BODIES + URLS; i++) {
        unsigned moved = gone[i] < found[i] ? gone[i] : found[i];

        m.kinds[DIFF_MOVED] += moved;
        m.kinds[DIFF_GONE] += gone[i] - moved;
        m.kinds[DIFF_NEW] += found[i] - moved;
    }
    return m;
}

TEST(any_two_crawls_differ_as_counting_says)
{
    static unsigned is[URLS][2];

    srand(17);
    for (int round = 0; round < 20; round++) {
        bool unfinished = round % 2 == 1;
        struct line_sort *s = line_sort_new("/tmp", 4096);
        struct seen m, found;

        for (int i = 0; i < URLS; i++) {
            for (int side = 0; side < 2; side++) {
                is[i][side] = (unsigned)rand() % (round < 10 ? 8 : URLS);
                add_page(s, i, side == 0 ? '0' : '1', is[i][side]);
            }
        }
        m = model(is, unfinished);
        found = join(s, unfinished);
        for (int k = 0; k < DIFF_KINDS; k++)
            ck_assert_msg(m.kinds[k] == found.kinds[k],
                          "round %d: %s: %llu, not %llu", round,
                          diff_kind_names[k],
                          (unsigned long long)found.kinds[k],
                          (unsigned long long)m.kinds[k]);
    }
}

static void add_redirect(struct line_sort *s, const char *from, const char *to)
{
    struct fetch_row row = {.status = OUTCOME_REDIRECT,
                            .http_status = 301,
                            .redirect_url = bytes_of_str(to)};
    char line[128];

    add_state(s, from, '1', &row);
    snprintf(line, sizeof line, "%s\t%c\t%s", to, DIFF_FROM, from);
    ck_ok(line_sort_add(s, bytes_of_str(line)));
}

TEST(a_redirect_to_a_page_is_a_move_and_its_target_is_not_new)
{
    struct line_sort *s = line_sort_new("/tmp", 4096);
    struct seen seen;

    add_page(s, 1, '0', BODIES);
    add_redirect(s, "http://h/001", "http://h/002");
    add_page(s, 2, '1', BODIES + 1);
    seen = join(s, false);
    ck_assert_str_eq(seen.moved, "http://h/001 http://h/002 redirect");
    ck_assert_uint_eq(seen.kinds[DIFF_NEW], 0);
    ck_assert_uint_eq(seen.kinds[DIFF_CHANGED], 0);
}
