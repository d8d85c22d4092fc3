/* SPDX-License-Identifier: MIT */
/* brokers.c - Kafka in memory. */
#include "tests/sim/brokers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/kafka/kafka.h"
#include "tests/sim/crowd.h"
#include "tests/sim/life.h"
#include "tests/sim/scheduler.h"
#include "tests/sim/world.h"

#define PARTITIONS 16
#define IDS        200
#define TOUCHED    8 /* partitions of a transaction */
#define MEMBERS    12
#define TOMBSTONES INT64_C(86400000) /* ms, unless a topic says otherwise */
#define IDLE       200               /* polls, then they are seldom */
#define SESSION    (KAFKA_SESSION_MS * NS_PER_MS)

enum fate { OPEN, COMMITTED, ABORTED };

struct transaction {
    enum fate fate;
    int64_t began;
    struct {
        unsigned partition;
        int64_t first;  /* offset of its first message there */
        int64_t due_at; /* when its end is written there, once it is decided */
        bool ended;
    } in[TOUCHED];
    unsigned in_count;
};

struct record {
    struct transaction *of;
    char *key, *value; /* value NULL: deletes */
    size_t key_len, value_len;
    int64_t at;
    bool marks, gone;
};

struct partition {
    char topic[64];
    int number;
    bool compacted;
    int64_t slow_until;
    int64_t tombstones; /* are kept for so long */
    struct record *at;
    size_t count, room;
    int64_t start; /* messages before are deleted */
};

/* A transactional id. */
struct identity {
    char name[64];
    unsigned epoch, life;
    struct transaction *last;
};

/* Of the group. */
struct member {
    unsigned life;
    bool in;
    int64_t heard;
};

struct brokers {
    struct partition partitions[PARTITIONS];
    struct identity ids[IDS];
    struct member members[MEMBERS];
    unsigned owner[PARTITIONS], target[PARTITIONS]; /* numbers of members + 1 */
    int group_partitions;
    int64_t silent_until;
    bool fades;
    unsigned lose_percent;
};

static struct brokers *b;

void brokers_begin(void)
{
    b = world_get(sizeof *b);
}

static unsigned below(unsigned n)
{
    return (unsigned)(life_random() >> 33) % n;
}

static bool answer(void)
{
    return world->mono_ns >= b->silent_until;
}

void brokers_silence(int64_t ns, bool fades)
{
    b->silent_until = world->mono_ns + ns;
    b->fades = fades;
    for (unsigned i = 0; i < MEMBERS; i++) /* the next one starts to count */
        b->members[i].heard = b->silent_until;
}

void brokers_lose_commits(unsigned percent)
{
    b->lose_percent = percent;
}

static enum status say(struct buf *why, enum status st, const char *text)
{
    buf_clear(why);
    buf_add_str(why, text);
    return st;
}

unsigned brokers_last_taker(const char *id)
{
    for (unsigned i = 0; i < IDS; i++)
        if (strcmp(b->ids[i].name, id) == 0)
            return b->ids[i].life;
    return 0;
}

/* ---- the log ---- */

static struct partition *partition_of(const char *topic, int number)
{
    for (unsigned i = 0; i < PARTITIONS; i++)
        if (strcmp(b->partitions[i].topic, topic) == 0 &&
            b->partitions[i].number == number)
            return &b->partitions[i];
    return NULL;
}

static struct record *append(struct partition *p, struct transaction *of)
{
    struct record *r;

    if (p->count == p->room) {
        size_t room = p->room > 0 ? 2 * p->room : 64;

        p->at = world_grow(p->at, p->count * sizeof *p->at,
                           p->room * sizeof *p->at, room * sizeof *p->at);
        p->room = room;
    }
    r = &p->at[p->count++];
    *r = (struct record){.of = of, .at = world->mono_ns};
    return r;
}

static void decide(struct transaction *t, enum fate fate)
{
    t->fate = fate;
    for (unsigned i = 0; i < t->in_count; i++)
        t->in[i].due_at =
            world->mono_ns + (int64_t)below(30) * (int64_t)below(3) * NS_PER_MS;
}

/* Writes the ends that are due; true: all are. */
static bool write_ends(struct transaction *t, bool now)
{
    bool all = true;

    for (unsigned i = 0; t->fate != OPEN && i < t->in_count; i++) {
        if (t->in[i].ended)
            continue;
        if (!now && t->in[i].due_at > world->mono_ns) {
            all = false;
            continue;
        }
        t->in[i].ended = true;
        append(&b->partitions[t->in[i].partition], t)->marks = true;
    }
    return all;
}

