/* SPDX-License-Identifier: MIT */
/*
 * bench_grpc.c - `urlweir serve` under load, as crawlers load a frontier.
 *
 *   PutURLs        URLS URLs, about half of them distinct, on 10,000 hosts,
 *                  each acknowledged after it is durable; 1, 4 and 8 streams
 *                  with at most 10,000 URLs on their way each
 *   PutDiscovered  the same in batches of 100
 *   GetURLs        10 URLs of 10 queues at a time, with 10,000 queues
 *   draining       GetURLs, and each URL put as completed, until none is left
 *   restart        after SIGTERM and after SIGKILL, to the first answer
 *   never reading  24 connections that put and list and read no answer: what
 *                  they cost in memory, and how long another caller waits
 *
 * CPU and memory are the server's own, read from /proc; the client runs beside
 * it on the same cores. Each load starts with an empty directory.
 *
 * usage: bench_grpc [URLS [PART]]   1,000,000 by default; PART is a word of
 *   put, discovered, drain, deaf: only that part
 */
/* Promise (The service): CPU, memory and latency under load are measured. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench/support/grpc_load.h"

#define HOSTS        10000
#define ON_THEIR_WAY 10000 /* of one stream */
#define BATCH        100
#define GETS         1000
#define DEAF         24 /* connections that never read */
#define DEAF_CALLS   10 /* on each: lists, and streams of puts */
#define DEAF_TURNS   300
#define SECONDS(ns)  ((double)(ns) / 1e9)

static uint64_t urls = 1000000;
static uint64_t random_state;

static uint64_t rnd(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* ---- the server ---- */

struct server {
    pid_t pid;
    unsigned port;
    FILE *err;
};

static char dir[64];

static struct server server_start(void)
{
    struct server s = {0};
    char line[256], *binary = getenv("URLWEIR");
    int pipe_fd[2];

    if (pipe(pipe_fd) != 0)
        exit(1);
    s.pid = fork();
    if (s.pid == 0) {
        dup2(pipe_fd[1], 2);
        close(pipe_fd[0]);
        execl(binary != NULL ? binary : "build/release/urlweir", "urlweir",
              "serve", dir, "--listen", "127.0.0.1:0", "--http", "none",
              (char *)NULL);
        _exit(127);
    }
    close(pipe_fd[1]);
    s.err = fdopen(pipe_fd[0], "r");
    while (fgets(line, sizeof line, s.err) != NULL)
        if (sscanf(line, "urlweir serve: listening on 127.0.0.1:%u", &s.port) ==
            1)
            return s;
    fprintf(stderr, "bench_grpc: no server; set URLWEIR to the binary\n");
    exit(1);
}

static void server_end(struct server *s, int signal_number)
{
    kill(s->pid, signal_number);
    waitpid(s->pid, NULL, 0);
    fclose(s->err);
}

/* User and system time in seconds. */
static double server_cpu(const struct server *s)
{
    char path[64], text[1024] = "";
    unsigned long user = 0, system = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)s->pid);
    f = fopen(path, "r");
    if (f == NULL || fgets(text, sizeof text, f) == NULL)
        exit(1);
    fclose(f);
    sscanf(strrchr(text, ')') + 1,
           " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
           &system);
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

