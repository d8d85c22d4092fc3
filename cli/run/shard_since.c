/* SPDX-License-Identifier: MIT */
/* shard_since.c - what a shard has to know of the earlier crawl of --since. */
#include "cli/run/shard_since.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/kafka/kafka_address.h"
#include "base/logger.h"
#include "base/mem.h"
#include "cluster/cluster_control.h"
#include "cluster/shard_rows.h"

/* *there: false if the shard had no rows. */
static enum status copy(const struct crawl_settings *s,
                        struct shard_number number, const char *dir,
                        bool *there, struct buf *why)
{
    struct kafka_address at;
    struct kafka_access access;
    struct cluster_control *all = NULL;
    struct buf note;
    enum status st = kafka_address_read(&at, s->since, why);

    buf_init(&note, 4096);
    access = (struct kafka_access){at.brokers,
                                   {s->kafka_property.item,
                                    s->kafka_property.count}};
    if (st == STATUS_OK)
        st = cluster_control_open(&all, &access, at.topic, why);
    if (st == STATUS_OK && cluster_control_shards(all) != number.count)
        st = STATUS_NOT_FOUND; /* another crawl of that name, by now */
    if (st == STATUS_OK)
        st = file_make_dir(s->output);
    if (st == STATUS_OK)
        st = file_make_dir(dir);
    if (st == STATUS_OK)
        st = shard_rows_copy(&access, at.topic, number.number, dir, there,
                             &note, why);
    buf_fini(&note);
    cluster_control_close(all);
    return st;
}

/* A copy that is whole has its name. */
static enum status read_rows(const struct crawl_settings *s,
                             struct shard_number number, const char *dir,
                             bool *there, struct buf *why)
{
    char part[4096];
    int n = snprintf(part, sizeof part, "%s.part", dir);
    enum status st;

    *there = access(dir, F_OK) == 0;
    if (*there)
        return STATUS_OK;
    if (n < 0 || (size_t)n >= sizeof part)
        return STATUS_LIMIT;
    st = file_remove_tree(part);
    if (st == STATUS_OK)
        st = copy(s, number, part, there, why);
    if (st == STATUS_OK && *there)
        st = rename(part, dir) == 0 ? file_sync_parent(dir) : STATUS_IO;
    if (st == STATUS_OK && !*there)
        st = file_remove_tree(part);
    return st;
}

static bool name_dir(char *dir, size_t size, const struct crawl_settings *s)
{
    int n = snprintf(dir, size, "%s/since", s->output);

    return n > 0 && (size_t)n < size;
}

void shard_since_read(struct crawl_settings *s, struct shard_number number)
{
    char dir[4000];
    bool there = false;
    struct buf why;
    enum status st;

    if (s->since == NULL)
        return;
    buf_init(&why, 4096);
    st = name_dir(dir, sizeof dir, s) ? read_rows(s, number, dir, &there, &why)
                                      : STATUS_LIMIT;
    if (st != STATUS_OK)
        log_warn("the earlier crawl cannot be read: what is left is asked for "
                 "in full",
                 "since=%s shard=%" PRIu32 " reason=\"%s\"", s->since,
                 number.number, why.len > 0 ? buf_str(&why) : status_text(st));
    buf_fini(&why);
    free(s->since);
    s->since = st == STATUS_OK && there ? xstrdup(dir) : NULL;
}

void shard_since_forget(const struct crawl_settings *s)
{
    char dir[4000];

    if (s->since != NULL && name_dir(dir, sizeof dir, s) &&
        file_remove_tree(dir) != STATUS_OK)
        log_warn("the copy of the earlier crawl stays", "path=%s", dir);
}
