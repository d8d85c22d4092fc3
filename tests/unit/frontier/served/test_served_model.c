/* SPDX-License-Identifier: MIT */
/*
 * test_served_model.c - random calls, restarts and crashes against the simplest
 * possible frontier; also compares what a reader of the store sees.
 */
#include "frontier/served/served.h"
#include "frontier/served/served_reader.h"
#include "frontier/stats.h"

#include "tests/unit/frontier/served/served_model.h"

/* The logs are so short that they are swept all the time. */
static const struct served_options options = {.fpr = 0.01,
                                              .memory = (uint64_t)64 << 20,
                                              .sweep_from = 10};

struct play {
    struct scratch at;
    struct served *t;
    struct model m, committed;
    uint64_t random;
    int64_t now;
};

static unsigned below(struct play *p, unsigned n)
{
    return (unsigned)scratch_below(&p->random, n);
}

/* ---- names ---- */

static struct bytes crawl_name(unsigned c)
{
    static const char *const names[] = {"DEFAULT", "crawl1", "crawl10"};

    return bytes_of_str(c < CRAWLS ? names[c] : "none");
}

static struct bytes key_name(unsigned k)
{
    static const char *const names[] = {"_", "a.example", "schl\xc3\xbcssel",
                                        "_DEFAULT_"};

    return bytes_of_str(k < KEYS ? names[k] : "none");
}

static struct bytes url_name(char text[32], unsigned n)
{
    snprintf(text, 32, n == 0 ? "" : "http://h/%u", n);
    return bytes_of_str(text);
}

/* ---- what the calls return ---- */

struct heard {
    struct play *p;
    unsigned crawl[CRAWLS * KEYS * URLS], key[CRAWLS * KEYS * URLS],
        url[CRAWLS * KEYS * URLS];
    size_t n, stop; /* 0: never */
    int64_t due, created;
    char metadata[96];
    uint64_t lease;
};

static unsigned index_of(struct bytes b, struct bytes (*name)(unsigned),
                         unsigned n)
{
    unsigned i = 0;

    while (i < n && !bytes_equal(b, name(i)))
        i++;
    return i;
}

static bool hear(void *ctx, const struct url_view *v)
{
    struct heard *h = ctx;

    ck_assert_uint_lt(h->n, CRAWLS * KEYS * URLS);
    h->crawl[h->n] = index_of(v->crawl, crawl_name, CRAWLS);
    h->key[h->n] = index_of(v->key, key_name, KEYS);
    h->url[h->n] = v->url.len == 0 ? 0 : (unsigned)(v->url.at[9] - '0');
    h->due = v->due_ms;
    h->created = v->created_ms;
    snprintf(h->metadata, sizeof h->metadata, "%.*s", (int)v->metadata.len,
             v->metadata.at);
    h->lease = v->lease;
    h->n++;
    if (h->p != NULL) {
        const struct m_url *u =
            &h->p->m.queues[h->crawl[h->n - 1]][h->key[h->n - 1]]
                 .urls[h->url[h->n - 1]];

        ck_assert_str_eq(h->metadata, u->metadata);
        SAME(v->created_ms, u->created);
        SAME(v->due_ms, u->due);
    }
    return h->stop == 0 || h->n % h->stop != 0;
}

/* ---- calls ---- */

static void put(struct play *p)
{
    struct url_put list[6] = {{0}};
    char text[6][32], metadata[6][96];
    bool fresh[6];
    size_t n = 1 + below(p, 6);

    for (size_t i = 0; i < n; i++) {
        unsigned c = below(p, CRAWLS), k = below(p, KEYS), u = below(p, URLS);
        static const int64_t ahead[] = {-5000, -1, 0, 500, 3000, 60000};
        int64_t due = below(p, 3) == 0 ? 0 : p->now + ahead[below(p, 6)];

        snprintf(metadata[i], sizeof metadata[i], below(p, 3) == 0 ? "" : "m%u",
                 below(p, 1000));
        list[i] = (struct url_put){.known = below(p, 2) == 0,
                                   .crawl = crawl_name(c),
                                   .key = key_name(k),
                                   .url = url_name(text[i], u),
                                   .metadata = bytes_of_str(metadata[i]),
                                   .due_ms = due};
        fresh[i] =
            m_put(&p->m, c, k, u, list[i].known, due, metadata[i], p->now);
    }
    SAME(served_put(p->t, list, n, p->now), STATUS_OK);
    for (size_t i = 0; i < n; i++)
        SAME(list[i].fresh, fresh[i]);
}

