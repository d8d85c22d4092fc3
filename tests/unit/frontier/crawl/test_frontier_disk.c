/* SPDX-License-Identifier: MIT */
/* What a frontier finds on disk when it opens, and what it writes there. */
#include <sched.h>

#include "base/file/file.h"
#include "frontier/stats.h"
#include "tests/unit/frontier/crawl/crawl_sim.h"

static const char *in_dir(const char *name)
{
    static char path[128];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static void crawl_some(struct sim *s)
{
    start(s, 0);
    for (int i = 0; i < 300; i++)
        step(s);
    ck_ok(frontier_checkpoint_now(s->e, "stopped", true, s->now, wall(s)));
    frontier_close(s->e);
    cut_flights(s);
}

TIMEOUT(30);
FIXTURE(make_dir, remove_dir);

/* Promise (Crashes): a filter file that is damaged, cut, foreign or missing
 * is rebuilt. See also `tests/cli/damaged-filter.sh`, `checkpoint`. */
TEST(a_missing_or_damaged_filter_file_is_rebuilt)
{
    static struct sim s;
    struct buf b;

    crawl_some(&s);
    buf_init(&b, (size_t)64 << 20);
    ck_ok(file_read(in_dir("filter.ckpt"), &b));
    for (int damage = 0; damage < 4; damage++) {
        struct frontier_stats w;
        struct frontier_counts st;

        if (damage == 0)
            ck_assert_int_eq(unlink(in_dir("filter.ckpt")), 0);
        else if (damage == 1)
            b.at[b.len / 2] ^= 1;
        else if (damage == 2)
            b.len /= 2;
        else
            b.len = 0;
        if (damage > 0)
            ck_ok(file_replace(in_dir("filter.ckpt"), buf_bytes(&b)));
        reopen(&s);
        frontier_get_counts(s.e, &st);
        frontier_get_stats(s.e, s.now, &w);
        ck_assert_uint_ge(w.filter.keys, st.urls);
        frontier_close(s.e);
    }
    buf_fini(&b);
    reopen(&s);
    while (step(&s))
        ;
    finish(&s);
}

/* Promise (The service): a start after a kill replays a bounded number of URLs
 * into the filter, however fast the crawl was; a row of the index of whole
 * fetches is written once for as many fetches as memory holds; a body whose row
 * was removed can come again. See also
 * `fetch_index/a_removed_body_comes_again_over_merges_and_replays`. */
/* Nobody asks for a checkpoint here. */
TEST(a_checkpoint_follows_when_enough_urls_came)
{
    enum { LAG = 300, COMMIT = IN_FLIGHT * LINKS };
    static struct sim s;
    struct frontier_counts st;
    struct manifest m;

    start(&s, 0);
    frontier_close(s.e);
    s.o.store.filter_lag = LAG;
    reopen(&s);
    for (int i = 0; i < 2000; i++)
        step(&s);
    frontier_get_counts(s.e, &st);
    /* Another thread writes it, so one may be under way while more URLs come;
     * turns without new ones begin the next when it has ended. */
    do {
        ck_ok(frontier_turn(s.e, true, s.now, wall(&s), NULL));
        sched_yield();
        ck_ok(manifest_load(in_dir("manifest"), &m));
    } while (m.urls + LAG + COMMIT <= st.urls);
    frontier_close(s.e);
    cut_flights(&s);
    ck_assert_uint_gt(st.urls, 2 * LAG);
    ck_assert_uint_le(m.generation, 1 + st.urls / LAG);
    reopen(&s);
    while (step(&s))
        ;
    finish(&s);
}

TEST(a_store_behind_its_manifest_is_refused)
{
    static struct sim s;
    struct manifest m;

    crawl_some(&s);
    ck_ok(manifest_load(in_dir("manifest"), &m));
    m.urls++;
    ck_ok(manifest_save(in_dir("manifest"), &m));
    ck_assert_int_eq(frontier_open(&s.e, dir, &s.o, s.now, wall(&s)),
                     STATUS_DAMAGED);
}

/* Promise (Crashes): a store that is missing, emptied, cut or behind its
 * manifest is refused and never made anew; what a repair gives up is fetched
 * again; a lost tail of the log is found or costs some pages fetched twice. See
 * also `tests/cli/damaged-store.sh`,
 * `frontier_disk/a_store_behind_its_manifest_is_refused`,
 * `manifest/every_flipped_bit_and_every_cut_is_found`,
 * `db/a_file_cut_to_whole_pages_is_damage`. */
TEST(a_missing_emptied_or_cut_store_is_refused_and_never_made_anew)
{
    static struct sim s;
    struct buf b;

    crawl_some(&s);
    buf_init(&b, (size_t)64 << 20);
    ck_ok(file_read(in_dir("frontier.db"), &b));
    ck_assert_int_eq(unlink(in_dir("frontier.db")), 0);
    ck_assert_int_eq(frontier_open(&s.e, dir, &s.o, s.now, wall(&s)),
                     STATUS_DAMAGED);
    ck_ok(file_replace(in_dir("frontier.db"), bytes_of("", 0)));
    ck_assert_int_eq(frontier_open(&s.e, dir, &s.o, s.now, wall(&s)),
                     STATUS_DAMAGED);
    ck_ok(file_replace(in_dir("frontier.db"), bytes_of(b.at, b.len / 2)));
    ck_assert_int_eq(frontier_open(&s.e, dir, &s.o, s.now, wall(&s)),
                     STATUS_DAMAGED);
    ck_ok(file_replace(in_dir("frontier.db"), buf_bytes(&b)));
    reopen(&s);
    frontier_close(s.e);
    buf_fini(&b);
}

struct herald {
    unsigned asked;
    enum status answer;
};

static enum status ask_herald(void *ctx)
{
    struct herald *h = ctx;

    h->asked++;
    return h->answer;
}

/* What a row refers to (its WARC record, say) is durable before the row is. */
TEST(nothing_is_committed_that_before_commit_does_not_allow)
{
    static struct sim s;
    struct herald h = {.answer = STATUS_OK};
    struct frontier_counts stats;
    struct url_item item;
    char key[64], url[64];

    options(&s, 0);
    s.o.store.before_commit = ask_herald;
    s.o.store.before_commit_ctx = &h;
    ck_ok(frontier_create(&s.e, dir, &s.o, WALL));
    for (unsigned page = 0; page < 2; page++) {
        h.asked = 0;
        h.answer = page == 0 ? STATUS_OK : STATUS_IO;
        item = item_of(&s, page, key, url, sizeof key, 1);
        ck_ok(frontier_put(s.e, 0, &item, 1, WALL, NULL));
        ck_assert_uint_eq(h.asked, 0);
        ck_assert_int_eq(frontier_turn(s.e, true, 0, WALL, NULL), h.answer);
        ck_assert_uint_eq(h.asked, 1);
    }
    frontier_close(s.e);
    s.o.store.before_commit = NULL;
    ck_ok(frontier_open(&s.e, dir, &s.o, 0, WALL));
    frontier_get_counts(s.e, &stats);
    ck_assert_uint_eq(stats.urls, 1);
    frontier_close(s.e);
}
