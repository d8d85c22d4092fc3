/* SPDX-License-Identifier: MIT */
/*
 * shared.c - opening, names, and the thread that talks to the servers.
 *
 * Hands post their calls and wait; the thread sends all that were posted and
 * takes what servers answer, as it comes. So a server that does not answer
 * holds up those who asked it, and nobody else.
 */
#include "frontier/shared/shared.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/redis/redis_slots.h"
#include "frontier/shared/shared_impl.h"

#define FORMAT   "served 1"
#define SHARDS   64
#define START    (20 * NS_PER_S) /* longest wait for the servers */
#define ANSWER   (5 * NS_PER_S)
#define CALL     (30 * NS_PER_S)
#define PATIENCE (2 * NS_PER_S)
#define WINDOW   128
#define TURN     (100 * NS_PER_MS)

/* ---- names ---- */

unsigned shared_shard_of(const struct shared *s, struct bytes crawl,
                         struct bytes key)
{
    return (unsigned)(digest_url(&s->key, crawl, key, bytes_of("", 0)).hi %
                      s->shards);
}

void shared_digest(const struct shared *s, struct bytes crawl, struct bytes key,
                   struct bytes url, char out[SHARED_DIGEST_SIZE])
{
    const struct digest d = digest_url(&s->key, crawl, key, url);

    for (int i = 0; i < 8; i++) {
        out[i] = (char)(d.hi >> (56 - 8 * i));
        out[8 + i] = (char)(d.lo >> (56 - 8 * i));
    }
}

void shared_id_write(struct buf *out, struct bytes crawl, struct bytes key)
{
    buf_addf(out, "%zu:", crawl.len);
    buf_add_bytes(out, crawl);
    buf_add_bytes(out, key);
}

bool shared_id_read(struct bytes id, struct bytes *crawl, struct bytes *key)
{
    size_t len = 0, i = 0;

    for (; i < id.len && i < 6 && ascii_is_digit(id.at[i]); i++)
        len = 10 * len + (size_t)(id.at[i] - '0');
    if (i == 0 || i >= id.len || id.at[i] != ':' || len > id.len - i - 1)
        return false;
    *crawl = bytes_of(id.at + i + 1, len);
    *key = bytes_of(id.at + i + 1 + len, id.len - i - 1 - len);
    return true;
}

/* ---- the thread ---- */

void shared_post(struct shared *s, struct shared_call *list)
{
    const uint64_t one = 1;
    struct shared_call *last = list;

    while (shared_call_next(last) != NULL)
        last = shared_call_next(last);
    pthread_mutex_lock(&s->mtx);
    if (s->posted == NULL)
        s->posted = list;
    else
        shared_call_link(s->posted_last, list);
    s->posted_last = last;
    pthread_mutex_unlock(&s->mtx);
    if (write(s->wake, &one, sizeof one) < 0)
        return; /* its counter is full: the thread is awake */
}

/* False: the frontier closes. */
static bool take_posted(struct shared *s)
{
    struct shared_call *c;
    uint64_t count;
    bool go_on, stop;

    if (read(s->wake, &count, sizeof count) < 0 && errno != EAGAIN)
        return false;
    pthread_mutex_lock(&s->mtx);
    c = s->posted;
    s->posted = NULL;
    go_on = !s->stopping;
    stop = s->net != NULL && clock_mono() >= s->stop_at;
    if (s->net != NULL)
        redis_cluster_get_stats(s->net, &s->stats);
    pthread_mutex_unlock(&s->mtx);
    if (stop) {
        redis_cluster_free(s->net);
        s->net = NULL;
    }
    while (c != NULL) {
        struct shared_call *next = shared_call_next(c);

        if (s->net != NULL)
            shared_call_send(c, s->net);
        else
            shared_call_drop(c);
        c = next;
    }
    return go_on;
}

static void *thread(void *arg)
{
    struct shared *s = arg;

    while (take_posted(s)) {
        struct pollfd wake = {.fd = s->wake, .events = POLLIN};

        if (s->net != NULL)
            redis_cluster_turn(s->net, TURN);
        else
            (void)poll(&wake, 1, (int)(TURN / NS_PER_MS));
    }
    return NULL;
}

void shared_stop(struct shared *s, int64_t patience)
{
    pthread_mutex_lock(&s->mtx);
    s->stop_at = clock_mono() + patience;
    pthread_mutex_unlock(&s->mtx);
}

