/* SPDX-License-Identifier: MIT */
/*
 * cluster_worker.c - a worker of a crawl in a cluster, whose web is arithmetic
 * and whose requests are lines in a file.
 *
 *   cluster_worker create URL NAME [--shards N]      a crawl and its seeds
 *   cluster_worker work URL NAME --log FILE [...]    until all is done
 *
 * Host i has pages 0 .. P-1, the first of which is a seed; page j links to
 * pages 2j+1 and 2j+2 of the next host. So each page is found from one other
 * only, as a rule of another shard: a link that is lost is not found again. A
 * request appends "HOST PAGE START PID" to the log, START in ns of
 * CLOCK_MONOTONIC, which all processes of a machine share; its response comes
 * --fetch ms later. --fence 0 and --order 0 switch off what a worker has to do
 * itself: asking whether its lease allows a request, links before their page.
 * After SIGUSR1 it stops (SIGSTOP) as soon as there are URLs that it has leased
 * and not asked for.
 * `work` ends with "seen N done N expired N", and status 3 if it could not put
 * or acknowledge something.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "frontier/cluster_store/cluster_store.h"

#define MOST       4096 /* requests under way */
#define STOPS_WITH 3    /* URLs that it has not asked for */

struct settings {
    long hosts, pages, shards, delay, lease, hold, fetch, queue, replicas,
        concurrency, fence, order, tries;
    const char *log;
};

struct fetch {
    struct worker *w;
    bool used, asked, ended, acked;
    unsigned shard, lost;
    uint64_t token;
    int64_t until, when; /* of the next step */
    char host[32];
    long page;
};

struct worker {
    struct settings set;
    struct cluster_store *store;
    int log;
    struct fetch fetch[MOST];
    size_t busy;
    bool counting, failed, over;
    uint64_t seen_before; /* of the last count in which all was done */
    int64_t next_count;
    struct cluster_counts counts;
};

static struct bytes item_of(char out[32], long page)
{
    return bytes_of(out, (size_t)snprintf(out, 32, "%ld", page));
}

/* ---- requests ---- */

static void end_fetch(struct fetch *f)
{
    f->used = false;
    f->w->busy--;
}

static void acked(void *ctx, enum status st, bool over)
{
    struct fetch *f = ctx;

    (void)over; /* another worker has it now */
    f->w->failed |= st != STATUS_OK;
    if (f->w->set.order != 0) {
        end_fetch(f);
        return;
    }
    f->acked = true; /* the wrong order: its links come last */
    f->ended = false;
    f->when = clock_mono() + 20 * NS_PER_MS;
}

static void acknowledge(struct fetch *f)
{
    const struct cluster_ack a = {.shard = f->shard,
                                  .token = f->token,
                                  .host = bytes_of_str(f->host),
                                  .pause_ms = f->w->set.delay,
                                  .state = bytes_of_str("state")};

    if (cluster_store_ack(f->w->store, &a, acked, f) != STATUS_OK)
        abort();
}

/* Children before their parent: without them it stays leased. */
static void links_are_in(void *ctx, enum status st, const bool *fresh, size_t n)
{
    struct fetch *f = ctx;

    (void)fresh;
    (void)n;
    f->w->failed |= st != STATUS_OK;
    if (st == STATUS_OK && !f->acked)
        acknowledge(f);
    else
        end_fetch(f);
}

static void put_links(struct fetch *f)
{
    const struct settings *s = &f->w->set;
    const long to[2] = {2 * f->page + 1, 2 * f->page + 2};
    long host = (atol(f->host + 4) + 1) % s->hosts;
    struct cluster_url urls[2];
    char hosts[2][32], items[2][32], text[80];
    size_t n = 0;

    for (int i = 0; i < 2; i++) {
        struct cluster_url *u = &urls[n];

        if (to[i] >= s->pages)
            continue;
        u->host =
            bytes_of(hosts[n], (size_t)snprintf(hosts[n], 32, "host%ld", host));
        u->item = item_of(items[n], to[i]);
        snprintf(text, sizeof text, "%s/%s", hosts[n], items[n]);
        u->digest = digest_bytes(cluster_store_digest_key(f->w->store),
                                 bytes_of_str(text));
        n++;
    }
    if (cluster_store_put(f->w->store, urls, n, links_are_in, f) != STATUS_OK)
        abort();
}

