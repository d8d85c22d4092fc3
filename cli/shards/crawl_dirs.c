/* SPDX-License-Identifier: MIT */
/* crawl_dirs.c - the directories that a command reads. */
#include "cli/shards/crawl_dirs.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/command.h"
#include "cluster/cluster_control.h"
#include "cluster/shard.h"
#include "cluster/shard_rows.h"
#include "frontier/url/host.h"
#include "frontier/url/url.h"
#include "job/settings/settings.h"

/* TMPDIR/urlweir-shard.XXXXXX/rows: the outer one is held, since a lock on the
 * inner one would say that a process runs the crawl. */
#define COPY "urlweir-shard."
#define ROWS "rows"

struct crawl_dirs {
    const char *command;
    struct crawl_settings s; /* of the crawl */
    struct kafka_address at;
    struct kafka_access access;
    struct cluster_control *all;
    struct buf note; /* of the shard that is visited */
    struct buf why;
};

/* The settings of a worker have its way to sign in. */
static bool read_place(struct crawl_settings *s, const char *where,
                       struct buf *why)
{
    if (kafka_address_is_url(where)) {
        s->cluster = xstrdup(where);
        return true;
    }
    return settings_are_in(where) &&
           settings_load(s, where, why) == STATUS_OK && s->cluster != NULL;
}

bool crawl_dirs_are_shards(const char *where)
{
    struct crawl_settings s;
    struct buf why;
    bool are;

    settings_init(&s);
    buf_init(&why, 4096);
    are = read_place(&s, where, &why);
    buf_fini(&why);
    settings_fini(&s);
    return are;
}

static enum status open_shards(struct crawl_dirs *c)
{
    enum status st = kafka_address_read(&c->at, c->s.cluster, &c->why);

    c->access = (struct kafka_access){c->at.brokers,
                                      {c->s.kafka_property.item,
                                       c->s.kafka_property.count}};
    if (st == STATUS_OK)
        st = cluster_control_open(&c->all, &c->access, c->at.topic, &c->why);
    if (st == STATUS_NOT_FOUND)
        buf_addf(&c->why, "there is no crawl %s", c->at.topic);
    if (st == STATUS_OK)
        st = cluster_settings_take(cluster_control_settings(c->all), &c->s,
                                   &c->why);
    return st;
}

/* As a shard's process keeps them, but a copy has no filter. */
static enum status save_settings(struct crawl_dirs *c, const char *dir)
{
    char *cluster = c->s.cluster;
    enum status st;

    free(c->s.output);
    c->s.output = xstrdup(dir);
    c->s.filter = FILTER_NONE;
    c->s.cluster = NULL;
    st = settings_save(&c->s);
    c->s.cluster = cluster;
    return st;
}

/* ---- the directories of copies ---- */

/* A process holds a lock on its own, which ends with it. -1: it is another
 * one's. */
