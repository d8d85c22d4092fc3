/* SPDX-License-Identifier: MIT */
/*
 * bench_service_frontier.c - the cost of the served frontier without the network:
 * puts, gets, a restart, memory.
 *
 *   bench_service_frontier [URLS [HOSTS [DIR]]]      default 500000 10000
 *   bench_service_frontier restart DIR               opens what KEEP=1 left
 *
 * SHORT=1: only the first part.
 *
 * The stream has twice as many puts as URLs, on HOSTS hosts. First all are put
 * as discovered, in batches of a hundred; then, in a new store, as PutURLs
 * would put them, sixteen calls of 64 URLs in progress at a time; then
 * everything is drained and put again as known, with metadata, as a crawler
 * does. CPU is that of the whole process, the submitting thread included.
 */
/* Promise (Served frontier): the served frontier's cost of a put, latency of
 * a get, restart and memory are measured. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file/file.h"
#include "base/mem.h"
#include "service/calls/frontier_service.h"

#define UNDER_WAY 16
#define TEXT      96

struct bench {
    struct frontier_service *s;
    uint64_t urls, hosts;
    char dir[512];
    /* shared, under mtx */
    pthread_mutex_t mtx;
    pthread_cond_t back;
    unsigned free_slots[UNDER_WAY];
    unsigned free_count;
    bool room;
    uint64_t ok, skipped, failed;
};

struct slot {
    struct frontier_call call;
    struct bench *b;
    unsigned number;
    struct frontier_item items[128];
    char text[128][TEXT];
};

static void die(const char *what, enum status st)
{
    fprintf(stderr, "bench_service_frontier: %s: %s\n", what, status_text(st));
    exit(1);
}

static void check(const char *what, enum status st)
{
    if (st != STATUS_OK)
        die(what, st);
}

/* ---- calls ---- */

static void put_done(struct frontier_call *call)
{
    struct slot *slot = call->ctx;
    struct bench *b = slot->b;

    pthread_mutex_lock(&b->mtx);
    for (size_t i = 0; i < call->in.put.n; i++) {
        b->ok += slot->items[i].ack == FRONTIER_ACK_OK;
        b->skipped += slot->items[i].ack == FRONTIER_ACK_SKIPPED;
        b->failed += slot->items[i].ack == FRONTIER_ACK_FAIL;
    }
    b->free_slots[b->free_count++] = slot->number;
    pthread_cond_signal(&b->back);
    pthread_mutex_unlock(&b->mtx);
}

static unsigned take_slot(struct bench *b)
{
    unsigned n;

    pthread_mutex_lock(&b->mtx);
    while (b->free_count == 0)
        pthread_cond_wait(&b->back, &b->mtx);
    n = b->free_slots[--b->free_count];
    pthread_mutex_unlock(&b->mtx);
    return n;
}

static void wait_all(struct bench *b)
{
    pthread_mutex_lock(&b->mtx);
    while (b->free_count < UNDER_WAY)
        pthread_cond_wait(&b->back, &b->mtx);
    pthread_mutex_unlock(&b->mtx);
}

static void one_done(struct frontier_call *call)
{
    struct bench *b = call->ctx;

    pthread_mutex_lock(&b->mtx);
    b->room = true;
    pthread_cond_signal(&b->back);
    pthread_mutex_unlock(&b->mtx);
}

static void wait_for(struct bench *b, struct frontier_call *call)
{
    b->room = false;
    check("submit", frontier_service_submit(b->s, call));
    pthread_mutex_lock(&b->mtx);
    while (!b->room)
        pthread_cond_wait(&b->back, &b->mtx);
    pthread_mutex_unlock(&b->mtx);
    check("call", call->status);
}

