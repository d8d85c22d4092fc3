/* SPDX-License-Identifier: MIT */
/*
 * test_frontier_crash_clients.c - several clients at once, and the service is
 * killed under them at random moments.
 *
 * A child serves two that put, two that get and settle, one that takes from a
 * slow queue and one that sets delays, blocks, limits and the active flag. Each
 * notes in shared memory what it asks for before it does and what it was told
 * after. The child is killed, the next one goes on in the same directory, and
 * in between each note is held against the store:
 *
 *   acknowledged URLs are there          completed ones stay completed
 *   leases end when they may, no sooner  delay, block, limit, flag, hold stand
 *
 * (test_frontier_crash.c kills at each step of a commit, with one client.)
 */
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "base/fault.h"
#include "tests/unit/service/service_rig.h"

#define URLS    12000
#define QUEUES  50
#define BATCH   50
#define POLITE  8 /* queues in the crawl "polite" */
#define LONG_S  3600
#define SLOW_MS 1000 /* between two URLs of the slow queue */
#define SETTLED 16   /* at most, per answer */

enum note { NOTHING, SENT, ACKED, LEASED, SENT_BACK, SENT_DONE, DONE };

struct url_note {
    _Atomic unsigned char note;
    _Atomic int64_t until_ms; /* if LEASED: not leased again before */
};

/* A setting: the last value requested, and the one reported in force. */
struct setting {
    _Atomic uint64_t sent, acked;
};

struct shared {
    struct url_note urls[URLS];
    _Atomic uint32_t next; /* next URL to put */
    _Atomic uint32_t acked, done, back, again;
    struct setting delay[POLITE], block[POLITE], limit[POLITE];
    struct setting fallback, active;
    _Atomic int64_t slow_ms; /* the slow queue was served then or later */
    _Atomic uint32_t slow, settings;
};

/* What each client of the child knows. */
struct client {
    struct service_rig *r;
    struct shared *sh;
    uint64_t random;
    uint32_t brief_s;        /* duration of the leases that are to run out */
    pthread_mutex_t *taking; /* shared by all clients, for take() */
};

static struct bytes url_text(char to[32], uint32_t n)
{
    snprintf(to, 32, "http://h/%u", n);
    return bytes_of_str(to);
}

static const char *key_text(char to[16], uint32_t n)
{
    snprintf(to, 16, "k%u", n % QUEUES);
    return to;
}

/* Checks in the child, where a failed assertion could not be reported. */
static void must(bool holds, const char *what, uint32_t n)
{
    if (holds)
        return;
    fprintf(stderr, "frontier_crash_clients: %s (%u)\n", what, n);
    _exit(3);
}

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* ---- clients that put ---- */

static void put_batch(struct client *c, uint32_t first)
{
    struct frontier_call call = service_new(FRONTIER_PUT);
    struct frontier_item items[BATCH];
    char urls[BATCH][32], keys[BATCH][16];

    for (uint32_t i = 0; i < BATCH; i++) {
        c->sh->urls[first + i].note = SENT;
        items[i] =
            (struct frontier_item){.kind = FRONTIER_ITEM_DISCOVERED,
                                   .key = text(key_text(keys[i], first + i)),
                                   .url = url_text(urls[i], first + i)};
    }
    call.in.put = (struct frontier_put){items, BATCH};
    service_call(c->r, &call);
    for (uint32_t i = 0; i < BATCH; i++) {
        unsigned char sent = SENT;

        must(items[i].ack == FRONTIER_ACK_OK, "not acknowledged", first + i);
        /* or another client has it already */
        atomic_compare_exchange_strong(&c->sh->urls[first + i].note, &sent,
                                       ACKED);
    }
    atomic_fetch_add(&c->sh->acked, BATCH);
    frontier_call_fini(&call);
}

static void *putter(void *ctx)
{
    struct client *c = ctx;
    uint32_t first = 0;

    while ((first = atomic_fetch_add(&c->sh->next, BATCH)) + BATCH <= URLS) {
        put_batch(c, first);
        sleep_ms((long)scratch_below(&c->random, 12)); /* others get a turn */
    }
    return NULL;
}

/* ---- clients that get and settle ---- */