/* What the brokers do by themselves. */
static void settle(void)
{
    if (!answer())
        return;
    for (unsigned i = 0; i < IDS && b->ids[i].name[0] != '\0'; i++) {
        struct transaction *t = b->ids[i].last;

        if (t == NULL)
            continue;
        if (t->fate == OPEN &&
            world->mono_ns - t->began >= KAFKA_TRANSACTION_MS * NS_PER_MS) {
            TELL("the brokers abort the transaction of %s", b->ids[i].name);
            b->ids[i].epoch++;
            decide(t, ABORTED);
        }
        (void)write_ends(t, false);
    }
}

/* Of a partition the offset before which all is decided. */
static int64_t stable_end(const struct partition *p)
{
    int64_t end = (int64_t)p->count;

    for (unsigned i = 0; i < IDS && b->ids[i].name[0] != '\0'; i++) {
        const struct transaction *t = b->ids[i].last;

        for (unsigned k = 0; t != NULL && k < t->in_count; k++)
            if (&b->partitions[t->in[k].partition] == p && !t->in[k].ended &&
                t->in[k].first < end)
                end = t->in[k].first;
    }
    return end;
}

static bool is_read(const struct record *r)
{
    return !r->gone && !r->marks && r->of->fate == COMMITTED;
}

bool brokers_have(const char *topic, const char *key)
{
    const struct partition *p = partition_of(topic, 0);

    for (int64_t i = 0; p != NULL && i < stable_end(p); i++)
        if (is_read(&p->at[i]) &&
            bytes_is(bytes_of(p->at[i].key, p->at[i].key_len), key))
            return true;
    return false;
}

void brokers_slow(const char *topic, struct dice *d, int64_t ns)
{
    struct partition *p = partition_of(topic, (int)dice_below(d, 4));

    if (p != NULL)
        p->slow_until = world->mono_ns + ns;
}

static int compare_keys(const void *a, const void *c)
{
    const struct record *x = *(const struct record *const *)a;
    const struct record *y = *(const struct record *const *)c;
    size_t n = x->key_len < y->key_len ? x->key_len : y->key_len;
    int order = memcmp(x->key, y->key, n);

    if (order == 0)
        order = (x->key_len > y->key_len) - (x->key_len < y->key_len);
    return order != 0 ? order : (x > y) - (x < y);
}

static void compact(struct partition *p, size_t end)
{
    const struct record **all = calloc(end + 1, sizeof *all);
    size_t n = 0;

    for (size_t i = 0; i < end; i++)
        if (is_read(&p->at[i]))
            all[n++] = &p->at[i];
        else
            p->at[i].gone = true;
    qsort(all, n, sizeof *all, compare_keys);
    for (size_t i = 0; i < n; i++) {
        struct record *r = &p->at[all[i] - p->at];
        bool replaced = i + 1 < n && all[i + 1]->key_len == r->key_len &&
                        memcmp(all[i + 1]->key, r->key, r->key_len) == 0;

        if (replaced ||
            (r->value == NULL && world->mono_ns - r->at > p->tombstones))
            r->gone = true;
    }
    free(all);
}

void brokers_compact(struct dice *d)
{
    for (unsigned i = 0; i < PARTITIONS; i++) {
        struct partition *p = &b->partitions[i];
        size_t end = (size_t)stable_end(p);

        if (p->compacted && end > 0)
            compact(p, dice_chance(d, 50) ? end
                                          : dice_below(d, (unsigned)end + 1));
    }
}

/* ---- topics ---- */

enum status kafka_topic_ensure(const struct kafka_access *a,
                               const struct kafka_topic *t, int timeout_ms,
                               struct buf *why)
{
    (void)a;
    if (!answer())
        scheduler_sleep(timeout_ms * NS_PER_MS);
    if (!answer())
        return say(why, STATUS_AGAIN, "the brokers do not answer");
    for (int n = 0; partition_of(t->name, n) == NULL && n < t->partitions;
         n++) {
        struct partition *p = partition_of("", 0);

        if (p == NULL)
            world_fault("too many partitions");
        snprintf(p->topic, sizeof p->topic, "%s", t->name);
        p->number = n;
        p->compacted = t->compacted;
        p->tombstones = TOMBSTONES * NS_PER_MS;
        for (const char *const *c = t->config; c != NULL && *c != NULL; c += 2)
            if (strcmp(c[0], "delete.retention.ms") == 0)
                p->tombstones = strtoll(c[1], NULL, 10) * NS_PER_MS;
    }
    return STATUS_OK;
}

