/* SPDX-License-Identifier: MIT */
/*
 * fuzz_store_rows.c - a store with any content in its rows opens or is refused.
 *
 * The input is a list of changes: table, column, row, kind of value, a number;
 * the first octet chooses the store, a crawl's or a service's. They are made by
 * SQL in a copy of a small store that has a row in every table. Then it is
 * read, verified, opened for writing and used. The test only expects that each
 * of these ends.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file/file.h"
#include "base/logger.h"
#include "frontier/crawl/frontier_open.h"
#include "frontier/order.h"
#include "frontier/reader.h"
#include "frontier/served/served.h"
#include "frontier/served/served_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define WALL    INT64_C(1700000000000)
#define CHANGES 8

static const char *const names[] = {"frontier.db", "manifest", "filter.ckpt"};
enum { NAMES = sizeof names / sizeof *names };

struct template
{
    struct buf files[NAMES];
    bool made, served;
};

static struct template templates[2] = {{.made = false}, {.served = true}};
static char dir[64], path[128];

static void need(bool ok)
{
    if (!ok)
        abort();
}

static const char *in_dir(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

/* An order in which URLs have classes. */
static const struct order *best(void)
{
    static struct order *order;
    const struct order_options o = {.mode = ORDER_BEST};
    struct buf why;

    buf_init(&why, 64);
    need(order != NULL || order_new(&order, &o, &why) == STATUS_OK);
    buf_fini(&why);
    return order;
}

static struct frontier_options options(void)
{
    struct frontier_options o = {
        .crawl = bytes_of_str(CRAWL_ID),
        .schedule = {.max_delay = NS_PER_S, .retry_delay = NS_PER_MS},
        .tries = 3,
        .conns_per_host = 4,
        .in_flight = 64,
        .commit_least = 32,
        .store = {.use_filter = true,
                  .fpr = 0.01,
                  .memory = (uint64_t)64 << 20},
        .commit_interval = 200 * NS_PER_MS,
        .random_seed = 7,
        .order = best(),
    };

    for (unsigned i = 0; i < TRAP_RULES_; i++)
        o.traps.threshold[i] = 5;
    return o;
}

/* ---- working with one ---- */

static void put_some(struct frontier *e, unsigned from)
{
    enum { N = 80 }; /* enough to merge a part of the exact set */
    struct url_item items[N];
    static char key[N][32], url[N][64];

    for (unsigned i = 0; i < N; i++) {
        snprintf(key[i], sizeof key[i], "h%u.example", (from + i) % 5);
        snprintf(url[i], sizeof url[i], "http://%s/%u", key[i], from + i);
        items[i] = (struct url_item){.key = bytes_of_str(key[i]),
                                     .url = bytes_of_str(url[i]),
                                     .seed = true};
        items[i].digest =
            digest_url(frontier_get_digest_key(e), bytes_of_str(CRAWL_ID),
                       items[i].key, items[i].url);
    }
    (void)!frontier_put(e, 0, items, N, WALL, NULL);
}

static void crawl_some(struct frontier *e, int64_t now)
{
    struct url_lease leases[16];
    size_t n = 0;

    if (frontier_lease(e, 16, now, WALL, leases, &n) != STATUS_OK)
        return;
    for (size_t i = 0; i < n; i++) {
        struct url_done d = {
            .id = leases[i].id,
            .outcome = {OUTCOME_FETCHED, REASON_NONE, 200},
            .row = {.at_ms = WALL,
                    .http_status = 200,
                    .mime = bytes_of_str("text/html"),
                    .body_digest = {1, i % 3}},
            .host = {.ended = now, .retry_after_ms = i % 8 == 7 ? 1000 : -1},
        };

        if (i % 4 == 3) {
            d.outcome = (struct outcome){OUTCOME_FAILED, REASON_HTTP, 503};
            d.transient = true;
        }
        if (frontier_ack(e, &d, 1, now, WALL) != STATUS_OK)
            return;
    }
    (void)!frontier_turn(e, true, now, WALL, NULL);
}

static bool seen(void *ctx, const struct url_view *view)
{
    uint64_t *lease = ctx;

    *lease = view->lease;
    return true;
}

static const struct served_options served_options = {.fpr = 0.01,
                                                     .memory = (uint64_t)64
                                                               << 20,
                                                     .sweep_from = 1};