static void get(struct play *p)
{
    struct m_answer want[CRAWLS * KEYS * URLS];
    unsigned c = below(p, CRAWLS + 2), k = below(p, KEYS + 4);
    struct url_ask g = {.any_crawl = c >= CRAWLS,
                        .crawl = crawl_name(c),
                        .one_queue = c < CRAWLS && k < KEYS,
                        .key = key_name(k),
                        .most_urls = below(p, 5),
                        .most_queues = below(p, 5),
                        .lease_ms = 1 + below(p, 4000)};
    struct heard h = {.stop = below(p, 4)};
    bool more = true;
    size_t n = m_get(&p->m, c, g.one_queue ? k : KEYS, &g, p->now, want);

    while (more) {
        SAME(served_get(p->t, &g, p->now, hear, &h, &more), STATUS_OK);
        ck_assert(served_consistent(p->t));
    }
    SAME(h.n, n);
    for (size_t i = 0; i < n; i++) {
        SAME(h.crawl[i], want[i].crawl);
        SAME(h.key[i], want[i].key);
        SAME(h.url[i], want[i].url);
    }
}

static void settle(struct play *p)
{
    unsigned c = below(p, CRAWLS), k = below(p, KEYS), n = below(p, URLS);
    struct m_url *u = &p->m.queues[c][k].urls[n];
    enum url_settle how = (enum url_settle)below(p, 3);
    int64_t due = how == URL_SETTLE_ACK && below(p, 2) == 0
                      ? 0
                      : p->now + 1 + below(p, 3000);
    struct bytes metadata = bytes_of_str("settled");
    bool keep = how != URL_SETTLE_ACK || below(p, 2) == 0;
    struct url_facts facts;
    struct heard h = {0};
    char text[32];
    enum status st = served_find(p->t, crawl_name(c), key_name(k),
                                 url_name(text, n), p->now, &facts, hear, &h);

    SAME(st, u->there ? STATUS_OK : STATUS_NOT_FOUND);
    if (st != STATUS_OK)
        return;
    SAME(h.due, u->due);
    SAME(h.created, u->created);
    ck_assert_str_eq(h.metadata, u->metadata);
    SAME(facts.state, m_leased(u, p->now) ? URL_STATE_LEASED
                      : u->due == 0       ? URL_STATE_COMPLETED
                                          : URL_STATE_QUEUED);
    st =
        served_settle(p->t, h.lease, how, due, keep ? NULL : &metadata, p->now);
    SAME(st, m_leased(u, p->now) ? STATUS_OK : STATUS_NOT_FOUND);
    if (st != STATUS_OK)
        return;
    if (how == URL_SETTLE_EXTEND) {
        u->leased_until = due;
        return;
    }
    u->due = due;
    u->leased_until = 0;
    if (due == 0)
        u->metadata[0] = '\0';
    else if (!keep)
        snprintf(u->metadata, sizeof u->metadata, "settled");
}

static void remove_some(struct play *p)
{
    unsigned c = below(p, CRAWLS), k = below(p, KEYS);
    uint64_t want = 0, gone;

    if (below(p, 3) > 0) {
        want = m_remove(&p->m, c, k);
        SAME(served_remove_queue(p->t, crawl_name(c), key_name(k), p->now,
                                 &gone),
             STATUS_OK);
    } else {
        for (unsigned i = 0; i < KEYS; i++)
            want += m_remove(&p->m, c, i);
        SAME(served_remove_crawl(p->t, crawl_name(c), p->now, &gone),
             STATUS_OK);
    }
    SAME(gone, want);
}

static void purge(struct play *p)
{
    unsigned c = below(p, CRAWLS), k = below(p, 2 * KEYS);
    int64_t before = p->now - below(p, 20000);
    uint64_t want = 0, gone;

    for (unsigned i = 0; i < KEYS; i++) {
        if (k >= KEYS || i == k)
            want += m_purge(&p->m, c, i, before);
    }
    SAME(served_purge(p->t, crawl_name(c),
                      k < KEYS ? key_name(k) : bytes_of_str(""), before, p->now,
                      &gone),
         STATUS_OK);
    SAME(gone, want);
}