enum status kafka_topic_read(const struct kafka_access *a, const char *topic,
                             int partition, int timeout_ms,
                             void (*visit)(void *ctx, struct bytes key,
                                           struct bytes value),
                             void *ctx, struct buf *why)
{
    (void)a, (void)topic, (void)partition, (void)timeout_ms, (void)visit;
    (void)ctx, (void)why;
    world_fault("nobody reads a topic so");
}

const char *kafka_version(void)
{
    return "of the simulator";
}

/* ---- producers ---- */

struct message {
    struct message *next;
    struct partition *to;
    char *key, *value;
    size_t key_len, value_len;
};

struct kafka_producer {
    struct identity *id;
    unsigned epoch;
    struct transaction *now; /* with the brokers; NULL: nothing was sent yet */
    struct message *first, **last;
    int64_t begun;
    bool done_for, asked_to_commit;
};

static char *keep(struct bytes text)
{
    char *at = text.at != NULL ? world_room(text.len + 1) : NULL;

    if (at != NULL && text.len > 0)
        memcpy(at, text.at, text.len);
    return at;
}

static struct identity *identity_of(const char *name)
{
    unsigned i = 0;

    while (i < IDS && b->ids[i].name[0] != '\0' &&
           strcmp(b->ids[i].name, name) != 0)
        i++;
    if (i == IDS)
        world_fault("too many transactional ids");
    snprintf(b->ids[i].name, sizeof b->ids[i].name, "%s", name);
    return &b->ids[i];
}

enum status kafka_producer_open(struct kafka_producer **out,
                                const struct kafka_access *a, const char *id,
                                struct buf *why)
{
    struct kafka_producer *p = calloc(1, sizeof *p);

    (void)a, (void)why;
    p->id = identity_of(id);
    p->last = &p->first;
    *out = p;
    return STATUS_OK;
}

void kafka_producer_close(struct kafka_producer *p)
{
    while (p != NULL && p->first != NULL) {
        struct message *m = p->first;

        p->first = m->next;
        free(m);
    }
    free(p);
}

static enum status fenced(struct kafka_producer *p, struct buf *why)
{
    p->done_for = true;
    if (clock_boot() - p->begun < KAFKA_TRANSACTION_MS * NS_PER_MS)
        return say(why, STATUS_BUSY, "fenced");
    return say(why, STATUS_CLOSED, "the brokers have aborted the transaction");
}

/* Waits until the brokers answer, for so long at most. */
static bool reach(int timeout_ms)
{
    int64_t until = world->mono_ns + timeout_ms * NS_PER_MS;

    scheduler_sleep((1 + below(30)) * NS_PER_MS);
    while (!answer() && world->mono_ns < until)
        scheduler_sleep((b->silent_until < until ? b->silent_until : until) -
                        world->mono_ns);
    settle();
    return answer();
}

/* An earlier transaction is ended everywhere before the next one begins. */
static void end_last(struct identity *id)
{
    while (id->last != NULL && !write_ends(id->last, false))
        scheduler_sleep(5 * NS_PER_MS);
}

enum status kafka_producer_init(struct kafka_producer *p, int timeout_ms,
                                struct buf *why)
{
    p->begun = clock_boot();
    if (!reach(timeout_ms))
        return say(why, STATUS_AGAIN, "the brokers do not answer");
    if (p->id->last != NULL && p->id->last->fate == OPEN)
        decide(p->id->last, ABORTED);
    p->epoch = ++p->id->epoch;
    p->id->life = life_number();
    end_last(p->id);
    TELL("%s is taken, for the %uth time", p->id->name, p->epoch);
    return p->epoch == p->id->epoch ? STATUS_OK : fenced(p, why);
}

enum status kafka_producer_begin(struct kafka_producer *p, struct buf *why)
{
    if (p->done_for)
        return fenced(p, why);
    p->begun = clock_boot();
    p->now = NULL;
    p->asked_to_commit = false;
    return STATUS_OK;
}

static void touch(struct transaction *t, const struct partition *to)
{
    unsigned number = (unsigned)(to - b->partitions);

    for (unsigned i = 0; i < t->in_count; i++)
        if (t->in[i].partition == number)
            return;
    if (t->in_count == TOUCHED)
        world_fault("a transaction of too many partitions");
    t->in[t->in_count].partition = number;
    t->in[t->in_count++].first = (int64_t)to->count;
}