/* ---- the stream ---- */

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void fill(struct bench *b, struct slot *slot, size_t i, uint64_t url,
                 bool known, uint64_t refetch_s, struct bytes metadata)
{
    int len = snprintf(slot->text[i], TEXT,
                       "https://host-%" PRIu64 ".example.org/articles/%" PRIu64
                       "/page.html",
                       url % b->hosts, url);

    slot->items[i] = (struct frontier_item){
        .kind = known ? FRONTIER_ITEM_KNOWN : FRONTIER_ITEM_DISCOVERED,
        .crawl = bytes_of_str("DEFAULT"),
        .url = bytes_of(slot->text[i], (size_t)len),
        .metadata = metadata,
        .refetch_s = refetch_s,
    };
}

static const char metadata_entry[] =
    "\x1a\x23\x0a\x08hostname\x12\x17\x0a\x15www.example.org/abcde";

static void put_stream(struct bench *b, struct slot *slots, uint64_t puts,
                       size_t size, bool known, const char *what)
{
    uint64_t state = 1, sent = 0;
    int64_t cpu = clock_cpu(), wall = clock_mono();
    struct bytes metadata =
        known ? bytes_of(metadata_entry, sizeof metadata_entry - 1)
              : (struct bytes){NULL, 0};
    uint64_t later = (uint64_t)clock_wall_ms() / 1000 + 86400;

    b->ok = b->skipped = b->failed = 0;
    while (sent < puts) {
        struct slot *slot = &slots[take_slot(b)];
        size_t n = puts - sent < size ? (size_t)(puts - sent) : size;

        for (size_t i = 0; i < n; i++)
            fill(b, slot, i, next_random(&state) % b->urls, known, later,
                 metadata);
        slot->call.in.put = (struct frontier_put){slot->items, n};
        check("submit", frontier_service_submit(b->s, &slot->call));
        sent += n;
    }
    wait_all(b);
    cpu = clock_cpu() - cpu;
    wall = clock_mono() - wall;
    printf("%-34s %8.2f us CPU %9.0f/s  ok %" PRIu64 " skipped %" PRIu64
           " failed %" PRIu64 "  RSS %.0f MiB\n",
           what, (double)cpu / 1e3 / (double)puts,
           (double)puts * 1e9 / (double)wall, b->ok, b->skipped, b->failed,
           (double)mem_resident() / 1048576);
}

/* ---- draining ---- */

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

static void print_latencies(const char *what, int64_t *took, size_t n,
                            uint64_t urls, int64_t wall, int64_t cpu)
{
    qsort(took, n, sizeof *took, by_value);
    printf("%-34s p50 %.2f ms  p99 %.2f  max %.2f  (%zu calls, %.0f URLs/s, "
           "%.2f us CPU a URL)\n",
           what, (double)took[n / 2] / 1e6, (double)took[n * 99 / 100] / 1e6,
           (double)took[n - 1] / 1e6, n, (double)urls * 1e9 / (double)wall,
           (double)cpu / 1e3 / (double)(urls > 0 ? urls : 1));
}

/* Gets ten URLs of each of ten queues, as a StormCrawler spout does, `calls`
 * times. */
static void drain(struct bench *b, size_t calls)
{
    int64_t *took = xcalloc(calls, sizeof *took);
    struct frontier_call call;
    uint64_t urls = 0;
    int64_t cpu = clock_cpu(), wall = clock_mono();

    frontier_call_init(&call, FRONTIER_GET, one_done, b);
    call.in.get = (struct frontier_get){.any_crawl = true,
                                        .max_urls_per_queue = 10,
                                        .max_queues = 10,
                                        .delay_requestable_s = 600};
    for (size_t i = 0; i < calls; i++) {
        took[i] = clock_mono();
        wait_for(b, &call);
        took[i] = clock_mono() - took[i];
        urls += call.url_count;
    }
    print_latencies("get 10 x 10", took, calls, urls, clock_mono() - wall,
                    clock_cpu() - cpu);
    frontier_call_fini(&call);
    free(took);
}

/* As above while puts go on. */
struct pressure {
    struct bench *b;
    struct slot *slots;
    uint64_t puts;
};

