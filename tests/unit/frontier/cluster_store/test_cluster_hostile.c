/* SPDX-License-Identifier: MIT */
/* test_cluster_hostile.c - a cluster whose server says anything. */
#include "base/clock.h"
#include "frontier/cluster_store/cluster_store.h"
#include "tests/unit/filter/redis/redis_impostor.h"

#define RECORD                                                                 \
    "*6\r\n$6\r\nformat\r\n$1\r\n2\r\n$6\r\nshards\r\n$1\r\n2\r\n"             \
    "$4\r\nseed\r\n$64\r\n"                                                    \
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\r\n"

static struct impostor imp;

static void begin(void)
{
    impostor_start(&imp);
}

static void end(void)
{
    impostor_end(&imp);
}

/* Every script is answered alike, after the crawl's record. */
static void answer_all(const char *text)
{
    pthread_mutex_lock(&imp.mtx);
    for (size_t i = 0; i < LINK_SCRIPTS; i++) {
        imp.asked[i] = 0;
        imp.scripts[i][0] = RECORD;
        imp.scripts[i][1] = text;
    }
    pthread_mutex_unlock(&imp.mtx);
}

struct ends {
    unsigned puts, acks, counts, leases;
    enum status put, ack, count;
};

static void put_end(void *ctx, enum status st, const bool *fresh, size_t n)
{
    struct ends *e = ctx;

    (void)fresh;
    (void)n;
    e->puts++;
    e->put = st;
}

static void ack_end(void *ctx, enum status st, bool over)
{
    struct ends *e = ctx;

    (void)over;
    e->acks++;
    e->ack = st;
}

static void count_end(void *ctx, enum status st, const struct cluster_counts *c)
{
    struct ends *e = ctx;

    (void)c;
    e->counts++;
    e->count = st;
}

static void take(void *ctx, const struct cluster_lease *l)
{
    struct ends *e = ctx;

    e->leases++;
    ck_assert_uint_le(l->host.len, CLUSTER_HOST_MOST);
    ck_assert_uint_lt(l->item.len, CLUSTER_ITEM_MOST);
}

/* Everything that the store does, twice; each call ends once. */
static void use(struct cluster_store *s, struct ends *e)
{
    struct cluster_url u[2] = {{.host = bytes_of_str("a"),
                                .item = bytes_of_str("x")},
                               {.host = bytes_of_str("b"),
                                .digest = {1, 1},
                                .item = bytes_of_str("y")}};
    const struct cluster_ack a = {.host = bytes_of_str("a"), .token = 1};

    for (unsigned i = 1; i <= 2; i++) {
        ck_ok(cluster_store_put(s, u, 2, put_end, e));
        ck_ok(cluster_store_ack(s, &a, ack_end, e));
        cluster_store_count(s, count_end, e);
        cluster_store_lease(s, 5, take, e);
        while (cluster_store_pending(s) > 0)
            cluster_store_turn(s, 50 * NS_PER_MS);
        ck_assert_uint_eq(e->puts, i);
        ck_assert_uint_eq(e->acks, i);
        ck_assert_uint_eq(e->counts, i);
    }
}

static void meet(const char *text, struct ends *e)
{
    struct redis_address a = impostor_place(&imp, 1000).at;
    const struct cluster_store_options o = {.servers = &a,
                                            .server_count = 1,
                                            .name = "c",
                                            .lease_ms = 1000,
                                            .hold_ms = 1000,
                                            .call_ns = 200 * NS_PER_MS};
    struct cluster_store *s = NULL;
    struct buf error;

    buf_init(&error, 1000);
    answer_all(text);
    memset(e, 0, sizeof *e);
    ck_assert_msg(cluster_store_open(&s, &o, &error) == STATUS_OK, "%s",
                  buf_str(&error));
    use(s, e);
    cluster_store_close(s);
    buf_fini(&error);
}

FIXTURE(begin, end);

TEST(lies_end_calls_and_harm_nobody)
{
    static const char *const lies[] = {
        "$-1\r\n",
        "+OK\r\n",
        "*-1\r\n",
        "*0\r\n",
        "*1\r\n$-1\r\n",
        "*1\r\n:0\r\n",
        "*1\r\n:-1\r\n",
        "*1\r\n:7\r\n", /* other buckets each time: not for ever */
        "*1\r\n:99999999999\r\n",
        "*2\r\n:0\r\n$-1\r\n",
        "*2\r\n:1\r\n:9223372036854775807\r\n",
        "*3\r\n:1\r\n:9223372036854775807\r\n$1\r\n1\r\n",
        "*3\r\n:1\r\n:1\r\n$2\r\n11\r\n",
        "*3\r\n:1\r\n:1\r\n:1\r\n",
        "*4\r\n$1\r\na\r\n:1\r\n$0\r\n\r\n$0\r\n\r\n",
        "*4\r\n$1\r\na\r\n:-1\r\n$1\r\n\xff\r\n$1\r\n:\r\n",
        "*4\r\n:1\r\n:1\r\n:1\r\n:1\r\n",
        "*5\r\n$1\r\na\r\n:1\r\n$1\r\nx\r\n$0\r\n\r\n$-1\r\n",
        "*5\r\n:1\r\n:1\r\n:1\r\n:1\r\n$1\r\n1\r\n",
        "*2\r\n:5\r\n*1\r\n*0\r\n",
    };
    struct ends e;

    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++)
        meet(lies[i], &e);
}

TEST(errors_that_do_not_pass_end_calls_with_their_status)
{
    static const struct {
        const char *text;
        enum status st;
    } t[] = {{"-OOM full\r\n", STATUS_FULL},
             {"-READONLY replica\r\n", STATUS_BUSY},
             {"-TRYAGAIN later\r\n", STATUS_CLOSED},
             {"-CLUSTERDOWN\r\n", STATUS_CLOSED},
             {"-LOADING\r\n", STATUS_CLOSED},
             {"-NOSCRIPT\r\n", STATUS_AGAIN},
             {"-MOVED 1 127.0.0.1:1\r\n", STATUS_NOT_FOUND},
             {"-ASK 0\r\n", STATUS_NOT_FOUND},
             {"-WRONGTYPE\r\n", STATUS_ARG},
             {"-ERR script\r\n", STATUS_ARG},
             {HANG_UP, STATUS_CLOSED},
             {"what\r\n", STATUS_CLOSED},
             {"*70000\r\n", STATUS_CLOSED}};
    struct ends e;

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        meet(t[i].text, &e);
        ck_assert_msg(e.put == t[i].st, "%s: %d",
                      t[i].text != NULL ? t[i].text : "hang up", e.put);
    }
}