static void control(struct play *p)
{
    unsigned c = below(p, CRAWLS), k = below(p, KEYS);
    struct m_queue *q = &p->m.queues[c][k];
    enum status want = q->there ? STATUS_OK : STATUS_NOT_FOUND;
    int64_t ms = below(p, 2) == 0 ? 0 : below(p, 4000);

    switch (below(p, 5)) {
    case 0:
        SAME(served_block(p->t, crawl_name(c), key_name(k), p->now + ms,
                          p->now),
             want);
        q->blocked = q->there ? p->now + ms : 0;
        break;
    case 1:
        SAME(served_set_delay(p->t, crawl_name(c), key_name(k), ms, p->now),
             want);
        q->delay = q->there ? ms : -1;
        break;
    case 2:
        SAME(served_set_limit(p->t, crawl_name(c), key_name(k),
                              (uint32_t)(ms % 4), p->now),
             want);
        q->limit = q->there ? (uint32_t)(ms % 4) : 0;
        break;
    case 3:
        SAME(served_set_default_delay(p->t, ms, p->now), STATUS_OK);
        p->m.default_delay = ms;
        break;
    default:
        p->m.active = below(p, 3) > 0;
        SAME(served_set_active(p->t, p->m.active), STATUS_OK);
    }
}

/* ---- comparing everything ---- */

static void compare_counts(struct play *p)
{
    struct url_counts all = {0}, got;

    for (unsigned c = 0; c < CRAWLS; c++) {
        struct url_counts crawl = {0};

        for (unsigned k = 0; k < KEYS; k++) {
            struct url_counts one = {0};

            m_counts(&p->m.queues[c][k], p->now, &one);
            m_counts(&p->m.queues[c][k], p->now, &crawl);
            m_counts(&p->m.queues[c][k], p->now, &all);
            served_counts(p->t, crawl_name(c), key_name(k), p->now, &got);
            ck_assert_mem_eq(&got, &one, sizeof got);
        }
        served_counts(p->t, crawl_name(c), bytes_of_str(""), p->now, &got);
        ck_assert_mem_eq(&got, &crawl, sizeof got);
    }
    served_counts(p->t, bytes_of_str(""), bytes_of_str(""), p->now, &got);
    ck_assert_mem_eq(&got, &all, sizeof got);
}

/* Lists a crawl's URLs in parts of random size, filtered or not. */
static void compare_list(struct play *p)
{
    unsigned c = below(p, CRAWLS);
    bool filtered = below(p, 2) == 0;
    struct url_list l = {.crawl = crawl_name(c),
                         .filtered = filtered,
                         .ignore_case = true,
                         .filter = bytes_of_str("/H/3"),
                         .skip = below(p, 4),
                         .most = 1 + below(p, 30),
                         .budget = 1 + below(p, 10)};
    struct heard h = {.p = p, .stop = below(p, 5)};
    uint64_t match = 0, last = 0;
    unsigned queue = 0;
    bool more = true;

    while (more)
        SAME(served_list(p->t, &l, p->now, hear, &h, &more), STATUS_OK);
    for (unsigned k = 0; k < KEYS; k++) {
        for (unsigned n = 0; n < URLS; n++)
            match += p->m.queues[c][k].urls[n].there && (!filtered || n == 3);
    }
    match = match > l.skip ? match - l.skip : 0;
    SAME(h.n, match < l.most ? match : l.most);
    for (size_t i = 0; i < h.n; i++) { /* by queue, then in order of arrival */
        const struct m_queue *q = &p->m.queues[c][h.key[i]];

        SAME(h.crawl[i], c);
        ck_assert_uint_ge(q->number, queue);
        if (q->number > queue)
            last = 0;
        queue = q->number;
        ck_assert_uint_gt(q->urls[h.url[i]].arrival, last);
        last = q->urls[h.url[i]].arrival;
    }
}

/* ---- what a reader of the store sees ---- */