static void request(struct fetch *f, int64_t now)
{
    char line[128];
    int len = snprintf(line, sizeof line, "%s %ld %" PRId64 " %d\n", f->host,
                       f->page, now, (int)getpid());

    if (write(f->w->log, line, (size_t)len) != len)
        abort();
    f->asked = true;
    f->when = now + f->w->set.fetch * NS_PER_MS;
}

/* A step of one fetch, if it is time. */
static void step(struct fetch *f, int64_t now)
{
    struct cluster_lease l = {.until = f->until};

    if (now < f->when || f->ended)
        return;
    if (f->asked) {
        f->ended = true;
        if (f->w->set.order != 0 || f->acked)
            put_links(f);
        else
            acknowledge(f);
    } else if (f->w->set.fence == 0 ||
               cluster_lease_allows(&l, now, f->w->set.fetch * NS_PER_MS)) {
        request(f, now);
    } else {
        end_fetch(f); /* the lease ends by itself */
    }
}

static void take(void *ctx, const struct cluster_lease *l)
{
    struct worker *w = ctx;
    struct fetch *f = w->fetch;
    char page[32] = "";

    while (f->used)
        f++;
    memset(f, 0, sizeof *f);
    f->w = w;
    f->used = true;
    f->shard = l->shard;
    f->token = l->token;
    f->until = l->until;
    f->lost = l->lost;
    snprintf(f->host, sizeof f->host, "%.*s", (int)l->host.len, l->host.at);
    memcpy(page, l->item.at, l->item.len < 31 ? l->item.len : 31);
    f->page = atol(page);
    f->when = clock_mono() + w->set.queue * NS_PER_MS;
    w->busy++;
}

/* ---- the end ---- */

/* It is over when two counts in a row find nothing but done URLs, and as many:
 * then it was over between them. */
static void counted(void *ctx, enum status st, const struct cluster_counts *c)
{
    struct worker *w = ctx;
    bool done = st == STATUS_OK && c->seen == c->done && c->seen > 0;

    w->over = done && c->seen == w->seen_before;
    w->seen_before = done ? c->seen : 0;
    w->counts = *c;
    w->counting = false;
    w->next_count = clock_mono() + 200 * NS_PER_MS;
}

static volatile sig_atomic_t should_stop;

static void ask_to_stop(int signal)
{
    should_stop = signal;
}

static size_t not_asked_for(const struct worker *w)
{
    size_t n = 0;

    for (size_t i = 0; i < MOST; i++)
        n += w->fetch[i].used && !w->fetch[i].asked;
    return n;
}

static int work(struct worker *w)
{
    (void)signal(SIGUSR1, ask_to_stop);
    while (!w->over || w->busy > 0) {
        int64_t now = clock_mono();

        for (size_t i = 0; i < MOST; i++)
            if (w->fetch[i].used)
                step(&w->fetch[i], now);
        cluster_store_lease(w->store,
                            w->over ? 0 : (size_t)w->set.concurrency - w->busy,
                            take, w);
        if (!w->counting && now > w->next_count && !w->over) {
            w->counting = true;
            cluster_store_count(w->store, counted, w);
        }
        cluster_store_turn(w->store, 2 * NS_PER_MS);
        if (should_stop != 0 && not_asked_for(w) >= STOPS_WITH) {
            should_stop = 0;
            (void)raise(SIGSTOP);
        }
    }
    printf("seen %" PRIu64 " done %" PRIu64 " expired %" PRIu64 "\n",
           w->counts.seen, w->counts.done, w->counts.expired);
    return w->failed ? 3 : 0;
}

/* ---- start ---- */

static void seeds_are_in(void *ctx, enum status st, const bool *fresh, size_t n)
{
    *(int *)ctx = st == STATUS_OK && n > 0 && fresh[0] ? 0 : 3;
}