static enum status settle(struct client *c, uint64_t lease, enum url_settle how,
                          uint32_t seconds)
{
    struct frontier_call call = service_new(FRONTIER_SETTLE);

    call.in.settle = (struct frontier_settle){.lease = lease,
                                              .how = how,
                                              .seconds = seconds};
    service_call(c->r, &call);
    frontier_call_fini(&call);
    return call.status;
}

static void settle_one(struct client *c, uint32_t n, uint64_t lease)
{
    struct url_note *u = &c->sh->urls[n];
    unsigned char back = SENT_BACK;
    int64_t before = clock_wall_ms();

    switch (scratch_below(&c->random, 4)) {
    case 0: /* kept */
        break;
    case 1:
        must(settle(c, lease, URL_SETTLE_EXTEND, 2 * LONG_S) == STATUS_OK,
             "a lease cannot be extended", n);
        u->until_ms = before + 2 * LONG_S * INT64_C(1000);
        break;
    case 2: /* it may be leased again before this returns */
        u->note = SENT_BACK;
        must(settle(c, lease, URL_SETTLE_FAIL, 0) == STATUS_OK,
             "a lease cannot be given back", n);
        atomic_compare_exchange_strong(&u->note, &back, ACKED);
        atomic_fetch_add(&c->sh->back, 1);
        break;
    default:
        u->note = SENT_DONE;
        must(settle(c, lease, URL_SETTLE_ACK, 0) == STATUS_OK,
             "a lease cannot be completed", n);
        u->note = DONE;
        atomic_fetch_add(&c->sh->done, 1);
    }
}

/* Which client had it before? */
static void note_lease(struct client *c, uint32_t n, int64_t now_ms,
                       int64_t until_ms)
{
    struct url_note *u = &c->sh->urls[n];
    enum note was = (enum note)u->note;
    bool over = was == LEASED && u->until_ms <= now_ms;

    must(was == SENT || was == ACKED || was == SENT_BACK || over,
         was == DONE || was == SENT_DONE ? "a completed URL was handed out"
                                         : "a lease was handed out twice",
         n);
    if (over)
        atomic_fetch_add(&c->sh->again, 1);
    u->until_ms = until_ms;
    u->note = LEASED;
}

/* A URL arrived. If the machine kept this client waiting, its lease may have
 * run out: then other clients may have leased it and noted its fate. Otherwise
 * nobody else has it or notes anything before this is done. */
static void take(struct client *c, uint32_t n, int64_t until_ms)
{
    int64_t now;

    must(n < URLS, "a URL that nobody put", n);
    pthread_mutex_lock(c->taking);
    now = clock_wall_ms();
    if (until_ms > now)
        note_lease(c, n, now, until_ms);
    pthread_mutex_unlock(c->taking);
}

/* Brief leases come from few queues, so that those are soon asked again, and
 * last long enough not to run out on the way. */
static void get_some(struct client *c)
{
    struct frontier_call call = service_new(FRONTIER_GET);
    bool brief = scratch_below(&c->random, 2) == 0;
    uint32_t hold_s = brief ? c->brief_s : LONG_S, n = 0;
    uint32_t got[SETTLED];
    uint64_t leases[SETTLED];
    char key[16] = "";
    int64_t before = clock_wall_ms();

    if (brief)
        key_text(key, (uint32_t)scratch_below(&c->random, 3));
    call.in.crawl = text("DEFAULT");
    call.in.key = text(key);
    call.in.get = (struct frontier_get){.max_urls_per_queue = 10000,
                                        .max_queues = 3,
                                        .delay_requestable_s = hold_s};
    service_call(c->r, &call);
    c->brief_s = 1 + (uint32_t)(clock_wall_ms() - before) / 500;
    for (size_t i = 0; i < call.url_count; i++) {
        uint32_t u = (uint32_t)strtoul(call.urls[i].url.at + 9, NULL, 10);

        take(c, u, before + hold_s * INT64_C(1000));
        if (!brief && n < SETTLED) {
            leases[n] = call.urls[i].lease;
            got[n++] = u;
        }
    }
    frontier_call_fini(&call);
    for (uint32_t i = 0; i < n; i++)
        settle_one(c, got[i], leases[i]);
}