static int hold_dir(int at, const char *path)
{
    int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat sb;

    if (fd >= 0 && fstat(fd, &sb) == 0 && sb.st_uid == geteuid() &&
        flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &sb) == 0 &&
        sb.st_nlink > 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Ends the hold. */
static void remove_dir(int fd, int at, const char *path)
{
    int rows =
        openat(fd, ROWS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = rows >= 0 ? fdopendir(rows) : NULL;
    const struct dirent *e;

    while (d != NULL && (e = readdir(d)) != NULL)
        (void)unlinkat(rows, e->d_name, 0);
    if (d != NULL)
        closedir(d);
    else if (rows >= 0)
        close(rows);
    (void)unlinkat(fd, ROWS, AT_REMOVEDIR);
    (void)unlinkat(at, path, AT_REMOVEDIR);
    close(fd);
}

static const char *dir_of_copies(void)
{
    const char *tmp = getenv("TMPDIR");

    return tmp != NULL ? tmp : "/tmp";
}

/* What commands have left that were killed. */
static void remove_left_over(void)
{
    DIR *d = opendir(dir_of_copies());
    const struct dirent *e;

    while (d != NULL && (e = readdir(d)) != NULL) {
        int fd = strncmp(e->d_name, COPY, strlen(COPY)) == 0
                     ? hold_dir(dirfd(d), e->d_name)
                     : -1;

        if (fd >= 0)
            remove_dir(fd, dirfd(d), e->d_name);
    }
    if (d != NULL)
        closedir(d);
}

/* Another process may take it for left over before it is held. */
static int make_dir(char *path, size_t size)
{
    int fd = -1;

    for (int tries = 0; fd < 0 && tries < 10; tries++) {
        snprintf(path, size, "%s/" COPY "XXXXXX", dir_of_copies());
        if (mkdtemp(path) == NULL)
            return -1;
        fd = hold_dir(AT_FDCWD, path);
    }
    if (fd >= 0 && mkdirat(fd, ROWS, 0700) != 0) {
        remove_dir(fd, AT_FDCWD, path);
        fd = -1;
    }
    return fd;
}

/* ---- a shard ---- */

/* A shard that nobody has begun with has no rows. */
static enum status copy_shard(struct crawl_dirs *c, uint32_t n, const char *dir,
                              bool *there)
{
    enum status st;

    buf_clear(&c->note);
    st = shard_rows_copy(&c->access, c->at.topic, n, dir, there, &c->note,
                         &c->why);

    return st == STATUS_OK && *there ? save_settings(c, dir) : st;
}

static int failed(struct crawl_dirs *c, enum status st)
{
    return command_failed(c->command,
                          c->why.len > 0 ? buf_str(&c->why) : status_text(st));
}

static int visit_shard(struct crawl_dirs *c, uint32_t n,
                       int (*visit)(void *ctx, const struct crawl_dir *d),
                       void *ctx)
{
    const struct shard_report *now = cluster_control_report(c->all, n);
    char held_dir[4096], dir[4096 + sizeof ROWS];
    int held = make_dir(held_dir, sizeof held_dir);
    bool there = false;
    int code = EXIT_DONE;
    enum status st;

    if (held < 0) {
        buf_clear(&c->why);
        buf_addf(&c->why, "a directory %s cannot be made", held_dir);
        return failed(c, STATUS_IO);
    }
    snprintf(dir, sizeof dir, "%s/" ROWS, held_dir);
    st = copy_shard(c, n, dir, &there);
    if (st != STATUS_OK)
        code = failed(c, st);
    else if (there)
        code = visit(ctx, &(struct crawl_dir){dir, true, n,
                                              !now->idle || now->queued > 0,
                                              now->sent, now->received, c});
    remove_dir(held, AT_FDCWD, held_dir);
    return code;
}

static uint32_t shard_of_url(const struct crawl_dirs *c, struct bytes url)
{
    uint32_t shard = 0;
    struct url u;

    url_init(&u);
    if (url_canonical(&u, url, NULL, NULL) == URL_OK)
        shard = shard_of_host(url_host(&u), cluster_control_shards(c->all));
    url_fini(&u);
    return shard;
}

static int visit_all(struct crawl_dirs *c, struct bytes url,
                     int (*visit)(void *ctx, const struct crawl_dir *d),
                     void *ctx)
{
    uint32_t count = cluster_control_shards(c->all);
    int worst = EXIT_DONE;

    if (url.len > 0)
        return visit_shard(c, shard_of_url(c, url), visit, ctx);
    for (uint32_t n = 0;
         n < count && worst != EXIT_USAGE && worst != EXIT_CANNOT; n++) {
        int code = visit_shard(c, n, visit, ctx);

        if (code > worst || code == EXIT_USAGE || code == EXIT_CANNOT)
            worst = code;
    }
    return worst;
}

/* Has no shard committed anything since `all` was read? */
static int check_still(struct crawl_dirs *c)
{
    int64_t offset = cluster_control_offset(c->all);
    enum status st;

    cluster_control_close(c->all);
    c->all = NULL;
    st = cluster_control_open(&c->all, &c->access, c->at.topic, &c->why);
    if (st == STATUS_OK && cluster_control_offset(c->all) != offset) {
        buf_clear(&c->why);
        buf_addf(&c->why, "crawl %s runs; stop it first", c->at.topic);
        st = STATUS_REFUSED;
    }
    return st == STATUS_OK ? EXIT_DONE : failed(c, st);
}

static int each(const char *command, const char *where, struct bytes url,
                bool still, int (*visit)(void *ctx, const struct crawl_dir *d),
                void *ctx)
{
    struct crawl_dirs c = {.command = command};
    enum status st;
    int code;

    settings_init(&c.s);
    buf_init(&c.note, 4096);
    buf_init(&c.why, (size_t)64 << 10);
    if (!read_place(&c.s, where, &c.why)) {
        code = visit(ctx, &(struct crawl_dir){.path = where});
    } else {
        remove_left_over();
        st = open_shards(&c);
        code =
            st == STATUS_OK ? visit_all(&c, url, visit, ctx) : failed(&c, st);
        if (still && c.all != NULL &&
            (code == EXIT_DONE || code == EXIT_CANNOT))
            code = check_still(&c) == EXIT_DONE ? code : EXIT_CANNOT;
    }
    cluster_control_close(c.all);
    buf_fini(&c.note);
    buf_fini(&c.why);
    settings_fini(&c.s);
    return code;
}

int crawl_dirs_each(const char *command, const char *where, struct bytes url,
                    int (*visit)(void *ctx, const struct crawl_dir *d),
                    void *ctx)
{
    return each(command, where, url, false, visit, ctx);
}

int crawl_dirs_each_still(const char *command, const char *where,
                          int (*visit)(void *ctx, const struct crawl_dir *d),
                          void *ctx)
{
    return each(command, where, bytes_of("", 0), true, visit, ctx);
}

enum status crawl_dirs_each_on_way(
    const struct crawl_dir *d,
    enum status (*visit)(void *ctx, const struct shard_message *m), void *ctx)
{
    struct crawl_dirs *c = d->of;
    enum status st = shard_each_on_way(&c->access, c->at.topic, d->shard,
                                       &c->note, visit, ctx, &c->why);

    if (st != STATUS_OK)
        (void)failed(c, st);
    return st;
}

enum status crawl_dirs_settings(const char *where, struct crawl_settings *s,
                                struct buf *why)
{
    struct crawl_dirs c = {.command = NULL};
    enum status st = STATUS_OK;

    if (settings_are_in(where) || !kafka_address_is_url(where))
        st = settings_load(s, where, why);
    if (st != STATUS_OK)
        return st;
    settings_init(&c.s);
    buf_init(&c.why, (size_t)64 << 10);
    if (read_place(&c.s, where, &c.why)) {
        st = open_shards(&c);
        if (st == STATUS_OK)
            st = cluster_settings_take(cluster_control_settings(c.all), s,
                                       &c.why);
        if (st != STATUS_OK)
            buf_add_str(why, c.why.len > 0 ? buf_str(&c.why) : status_text(st));
    }
    cluster_control_close(c.all);
    buf_fini(&c.why);
    settings_fini(&c.s);
    return st;
}
