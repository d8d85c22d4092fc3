/* SPDX-License-Identifier: MIT */
/* URLs that are leased, reported done, put off, removed and held back by a
 * limit, in random order and across crashes, against a plain model. */
#include "frontier/embedded/removal.h"
#include "tests/unit/frontier/embedded/external_rig.h"

#define HOSTS 5
#define PATHS 20
#define URLS  (HOSTS * PATHS)

enum model_state { M_QUEUED, M_OURS, M_EXTERNAL, M_DONE, M_REMOVED };

struct model_url {
    char url[32];
    enum model_state state;
    int64_t due, until; /* monotonic */
    uint64_t number;
    unsigned fetches;
    bool removed; /* must not be handed out again */
};

struct model {
    struct rig r;
    struct model_url u[URLS + 1]; /* by id */
    int64_t free_at[HOSTS];       /* end of its last response, plus the delay */
    unsigned out[HOSTS];
    uint32_t limit[HOSTS]; /* most URLs to finish; 0: no limit */
    uint64_t random;
};

static uint64_t roll(struct model *m, uint64_t sides)
{
    m->random ^= m->random << 13;
    m->random ^= m->random >> 7;
    m->random ^= m->random << 17;
    return m->random % sides;
}

static size_t host_of(uint64_t id)
{
    return (size_t)((id - 1) / PATHS);
}

static bool model_is_done(const struct model_url *u)
{
    return u->state == M_DONE || u->state == M_REMOVED;
}

static uint32_t model_done_of(const struct model *m, size_t host)
{
    uint32_t n = 0;

    for (uint64_t id = 1 + host * PATHS; id <= (host + 1) * PATHS; id++)
        n += m->u[id].state == M_DONE;
    return n;
}

static void model_out(struct model *m, uint64_t id, enum model_state state)
{
    struct model_url *u = &m->u[id];
    uint32_t limit = m->limit[host_of(id)];

    ck_assert_msg(u->state == M_QUEUED, "%s handed out in state %d", u->url,
                  (int)u->state);
    ck_assert_msg(u->due <= m->r.now, "%s before its time", u->url);
    ck_assert_msg(!u->removed, "%s was removed", u->url);
    ck_assert_msg(limit == 0 || model_done_of(m, host_of(id)) < limit,
                  "%s goes beyond the limit of its queue", u->url);
    ck_assert_uint_eq(m->out[host_of(id)], 0);
    ck_assert_int_le(m->free_at[host_of(id)], m->r.now);
    m->out[host_of(id)]++;
    u->state = state;
}

static void model_back(struct model *m, uint64_t id, enum model_state state)
{
    m->u[id].state = state;
    m->out[host_of(id)]--;
    m->free_at[host_of(id)] = m->r.now + NS_PER_S;
}

/* Ends the leases that have run out. A removed URL that comes back is finished
 * when its queue's turn comes. */
static void model_expire(struct model *m)
{
    rig_turn(&m->r);
    for (uint64_t id = 1; id <= URLS; id++) {
        struct model_url *u = &m->u[id];

        if (u->state == M_EXTERNAL && u->until <= m->r.now)
            model_back(m, id, M_QUEUED);
        if (u->removed && u->state == M_QUEUED &&
            frontier_store_is_done(frontier_store_of(m->r.e), id))
            u->state = M_REMOVED;
    }
}

static void model_grant(struct model *m)
{
    struct external_url u[HOSTS];
    int64_t length = (int64_t)(1 + roll(m, 8)) * NS_PER_S;
    size_t n = grant(&m->r,
                     (struct external_request){.most = 1 + roll(m, HOSTS),
                                               .length = length},
                     u);

    for (size_t i = 0; i < n; i++) {
        model_out(m, u[i].lease.id, M_EXTERNAL);
        m->u[u[i].lease.id].until = m->r.now + length;
        m->u[u[i].lease.id].number = u[i].number;
    }
}

static void model_say(struct model *m)
{
    uint64_t id = 1 + roll(m, URLS);
    struct model_url *u = &m->u[id];
    bool final = roll(m, 2) == 0, was_external = u->state == M_EXTERNAL;
    int64_t wait = final ? 0 : (int64_t)roll(m, 6) * NS_PER_S;
    enum external_result said;

    if (u->state == M_QUEUED && (u->removed || roll(m, 4) != 0))
        return;
    said = say(&m->r, id,
               (struct external_report){.final = final,
                                        .due_ms = rig_wall(&m->r) +
                                                  wait / NS_PER_MS});
    ck_assert_int_eq(said, model_is_done(u)     ? EXTERNAL_WAS_DONE
                           : u->state == M_OURS ? EXTERNAL_OURS
                                                : EXTERNAL_SETTLED);
    if (said != EXTERNAL_SETTLED)
        return;
    if (was_external)
        model_back(m, id, final ? M_DONE : M_QUEUED);
    u->state = final ? M_DONE : M_QUEUED;
    u->due = m->r.now + wait;
    u->fetches += final;
}