static void *getter(void *ctx)
{
    for (;;)
        get_some(ctx);
    return NULL;
}

/* ---- the slow queue ---- */

static void *slow_getter(void *ctx)
{
    struct client *c = ctx;

    for (;;) {
        struct frontier_call call = service_new(FRONTIER_GET);
        int64_t before = clock_wall_ms();

        call.in.crawl = text("polite");
        call.in.key = text("slow");
        call.in.get = (struct frontier_get){.max_urls_per_queue = 1000,
                                            .delay_requestable_s = 1};
        service_call(c->r, &call);
        if (call.url_count > 0) {
            must(clock_wall_ms() - c->sh->slow_ms >= SLOW_MS,
                 "the slow queue was served too soon", c->sh->slow);
            c->sh->slow_ms = before;
            atomic_fetch_add(&c->sh->slow, 1);
        }
        frontier_call_fini(&call);
        sleep_ms(5);
    }
    return NULL;
}

/* ---- the client that sets ---- */

static void set(struct client *c, struct setting *s, enum frontier_verb verb,
                const char *key, uint64_t value)
{
    s->sent = value;
    must(control(c->r, verb, "polite", key, value, NULL) == STATUS_OK,
         "a setting was refused", (uint32_t)verb);
    s->acked = value;
    atomic_fetch_add(&c->sh->settings, 1);
}

static void *setter(void *ctx)
{
    struct client *c = ctx;
    struct shared *sh = c->sh;

    for (uint64_t i = 1;; i++) {
        unsigned q = (unsigned)scratch_below(&c->random, POLITE);
        char key[16];

        snprintf(key, sizeof key, "p%u", q);
        set(c, &sh->delay[q], FRONTIER_SET_DELAY, key, 10 + i % 1000);
        set(c, &sh->block[q], FRONTIER_BLOCK_QUEUE, key, 4000000000 + i);
        set(c, &sh->limit[q], FRONTIER_SET_LIMIT, key, i % 100000);
        set(c, &sh->fallback, FRONTIER_SET_DELAY, "", 10 + i % 1000);
        if (i % 8 == 0)
            set(c, &sh->active, FRONTIER_SET_ACTIVE, "", i % 16 == 0);
    }
    return NULL;
}

/* ---- the child ---- */

/* Makes the URLs that settings apply to, and sets no delay on queues where a
 * test expects none. */
static void prepare(struct client *c)
{
    char key[16];

    put_batch(c, atomic_fetch_add(&c->sh->next, BATCH));
    for (uint32_t q = 0; q < QUEUES; q++)
        must(control(c->r, FRONTIER_SET_DELAY, "", key_text(key, q), 0, NULL) ==
                 STATUS_OK,
             "no delay", q);
    for (unsigned q = 0; q < POLITE; q++) {
        snprintf(key, sizeof key, "p%u", q);
        discover(c->r, "polite", key, "u");
    }
    discover(c->r, "polite", "plain", "u");
    discover(c->r, "polite", "slow", "u");
    must(control(c->r, FRONTIER_SET_DELAY, "polite", "slow", SLOW_MS / 1000,
                 NULL) == STATUS_OK,
         "no delay", 0);
}

static void serve_until_killed(struct service_rig *r, struct shared *sh,
                               uint64_t seed, const char *kill_at)
{
    static void *(*const kinds[])(void *) = {putter, putter,      getter,
                                             getter, slow_getter, setter};
    enum { CLIENTS = sizeof kinds / sizeof *kinds };
    pthread_mutex_t taking = PTHREAD_MUTEX_INITIALIZER;
    struct client clients[CLIENTS];
    pthread_t threads[CLIENTS];

    if (kill_at != NULL) {
        setenv("URLWEIR_KILL_AT", kill_at, 1);
        fault_init();
    }
    service_open(r);
    for (int i = 0; i < CLIENTS; i++)
        clients[i] = (struct client){.r = r,
                                     .sh = sh,
                                     .random = seed * CLIENTS + (uint64_t)i + 1,
                                     .brief_s = 1,
                                     .taking = &taking};
    prepare(&clients[0]);
    for (int i = 0; i < CLIENTS; i++)
        must(pthread_create(&threads[i], NULL, kinds[i], &clients[i]) == 0,
             "no thread", 0);
    pthread_join(threads[CLIENTS - 1], NULL); /* this thread never ends */
    _exit(0);
}