/* Hands what was sent to the brokers; false: they refuse this producer. */
static bool flush(struct kafka_producer *p)
{
    end_last(p->id);
    while (p->first != NULL) {
        struct message *m = p->first;
        struct record *r;

        if (p->epoch != p->id->epoch)
            return false;
        if (p->now == NULL) {
            p->now = p->id->last = world_get(sizeof *p->now);
            p->now->began = world->mono_ns;
        }
        touch(p->now, m->to);
        r = append(m->to, p->now);
        r->key = m->key;
        r->key_len = m->key_len;
        r->value = m->value;
        r->value_len = m->value_len;
        if (strstr(m->to->topic, "control") != NULL)
            TELL("%s sends %.*s: %.*s", p->id->name, (int)m->key_len, m->key,
                 (int)(m->value_len < 150 ? m->value_len : 150),
                 m->value != NULL ? m->value : "");
        p->first = m->next;
        free(m);
    }
    p->last = &p->first;
    return p->epoch == p->id->epoch;
}

enum status kafka_producer_send(struct kafka_producer *p, const char *topic,
                                int partition, struct bytes key,
                                struct bytes value, struct buf *why)
{
    struct message *m = calloc(1, sizeof *m);

    if (p->done_for) {
        free(m);
        return fenced(p, why);
    }
    m->to = partition_of(topic, partition);
    if (m->to == NULL)
        world_fault("no partition %d of %s", partition, topic);
    m->key = keep(key);
    m->key_len = key.len;
    m->value = keep(value);
    m->value_len = value.len;
    *p->last = m;
    p->last = &m->next;
    settle();
    if (answer() && below(20) == 0 && !flush(p))
        return fenced(p, why);
    return STATUS_OK;
}

/* The brokers are asked to end it; what they did is known to them alone. */
static enum status lose_track(struct kafka_producer *p, struct buf *why)
{
    bool done = below(2) == 0;

    if (done)
        decide(p->now, COMMITTED);
    TELL("%s does not learn that its transaction is %s", p->id->name,
         done ? "committed" : "not committed");
    p->done_for = true;
    return say(why, STATUS_CLOSED, "the outcome is not known");
}

static enum status commit(struct kafka_producer *p, int timeout_ms,
                          struct buf *why)
{
    if (!reach(timeout_ms))
        return say(why, STATUS_AGAIN, "the brokers do not answer");
    if (!flush(p))
        return fenced(p, why);
    if (p->now == NULL)
        return STATUS_OK;
    scheduler_sleep((1 + below(20)) * NS_PER_MS);
    settle();
    if (p->asked_to_commit && p->now->fate == COMMITTED)
        return STATUS_OK;
    if (p->epoch != p->id->epoch)
        return fenced(p, why);
    if (!answer()) { /* just now */
        if (b->fades && below(2) == 0)
            return lose_track(p, why);
        p->asked_to_commit = true;
        if (below(2) == 0)
            decide(p->now, COMMITTED);
        return say(why, STATUS_AGAIN, "the brokers do not answer");
    }
    if (below(100) < b->lose_percent)
        return lose_track(p, why);
    decide(p->now, COMMITTED);
    scheduler_sleep((1 + below(40)) * NS_PER_MS);
    return STATUS_OK;
}

enum status kafka_producer_commit(struct kafka_producer *p, int timeout_ms,
                                  struct buf *why)
{
    enum status st;

    if (p->done_for)
        return fenced(p, why);
    crowd_stalls(p->begun / NS_PER_MS > 0
                     ? world->passed_ns / NS_PER_MS -
                           (world->mono_ns - p->begun) / NS_PER_MS
                     : 0);
    st = commit(p, timeout_ms, why);
    if (st == STATUS_OK) /* else nothing is stored from then on */
        crowd_stalls(0);
    return st;
}

enum status kafka_producer_abort(struct kafka_producer *p, int timeout_ms,
                                 struct buf *why)
{
    (void)p, (void)timeout_ms, (void)why;
    world_fault("nobody aborts a transaction");
}

enum status kafka_producer_find_end(struct kafka_producer *p, const char *topic,
                                    int partition, int timeout_ms, int64_t *end,
                                    struct buf *why)
{
    (void)p, (void)timeout_ms;
    settle();
    if (!answer())
        return say(why, STATUS_AGAIN, "no answer");
    *end = (int64_t)partition_of(topic, partition)->count;
    return STATUS_OK;
}

