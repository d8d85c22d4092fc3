/* SPDX-License-Identifier: MIT */
/*
 * test_past_crawl.c - what an earlier crawl tells a new one, and where the
 * links of a page go that is unchanged since.
 */
#include "frontier/crawl/frontier_impl.h"
#include "frontier/crawl/past_crawl.h"

#include <sys/wait.h>

#include "tests/unit/frontier/crawl/judge_rig.h"
#include "tests/unit/storage/step_fault.h"

#define MEMORY   ((uint64_t)16 << 20)
#define IDENTITY "urlweir/1\ngzip"

enum page { ROOT, B, OTHER, C, OUT, D, PAGES };

/* The root links to all, B to three, D to more than a page may have. */
static const struct {
    const char *url, *etag;
    unsigned links; /* bits of enum page */
    uint64_t over;
} pages[PAGES] = {
    [ROOT] = {"http://a.test/", "\"root\"", 0x3e, 0},
    [B] = {"http://a.test/b", "\"b\"", 1 << ROOT | 1 << C | 1 << OUT, 0},
    [OTHER] = {"http://b.test/", "\"other\"", 0, 0},
    [C] = {"http://a.test/c", "\"c\"", 0, 0},
    [OUT] = {"http://out.test/x", "\"out\"", 0, 0},
    [D] = {"http://a.test/d", "\"d\"", 1 << C, 4},
};

/* ---- the earlier crawl ---- */

static enum page page_of(struct bytes url)
{
    enum page p = ROOT;

    while (p < PAGES && !bytes_equal(url, bytes_of_str(pages[p].url)))
        p++;
    ck_assert_int_ne(p, PAGES);
    return p;
}

static struct url_lease lease(struct rig *r)
{
    struct url_lease l = {.id = 0};
    size_t n = 0;

    r->now += NS_PER_S;
    ck_ok(frontier_lease(r->e, 1, r->now, RIG_WALL, &l, &n));
    ck_assert_uint_eq(n, 1);
    return l;
}

static struct url_done done_of(const struct rig *r, uint64_t id,
                               struct outcome o)
{
    return (struct url_done){.id = id,
                             .outcome = o,
                             .row = {.at_ms = RIG_WALL + (int64_t)id},
                             .host = {.ended = r->now, .retry_after_ms = -1}};
}

static void ack(struct rig *r, struct url_done *d)
{
    ck_ok(frontier_ack(r->e, d, 1, r->now, RIG_WALL));
}

/* The next page as it is, with its links in order; B's record refers to that of
 * the root, the others have their own. */
static void fetch_old(struct rig *r)
{
    struct url_lease l = lease(r);
    enum page p = page_of(l.url);
    struct url_done d = done_of(r, l.id, judge_fetched);
    static const struct link_label label = {{"rel", 3}, {"text", 4}};
    struct url_item links[PAGES];
    size_t n = 0;

    for (unsigned i = 0; i < PAGES; i++)
        if ((pages[p].links >> i & 1) != 0) {
            links[n] = rig_item(r, pages[i].url);
            links[n].label = i == C ? &label : NULL;
            links[n++].kind = i == C ? LINK_AREA : LINK_A;
        }
    d.outlinks = links;
    d.outlink_count = n;
    d.over = pages[p].over;
    d.row.links = (uint32_t)(n + d.over);
    d.row.etag = bytes_of_str(pages[p].etag);
    d.row.last_modified = bytes_of_str("long ago");
    d.row.body_bytes = 1000 + p;
    d.row.body_digest = (struct digest){7, p == B ? ROOT + 1 : p + 1};
    d.row.warc_file = bytes_of_str("old.warc.gz");
    ack(r, &d);
}

static void make_old(struct rig *r, bool record_links)
{
    rig_init(r);
    r->o.record_links = record_links;
    r->o.identity = bytes_of_str(IDENTITY);
    rig_create(r);
    rig_seed(r, pages[ROOT].url);
    for (unsigned i = 0; i < PAGES; i++)
        fetch_old(r);
    ck_ok(frontier_set_meta(r->e, "note", bytes_of_str("kept")));
    rig_stop(r);
}

static struct past_crawl *open_past_as(const struct rig *old,
                                       const char *identity)
{
    struct past_crawl *p = NULL;
    struct buf why;

    buf_init(&why, 1000);
    ck_ok(
        past_crawl_open(&p, old->at.dir, bytes_of_str(identity), MEMORY, &why));
    ck_assert_uint_eq(why.len, 0);
    return p;
}

