/* SPDX-License-Identifier: MIT */
/* steer_cluster.c - pause, unpause and stop of a crawl in a cluster. */
#include "cli/control/steer_cluster.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/format.h"
#include "base/redis/redis_address.h"
#include "cli/command.h"
#include "frontier/cluster_store/cluster_steer.h"
#include "frontier/cluster_store/cluster_watch.h"
#include "job/cluster_part.h"
#include "job/settings/cluster_settings.h"
#include "job/settings/settings.h"

#define LOOK_AGAIN (200 * NS_PER_MS)

bool steer_is_cluster(const struct steer *t)
{
    return redis_address_is_url(t->operands.item[0]);
}

int steer_cluster_failed(struct steer *t, enum status st)
{
    struct buf raw;

    buf_init(&raw, 65536);
    buf_add_str(&raw, t->why.len > 0 ? buf_str(&t->why) : "the cluster: ");
    if (t->why.len == 0)
        buf_add_str(&raw, status_text(st));
    buf_clear(&t->why);
    format_terminal(&t->why, buf_bytes(&raw));
    buf_fini(&raw);
    return steer_failed(t, st);
}

int steer_cluster_check(const struct steer *t)
{
    if (t->s.crawl != NULL)
        return usage_error(t->usage, "--crawl is of a service; the URL of a "
                                     "cluster names the crawl");
    return EXIT_DONE;
}

/* Opens the crawl, and reads its settings into `s`, which holds defaults. */
static int open_crawl_of(struct steer *t, struct crawl_settings *s,
                         struct cluster_store **out)
{
    enum status st;

    if (steer_cluster_check(t) != EXIT_DONE)
        return EXIT_USAGE;
    st = cluster_part_look(out, t->operands.item[0], s, &t->why);
    return st == STATUS_OK ? EXIT_DONE : steer_cluster_failed(t, st);
}

/* Prints "redis://HOST/NAME: WHAT", or {"cluster", "is"} with --json. */
static void say(const struct steer *t, const char *what)
{
    struct buf where, line;

    buf_init(&where, 4096);
    buf_init(&line, 8192);
    cluster_url_show(t->operands.item[0], &where);
    format_terminal(&line, buf_bytes(&where));
    if (t->s.json)
        steer_print(
            json_pack("{s:s, s:s}", "cluster", buf_str(&line), "is", what));
    else
        printf("%s: %s\n", buf_str(&line), what);
    buf_fini(&where);
    buf_fini(&line);
}

/* ---- one host ---- */

static void say_host(const struct steer *t, struct bytes key, const char *what)
{
    struct buf text;

    buf_init(&text, 4096);
    format_terminal(&text, key);
    buf_addf(&text, " is %s", what);
    say(t, buf_str(&text));
    buf_fini(&text);
}

int steer_cluster_host(struct steer *t, struct bytes key,
                       enum cluster_host_setting setting, int64_t value,
                       const char *what)
{
    struct cluster_store *store = NULL;
    struct crawl_settings s;
    enum status st;
    int code;

    settings_init(&s);
    code = open_crawl_of(t, &s, &store);
    if (code == EXIT_DONE) {
        st = cluster_store_set_host(store, key, setting, value, s.delay_ms);
        if (st != STATUS_OK)
            code = steer_cluster_failed(t, st);
    }
    if (code == EXIT_DONE)
        say_host(t, key, what);
    cluster_store_close(store);
    settings_fini(&s);
    return code;
}

/* ---- stop ---- */

/* Workers say goodbye when they have given back what they had. */
static int wait_for_workers(struct steer *t, struct cluster_store *store)
{
    const struct timespec pause = {.tv_nsec = LOOK_AGAIN};
    int64_t until = clock_mono() + t->s.timeout_ms * NS_PER_MS;
    size_t alive = 1;

    while (alive > 0) {
        enum status st = cluster_store_count_alive(store, &alive);

        if (st != STATUS_OK)
            return steer_cluster_failed(t, st);
        if (alive > 0 && clock_mono() >= until) {
            buf_addf(&t->why, "%zu workers have not ended yet", alive);
            return steer_failed(t, STATUS_AGAIN);
        }
        if (alive > 0)
            nanosleep(&pause, NULL);
    }
    return EXIT_DONE;
}

static int stop(struct steer *t, struct cluster_store *store)
{
    enum status st = cluster_store_stop(store);
    int code;

    if (st != STATUS_OK)
        return steer_cluster_failed(t, st);
    code = wait_for_workers(t, store);
    if (code == EXIT_DONE)
        say(t, "stopped");
    if (code == EXIT_DONE && !t->s.json)
        puts("  go on with `urlweir resume DIR` of each worker, or `urlweir "
             "join`");
    return code;
}

/* ---- pause ---- */

static int hold(struct steer *t, struct cluster_store *store, bool pause)
{
    enum status st = cluster_store_pause(store, pause);

    if (st != STATUS_OK)
        return steer_cluster_failed(t, st);
    say(t, pause ? "paused" : "goes on");
    return EXIT_DONE;
}

int steer_cluster_state(struct steer *t)
{
    struct cluster_store *store = NULL;
    struct crawl_settings s;
    int code;

    settings_init(&s);
    code = open_crawl_of(t, &s, &store);
    if (code == EXIT_DONE)
        code = strcmp(t->usage->name, "stop") == 0
                   ? stop(t, store)
                   : hold(t, store, strcmp(t->usage->name, "pause") == 0);
    cluster_store_close(store);
    settings_fini(&s);
    return code;
}