void kafka_producer_trim(struct kafka_producer *p, const char *topic,
                         int partition, int64_t offset)
{
    struct partition *of = partition_of(topic, partition);

    (void)p;
    if (answer() && offset > of->start)
        of->start = offset;
}

/* ---- readers ---- */

struct kafka_reader {
    struct partition *of;
    int64_t next;
    bool at_end;
};

enum status kafka_reader_open(struct kafka_reader **out,
                              const struct kafka_access *a, const char *topic,
                              int partition, int64_t offset, struct buf *why)
{
    struct kafka_reader *r;

    (void)a;
    if (partition_of(topic, partition) == NULL)
        return say(why, STATUS_REFUSED, "there is no such topic");
    r = calloc(1, sizeof *r);
    r->of = partition_of(topic, partition);
    r->next = offset >= 0 ? offset : r->of->start;
    *out = r;
    return STATUS_OK;
}

void kafka_reader_close(struct kafka_reader *r)
{
    free(r);
}

/* What a fetch brings takes a moment, and may not be there yet. */
enum status kafka_reader_next(struct kafka_reader *r, int timeout_ms,
                              struct kafka_message *m, struct buf *why)
{
    int64_t end;

    (void)why;
    settle();
    if (timeout_ms > 0 && below(4) == 0)
        scheduler_sleep((1 + below(5)) * NS_PER_MS);
    if (!answer() || r->of->slow_until > world->mono_ns ||
        (timeout_ms == 0 && below(r->at_end ? 4 : 100) == 0)) {
        scheduler_sleep(timeout_ms * NS_PER_MS);
        return STATUS_NOT_FOUND;
    }
    if (r->next < r->of->start)
        return say(why, STATUS_REFUSED, "messages are gone that nobody read");
    end = stable_end(r->of);
    for (; r->next < end; r->next++) {
        const struct record *at = &r->of->at[r->next];

        if (!is_read(at))
            continue;
        *m =
            (struct kafka_message){bytes_of(at->key, at->key_len),
                                   bytes_of(at->value, at->value_len), r->next};
        r->next++;
        r->at_end = false;
        return STATUS_OK;
    }
    if (r->at_end)
        scheduler_sleep(timeout_ms * NS_PER_MS);
    r->at_end = true;
    return STATUS_NOT_FOUND;
}

enum status kafka_reader_read_all(
    struct kafka_reader *r, enum kafka_end end, int timeout_ms,
    enum status (*visit)(void *ctx, const struct kafka_message *m), void *ctx,
    struct buf *why)
{
    int64_t heard = clock_mono(), high = (int64_t)r->of->count;
    struct kafka_message m;
    enum status st = STATUS_OK;

    while (st == STATUS_OK &&
           !(r->at_end && (end == KAFKA_END_COMMITTED || r->next >= high))) {
        st = kafka_reader_next(r, 100, &m, why);
        if (st == STATUS_OK) {
            heard = clock_mono();
            st = visit(ctx, &m);
        } else if (st == STATUS_NOT_FOUND) {
            st = clock_mono() - heard < timeout_ms * NS_PER_MS
                     ? STATUS_OK
                     : say(why, STATUS_AGAIN, "no answer");
        }
    }
    return st;
}

bool kafka_reader_is_at_end(const struct kafka_reader *r)
{
    return r->at_end;
}

int64_t kafka_reader_offset(const struct kafka_reader *r)
{
    return r->next;
}

/* ---- the group ---- */

struct kafka_member {
    struct kafka_owner owner;
    unsigned number; /* in brokers.members, + 1 */
    bool has[PARTITIONS];
    int64_t heard; /* the last answer */
    bool leaves;
    unsigned idle; /* polls that brought nothing */
};

unsigned brokers_owner(int partition)
{
    return b->owner[partition] != 0 ? b->members[b->owner[partition] - 1].life
                                    : 0;
}

static int load_of(unsigned member)
{
    int load = 0;

    for (int i = 0; i < b->group_partitions; i++)
        load += b->target[i] == member;
    return load;
}

static unsigned extreme(bool most)
{
    unsigned best = 0;

    for (unsigned i = 1; i <= MEMBERS; i++)
        if (b->members[i - 1].in &&
            (best == 0 ||
             (most ? load_of(i) > load_of(best) : load_of(i) < load_of(best))))
            best = i;
    return best;
}