/* ---- the parent ---- */

static struct url_facts facts_of(struct service_rig *r, const char *crawl,
                                 const char *key, struct bytes url,
                                 enum status *st)
{
    struct frontier_call call = service_new(FRONTIER_URL_STATUS);

    call.in.crawl = text(crawl);
    call.in.key = text(key);
    call.in.url = url;
    service_call(r, &call);
    frontier_call_fini(&call);
    *st = call.status;
    return call.facts;
}

/* Works out what a client could not note because the service was killed before
 * answering. */
static enum note learn(enum note note, enum url_state state)
{
    if (state == URL_STATE_LEASED)
        return LEASED;
    if (state == URL_STATE_QUEUED)
        return ACKED;
    ck_assert(note == SENT_DONE || note == DONE);
    return DONE;
}

static void check_url(struct service_rig *r, struct shared *sh, uint32_t n)
{
    struct url_note *u = &sh->urls[n];
    enum note note = (enum note)u->note;
    struct url_facts f;
    char url[32], key[16];
    enum status st;

    f = facts_of(r, "", key_text(key, n), url_text(url, n), &st);
    if (note == NOTHING || (note == SENT && st == STATUS_NOT_FOUND)) {
        ck_assert_int_eq(st, STATUS_NOT_FOUND);
        u->note = NOTHING;
        return;
    }
    ck_assert_msg(st == STATUS_OK, "%u is lost", n);
    if (note == LEASED && u->until_ms > clock_wall_ms()) {
        ck_assert_msg(f.state == URL_STATE_LEASED, "%u is not held", n);
        ck_assert_msg(f.leased_until_ms >= u->until_ms, "%u: hold is short", n);
    }
    if (note == DONE)
        ck_assert_msg(f.state == URL_STATE_COMPLETED, "%u not done", n);
    u->note = (unsigned char)learn(note, f.state);
    u->until_ms = f.leased_until_ms;
}

static void check_setting(struct setting *s, uint64_t got, const char *what)
{
    ck_assert_msg(got == s->sent || got == s->acked,
                  "%s is %llu, not %llu or %llu", what, (unsigned long long)got,
                  (unsigned long long)s->sent, (unsigned long long)s->acked);
    s->sent = s->acked = got;
}

/* A queue whose first delay was not acknowledged may have the default one. */
static void check_delay(struct shared *sh, unsigned q, uint64_t got)
{
    struct setting *s = &sh->delay[q];

    if (s->acked == 0 && got != s->sent &&
        (got == sh->fallback.sent || got == sh->fallback.acked))
        s->sent = 0;
    else
        check_setting(s, got, "delay");
}

static void check_politeness(struct service_rig *r, struct shared *sh)
{
    struct frontier_call call = service_new(FRONTIER_GET_ACTIVE);
    struct url_facts f;
    char key[16];
    enum status st;

    for (unsigned q = 0; q < POLITE && sh->settings > 0; q++) {
        snprintf(key, sizeof key, "p%u", q);
        f = facts_of(r, "polite", key, text("u"), &st);
        SAME(st, STATUS_OK);
        if (sh->delay[q].sent == 0)
            continue; /* not set yet */
        check_delay(sh, q, (uint64_t)f.delay_ms / 1000);
        check_setting(&sh->block[q],
                      f.blocked_until_ms == 0
                          ? 0
                          : (uint64_t)f.blocked_until_ms / 1000 - 1,
                      "block");
        check_setting(&sh->limit[q], f.limit, "limit");
    }
    f = facts_of(r, "polite", "plain", text("u"), &st);
    if (st == STATUS_OK && sh->fallback.sent > 0)
        check_setting(&sh->fallback,
                      f.delay_ms == 1000 ? 0 : (uint64_t)f.delay_ms / 1000,
                      "default delay");
    f = facts_of(r, "polite", "slow", text("u"), &st);
    if (sh->slow > 0) {
        ck_assert_int_ge(f.served_ms, sh->slow_ms);
        sh->slow_ms = f.served_ms;
    }
    service_call(r, &call);
    check_setting(&sh->active, call.flag, "active flag");
    frontier_call_fini(&call);
    if (!call.flag)
        ck_assert_str_eq(get_urls(r, NULL, "", 1, 1, 1), "");
    SAME(control(r, FRONTIER_SET_ACTIVE, "", "", true, NULL), STATUS_OK);
    sh->active.sent = sh->active.acked = true;
}

