/* SPDX-License-Identifier: MIT */
/*
 * test_frontier_crash.c - a service killed at any moment under load keeps what
 * it acknowledged.
 *
 * A child serves calls and notes in shared memory which URLs were acknowledged,
 * leased and completed. It is killed at a random moment or at a named step, and
 * the next child goes on in the same directory. In between, the parent compares
 * each note with the store.
 */
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "base/fault.h"
#include "tests/unit/service/service_rig.h"

#define URLS   60000
#define QUEUES 50
#define BATCH  50
#define HOLD_S 3600

enum note { NOTHING, SENT, ACKED, LEASED, SENT_DONE, DONE };

struct shared {
    _Atomic unsigned char notes[URLS];
    _Atomic uint32_t next; /* next URL to put */
    _Atomic uint32_t acked, leased, done;
};

static struct bytes url_text(char to[32], uint32_t n)
{
    snprintf(to, 32, "http://h/%u", n);
    return bytes_of_str(to);
}

static struct bytes key_text(char to[16], uint32_t n)
{
    snprintf(to, 16, "k%u", n % QUEUES);
    return bytes_of_str(to);
}

/* ---- the child ---- */

static void put_some(struct service_rig *r, struct shared *sh)
{
    struct frontier_call call = service_new(FRONTIER_PUT);
    struct frontier_item items[BATCH];
    char urls[BATCH][32], keys[BATCH][16];
    uint32_t first = atomic_fetch_add(&sh->next, BATCH);

    if (first + BATCH > URLS)
        return;
    for (uint32_t i = 0; i < BATCH; i++) {
        sh->notes[first + i] = SENT;
        items[i] =
            (struct frontier_item){.kind = FRONTIER_ITEM_DISCOVERED,
                                   .key = key_text(keys[i], first + i),
                                   .url = url_text(urls[i], first + i),
                                   .metadata = text(i % 2 == 0 ? "m" : "")};
    }
    call.in.put = (struct frontier_put){items, BATCH};
    service_call(r, &call);
    for (uint32_t i = 0; i < BATCH; i++) {
        SAME(items[i].ack, FRONTIER_ACK_OK);
        sh->notes[first + i] = ACKED;
    }
    atomic_fetch_add(&sh->acked, BATCH);
    frontier_call_fini(&call);
}

/* Completes every other leased URL. */
static void complete(struct service_rig *r, struct shared *sh, uint32_t n)
{
    char url[32], key[16];

    sh->notes[n] = SENT_DONE;
    SAME(put_item(r, (struct frontier_item){.kind = FRONTIER_ITEM_KNOWN,
                                            .key = key_text(key, n),
                                            .url = url_text(url, n)}),
         FRONTIER_ACK_OK);
    sh->notes[n] = DONE;
    atomic_fetch_add(&sh->done, 1);
}

static void get_some(struct service_rig *r, struct shared *sh)
{
    struct frontier_call call = service_new(FRONTIER_GET);
    uint32_t got[64], n = 0;

    call.in.get = (struct frontier_get){.any_crawl = true,
                                        .max_urls_per_queue = 1000,
                                        .max_queues = 4,
                                        .delay_requestable_s = HOLD_S};
    service_call(r, &call);
    for (size_t i = 0; i < call.url_count; i++) {
        uint32_t u = (uint32_t)strtoul(call.urls[i].url.at + 9, NULL, 10);

        /* Was it leased before, or never put? */
        ck_assert(sh->notes[u] == ACKED || sh->notes[u] == SENT);
        sh->notes[u] = LEASED;
        if (n < 64)
            got[n++] = u;
    }
    atomic_fetch_add(&sh->leased, (uint32_t)call.url_count);
    frontier_call_fini(&call);
    for (uint32_t i = 0; i < n; i += 2)
        complete(r, sh, got[i]);
}

static void serve_until_killed(struct service_rig *r, struct shared *sh,
                               const char *kill_at)
{
    if (kill_at != NULL) {
        setenv("URLWEIR_KILL_AT", kill_at, 1);
        fault_init();
    }
    service_open(r);
    SAME(control(r, FRONTIER_SET_DELAY, "", "", 0, NULL), STATUS_OK);
    for (unsigned i = 0;; i++) {
        put_some(r, sh);
        if (i % 4 == 0)
            get_some(r, sh);
        if (i % 400 == 399) /* grow the logs so that they are swept */
            SAME(control(r, FRONTIER_DELETE_QUEUE, "other", "q", 0, NULL),
                 STATUS_OK);
    }
}

/* ---- the parent ---- */