static enum url_state state_of(const struct m_url *u, int64_t now)
{
    return m_leased(u, now) ? URL_STATE_LEASED
           : u->due == 0    ? URL_STATE_COMPLETED
                            : URL_STATE_QUEUED;
}

struct search {
    const struct served_reader *read;
    uint32_t queue;
    uint64_t id; /* in that queue */
};

static void find_id(void *ctx, uint64_t id)
{
    struct search *s = ctx;

    if (served_reader_get(s->read, id).queue == s->queue)
        s->id = id;
}

static void compare_url(struct play *p, struct served_reader *read,
                        uint32_t queue, const struct m_url *u, unsigned n)
{
    struct served_reader_url got;
    struct buf metadata;
    struct search s = {read, queue, 0};
    char text[32];

    SAME(served_reader_find(read, url_name(text, n), find_id, &s), STATUS_OK);
    got = served_reader_get(read, s.id);
    SAME(u->there, got.state > URL_STATE_REMOVED);
    if (!u->there)
        return;
    SAME(got.queue, queue);
    SAME(got.state, state_of(u, p->now));
    SAME(got.due_ms, u->due);
    SAME(got.leased_until_ms, m_leased(u, p->now) ? u->leased_until : 0);
    buf_init(&metadata, 1024);
    SAME(served_reader_metadata(read, s.id, &metadata), STATUS_OK);
    ck_assert_str_eq(buf_str(&metadata), u->metadata);
    buf_fini(&metadata);
}

static void compare_queue(struct play *p, struct served_reader *read,
                          uint32_t queue, const struct m_queue *m)
{
    const struct served_reader_queue *q = served_reader_queue(read, queue);
    struct url_counts c = {0};

    m_counts(m, p->now, &c);
    SAME(q->there, m->there);
    SAME(q->urls.queued, c.active - c.leased);
    SAME(q->urls.leased, c.leased);
    SAME(q->urls.completed, c.completed);
    for (unsigned n = 0; n < URLS; n++)
        compare_url(p, read, queue, &m->urls[n], n);
    if (!m->there)
        return;
    SAME(q->delay_ms, m->delay);
    SAME(q->blocked_until_ms, m->blocked);
    SAME(q->limit, m->limit);
    SAME(q->served_ms, m->served);
}

static void compare_read(struct play *p)
{
    const struct served_reader_facts *all;
    struct served_reader *read = NULL;
    struct url_counts c = {0};
    struct reader r;

    SAME(reader_open(&r, p->at.dir), STATUS_OK);
    SAME(served_reader_open(&read, &r, p->now), STATUS_OK);
    for (unsigned i = 0; i < CRAWLS; i++) {
        for (unsigned k = 0; k < KEYS; k++) {
            uint32_t queue =
                frontier_store_find_queue(r.store, crawl_name(i), key_name(k));

            m_counts(&p->m.queues[i][k], p->now, &c);
            if (queue != 0)
                compare_queue(p, read, queue, &p->m.queues[i][k]);
            else
                ck_assert(!p->m.queues[i][k].there);
        }
    }
    all = served_reader_facts(read);
    SAME(all->urls.queued, c.active - c.leased);
    SAME(all->urls.leased, c.leased);
    SAME(all->urls.completed, c.completed);
    SAME(all->queues, c.queues);
    SAME(all->default_delay_ms, p->m.default_delay);
    SAME(all->active, p->m.active);
    SAME(served_reader_verify(read), STATUS_OK);
    served_reader_close(read);
    reader_close(&r);
}

/* ---- a run ---- */

static void reopen(struct play *p)
{
    served_close(p->t);
    SAME(served_open(&p->t, p->at.dir, &options, p->now), STATUS_OK);
    p->m = p->committed;
    m_restart(&p->m);
    p->committed = p->m;
}

static void commit(struct play *p)
{
    SAME(served_commit(p->t), STATUS_OK);
    p->committed = p->m;
    if (below(p, 4) == 0)
        compare_read(p);
}

static void stop(struct play *p)
{
    commit(p);
    SAME(served_stop(p->t, p->now), STATUS_OK);
    reopen(p);
}