static void check_all(struct service_rig *r, struct shared *sh)
{
    uint32_t next = sh->next < URLS ? sh->next : URLS;
    uint64_t there = 0, leased = 0, lasting = 0, done = 0;
    struct url_counts got;

    service_open(r);
    check_politeness(r, sh);
    for (uint32_t n = 0; n < next; n++) {
        check_url(r, sh, n);
        there += sh->urls[n].note != NOTHING;
        done += sh->urls[n].note == DONE;
        leased += sh->urls[n].note == LEASED;
        lasting += sh->urls[n].note == LEASED &&
                   sh->urls[n].until_ms > clock_wall_ms() + 60000;
    }
    got = get_counts(r, "", "");
    SAME(got.active, there - done);
    SAME(got.completed, done);
    ck_assert_uint_ge(got.leased, lasting);
    ck_assert_uint_le(got.leased, leased);
    ck_ok(frontier_service_close(r->s));
}

/* How much has been answered. */
static uint32_t work(const struct shared *sh)
{
    return sh->acked / BATCH + sh->done + sh->back + sh->settings;
}

/* Every other round ends just before or just after a commit, where an early
 * acknowledgement or a lost change would show; the others end after some work,
 * anywhere. */
static void round_of(struct service_rig *r, struct shared *sh, uint64_t round,
                     uint64_t *random)
{
    uint32_t enough = work(sh) + (uint32_t)scratch_below(random, 1000);
    char kill_at[64];
    pid_t pid;
    int how = 0;

    snprintf(kill_at, sizeof kill_at, "service-commit%s:%u",
             round % 4 == 1 ? "ted" : "",
             100 + (unsigned)scratch_below(random, 150));
    pid = fork();
    if (pid == 0)
        serve_until_killed(r, sh, round, round % 2 == 1 ? kill_at : NULL);
    if (round % 2 == 0) {
        while (work(sh) < enough)
            sleep_ms(1);
        kill(pid, SIGKILL);
    }
    ck_assert_int_eq(waitpid(pid, &how, 0), pid);
    ck_assert(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
    check_all(r, sh);
}

static void begin(struct service_rig *r, struct shared *sh)
{
    memset(sh, 0, sizeof *sh);
    sh->active.sent = sh->active.acked = true;
    service_init(r);
    r->o.wall_ms = NULL; /* the parent's clock must go on where it was */
    r->o.checkpoint_ms = 50;
}

/* How often each promise was tested. */
struct tried {
    uint64_t done, back, again, slow, settings;
};

static void tried_add(struct tried *t, const struct shared *sh)
{
    t->done += sh->done;
    t->back += sh->back;
    t->again += sh->again;
    t->slow += sh->slow;
    t->settings += sh->settings;
}

static bool tried_enough(const struct tried *t, const struct shared *sh)
{
    struct tried all = *t;

    tried_add(&all, sh);
    return all.done > 100 && all.back > 100 && all.again > 10 && all.slow > 1 &&
           all.settings > 100;
}

TIMEOUT(900);

/* A slow machine gets less done in a round, and has more rounds. */
TEST(clients_at_once_keep_all_they_were_told_over_kills)
{
    struct shared *sh = mmap(NULL, sizeof *sh, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct service_rig r;
    struct tried before = {0};
    uint64_t state = 5, rounds = scratch_size(12, 200), i = 0;

    ck_assert_ptr_ne(sh, MAP_FAILED);
    begin(&r, sh);
    while (i < rounds || (i < 10 * rounds && !tried_enough(&before, sh))) {
        if (sh->next >= URLS - 1000) { /* all put: start a new directory */
            tried_add(&before, sh);
            scratch_remove(&r.at);
            begin(&r, sh);
        }
        round_of(&r, sh, i++, &state);
    }
    ck_assert(tried_enough(&before, sh));
    scratch_remove(&r.at);
}