/* Who stays keeps what it has, as far as all have as many. */
static void assign(void)
{
    unsigned least = extreme(false);

    for (int i = 0; i < b->group_partitions; i++)
        if (b->target[i] == 0 || !b->members[b->target[i] - 1].in)
            b->target[i] = extreme(false);
    while (least != 0 && load_of(extreme(true)) > load_of(least) + 1)
        for (int i = 0; i < b->group_partitions; i++)
            if (b->target[i] == extreme(true)) {
                b->target[i] = least = extreme(false);
                break;
            }
}

static void leave(unsigned member)
{
    b->members[member - 1].in = false;
    for (int i = 0; i < b->group_partitions; i++) {
        if (b->owner[i] == member)
            b->owner[i] = 0;
        if (b->target[i] == member)
            b->target[i] = 0;
    }
    assign();
}

static void expire(void)
{
    for (unsigned i = 1; answer() && i <= MEMBERS; i++)
        if (b->members[i - 1].in &&
            world->mono_ns - b->members[i - 1].heard > SESSION) {
            TELL("the group gives up on process %u", b->members[i - 1].life);
            leave(i);
        }
}

static void join(struct kafka_member *m)
{
    unsigned i = 0;

    while (i < MEMBERS && b->members[i].in)
        i++;
    if (i == MEMBERS)
        world_fault("too many members");
    b->members[i] = (struct member){life_number(), true, world->mono_ns};
    m->number = i + 1;
    m->heard = world->mono_ns;
    assign();
}

static bool is_in(const struct kafka_member *m)
{
    return m->number != 0 && b->members[m->number - 1].in &&
           b->members[m->number - 1].life == life_number();
}

static void *say_alive(void *arg)
{
    struct kafka_member *m = arg;

    while (!m->leaves) {
        expire();
        if (answer() && is_in(m))
            m->heard = b->members[m->number - 1].heard = world->mono_ns;
        scheduler_sleep(NS_PER_S);
    }
    free(m);
    return NULL;
}

enum status kafka_member_open(struct kafka_member **out,
                              const struct kafka_access *a, const char *group,
                              const char *topic,
                              const struct kafka_owner *owner, struct buf *why)
{
    struct kafka_member *m = calloc(1, sizeof *m);
    unsigned thread;

    (void)a, (void)group, (void)why;
    b->group_partitions = 0;
    while (partition_of(topic, b->group_partitions) != NULL)
        b->group_partitions++;
    m->owner = *owner;
    m->heard = world->mono_ns;
    thread = scheduler_spawn(say_alive, m);
    scheduler_name(thread, "heartbeat");
    scheduler_detach(thread);
    *out = m;
    return STATUS_OK;
}

static void give_up(struct kafka_member *m, int partition, bool lost)
{
    m->has[partition] = false;
    m->owner.gives_up(m->owner.ctx, partition, lost);
    if (b->owner[partition] == m->number && is_in(m))
        b->owner[partition] = 0;
}

void kafka_member_close(struct kafka_member *m)
{
    if (m == NULL)
        return;
    for (int i = 0; i < b->group_partitions; i++)
        if (m->has[i])
            give_up(m, i, false);
    if (is_in(m))
        leave(m->number);
    m->leaves = true;
}

static void lose_all(struct kafka_member *m)
{
    for (int i = 0; i < b->group_partitions; i++)
        if (m->has[i])
            give_up(m, i, true);
    if (is_in(m))
        leave(m->number);
    m->number = 0;
}

enum status kafka_member_poll(struct kafka_member *m, int timeout_ms,
                              struct buf *why)
{
    (void)why;
    scheduler_sleep(++m->idle < IDLE ? timeout_ms * NS_PER_MS : NS_PER_S);
    expire();
    if (m->number != 0 && (!is_in(m) || world->mono_ns - m->heard > SESSION))
        lose_all(m);
    if (!answer())
        return STATUS_OK;
    if (m->number == 0)
        join(m);
    for (int i = 0; i < b->group_partitions; i++)
        if (m->has[i] && b->target[i] != m->number) {
            m->idle = 0;
            give_up(m, i, false);
        }
    for (int i = 0; i < b->group_partitions; i++)
        if (!m->has[i] && b->target[i] == m->number && b->owner[i] == 0) {
            b->owner[i] = m->number;
            m->has[i] = true;
            m->idle = 0;
            m->owner.gained(m->owner.ctx, i);
        }
    return STATUS_OK;
}