static int put_seeds(const struct worker *w)
{
    size_t n = (size_t)w->set.hosts;
    struct cluster_url *urls = xcalloc(n, sizeof *urls);
    char(*hosts)[32] = xcalloc(n, sizeof *hosts), text[80];
    int code = -1;

    for (size_t i = 0; i < n; i++) {
        snprintf(hosts[i], sizeof hosts[i], "host%zu", i);
        snprintf(text, sizeof text, "%s/0", hosts[i]);
        urls[i].host = bytes_of_str(hosts[i]);
        urls[i].item = bytes_of_str("0");
        urls[i].digest = digest_bytes(cluster_store_digest_key(w->store),
                                      bytes_of_str(text));
    }
    if (cluster_store_put(w->store, urls, n, seeds_are_in, &code) != STATUS_OK)
        code = 3;
    while (code < 0)
        cluster_store_turn(w->store, NS_PER_S);
    free(hosts);
    free(urls);
    return code;
}

static void read_settings(struct settings *s, int argc, char **argv)
{
    const struct {
        const char *name;
        long *to;
    } t[] = {{"--hosts", &s->hosts},       {"--pages", &s->pages},
             {"--shards", &s->shards},     {"--delay", &s->delay},
             {"--lease", &s->lease},       {"--hold", &s->hold},
             {"--fetch", &s->fetch},       {"--queue", &s->queue},
             {"--replicas", &s->replicas}, {"--concurrency", &s->concurrency},
             {"--fence", &s->fence},       {"--order", &s->order},
             {"--tries", &s->tries}};

    for (int i = 4; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--log") == 0)
            s->log = argv[i + 1];
        for (size_t j = 0; j < sizeof t / sizeof *t; j++)
            if (strcmp(argv[i], t[j].name) == 0)
                *t[j].to = atol(argv[i + 1]);
    }
}

int main(int argc, char **argv)
{
    static struct worker w;
    static const unsigned char seed[DIGEST_SEED_SIZE] = "cluster";
    struct redis_url_parts url;
    struct cluster_store_options o;
    struct cluster_new what;
    const char *why = "";
    struct buf error;
    enum status st;
    bool create = argc > 1 && strcmp(argv[1], "create") == 0;

    w.set = (struct settings){.hosts = 10,
                              .pages = 100,
                              .shards = 64,
                              .delay = 20,
                              .lease = 3000,
                              .hold = 3000,
                              .fetch = 5,
                              .concurrency = 32,
                              .order = 1,
                              .fence = 1,
                              .tries = 60000,
                              .log = "/dev/null"};
    if (argc < 4 || redis_address_read(&url, argv[2], &why) != STATUS_OK) {
        fprintf(stderr, "cluster_worker create|work URL NAME ...; %s\n", why);
        return 1;
    }
    read_settings(&w.set, argc, argv);
    o = (struct cluster_store_options){.servers = url.hosts,
                                       .server_count = url.host_count,
                                       .name = argv[3],
                                       .lease_ms = w.set.lease,
                                       .pause_ms = w.set.delay,
                                       .hold_ms = w.set.hold,
                                       .replicas = (unsigned)w.set.replicas,
                                       .call_ns = w.set.tries * NS_PER_MS};
    buf_init(&error, 4096);
    what = (struct cluster_new){(unsigned)w.set.shards, seed, {"", 0}};
    st = create ? cluster_store_create(&w.store, &o, &what, &error)
                : cluster_store_open(&w.store, &o, &error);
    if (st != STATUS_OK) {
        fprintf(stderr, "cluster_worker: %s\n", buf_str(&error));
        return 2;
    }
    buf_fini(&error);
    w.log = open(w.set.log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    st = (enum status)(create ? put_seeds(&w) : work(&w));
    if (!create) {
        struct redis_cluster_stats x;

        cluster_store_get_stats(w.store, &x);
        printf("calls %" PRIu64 " repeats %" PRIu64 " moved %" PRIu64
               " ask %" PRIu64 " again %" PRIu64 " down %" PRIu64
               " readonly %" PRIu64 " full %" PRIu64 " noscript %" PRIu64
               " lost %" PRIu64 " timeouts %" PRIu64 " short %" PRIu64 "\n",
               x.calls, x.repeats, x.moved, x.ask, x.again, x.down, x.readonly,
               x.full, x.noscript, x.lost, x.timeouts, x.short_waits);
    }
    cluster_store_close(w.store);
    return (int)st;
}