/* A line of /proc/PID/status in MiB. */
static double server_memory(const struct server *s, const char *what)
{
    char path[64], line[256];
    double kib = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/status", (int)s->pid);
    f = fopen(path, "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, what, strlen(what)) == 0)
            kib = atof(line + strlen(what) + 1);
    if (f != NULL)
        fclose(f);
    return kib / 1024;
}

static double disk_mib(void)
{
    char command[128];
    double kib = 0;
    FILE *f;

    snprintf(command, sizeof command, "du -sk %s", dir);
    f = popen(command, "r");
    if (f != NULL && fscanf(f, "%lf", &kib) != 1)
        kib = 0;
    if (f != NULL)
        pclose(f);
    return kib / 1024;
}

static void clear_dir(void)
{
    char command[128];

    snprintf(command, sizeof command, "rm -rf %s", dir);
    if (system(command) != 0)
        exit(1);
}

/* ---- messages ---- */

static void add_varint(struct buf *b, uint64_t n)
{
    for (; n >= 0x80; n >>= 7)
        buf_add_char(b, (char)(unsigned char)(n | 0x80));
    buf_add_char(b, (char)(unsigned char)n);
}

static void add_field(struct buf *b, unsigned field, struct bytes octets)
{
    buf_add_char(b, (char)(field << 3 | 2));
    add_varint(b, octets.len);
    buf_add_bytes(b, octets);
}

static void add_number(struct buf *b, unsigned field, uint64_t n)
{
    buf_add_char(b, (char)(field << 3));
    add_varint(b, n);
}

/* The value of an octet field; empty if it is missing. */
static struct bytes field_of(struct bytes m, unsigned wanted)
{
    size_t at = 0;

    while (at < m.len) {
        unsigned tag = (unsigned char)m.at[at++];
        uint64_t n = 0;
        unsigned shift = 0;

        do {
            n |= (uint64_t)((unsigned char)m.at[at] & 0x7f) << shift;
            shift += 7;
        } while ((unsigned char)m.at[at++] >= 0x80);
        if ((tag & 7) != 2)
            continue;
        if (tag >> 3 == wanted)
            return bytes_of(m.at + at, n);
        at += n;
    }
    return bytes_of(NULL, 0);
}

static void add_info(struct buf *b, uint64_t n)
{
    char key[64], url[128];
    uint64_t host = n % HOSTS;

    snprintf(key, sizeof key, "www.site-%05" PRIu64 ".example.com", host);
    snprintf(url, sizeof url,
             "https://%s/section-%" PRIu64 "/page-%" PRIu64 ".html", key,
             n % 97, n);
    add_field(b, 1, bytes_of_str(url));
    add_field(b, 2, bytes_of_str(key));
    add_field(b, 4, bytes_of_str("DEFAULT"));
}

/* ---- puts ---- */

struct putter {
    struct load_stream stream;
    struct load *load;
    uint64_t left, on_way;
    uint64_t ok, skipped, failed;
    bool batches;
    struct buf info, item;
};

static bool next_put(struct load_stream *s, struct buf *m)
{
    struct putter *p = s->user;
    unsigned n = p->batches ? BATCH : 1;

    if (p->left == 0) {
        s->done = true;
        return false;
    }
    if (p->on_way + n > ON_THEIR_WAY)
        return false;
    if (p->batches)
        add_field(m, 1, bytes_of_str("batch"));
    for (unsigned i = 0; i < n; i++) {
        buf_clear(&p->info);
        add_info(&p->info, rnd() % (urls * 10 / 16));
        if (p->batches) {
            add_field(m, 2, buf_bytes(&p->info));
        } else {
            buf_clear(&p->item);
            add_field(&p->item, 1, buf_bytes(&p->info));
            add_field(m, 1, buf_bytes(&p->item));
            add_field(m, 3, field_of(buf_bytes(&p->info), 1));
        }
    }
    p->left -= n;
    p->on_way += n;
    return true;
}

static void count_ack(struct putter *p, unsigned status)
{
    p->on_way--;
    p->ok += status == 0;
    p->skipped += status == 1;
    p->failed += status == 2;
}

static void put_answered(struct load_stream *s, struct bytes m)
{
    struct putter *p = s->user;
    struct bytes id = field_of(m, 1);

    if (p->batches) {
        struct bytes statuses = field_of(m, 2);

        for (size_t i = 0; i < statuses.len; i++)
            count_ack(p, (unsigned char)statuses.at[i]);
    } else { /* the status follows the ID, if it is not OK */
        bool more = id.at != NULL && id.at + id.len < m.at + m.len;

        count_ack(p, more ? (unsigned char)id.at[id.len + 1] : 0);
    }
    load_resume(p->load, s);
}

static void begin_put(struct putter *p, struct load *l, uint64_t n,
                      bool batches)
{
    *p = (struct putter){.load = l, .left = n, .batches = batches};
    p->stream = (struct load_stream){.next = next_put,
                                     .answer = put_answered,
                                     .user = p};
    buf_init(&p->info, 1000);
    buf_init(&p->item, 1000);
    load_start(l, &p->stream, batches ? "PutDiscovered" : "PutURLs");
}

static void end_put(struct putter *p)
{
    load_finish(p->load, &p->stream);
    buf_fini(&p->info);
    buf_fini(&p->item);
    if (p->failed > 0) {
        fprintf(stderr, "bench_grpc: %" PRIu64 " puts failed\n", p->failed);
        exit(1);
    }
}

static void put_all(struct server *s, unsigned streams, bool batches)
{
    struct load *l = load_connect(s->port);
    struct putter *p = xcalloc(streams, sizeof *p);
    int64_t begun = clock_mono(), took;
    uint64_t ok = 0, all = 0;
    double cpu = server_cpu(s);

    random_state = 88172645463325252;
    for (unsigned i = 0; i < streams; i++)
        begin_put(&p[i], l, urls / streams, batches);
    for (unsigned i = 0; i < streams; i++) {
        end_put(&p[i]);
        ok += p[i].ok;
        all += p[i].ok + p[i].skipped;
    }
    took = clock_mono() - begun;
    printf("%-13s %u stream%s %9" PRIu64 " URLs, %7" PRIu64
           " new  %8.0f acks/s  CPU %6.2f s  peak %4.0f MiB  disk %4.0f MiB\n",
           batches ? "PutDiscovered" : "PutURLs", streams,
           streams == 1 ? ", " : "s,", all, ok, (double)all / SECONDS(took),
           server_cpu(s) - cpu, server_memory(s, "VmHWM:"), disk_mib());
    fflush(stdout);
    free(p);
    load_free(l);
}

/* ---- single calls ---- */

struct single {
    struct load_stream stream;
    struct buf request;
    void (*answer)(struct single *c, struct bytes m);
    void *user;
    uint64_t answers;
    bool sent;
};

static bool next_single(struct load_stream *s, struct buf *m)
{
    struct single *c = s->user;

    s->done = true;
    if (c->sent)
        return false;
    c->sent = true;
    buf_add_bytes(m, buf_bytes(&c->request));
    return true;
}

static void single_answered(struct load_stream *s, struct bytes m)
{
    struct single *c = s->user;

    c->answers++;
    if (c->answer != NULL)
        c->answer(c, m);
}

/* Returns nanoseconds. */
static int64_t call(struct load *l, struct single *c, const char *method)
{
    int64_t begun = clock_mono();

    c->sent = false;
    c->answers = 0;
    c->stream = (struct load_stream){.next = next_single,
                                     .answer = single_answered,
                                     .user = c};
    load_start(l, &c->stream, method);
    load_finish(l, &c->stream);
    return clock_mono() - begun;
}

static void ask_get(struct single *c, unsigned per_queue, unsigned queues)
{
    buf_clear(&c->request);
    add_number(&c->request, 1, per_queue);
    add_number(&c->request, 2, queues);
    add_number(&c->request, 4, 3600);
    add_field(&c->request, 5, bytes_of(NULL, 0)); /* any crawl */
}

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void gets(struct server *s)
{
    struct load *l = load_connect(s->port);
    struct single c = {0};
    int64_t *took = xcalloc(GETS, sizeof *took);
    double cpu = server_cpu(s);
    uint64_t n = 0;

    buf_init(&c.request, 1000);
    ask_get(&c, 10, 10);
    for (unsigned i = 0; i < GETS; i++) {
        took[i] = call(l, &c, "GetURLs");
        n += c.answers;
    }
    qsort(took, GETS, sizeof *took, by_time);
    printf("GetURLs       %u calls, 10 URLs of 10 queues: %" PRIu64
           " URLs; p50 %.2f ms, p99 %.2f ms, most %.2f ms; CPU %.2f s\n",
           GETS, n, (double)took[GETS / 2] / 1e6,
           (double)took[GETS * 99 / 100] / 1e6, (double)took[GETS - 1] / 1e6,
           server_cpu(s) - cpu);
    fflush(stdout);
    buf_fini(&c.request);
    free(took);
    load_free(l);
}

/* ---- draining ---- */

struct drain {
    struct load *load;
    struct load_stream puts;
    struct buf queued; /* PutURLs messages, each with its length before it */
    size_t queued_at;
    uint64_t taken, acked;
    bool ending;
};

static bool next_completed(struct load_stream *s, struct buf *m)
{
    struct drain *d = s->user;
    uint32_t n;

    if (d->queued_at == d->queued.len) {
        buf_clear(&d->queued);
        d->queued_at = 0;
        s->done = d->ending;
        return false;
    }
    memcpy(&n, d->queued.at + d->queued_at, sizeof n);
    buf_add(m, d->queued.at + d->queued_at + sizeof n, n);
    d->queued_at += sizeof n + n;
    return true;
}

static void completed(struct load_stream *s, struct bytes m)
{
    struct drain *d = s->user;

    (void)m;
    d->acked++;
}

/* A leased URL: put it as known, date 0. */
static void complete(struct single *c, struct bytes info)
{
    struct drain *d = c->user;
    struct buf known, item;
    uint32_t n;

    buf_init(&known, 4000);
    buf_init(&item, 4000);
    add_field(&known, 1, info);
    add_field(&item, 2, buf_bytes(&known));
    n = (uint32_t)item.len;
    buf_add(&d->queued, &n, sizeof n);
    buf_add_bytes(&d->queued, buf_bytes(&item));
    d->taken++;
    buf_fini(&known);
    buf_fini(&item);
    load_resume(d->load, &d->puts);
}

static bool all_acked(void *ctx)
{
    struct drain *d = ctx;

    return d->acked == d->taken;
}

/* Sets the default delay to 0, so that nothing waits for it. */
static void no_delay(struct load *l)
{
    struct single c = {0};

    buf_init(&c.request, 1000);
    call(l, &c, "SetDelay"); /* an empty key, 0 seconds */
    buf_fini(&c.request);
}

static void drain(struct server *s)
{
    struct drain d = {.load = load_connect(s->port)};
    struct single c = {.answer = complete, .user = &d};
    double cpu = server_cpu(s);
    unsigned empty = 0;
    int64_t begun, took;

    no_delay(d.load);
    buf_init(&d.queued, (size_t)64 << 20);
    buf_init(&c.request, 1000);
    d.puts = (struct load_stream){.next = next_completed,
                                  .answer = completed,
                                  .user = &d};
    load_start(d.load, &d.puts, "PutURLs");
    ask_get(&c, 10, 100);
    begun = clock_mono();
    while (empty < 3) {
        call(d.load, &c, "GetURLs");
        empty = c.answers == 0 ? empty + 1 : 0;
        load_run(d.load, all_acked, &d);
    }
    took = clock_mono() - begun;
    d.ending = true;
    load_resume(d.load, &d.puts);
    load_finish(d.load, &d.puts);
    printf("draining      %" PRIu64 " URLs taken and completed, %.0f URLs/s; "
           "CPU %.2f s; peak %.0f MiB\n",
           d.taken, (double)d.taken / SECONDS(took), server_cpu(s) - cpu,
           server_memory(s, "VmHWM:"));
    fflush(stdout);
    buf_fini(&c.request);
    buf_fini(&d.queued);
    load_free(d.load);
}

/* ---- restart ---- */

static void restart(struct server *s, int signal_number, const char *name)
{
    struct single c = {0};
    struct load *l;
    int64_t begun = clock_mono(), stopped, ready;

    server_end(s, signal_number);
    stopped = clock_mono();
    *s = server_start();
    l = load_connect(s->port);
    buf_init(&c.request, 1000);
    call(l, &c, "GetStats");
    ready = clock_mono();
    printf("restart       after %s: ends in %.3f s, first answer after %.3f "
           "s; CPU %.2f s; resident %.0f MiB\n",
           name, SECONDS(stopped - begun), SECONDS(ready - stopped),
           server_cpu(s), server_memory(s, "VmRSS:"));
    fflush(stdout);
    buf_fini(&c.request);
    load_free(l);
}

/* ---- callers who never read ---- */

struct deaf {
    struct load *load;
    struct load_stream lists[DEAF_CALLS], puts[DEAF_CALLS];
    struct buf info, item;
};

static bool next_list(struct load_stream *s, struct buf *m)
{
    if (s->done)
        return false;
    add_number(m, 2, 100000); /* size */
    s->done = true;
    return true;
}

/* Gives another put, without end. */
static bool next_deaf_put(struct load_stream *s, struct buf *m)
{
    struct deaf *d = s->user;

    buf_clear(&d->info);
    buf_clear(&d->item);
    add_info(&d->info, rnd() % urls);
    add_field(&d->item, 1, buf_bytes(&d->info));
    add_field(m, 1, buf_bytes(&d->item));
    return true;
}

static void begin_deaf(struct deaf *d, unsigned port)
{
    d->load = load_connect(port);
    buf_init(&d->info, 1000);
    buf_init(&d->item, 1000);
    for (int i = 0; i < DEAF_CALLS; i++) {
        d->lists[i] = (struct load_stream){.next = next_list, .user = d};
        d->puts[i] = (struct load_stream){.next = next_deaf_put, .user = d};
        load_start(d->load, &d->lists[i], "ListURLs");
        load_start(d->load, &d->puts[i], "PutURLs");
    }
}

static void end_deaf(struct deaf *d)
{
    for (int i = 0; i < DEAF_CALLS; i++) {
        buf_fini(&d->lists[i].out);
        buf_fini(&d->lists[i].in);
        buf_fini(&d->lists[i].message);
        buf_fini(&d->puts[i].out);
        buf_fini(&d->puts[i].in);
        buf_fini(&d->puts[i].message);
    }
    buf_fini(&d->info);
    buf_fini(&d->item);
    load_free(d->load);
}

/* The time of GetStats, in seconds. */
static double asked(struct load *l)
{
    struct single c = {0};
    int64_t begun = clock_mono();

    buf_init(&c.request, 1000);
    call(l, &c, "GetStats");
    buf_fini(&c.request);
    return SECONDS(clock_mono() - begun);
}

static void never_reading(struct server *s)
{
    struct deaf *d = xcalloc(DEAF, sizeof *d);
    struct load *other = load_connect(s->port);
    double before = server_memory(s, "VmRSS:"), longest = 0;

    for (int i = 0; i < DEAF; i++)
        begin_deaf(&d[i], s->port);
    for (int turn = 0; turn < DEAF_TURNS; turn++) {
        double took;

        for (int i = 0; i < DEAF; i++)
            load_send(d[i].load);
        took = asked(other);
        longest = took > longest ? took : longest;
        usleep(10000);
    }
    printf("never reading %d connections, %d lists and %d streams of puts on "
           "each: %.0f MiB together; another caller waits %.0f ms at most\n",
           DEAF, DEAF_CALLS, DEAF_CALLS, server_memory(s, "VmHWM:") - before,
           longest * 1e3);
    fflush(stdout);
    for (int i = 0; i < DEAF; i++)
        end_deaf(&d[i]);
    load_free(other);
    free(d);
}

static void put_fresh(unsigned streams, bool batches)
{
    struct server s;

    clear_dir();
    s = server_start();
    put_all(&s, streams, batches);
    server_end(&s, SIGTERM);
}

/* PutURLs with 1, 4 and 8 streams, each time into an empty directory. */
static void puts_alone(void)
{
    put_fresh(1, false);
    put_fresh(4, false);
    put_fresh(8, false);
}

/* PutDiscovered, and then queries of a large store. */
static void discovered(void)
{
    struct server s;

    clear_dir();
    s = server_start();
    printf("idle          resident %.0f MiB\n", server_memory(&s, "VmRSS:"));
    put_all(&s, 1, true);
    restart(&s, SIGTERM, "SIGTERM");
    restart(&s, SIGKILL, "SIGKILL");
    gets(&s);
    server_end(&s, SIGKILL); /* leases are kept: drain another */
}

static void put_and_drain(void)
{
    struct server s;

    clear_dir();
    s = server_start();
    put_all(&s, 4, true);
    drain(&s);
    restart(&s, SIGKILL, "SIGKILL");
    server_end(&s, SIGTERM);
}

static void put_and_never_read(void)
{
    struct server s;

    clear_dir();
    s = server_start();
    put_all(&s, 1, true);
    restart(&s, SIGTERM, "SIGTERM"); /* peak memory counts from here */
    never_reading(&s);
    server_end(&s, SIGTERM);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } parts[] = {
        {"put", puts_alone},
        {"discovered", discovered},
        {"drain", put_and_drain},
        {"deaf", put_and_never_read},
    };

    if (argc > 1)
        urls = strtoull(argv[1], NULL, 10);
    snprintf(dir, sizeof dir, "/tmp/urlweir-bench-grpc-%d", (int)getpid());
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (argc < 3 || strcmp(argv[2], parts[i].name) == 0)
            parts[i].run();
    clear_dir();
    return 0;
}