void shared_get_stats(struct shared *s, struct redis_cluster_stats *out)
{
    pthread_mutex_lock(&s->mtx);
    *out = s->stats;
    pthread_mutex_unlock(&s->mtx);
}

/* ---- the record ---- */

struct record {
    bool ended;
    enum status st;
    char format[32];
    uint64_t shards;
    unsigned char seed[DIGEST_SEED_SIZE];
    bool has_seed;
};

static void record_came(void *ctx, enum status st, const redisReply *r)
{
    struct record *rec = ctx;

    rec->ended = true;
    rec->st = st;
    if (st != STATUS_OK)
        return;
    rec->st = r->type == REDIS_REPLY_ARRAY ? STATUS_OK : STATUS_DAMAGED;
    for (size_t i = 0; rec->st == STATUS_OK && i + 1 < r->elements; i += 2) {
        struct bytes name, value;

        if (!shared_is_text(r, i) || !shared_is_text(r, i + 1)) {
            rec->st = STATUS_DAMAGED;
            return;
        }
        name = shared_text(r, i);
        value = shared_text(r, i + 1);
        if (bytes_is(name, "format"))
            snprintf(rec->format, sizeof rec->format, "%.*s", (int)value.len,
                     value.at);
        if (bytes_is(name, "shards") &&
            !redis_url_number(value, SHARED_SHARDS_MOST, &rec->shards))
            rec->st = STATUS_DAMAGED;
        if (bytes_is(name, "seed"))
            rec->has_seed = bytes_from_hex(value, rec->seed, DIGEST_SEED_SIZE);
    }
}

static enum status check_record(const struct shared *s,
                                const struct record *rec, struct buf *error)
{
    enum status st = rec->st;

    if (st == STATUS_OK && rec->format[0] == '\0') {
        buf_addf(error, "there is no frontier named %s", s->name);
        st = STATUS_NOT_FOUND;
    } else if (st != STATUS_OK) {
        buf_addf(error, "the frontier %s cannot be opened: %s", s->name,
                 status_text(st));
    } else if (strncmp(rec->format, "served ", 7) != 0) {
        buf_addf(error,
                 "%s is a crawl's name there; a service needs one of its own",
                 s->name);
        st = STATUS_ARG;
    } else if (strcmp(rec->format, FORMAT) != 0) {
        buf_addf(error, "%s was made by a newer urlweir; use that release",
                 s->name);
        st = STATUS_VERSION;
    } else if (!rec->has_seed || rec->shards < 1) {
        buf_addf(error, "the record of %s in the cluster is not valid",
                 s->name);
        st = STATUS_DAMAGED;
    }
    return st;
}

static void set_shards(struct shared *s, unsigned count)
{
    char tag[SHARED_NAME_MOST + 16];

    s->shards = count;
    s->slots = xcalloc(count, sizeof *s->slots);
    for (unsigned i = 0; i < count; i++) {
        int len = snprintf(tag, sizeof tag, "%s:%x", s->name, i);

        s->slots[i] = redis_slot_of(bytes_of(tag, (size_t)len));
    }
}

/* Reads the record, and makes it if there is none and one may be made. */
static enum status begin(struct shared *s, struct buf *error)
{
    unsigned char seed[DIGEST_SEED_SIZE];
    char shards[16], hex[2 * DIGEST_SEED_SIZE + 1], key[SHARED_NAME_MOST + 3];
    struct record rec = {.ended = false};
    const struct bytes name =
        bytes_of(key, (size_t)snprintf(key, sizeof key, "{%s}", s->name));
    const struct bytes args[] = {
        bytes_of_str("format"),
        bytes_of_str(FORMAT),
        bytes_of_str("shards"),
        bytes_of(shards,
                 (size_t)snprintf(shards, sizeof shards, "%u",
                                  s->o.shards > 0 ? s->o.shards : SHARDS)),
        bytes_of_str("seed"),
        bytes_of(hex, sizeof hex - 1)};
    const struct redis_call_spec spec = {
        .script = shared_script(SHARED_BEGIN),
        .slot = redis_slot_of(bytes_of_str(s->name)),
        .keys = &name,
        .key_count = 1,
        .args = args,
        .arg_count = s->o.exists ? 0 : sizeof args / sizeof *args,
        .durable = true,
        .end = record_came,
        .ctx = &rec};
    enum status st;