static void model_own(struct model *m)
{
    uint64_t id = own_lease(&m->r);

    if (id != 0)
        model_out(m, id, M_OURS);
}

static void model_ack(struct model *m)
{
    for (uint64_t id = 1; id <= URLS; id++) {
        if (m->u[id].state != M_OURS || roll(m, 2) != 0)
            continue;
        rig_ack(&m->r, id, fetched, NULL, 0);
        rig_turn(&m->r);
        m->u[id].fetches++;
        model_back(m, id, M_DONE);
    }
}

/* Our own leases go back; external ones stay. Every host waits once. */
static void model_crash(struct model *m)
{
    rig_crash(&m->r);
    for (uint64_t id = 1; id <= URLS; id++)
        if (m->u[id].state == M_OURS)
            model_back(m, id, M_QUEUED);
}

/* URLs waiting in a queue go; leased ones are not handed out again. The process
 * may be killed half-way. */
static void model_remove(struct model *m)
{
    size_t host = (size_t)roll(m, HOSTS);
    char key[16];
    struct removal removal;
    bool over = false;
    int n = snprintf(key, sizeof key, "h%zu.test", host);

    ck_ok(m->r.e->ops->removal_begin(m->r.e, bytes_of(key, (size_t)n),
                                     INT64_MAX, &removal));
    do {
        ck_ok(m->r.e->ops->removal_step(m->r.e, &removal, 2, m->r.now,
                                        rig_wall(&m->r), &over));
        rig_turn(&m->r);
    } while (!over && roll(m, 4) != 0);
    for (uint64_t id = 1; id <= URLS; id++)
        if (host_of(id) == host)
            m->u[id].removed |= !model_is_done(&m->u[id]);
    if (!over)
        model_crash(m);
}

/* Sets a limit at or just above the number done, or any number. */
static void model_limit(struct model *m)
{
    size_t host = (size_t)roll(m, HOSTS);
    uint32_t done = model_done_of(m, host);

    m->limit[host] = roll(m, 2) == 0 ? 0 : done + (uint32_t)roll(m, 4);
    ck_ok(m->r.e->ops->limit_queue(m->r.e, (uint32_t)host + 1, m->limit[host],
                                   done, m->r.now));
    rig_turn(&m->r);
}

static void model_step(struct model *m)
{
    if (roll(m, 32) == 0)
        model_limit(m);
    if (roll(m, 128) == 0)
        model_remove(m);
    switch (roll(m, 16)) {
    case 0:
        model_crash(m);
        break;
    case 1:
    case 2:
    case 3:
        model_grant(m);
        break;
    case 4:
    case 5:
    case 6:
    case 7:
        model_say(m);
        break;
    case 8:
    case 9:
        model_own(m);
        break;
    case 10:
    case 11:
        model_ack(m);
        break;
    default:
        m->r.now += (int64_t)roll(m, 1500) * NS_PER_MS;
        break;
    }
    model_expire(m);
}

static uint64_t model_count(const struct model *m, enum model_state state)
{
    uint64_t n = 0;

    for (uint64_t id = 1; id <= URLS; id++)
        n += m->u[id].state == (unsigned)state;
    return n;
}

TEST_LOOP(every_url_is_done_once_or_removed_as_a_plain_model_says, 0, 12)
{
    struct model *m = calloc(1, sizeof *m);
    unsigned steps = 0;

    polite(&m->r);
    rig_create(&m->r);
    m->random = UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)_i;
    for (uint64_t id = 1; id <= URLS; id++) {
        snprintf(m->u[id].url, sizeof m->u[id].url, "http://h%zu.test/%d",
                 host_of(id), (int)((id - 1) % PATHS));
        rig_seed(&m->r, m->u[id].url);
    }
    rig_turn(&m->r);
    while (model_count(m, M_DONE) + model_count(m, M_REMOVED) < URLS) {
        struct engine_stats s;

        model_step(m);
        s = rig_stats(&m->r);
        ck_assert_uint_eq(s.queued, URLS - model_count(m, M_DONE) -
                                        model_count(m, M_REMOVED));
        ck_assert_uint_eq(s.leased,
                          model_count(m, M_OURS) + model_count(m, M_EXTERNAL));
        ck_assert_uint_lt(steps++, 20000);
    }
    for (uint64_t id = 1; id <= URLS; id++)
        ck_assert_uint_eq(m->u[id].fetches, m->u[id].state == M_DONE);
    ck_assert_uint_eq(rig_stats(&m->r).fetched, model_count(m, M_DONE));
    ck_assert_uint_eq(rig_counter(&m->r, "skipped.removed"),
                      model_count(m, M_REMOVED));
    rig_stop(&m->r);
    rig_verify(&m->r);
    rig_fini(&m->r);
    free(m);
}