/* When something of a queue becomes possible: it must be, at that moment. */
static int64_t next_moment(struct play *p)
{
    const struct m_queue *q = &p->m.queues[below(p, CRAWLS)][below(p, KEYS)];
    const struct m_url *u = &q->urls[below(p, URLS)];

    switch (below(p, 4)) {
    case 0:
        return q->blocked;
    case 1:
        return u->due;
    case 2:
        return u->leased_until;
    default:
        return q->served + (q->delay >= 0 ? q->delay : p->m.default_delay);
    }
}

static void advance(struct play *p)
{
    int64_t moment = next_moment(p);

    if (below(p, 3) == 0)
        p->now += below(p, 1500);
    else if (moment > p->now && moment < p->now + 60000)
        p->now = moment;
}

static void step(struct play *p)
{
    unsigned dice = below(p, 100);

    advance(p);
    if (dice < 40)
        put(p);
    else if (dice < 65)
        get(p);
    else if (dice < 72)
        settle(p);
    else if (dice < 80)
        control(p);
    else if (dice < 82)
        remove_some(p);
    else if (dice < 84)
        purge(p);
    else if (dice < 88)
        compare_list(p);
    else if (dice < 97)
        commit(p);
    else if (dice < 99)
        reopen(p); /* as after a kill: uncommitted work is gone */
    else
        stop(p);
    ck_assert(served_consistent(p->t));
    compare_counts(p);
}

TIMEOUT(120);

TEST_LOOP(random_calls_restarts_and_crashes_agree_with_a_plain_model, 0, 6)
{
    struct play p = {.random = 11 + (uint64_t)_i, .now = RIG_WALL};
    uint64_t steps = scratch_size(1500, 20000);

    p.at = scratch_make();
    SAME(served_open(&p.t, p.at.dir, &options, p.now), STATUS_OK);
    m_init(&p.m);
    p.committed = p.m;
    for (uint64_t i = 0; i < steps; i++)
        step(&p);
    stop(&p);
    served_close(p.t);
    SAME(rig_verify_dir(p.at.dir), p.committed.arrivals);
    scratch_remove(&p.at);
}

/* ---- cost ---- */

static bool pass_over(void *ctx, const struct url_view *view)
{
    (void)view;
    ++*(size_t *)ctx;
    return true;
}

static uint64_t seen_asked(struct play *p)
{
    struct frontier_stats w;

    served_get_stats(p->t, &w);
    return w.in_batch + w.hot + w.certainly_new + w.maybe_seen + w.unsure;
}

static void complete_all(struct play *p, size_t *handed_out, uint64_t *asked)
{
    struct url_put list[KEYS];
    struct url_ask g = {.crawl = crawl_name(0), .lease_ms = 60000};
    bool more = false;

    *handed_out = 0;
    SAME(served_get(p->t, &g, p->now, pass_over, handed_out, &more), STATUS_OK);
    for (unsigned k = 0; k < KEYS; k++)
        list[k] = (struct url_put){.known = true,
                                   .crawl = crawl_name(0),
                                   .key = key_name(k),
                                   .url = bytes_of_str("http://h/1")};
    *asked = seen_asked(p);
    SAME(served_put(p->t, list, KEYS, p->now), STATUS_OK);
    *asked = seen_asked(p) - *asked;
}

/* Filter and exact set grow with all URLs; the leases do not. */
TEST(a_url_that_comes_back_is_found_without_the_seen_check)
{
    struct play p = {.now = RIG_WALL};
    struct url_put list[KEYS];
    uint64_t asked;
    size_t n;

    p.at = scratch_make();
    SAME(served_open(&p.t, p.at.dir, &options, p.now), STATUS_OK);
    for (unsigned k = 0; k < KEYS; k++)
        list[k] = (struct url_put){.crawl = crawl_name(0),
                                   .key = key_name(k),
                                   .url = bytes_of_str("http://h/1")};
    SAME(served_put(p.t, list, KEYS, p.now), STATUS_OK);
    complete_all(&p, &n, &asked);
    SAME(n, KEYS);
    SAME(asked, 0);
    complete_all(&p, &n, &asked); /* again, when none is leased */
    SAME(n, 0);
    SAME(asked, KEYS);
    served_close(p.t);
    scratch_remove(&p.at);
}