    if (getrandom(seed, sizeof seed, 0) != sizeof seed)
        return status_of_errno(errno);
    for (size_t i = 0; i < sizeof seed; i++)
        snprintf(hex + 2 * i, 3, "%02x", seed[i]);
    redis_cluster_call(s->net, &spec);
    while (!rec.ended)
        redis_cluster_turn(s->net, TURN);
    st = check_record(s, &rec, error);
    if (st != STATUS_OK)
        return st;
    digest_key_init(&s->key, rec.seed);
    set_shards(s, (unsigned)rec.shards);
    return STATUS_OK;
}

/* ---- opening ---- */

static bool name_is_valid(const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; i < len; i++)
        if (!ascii_is_alnum(name[i]) && strchr("._-", name[i]) == NULL)
            return false;
    return len > 0 && len <= SHARED_NAME_MOST && name[0] != '-';
}

static struct shared *new_shared(const struct shared_options *o)
{
    struct shared *s = xcalloc(1, sizeof *s);
    uint64_t word;

    if (getrandom(&word, sizeof word, 0) != sizeof word)
        word = (uint64_t)clock_wall_ms();
    snprintf(s->process, sizeof s->process, "%016" PRIx64, word);
    snprintf(s->name, sizeof s->name, "%s", o->name);
    s->o = *o;
    s->o.servers = NULL;
    s->o.name = s->name;
    s->stop_at = INT64_MAX;
    if (s->o.call_ns <= 0)
        s->o.call_ns = CALL;
    if (s->o.patience_ns <= 0)
        s->o.patience_ns = PATIENCE;
    pthread_mutex_init(&s->mtx, NULL);
    s->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return s;
}

static enum status start(struct shared *s, const struct redis_address *servers,
                         struct buf *error)
{
    const struct redis_cluster_options net = {
        .seeds = servers,
        .seed_count = s->o.server_count,
        .scripts = shared_scripts(),
        .script_count = SHARED_SCRIPTS,
        .answer_ns = ANSWER,
        .call_ns = s->o.call_ns,
        .window = WINDOW,
        .replicas = s->o.replicas,
        .alone_is_fine = s->o.alone_is_fine,
        .replica_ms = 1000,
        .wake_fd = s->wake,
    };
    enum status st;
    int err;

    if (s->wake < 0)
        return STATUS_IO;
    s->net = redis_cluster_new(&net);
    st = redis_cluster_start(s->net, START, error);
    if (st == STATUS_OK)
        st = begin(s, error);
    if (st != STATUS_OK)
        return st;
    err = pthread_create(&s->thread, NULL, thread, s);
    s->has_thread = err == 0;
    return err == 0 ? STATUS_OK : status_of_errno(err);
}

enum status shared_open(struct shared **out, const struct shared_options *o,
                        struct buf *error)
{
    struct shared *s;
    enum status st;

    if (!name_is_valid(o->name)) {
        buf_addf(error,
                 "the name of a frontier has letters, digits, and . _ -, %d at "
                 "most",
                 SHARED_NAME_MOST);
        return STATUS_ARG;
    }
    s = new_shared(o);
    st = start(s, o->servers, error);
    if (st != STATUS_OK) {
        shared_close(s);
        return st;
    }
    *out = s;
    return STATUS_OK;
}

void shared_close(struct shared *s)
{
    const uint64_t one = 1;

    if (s == NULL)
        return;
    if (s->has_thread) {
        pthread_mutex_lock(&s->mtx);
        s->stopping = true;
        pthread_mutex_unlock(&s->mtx);
        if (write(s->wake, &one, sizeof one) == sizeof one || errno == EAGAIN)
            pthread_join(s->thread, NULL);
    }
    redis_cluster_free(s->net);
    shared_gets_free(s);
    if (s->wake >= 0)
        close(s->wake);
    pthread_mutex_destroy(&s->mtx);
    free(s->slots);
    free(s);
}

struct shared_hand *shared_hand_new(struct shared *s)
{
    struct shared_hand *h = xcalloc(1, sizeof *h);

    h->s = s;
    pthread_mutex_lock(&s->mtx);
    h->number = s->hands++;
    pthread_mutex_unlock(&s->mtx);
    return h;
}

void shared_hand_free(struct shared_hand *h)
{
    if (h == NULL)
        return;
    arena_free(h->names_memory);
    free(h->names);
    free(h);
}