static void check_url(struct service_rig *r, struct shared *sh, uint32_t n)
{
    struct frontier_call call = service_new(FRONTIER_URL_STATUS);
    char url[32], key[16];
    enum note note = (enum note)sh->notes[n];

    call.in.key = key_text(key, n);
    call.in.url = url_text(url, n);
    service_call(r, &call);
    if (note == NOTHING || note == SENT) { /* may be there or not */
        if (call.status == STATUS_OK)
            sh->notes[n] =
                call.facts.state == URL_STATE_LEASED ? LEASED : ACKED;
        else
            sh->notes[n] = NOTHING;
    } else {
        ck_assert_msg(call.status == STATUS_OK, "%u is lost", n);
        if (note == ACKED && call.facts.state == URL_STATE_LEASED)
            sh->notes[n] = LEASED; /* committed, but not answered */
        else if (note == ACKED)
            SAME(call.facts.state, URL_STATE_QUEUED);
        if (note == LEASED)
            SAME(call.facts.state, URL_STATE_LEASED);
        if (note == SENT_DONE)
            sh->notes[n] = call.facts.state == URL_STATE_LEASED ? LEASED : DONE;
        if (note == DONE)
            SAME(call.facts.state, URL_STATE_COMPLETED);
        if (call.facts.state != URL_STATE_COMPLETED)
            SAME(call.urls[0].metadata.len, n % BATCH % 2 == 0 ? 1 : 0);
    }
    frontier_call_fini(&call);
}

static void check_all(struct service_rig *r, struct shared *sh)
{
    struct url_counts want = {0}, got;
    uint32_t next = sh->next < URLS ? sh->next : URLS;

    service_open(r);
    for (uint32_t n = 0; n < next; n++) {
        check_url(r, sh, n);
        want.active += sh->notes[n] == ACKED || sh->notes[n] == LEASED;
        want.leased += sh->notes[n] == LEASED;
        want.completed += sh->notes[n] == DONE;
    }
    got = get_counts(r, "", "");
    SAME(got.active, want.active);
    SAME(got.leased, want.leased);
    SAME(got.completed, want.completed);
    ck_ok(frontier_service_close(r->s));
}

/* `kill_at` NULL: killed when `more` URLs are acknowledged, whatever else is
 * under way by then. */
static void round_of(struct service_rig *r, struct shared *sh,
                     const char *kill_at, uint32_t more)
{
    const uint32_t enough = sh->acked + more;
    pid_t pid = fork();
    int how = 0;

    if (pid == 0)
        serve_until_killed(r, sh, kill_at);
    if (kill_at == NULL) {
        while (sh->acked < enough)
            usleep(100);
        kill(pid, SIGKILL);
    }
    ck_assert_int_eq(waitpid(pid, &how, 0), pid);
    ck_assert(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
    check_all(r, sh);
}

static struct shared *shared_new(void)
{
    struct shared *sh = mmap(NULL, sizeof *sh, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    ck_assert_ptr_ne(sh, MAP_FAILED);
    return sh;
}

static void crash_init(struct service_rig *r)
{
    service_init(r);
    r->o.wall_ms = NULL; /* the parent's clock must go on where it was */
    r->o.checkpoint_ms = 50;
}

/* Once most URLs are put, starts a new directory: a round must not end with
 * nothing left to commit. */
static void renew(struct service_rig *r, struct shared *sh)
{
    if (sh->next < URLS - 30000)
        return;
    ck_assert_uint_gt(sh->acked, 1000);
    ck_assert_uint_gt(sh->done, 10);
    scratch_remove(&r->at);
    memset(sh->notes, 0, sizeof sh->notes);
    sh->next = 0;
    crash_init(r);
}

TIMEOUT(600);

TEST(what_was_acknowledged_survives_kills_at_random_moments)
{
    struct shared *sh = shared_new();
    struct service_rig r;
    uint64_t state = 3, rounds = scratch_size(10, 200);

    crash_init(&r);
    for (uint64_t i = 0; i < rounds; i++) {
        round_of(&r, sh, NULL, (uint32_t)scratch_below(&state, 3000));
        renew(&r, sh);
    }
    scratch_remove(&r.at);
}

TEST(what_was_acknowledged_survives_a_kill_at_each_step_of_a_commit)
{
    static const char *const points[] = {
        "service-commit:5",       "service-committed:9",
        "turn-before-commit:20",  "turn-after-commit:20",
        "commit-before:30",       "commit-after:30",
        "checkpoint-begin:2",     "checkpoint-filter-saved:2",
        "checkpoint-wal-moved:2", "exact-merge:40"};
    struct shared *sh = shared_new();
    struct service_rig r;

    crash_init(&r);
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        round_of(&r, sh, points[i], 0);
        renew(&r, sh);
    }
    ck_assert_uint_gt(sh->acked, 300);
    scratch_remove(&r.at);
}
