/* SPDX-License-Identifier: MIT */
/* shard_settings.c - the settings of one shard, from those of its worker. */
#include "cli/run/shard_settings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/file.h"
#include "base/mem.h"
#include "job/settings/settings.h"

#define MEMORY_LEAST ((uint64_t)96 << 20)

/* pages.jsonl becomes pages-3.jsonl: processes do not share a file, which each
 * continues where its own rows end. */
static void name_lines(struct crawl_settings *s)
{
    const char *name, *end;
    struct buf path;

    if (s->jsonl == NULL || kafka_address_is_url(s->jsonl))
        return;
    name = strrchr(s->jsonl, '/');
    end = strrchr(name != NULL ? name : s->jsonl, '.');
    if (end == NULL)
        end = s->jsonl + strlen(s->jsonl);
    buf_init(&path, 8192);
    buf_addf(&path, "%.*s-%" PRIu32 "%s", (int)(end - s->jsonl), s->jsonl,
             s->shard.number, end);
    free(s->jsonl);
    s->jsonl = xstrdup(buf_str(&path));
    buf_fini(&path);
}

enum status shard_settings_read(struct crawl_settings *s, const char *dir,
                                struct shard_number number,
                                struct kafka_address *where, struct buf *why)
{
    struct buf path;
    enum status st = settings_load(s, dir, why);

    if (st == STATUS_OK)
        st = s->cluster != NULL ? kafka_address_read(where, s->cluster, why)
                                : STATUS_ARG;
    if (st != STATUS_OK)
        return st;
    free(s->cluster);
    s->cluster = NULL;
    s->shard = number;
    name_lines(s);
    s->quiet = true;
    s->progress = PROGRESS_NONE;
    s->memory_bytes /= number.count;
    if (s->memory_bytes < MEMORY_LEAST)
        s->memory_bytes = MEMORY_LEAST;
    buf_init(&path, 4096);
    buf_addf(&path, "%s/shards", dir);
    st = file_make_dir(buf_str(&path));
    buf_addf(&path, "/%" PRIu32, number.number);
    free(s->output);
    s->output = xstrdup(buf_str(&path));
    buf_fini(&path);
    return st;
}