static void serve_some(unsigned from)
{
    struct url_ask g = {.any_crawl = true, .lease_ms = 60000};
    struct served *t = NULL;
    uint64_t lease = 0;
    bool more;

    if (served_open(&t, dir, &served_options, WALL) != STATUS_OK)
        return;
    for (unsigned i = 0; i < 20; i++) {
        char url[64], key[32];
        struct url_put p = {.known = i % 5 == 4,
                            .due_ms = i % 10 == 9 ? WALL + 5 : 0,
                            .metadata = bytes_of_str(i % 2 ? "\x1a\0" : "")};

        snprintf(key, sizeof key, "h%u.example", i % 3);
        snprintf(url, sizeof url, "http://%s/%u", key, from + i / 2);
        p.crawl = bytes_of_str("c");
        p.key = bytes_of_str(key);
        p.url = bytes_of_str(url);
        if (served_put(t, &p, 1, WALL) != STATUS_OK)
            goto out;
    }
    if (served_commit(t) == STATUS_OK &&
        served_get(t, &g, WALL, seen, &lease, &more) == STATUS_OK &&
        lease != 0 &&
        served_settle(t, lease, URL_SETTLE_ACK, 0, NULL, WALL) == STATUS_OK)
        (void)!served_commit(t);
    (void)!served_stop(t, WALL + 2);
out:
    served_close(t);
}

static void work(unsigned from)
{
    struct frontier_options o = options();
    struct frontier *e = NULL;

    if (frontier_open(&e, dir, &o, NS_PER_S, WALL) != STATUS_OK)
        return;
    put_some(e, from);
    for (int64_t i = 1; i < 4; i++)
        crawl_some(e, i * NS_PER_S);
    (void)!frontier_checkpoint_now(e, "stopped", true, 9 * NS_PER_S, WALL);
    frontier_close(e);
}

static bool any_row(void *ctx, const struct fetch_row *row)
{
    (void)ctx, (void)row;
    return true;
}

static void look(void)
{
    struct served_reader *p = NULL;
    struct reader r;
    uint64_t links = 0;

    if (reader_open(&r, dir) != STATUS_OK)
        return;
    (void)!page_store_each(r.pages, 0, any_row, NULL);
    (void)!frontier_store_verify(r.store);
    (void)!exact_set_verify(r.exact);
    (void)!link_store_verify(r.links, frontier_store_last_id(r.store), &links);
    if (served_reader_open(&p, &r, WALL) == STATUS_OK)
        served_reader_close(p);
    reader_close(&r);
}

/* ---- the stores ---- */

static void run_sql(const char *sql)
{
    sqlite3 *h = NULL;

    need(sqlite3_open(in_dir("frontier.db"), &h) == SQLITE_OK);
    (void)sqlite3_exec(h, sql, NULL, NULL, NULL); /* not all are accepted */
    sqlite3_close(h);
}

static void clear_dir(void)
{
    static const char *const all[] = {"frontier.db",         "frontier.db-wal",
                                      "frontier.db-shm",     "manifest",
                                      "filter.ckpt",         "manifest.tmp",
                                      "filter.ckpt.tmp",     "lock",
                                      "frontier.db-unsynced"};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        (void)unlink(in_dir(all[i]));
}

static void remove_dir(void)
{
    clear_dir();
    (void)rmdir(dir);
}

static void make(struct template *t)
{
    struct frontier_options o = options();
    struct frontier *e = NULL;

    clear_dir();
    if (t->served) {
        serve_some(0);
    } else {
        need(frontier_create(&e, dir, &o, WALL) == STATUS_OK);
        need(frontier_checkpoint_now(e, "stopped", true, NS_PER_S, WALL) ==
             STATUS_OK);
        frontier_close(e);
        work(0);
    }
    if (!t->served)
        run_sql(
            "INSERT OR IGNORE INTO place VALUES(1, '127.0.0.1');"
            "INSERT OR IGNORE INTO hint VALUES(1, 500, 0, 1);"
            "INSERT OR IGNORE INTO robots VALUES('http://h0.example', 1,"
            " 2, 0, 200, 'User-agent: *');"
            "INSERT INTO item_lease VALUES(1, 70, 1699999999000,"
            " 1700000060000);"
            "INSERT INTO item_queue VALUES(1, 3, 0, 5, 0, 50, 0, 2, 1);"
            "INSERT OR IGNORE INTO seenpart VALUES(900, 0, 0, x'');"
            "INSERT INTO drop_reason VALUES(1, 'scope', 2);"
            "INSERT INTO drop_count VALUES(1, 1, 'x.example', 2);"
            "INSERT INTO drop_example VALUES(1000, 1, 0, 'x', 'y', 1, 1);"
            "INSERT INTO kept_drop VALUES(1, 12582912, 2,"
            " x'32160001010011687474703a2f2f782e6578616d706c652f201700110161');"
            "INSERT INTO path VALUES(1, 1, 0, x'0101');"
            "INSERT INTO trap VALUES(1, 0, 'h0.example', '/N', 4, 128, 1,"
            " x'0000000100000002');"
            "INSERT INTO trap VALUES(2, 4, 'h1.example', '', 9, 288, 5, x'');"
            "UPDATE fetch SET meta = x'0161026262016e0163020007';"
            "INSERT INTO link_list VALUES(1, 1, '[64,0]',"
            " x'000179010001000916687474703a2f2f782f')");
    for (int i = 0; i < NAMES; i++) {
        buf_init(&t->files[i], (size_t)64 << 20);
        (void)!file_read(in_dir(names[i]), &t->files[i]);
    }
    t->made = true;
}

