/* SPDX-License-Identifier: MIT */
/* The queue to the frontier thread, the stats it reports, and leases by
 * number. */
#include "base/clock.h"
#include "tests/unit/service/service_rig.h"

/* Promise (Served frontier): the queues of the served frontier are bounded, and
 * lose nothing. */
TEST(ours_a_full_queue_says_so_drops_nothing_and_tells_when_there_is_room)
{
    struct service_rig r;
    struct frontier_call calls[64];
    struct frontier_item items[64][100];
    struct service_wait waits[64];
    char urls[64][100][24];
    bool refused = false;

    service_init(&r);
    r.o.most_waiting = 200;
    service_open(&r);
    atomic_store(&r.held, true); /* until the first is refused */
    for (int c = 0; c < 64; c++) {
        calls[c] = service_new(FRONTIER_PUT);
        waits[c] = (struct service_wait){.r = &r};
        calls[c].ctx = &waits[c];
        calls[c].in.put = (struct frontier_put){items[c], 100};
        for (int i = 0; i < 100; i++) {
            snprintf(urls[c][i], sizeof urls[c][i], "%d-%d", c, i);
            items[c][i] =
                (struct frontier_item){.kind = FRONTIER_ITEM_DISCOVERED,
                                       .key = text("k"),
                                       .url = text(urls[c][i])};
        }
    }
    for (int c = 0; c < 64; c++) {
        unsigned rooms = service_rooms(&r);
        enum status st = frontier_service_submit(r.s, &calls[c]);

        if (st == STATUS_OK)
            continue;
        SAME(st, STATUS_AGAIN);
        refused = true;
        atomic_store(&r.held, false);
        pthread_mutex_lock(&r.mtx);
        while (r.rooms == rooms)
            pthread_cond_wait(&r.told, &r.mtx);
        pthread_mutex_unlock(&r.mtx);
        c--; /* once more */
    }
    for (int c = 0; c < 64; c++) {
        service_wait_for(&waits[c]);
        for (int i = 0; i < 100; i++)
            SAME(items[c][i].ack, FRONTIER_ACK_OK);
    }
    ck_assert(refused);
    SAME(get_counts(&r, "", "").active, 6400);
    service_fini(&r);
}

TEST(ours_calls_that_are_none_are_refused)
{
    struct service_rig r;
    struct frontier_call call = service_new(FRONTIER_PUT);

    service_make(&r);
    SAME(frontier_service_submit(r.s, &call), STATUS_ARG);
    call.in.put.n = FRONTIER_PUT_MOST + 1;
    SAME(frontier_service_submit(r.s, &call), STATUS_ARG);
    call.verb = FRONTIER_VERBS_;
    SAME(frontier_service_submit(r.s, &call), STATUS_ARG);
    service_fini(&r);
}

static struct frontier_service_details look(struct service_rig *r)
{
    struct frontier_service_details w;

    frontier_service_get_details(r->s, &w);
    return w;
}

/* Nobody calls meanwhile: the frontier thread does it by itself. */
static void wait_for_new(struct service_rig *r, uint64_t certainly_new)
{
    int64_t until = clock_mono() + 50 * NS_PER_S;

    while (look(r).frontier.certainly_new < certainly_new) {
        ck_assert_int_lt(clock_mono(), until);
        usleep(2000);
    }
}

/* Promise (The service): metrics count each call and each stream once, and are
 * at most seconds old. See also
 * `grpc_server/a_monitor_is_told_each_stream_once_by_its_status`. */
TEST(ours_a_monitor_is_told_each_call_once_and_soon_how_the_frontier_does)
{
    struct frontier_call call = service_new(FRONTIER_GET_ACTIVE);
    const struct histogram_stats *puts;
    struct frontier_service_details w;
    struct service_rig r;

    service_make(&r);
    SAME(discover(&r, "c", "k", "http://h/1"), FRONTIER_ACK_OK);
    SAME(discover(&r, "c", "k", "http://h/2"), FRONTIER_ACK_OK);
    SAME(discover(&r, "c", "k", "http://h/1"), FRONTIER_ACK_SKIPPED);
    call.via = FRONTIER_VIA_HTTP;
    service_call(&r, &call);
    frontier_call_fini(&call);
    w = look(&r);
    puts = &w.calls[FRONTIER_VIA_SELF][FRONTIER_PUT];
    SAME(histogram_count(puts), 3);
    ck_assert_uint_gt(puts->sum, 0);
    SAME(histogram_count(&w.calls[FRONTIER_VIA_HTTP][FRONTIER_GET_ACTIVE]), 1);
    SAME(histogram_count(&w.calls[FRONTIER_VIA_SELF][FRONTIER_GET_ACTIVE]), 0);
    SAME(w.acks[FRONTIER_ACK_OK], 2);
    SAME(w.acks[FRONTIER_ACK_SKIPPED], 1);
    wait_for_new(&r, 2);
    w = look(&r);
    ck_assert_uint_ge(histogram_count(&w.frontier.commits), 2);
    SAME(w.frontier.filter.keys, 2);
    service_fini(&r);
}
