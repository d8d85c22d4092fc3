/* SPDX-License-Identifier: MIT */
/* cluster_make.c - makes a crawl on many machines. */
#include "cluster/cluster_make.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "cluster/cluster_control.h"
#include "cluster/shard_message.h"
#include "config/config.h"
#include "frontier/url/queue_key.h"
#include "frontier/url/shard.h"
#include "job/settings/cluster_settings.h"
#include "job/settings/seed_login.h"
#include "job/settings/seeds.h"
#include "job/settings/settings.h"

#define INIT_MS   90000
#define COMMIT_MS 60000
#define LOOK      (50 * NS_PER_MS)

struct making {
    struct crawl_settings *s;
    struct kafka_producer *p;
    struct buf urls, control, message;
    uint32_t shards;
    uint64_t seeds;
    struct buf *why;
};

static enum status send_seed(void *ctx, struct url *u)
{
    struct making *m = ctx;
    const struct shard_message seed = {.seed = true, .url = url_text(u)};
    enum status st;

    buf_clear(&m->message);
    shard_message_write(&m->message, &seed);
    st = buf_failed(&m->message);
    m->seeds++;
    return st == STATUS_OK
               ? kafka_producer_send(m->p, buf_str(&m->urls),
                                     (int)shard_of_host(queue_key_of(u),
                                                        m->shards),
                                     bytes_of("", 0), buf_bytes(&m->message),
                                     m->why)
               : st;
}

static enum status send_control(struct making *m, const char *key,
                                struct bytes value)
{
    return kafka_producer_send(m->p, buf_str(&m->control), 0, bytes_of_str(key),
                               value, m->why);
}

static enum status send_number(struct making *m, const char *key, uint64_t n)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRIu64, n);
    return send_control(m, key, bytes_of_str(text));
}

static enum status send_settings(struct making *m,
                                 const struct crawl_settings *s)
{
    struct buf text;
    enum status st;

    buf_init(&text, CONFIG_CEILING);
    config_write(&crawl_options, s, false, &text);
    st = buf_failed(&text);
    if (st == STATUS_OK)
        st = send_control(m, "settings", buf_bytes(&text));
    buf_fini(&text);
    return st;
}

static enum status send_kept(struct making *m, const struct crawl_settings *s)
{
    struct buf names;
    enum status st;

    buf_init(&names, 4096);
    cluster_settings_kept(s, &names);
    st = names.len > 0 ? send_control(m, "kept", buf_bytes(&names)) : STATUS_OK;
    buf_fini(&names);
    return st;
}

static void keep_login(void *ctx, struct bytes login)
{
    struct making *m = ctx;

    seed_login_add(m->s, login);
}

static enum status send_all(struct making *m)
{
    struct crawl_settings *s = m->s;
    struct seeds seeds = {.report = stderr,
                          .visit = send_seed,
                          .login = keep_login,
                          .ctx = m};
    bool given = s->seeds.count > 0 || s->input != NULL;
    enum status st = kafka_producer_begin(m->p, m->why);

    if (st == STATUS_OK && given)
        st = seeds_all(&seeds, &s->seeds, s->input);
    if (st == STATUS_OK && given && m->seeds == 0)
        st = STATUS_NOT_FOUND;
    if (st == STATUS_OK)
        st = send_number(m, "shards", m->shards);
    if (st == STATUS_OK)
        st = send_number(m, "seeds", m->seeds);
    if (st == STATUS_OK)
        st = send_settings(m, s);
    if (st == STATUS_OK)
        st = send_kept(m, s);
    return st == STATUS_OK ? kafka_producer_commit(m->p, COMMIT_MS, m->why)
                           : st;
}

/* A transaction is answered for before its end is written to all topics, and
 * nobody else reads it until then. */
static enum status wait_until_there(const struct kafka_access *a,
                                    const char *name, struct buf *why)
{
    const struct timespec moment = {.tv_nsec = LOOK};
    int64_t until = clock_mono() + COMMIT_MS * NS_PER_MS;
    struct cluster_control *c = NULL;
    enum status st;

    while ((st = cluster_control_open(&c, a, name, why)) == STATUS_NOT_FOUND &&
           clock_mono() < until)
        nanosleep(&moment, NULL);
    cluster_control_close(c);
    return st;
}

/* Is there a crawl of that name? The producer's id keeps a second one from
 * being made at the same moment. */
static enum status refuse_second(const struct kafka_access *a, const char *name,
                                 struct buf *why)
{
    struct cluster_control *c = NULL;
    enum status st = cluster_control_open(&c, a, name, why);

    cluster_control_close(c);
    return st == STATUS_OK          ? STATUS_EXISTS
           : st == STATUS_NOT_FOUND ? STATUS_OK
                                    : st;
}

enum status cluster_make(const struct kafka_access *a, const char *name,
                         struct crawl_settings *s, uint32_t shards,
                         struct buf *why)
{
    struct making m = {.s = s, .shards = shards, .why = why};
    struct buf id;
    enum status st = cluster_make_topics(a, name, shards, why);

    if (st != STATUS_OK)
        return st;
    buf_init(&id, 512);
    buf_init(&m.urls, 512);
    buf_init(&m.control, 512);
    buf_init(&m.message, SHARD_MESSAGE_MOST);
    buf_addf(&id, "%s.make", name);
    cluster_topic(&m.urls, name, "urls");
    cluster_topic(&m.control, name, "control");
    st = kafka_producer_open(&m.p, a, buf_str(&id), why);
    if (st == STATUS_OK)
        st = kafka_producer_init(m.p, INIT_MS, why);
    if (st == STATUS_OK)
        st = refuse_second(a, name, why);
    if (st == STATUS_OK)
        st = send_all(&m);
    if (st == STATUS_OK)
        st = wait_until_there(a, name, why);
    kafka_producer_close(m.p);
    buf_fini(&id);
    buf_fini(&m.urls);
    buf_fini(&m.control);
    buf_fini(&m.message);
    return st;
}