static void lay_out(const struct template *t)
{
    clear_dir();
    for (int i = 0; i < NAMES; i++) {
        struct bytes b = buf_bytes(&t->files[i]);
        int fd = open(in_dir(names[i]), O_WRONLY | O_CREAT | O_TRUNC, 0600);

        need(fd >= 0 &&
             (b.len == 0 || write(fd, b.at, b.len) == (ssize_t)b.len));
        close(fd);
    }
}

/* ---- changes ---- */

static const char *value_of(uint8_t kind, int64_t number, char out[64])
{
    static const char *const fixed[] = {
        "0",
        "-1",
        "9223372036854775807",
        "(-9223372036854775807 - 1)",
        "NULL",
        "x''",
        "'x'",
        "printf('%.100000c', 'a')",
        "1e300",
        "x'00'",
    };
    enum { FIXED = sizeof fixed / sizeof *fixed };

    kind %= FIXED + 3;
    if (kind < FIXED)
        return fixed[kind];
    if (kind == FIXED) /* near the old value, farther each time */
        number = number % 256 - 128;
    else if (kind == FIXED + 1)
        number = (int64_t)(((uint64_t)1 << (number & 63)) - 1);
    snprintf(out, 64, "%lld", (long long)number);
    return out;
}

/* The nth name in the result of `sql`, or "". */
static void nth_name(sqlite3 *h, const char *sql, unsigned n, char out[64])
{
    sqlite3_stmt *s = NULL;
    char counted[256];

    out[0] = '\0';
    snprintf(counted, sizeof counted,
             "SELECT name FROM (%s) LIMIT 1 OFFSET %u %% max(1, (SELECT"
             " count(*) FROM (%s)))",
             sql, n, sql);
    if (sqlite3_prepare_v2(h, counted, -1, &s, NULL) == SQLITE_OK &&
        sqlite3_step(s) == SQLITE_ROW)
        snprintf(out, 64, "%s", (const char *)sqlite3_column_text(s, 0));
    sqlite3_finalize(s);
}

static void change(sqlite3 *h, const uint8_t *at)
{
    char table[64], column[64], key[64], number[64], sql[1024];
    int64_t n = 0;

    for (int i = 4; i < 12; i++)
        n = (int64_t)((uint64_t)n << 8 | at[i]);
    nth_name(h,
             "SELECT name FROM sqlite_master WHERE type = 'table'"
             " ORDER BY name",
             at[0], table);
    snprintf(sql, sizeof sql, "SELECT name FROM pragma_table_info('%s')",
             table);
    nth_name(h, sql, at[1], column);
    nth_name(h, sql, 0, key); /* in all tables but link the key is first */
    snprintf(sql, sizeof sql,
             "UPDATE %s SET %s = %s WHERE %s = (SELECT %s FROM %s LIMIT 1"
             " OFFSET %u %% max(1, (SELECT count(*) FROM %s)))",
             table, column, value_of(at[3], n, number), key, key, table, at[2],
             table);
    (void)sqlite3_exec(h, sql, NULL, NULL, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct template *t = &templates[size > 0 ? data[0] & 1 : 0];
    sqlite3 *h = NULL;

    if (dir[0] == '\0') {
        snprintf(dir, sizeof dir, "%s/urlweir-rows-XXXXXX",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        need(mkdtemp(dir) != NULL && atexit(remove_dir) == 0);
        logger_set_level(LOG_LEVEL_ERROR);
    }
    if (!t->made)
        make(t);
    lay_out(t);
    need(sqlite3_open(in_dir("frontier.db"), &h) == SQLITE_OK);
    for (size_t i = 0; i < CHANGES && 1 + 12 * (i + 1) <= size; i++)
        change(h, data + 1 + 12 * i);
    sqlite3_close(h);
    look();
    if (t->served)
        serve_some(1000);
    else
        work(1000);
    look();
    clear_dir();
    return 0;
}