static void *press(void *arg)
{
    struct pressure *p = arg;

    put_stream(p->b, p->slots, p->puts, 100, true, "put known while draining");
    return NULL;
}

/* ---- the whole ---- */

static void remove_store(const struct bench *b)
{
    static const char *const names[] = {"frontier.db", "frontier.db-wal",
                                        "frontier.db-shm", "filter.ckpt",
                                        "manifest"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[600];

        snprintf(path, sizeof path, "%s/%s", b->dir, names[i]);
        unlink(path);
    }
}

static void open_service(struct bench *b, const char *what)
{
    struct frontier_service_options o = {.dir = b->dir};
    int64_t wall = clock_mono(), cpu = clock_cpu();

    check("open", frontier_service_open(&b->s, &o));
    if (what != NULL)
        printf("%-34s %8.2f s (%.2f s CPU)  RSS %.0f MiB\n", what,
               (double)(clock_mono() - wall) / 1e9,
               (double)(clock_cpu() - cpu) / 1e9,
               (double)mem_resident() / 1048576);
}

static uint64_t disk(const struct bench *b)
{
    uint64_t size = 0;
    char path[600];

    snprintf(path, sizeof path, "%s/frontier.db", b->dir);
    (void)!file_size(path, &size);
    return size;
}

static int finish(const struct bench *b)
{
    if (getenv("KEEP") != NULL) {
        printf("kept: %s\n", b->dir);
        return 0;
    }
    remove_store(b);
    return rmdir(b->dir);
}

int main(int argc, char **argv)
{
    struct bench b = {.urls = argc > 1 ? strtoull(argv[1], NULL, 10) : 500000,
                      .hosts = argc > 2 ? strtoull(argv[2], NULL, 10) : 10000};
    struct slot *slots = xcalloc(UNDER_WAY, sizeof *slots);
    struct pressure p = {&b, slots, b.urls / 5};
    pthread_t thread;

    if (argc > 2 && strcmp(argv[1], "restart") == 0) {
        snprintf(b.dir, sizeof b.dir, "%s", argv[2]);
        open_service(&b, "restart");
        check("close", frontier_service_close(b.s));
        return 0;
    }
    snprintf(b.dir, sizeof b.dir, "%s/bench-service-XXXXXX",
             argc > 3 ? argv[3] : "/tmp");
    if (mkdtemp(b.dir) == NULL)
        die(b.dir, STATUS_IO);
    pthread_mutex_init(&b.mtx, NULL);
    pthread_cond_init(&b.back, NULL);
    for (unsigned i = 0; i < UNDER_WAY; i++) {
        slots[i].b = &b;
        slots[i].number = i;
        frontier_call_init(&slots[i].call, FRONTIER_PUT, put_done, &slots[i]);
        b.free_slots[b.free_count++] = i;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("%" PRIu64 " URLs of %" PRIu64 " hosts, each put twice\n", b.urls,
           b.hosts);

    open_service(&b, NULL);
    put_stream(&b, slots, 2 * b.urls, 100, false,
               "put discovered, batches of 100");
    check("close", frontier_service_close(b.s));
    open_service(&b, "restart, nothing but discovered");
    drain(&b, 200);
    check("close", frontier_service_close(b.s));
    if (getenv("SHORT") != NULL)
        return finish(&b);
    remove_store(&b);

    open_service(&b, NULL);
    put_stream(&b, slots, 2 * b.urls, 64, false, "put discovered, calls of 64");
    drain(&b, 1000);
    pthread_create(&thread, NULL, press, &p);
    drain(&b, 1000);
    pthread_join(thread, NULL);
    put_stream(&b, slots, 2 * b.urls, 64, true, "put known, calls of 64");
    check("close", frontier_service_close(b.s));
    printf("%-34s %8.0f B a URL\n", "frontier.db",
           (double)disk(&b) / (double)b.urls);

    open_service(&b, "restart");
    drain(&b, 200);
    check("close", frontier_service_close(b.s));
    free(slots);
    return finish(&b);
}