static struct past_crawl *open_past(const struct rig *old)
{
    return open_past_as(old, IDENTITY);
}

/* ---- what it knows ---- */

FIXTURE(scratch_quiet, NULL);

static void refuse(const char *dir, enum status st, const char *because)
{
    struct past_crawl *p = NULL;
    struct buf why;

    buf_init(&why, 1000);
    ck_assert_int_eq(past_crawl_open(&p, dir, bytes_of_str(IDENTITY), MEMORY,
                                     &why),
                     st);
    ck_assert_ptr_null(p);
    ck_assert_msg(strstr(buf_str(&why), dir) == buf_str(&why) &&
                      strstr(buf_str(&why), because) != NULL,
                  "%s", buf_str(&why));
    buf_fini(&why);
}

static void change(const struct rig *r, const char *sql)
{
    sqlite3 *h;

    ck_assert_int_eq(sqlite3_open(r->at.db, &h), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(h, sql, NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_close(h), SQLITE_OK);
}

/* A child holds the lock until the pipe is closed. */
static pid_t hold(const char *path, int pipes[2])
{
    struct file_lock *lock = NULL;
    pid_t child;
    char c;

    ck_assert_int_eq(pipe(pipes), 0);
    child = fork();
    if (child == 0) {
        if (file_lock_take(&lock, path, "crawl", NULL) != STATUS_OK)
            _exit(1);
        (void)!write(pipes[1], "x", 1);
        pause();
        _exit(0);
    }
    ck_assert_int_eq(read(pipes[0], &c, 1), 1);
    return child;
}

TEST(one_that_cannot_be_read_says_why)
{
    struct scratch empty = scratch_make();
    char path[128], because[64], sql[64];
    int pipes[2];
    struct rig old;
    pid_t child;

    make_old(&old, true);
    refuse(empty.dir, STATUS_NOT_FOUND, ": no crawl there");
    snprintf(path, sizeof path, "%s/lock", old.at.dir);
    child = hold(path, pipes);
    snprintf(because, sizeof because, " is being crawled now, by process %ld",
             (long)child);
    refuse(old.at.dir, STATUS_AGAIN, because);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(pipes[0]);
    close(pipes[1]);
    change(&old, "UPDATE meta SET value = '15' WHERE name = 'format'");
    refuse(old.at.dir, STATUS_VERSION, ": written by another release");
    snprintf(sql, sizeof sql,
             "UPDATE meta SET value = %d WHERE name = 'format'", DB_FORMAT);
    change(&old, sql);
    past_crawl_close(open_past(&old));
    change(&old, "UPDATE meta SET value = x'0102' WHERE name = 'digest_seed'");
    refuse(old.at.dir, STATUS_DAMAGED, ": ");
    scratch_remove(&empty);
    rig_fini(&old);
}

/* ---- may its pages be asked for with conditions? ---- */

struct row {
    unsigned n;
    struct past_crawl *p;
    bool may;
    uint64_t seq, links;
    char etag[16], record[64];
    int64_t record_ms;
};

static void take(void *ctx, const struct fetch_row *row)
{
    struct row *r = ctx;
    struct record_name name;
    struct buf text;

    r->n++;
    r->seq = row->seq;
    r->links = row->links;
    snprintf(r->etag, sizeof r->etag, "%.*s", (int)row->etag.len, row->etag.at);
    ck_ok(past_crawl_may_ask(r->p, row, &r->may));
    buf_init(&text, 4096);
    ck_ok(past_crawl_record(r->p, row, &name, &text));
    snprintf(r->record, sizeof r->record, "%.*s", (int)name.url.len,
             name.url.at);
    r->record_ms = name.at_ms;
    buf_fini(&text);
}

static struct row last_of(struct past_crawl *p, enum page page)
{
    struct row r = {.p = p};

    ck_ok(past_crawl_last(p, page + 1, take, &r));
    ck_assert_uint_eq(r.n, 1);
    ck_assert_str_eq(r.etag, pages[page].etag);
    return r;
}

/* Bits of the pages that may be asked for with conditions. */
static unsigned may_ask(struct past_crawl *p)
{
    unsigned bits = 0;

    for (unsigned i = 0; i < PAGES; i++)
        bits |= (unsigned)last_of(p, i).may << i;
    return bits;
}

#define WITHOUT_LINKS (1U << OTHER | 1U << C | 1U << OUT)

static void take_copy(void *ctx, const struct fetch_row *row)
{
    *(struct fetch_row *)ctx = *row;
}

/* Of its entries more is known than where they lead. */
TEST(a_list_is_asked_for_in_full_unless_it_is_empty)
{
    struct fetch_row row;
    struct past_crawl *p;
    struct rig old;
    bool may;

    make_old(&old, true);
    p = open_past(&old);
    ck_ok(past_crawl_last(p, B + 1, take_copy, &row));
    row.flags |= FETCH_ROW_LIST;
    ck_ok(past_crawl_may_ask(p, &row, &may));
    ck_assert(!may);
    row.links = 0;
    ck_ok(past_crawl_may_ask(p, &row, &may));
    ck_assert(may);
    past_crawl_close(p);
    rig_fini(&old);
}

/* Requests that name another client may be answered with another page. What
 * came before an identity was first noted counts as of that one. */
TEST(pages_that_another_identity_fetched_are_asked_for_in_full)
{
    struct past_crawl *p;
    struct rig old;

    make_old(&old, true);
    p = open_past_as(&old, "other/2\ngzip");
    ck_assert_uint_eq(may_ask(p), 0);
    past_crawl_close(p);
    change(&old, "UPDATE meta SET value = '2' WHERE name = 'identity_seq'");
    p = open_past(&old);
    for (unsigned i = 0; i < PAGES; i++) {
        struct row r = last_of(p, i);

        ck_assert_int_eq(r.may, r.seq > 2 && i != D);
    }
    past_crawl_close(p);
    change(&old, "DELETE FROM meta WHERE name GLOB 'identity*'");
    p = open_past(&old);
    ck_assert_uint_ne(may_ask(p), 0);
    past_crawl_close(p);
    rig_fini(&old);
}

/* B has the root's body, so its record refers to the root's. */
TEST(the_record_of_a_page_is_the_one_that_has_its_body)
{
    struct past_crawl *p;
    struct row r;
    struct rig old;

    make_old(&old, true);
    p = open_past(&old);
    r = last_of(p, ROOT);
    ck_assert_str_eq(r.record, pages[ROOT].url);
    ck_assert_int_eq(r.record_ms, RIG_WALL + ROOT + 1);
    r = last_of(p, C);
    ck_assert_str_eq(r.record, pages[C].url);
    ck_assert_int_eq(r.record_ms, RIG_WALL + C + 1);
    past_crawl_close(p);
    rig_fini(&old);
}

/* ---- the new crawl ---- */

struct both {
    struct rig old, new;
    struct past_crawl *past;
};

/* The new crawl leaves out.test alone. */
static void begin_new(struct both *b, int64_t depth, bool keeps_records)
{
    judge_init(&b->new);
    b->new.o.keeps_records = keeps_records;
    judge_terms(&b->new, depth, "out\\.test");
    b->new.o.identity = bytes_of_str(IDENTITY);
    b->new.o.record_links = true;
    b->new.o.past = b->past;
    b->new.o.store.digest_seed = past_crawl_facts(b->past).seed;
    rig_create(&b->new);
    rig_seed(&b->new, pages[ROOT].url);
}

static void begin_within(struct both *b, int64_t depth)
{
    make_old(&b->old, true);
    b->past = open_past(&b->old);
    begin_new(b, depth, false);
}

static void begin(struct both *b)
{
    begin_within(b, -1);
}

static void end(struct both *b)
{
    judge_fini(&b->new);
    past_crawl_close(b->past);
    rig_fini(&b->old);
}

static const struct outcome unchanged = {OUTCOME_FETCHED, REASON_UNCHANGED,
                                         304};

/* The next page is unchanged. */
static enum page confirm(struct rig *r)
{
    struct url_lease l = lease(r);
    enum page p = page_of(l.url);
    struct url_done d = done_of(r, l.id, unchanged);

    ck_assert_uint_eq(l.last.past_url, p + 1);
    ck_assert_int_eq(l.last.at_ms, RIG_WALL + (int64_t)l.last.past_url);
    ck_assert(
        bytes_equal(l.last.etag, bytes_of_str(p == D ? "" : pages[p].etag)));
    ck_assert_uint_eq(l.last.last_modified.len, p == D ? 0 : 8);
    ack(r, &d);
    return p;
}

struct graph {
    unsigned links[PAGES + 1]; /* by id: bits of the ids linked to */
    unsigned count;
};

static bool take_link(void *ctx, const struct link_row *row)
{
    struct graph *g = ctx;

    ck_assert_uint_le(row->from, PAGES);
    g->links[row->from] |= 1U << row->to;
    g->count++;
    return true;
}

/* What is said of links is carried over, too, and what was dropped. */
static bool is_whole(void *ctx, const struct link_row *row)
{
    unsigned *seen = ctx;
    bool area = row->kind == LINK_AREA;

    ck_assert(bytes_is(row->said.rel, area ? "rel" : ""));
    ck_assert(bytes_is(row->said.text, area ? "text" : ""));
    ck_assert_int_eq(row->to == 0, row->said.dropped.len > 0);
    seen[0] += area;
    seen[1] += row->said.reason != REASON_NONE && row->said.dropped.len > 0;
    return true;
}

static bool same_size(void *ctx, const struct fetch_row *row)
{
    *(uint64_t *)ctx = row->body_bytes;
    ck_assert_uint_eq(row->http_status, 304);
    return true;
}

TEST(the_links_of_an_unchanged_page_are_admitted_as_if_it_had_come)
{
    struct graph g = {.count = 0};
    struct link_range rows = {0, 0};
    struct reader reader;
    struct both b;
    unsigned seen = 0, said[2] = {0};
    uint64_t size = 0;

    begin(&b);
    ck_assert_int_eq(confirm(&b.new), ROOT);
    ck_assert_uint_eq(rig_stats(&b.new).urls, 5);
    ck_assert_uint_eq(rig_stats(&b.new).links, 5);
    ck_assert_uint_eq(rig_stats(&b.new).dropped, 1);
    ck_assert_uint_eq(rig_stats(&b.new).duplicates, 0);
    for (int i = 0; i < 4; i++)
        seen |= 1U << confirm(&b.new);
    ck_assert_uint_eq(seen, 1 << B | 1 << OTHER | 1 << C | 1 << D);
    /* of B: the root was no link yet, C is known, and OUT is dropped */
    ck_assert_uint_eq(rig_stats(&b.new).urls, 5);
    ck_assert_uint_eq(rig_stats(&b.new).links, 8);
    ck_assert_uint_eq(rig_stats(&b.new).dropped, 2);
    ck_assert_uint_eq(rig_stats(&b.new).duplicates, 2);
    ck_assert_uint_eq(rig_counter(&b.new, "fetched.unchanged"), 5);
    rig_stop(&b.new);
    rig_verify(&b.new);
    ck_ok(reader_open(&reader, b.new.at.dir));
    ck_ok(link_store_each(reader.links, take_link, &g));
    ck_assert_uint_eq(g.count, 6);
    ck_ok(link_store_each_whole(reader.links, is_whole, said));
    ck_assert_uint_eq(said[0], 2); /* of the root and of B */
    ck_assert_uint_eq(said[1], 2);
    ck_assert_uint_eq(g.links[1], 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5);
    ck_assert_uint_eq(g.links[rig_find(&reader, pages[B].url)],
                      1 << 1 | 1 << rig_find(&reader, pages[C].url));
    ck_ok(page_store_each_of(reader.pages, 1, same_size, &size));
    ck_assert_uint_eq(size, 1000 + ROOT);
    /* so that they are known to the crawl after this one */
    ck_ok(link_store_page(reader.links, 1, &rows));
    ck_assert_uint_eq(rows.first, 1);
    ck_assert_uint_eq(rows.count, 5);
    reader_close(&reader);
    end(&b);
}

/* What was read as a page would be read as a sitemap by now. */
TEST(a_url_that_is_a_list_now_is_asked_for_in_full)
{
    for (int is_list = 0; is_list < 2; is_list++) {
        struct url_item item;
        struct url_lease l;
        struct both b;

        make_old(&b.old, true);
        b.past = open_past(&b.old);
        judge_init(&b.new);
        b.new.o.listings = UINT32_C(1) << LINK_SITEMAP;
        b.new.o.identity = bytes_of_str(IDENTITY);
        b.new.o.past = b.past;
        b.new.o.store.digest_seed = past_crawl_facts(b.past).seed;
        rig_create(&b.new);
        item = rig_item(&b.new, pages[C].url);
        item.kind = is_list ? LINK_SITEMAP : LINK_AREA;
        ck_assert_int_eq(rig_put(&b.new, item), PUT_NEW);
        l = lease(&b.new);
        ck_assert_uint_eq(l.last.past_url, C + 1);
        ck_assert_int_eq(l.last.etag.len > 0, !is_list);
        end(&b);
    }
}
