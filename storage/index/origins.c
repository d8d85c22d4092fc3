/* SPDX-License-Identifier: MIT */
/*
 * origins.c - the prefixes of URLs, stored once for each queue.
 *
 * Prefixes up to 59 octets are cached by number, in direct-mapped lines of 64
 * octets; longer ones are rare and read from the table each time.
 */
#include "storage/index/origins.h"

#include <stdlib.h>
#include <string.h>

#include "base/logger.h"
#include "base/mem.h"
#include "storage/index/name_table.h"

#define LINES_LEAST 1024
#define LINES_MOST  65536
#define LINE_LEN    59

struct line {
    uint32_t origin; /* 0: free */
    uint8_t len;
    char prefix[LINE_LEN];
};

struct origins {
    struct db *d;
    struct tag_index *index;
    uint32_t *queue_of; /* entry i is for origin i + 1 */
    uint32_t cap;
    struct line *lines;
    uint32_t line_count;
    struct buf gathered;   /* prefixes one after the other */
    uint32_t *gathered_to; /* entry i: where that of origin i + 1 ends */
    uint32_t gathered_count;
};

static void set_queue(struct origins *o, uint32_t origin, uint32_t queue)
{
    if (origin > o->cap) {
        o->cap = o->cap > 0 ? o->cap + o->cap / 2 : 64;
        o->queue_of = xrealloc(o->queue_of, o->cap * sizeof *o->queue_of);
    }
    o->queue_of[origin - 1] = queue;
}

static enum status take_row(struct origins *o, sqlite3_stmt *row,
                            uint32_t queues)
{
    int64_t id = sqlite3_column_int64(row, 0);
    int64_t queue = sqlite3_column_int64(row, 1);

    if (id != (int64_t)tag_index_count(o->index) + 1 || queue < 1 ||
        queue > (int64_t)queues)
        return db_damaged("origin", id, "makes no sense");
    tag_index_load(o->index, (uint32_t)queue, db_column(row, 2));
    set_queue(o, (uint32_t)id, (uint32_t)queue);
    return STATUS_OK;
}

static enum status read_all(struct origins *o, uint32_t queues)
{
    sqlite3_stmt *row = NULL;
    enum status st = db_prepare(o->d, &row,
                                "SELECT id, queue, prefix FROM origin"
                                " ORDER BY id");

    while (st == STATUS_OK && (st = db_step(o->d, row)) == STATUS_OK)
        st = take_row(o, row, queues);
    sqlite3_finalize(row);
    if (st == STATUS_NOT_FOUND && !tag_index_index(o->index))
        return db_damaged("origin", 0, "an origin stands twice");
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

enum status origins_open(struct origins **out, struct db *d, uint32_t queues,
                         uint64_t cache_bytes)
{
    struct origins *o = xcalloc(1, sizeof *o);
    uint64_t lines = cache_bytes / sizeof *o->lines;
    enum status st;

    o->d = d;
    o->index = tag_index_new();
    o->line_count = lines < LINES_LEAST  ? LINES_LEAST
                    : lines > LINES_MOST ? LINES_MOST
                                         : (uint32_t)lines;
    o->lines = xcalloc(o->line_count, sizeof *o->lines);
    st = read_all(o, queues);
    if (st != STATUS_OK) {
        origins_close(o);
        return st;
    }
    *out = o;
    return STATUS_OK;
}

void origins_close(struct origins *o)
{
    if (o == NULL)
        return;
    origins_let_go(o);
    tag_index_free(o->index);
    free(o->queue_of);
    free(o->lines);
    free(o);
}

size_t origins_split(struct bytes url)
{
    const char *colon = url.len > 0 ? memchr(url.at, ':', url.len) : NULL;
    size_t from;
    const char *slash;

    if (colon == NULL)
        return 0;
    from = (size_t)(colon - url.at) + 3;
    if (from >= url.len || colon[1] != '/' || colon[2] != '/')
        return 0;
    slash = memchr(url.at + from, '/', url.len - from);
    return slash != NULL ? (size_t)(slash - url.at) : 0;
}

static struct line *line_of(struct origins *o, uint32_t origin)
{
    return &o->lines[origin % o->line_count];
}

static void remember(struct origins *o, uint32_t origin, struct bytes prefix)
{
    struct line *l = line_of(o, origin);

    if (prefix.len > LINE_LEN)
        return;
    l->origin = origin;
    l->len = (uint8_t)prefix.len;
    if (prefix.len > 0)
        memcpy(l->prefix, prefix.at, prefix.len);
}

enum status origins_number(struct origins *o, uint32_t queue,
                           struct bytes prefix, uint32_t *origin)
{
    sqlite3_stmt *q;
    uint32_t n = tag_index_find(o->index, queue, prefix);
    enum status st;

    if (n != 0) {
        *origin = n;
        return STATUS_OK;
    }
    if (tag_index_count(o->index) == UINT32_MAX - 1)
        return STATUS_LIMIT;
    n = tag_index_add(o->index, queue, prefix);
    set_queue(o, n, queue);
    remember(o, n, prefix);
    q = db_statement(o->d, "INSERT INTO origin VALUES(?, ?, ?)");
    sqlite3_bind_int64(q, 1, n);
    sqlite3_bind_int64(q, 2, queue);
    sqlite3_bind_text(q, 3, prefix.len > 0 ? prefix.at : "", (int)prefix.len,
                      SQLITE_STATIC);
    st = db_run(o->d, q);
    sqlite3_clear_bindings(q);
    if (st == STATUS_OK)
        *origin = n;
    return st;
}

uint32_t origins_queue(const struct origins *o, uint32_t origin)
{
    return origin >= 1 && origin <= tag_index_count(o->index)
               ? o->queue_of[origin - 1]
               : 0;
}

void origins_prefetch(const struct origins *o, uint32_t origin)
{
    if (origin < 1 || origin > tag_index_count(o->index))
        return;
    __builtin_prefetch(&o->queue_of[origin - 1]);
    if (origin <= o->gathered_count)
        __builtin_prefetch(&o->gathered_to[origin - 1]);
}

static struct bytes gathered(const struct origins *o, uint32_t origin)
{
    uint32_t from = origin > 1 ? o->gathered_to[origin - 2] : 0;

    return bytes_of(o->gathered.at + from, o->gathered_to[origin - 1] - from);
}

void origins_prefetch_prefix(const struct origins *o, uint32_t origin)
{
    if (origin >= 1 && origin <= o->gathered_count)
        __builtin_prefetch(gathered(o, origin).at);
    else
        __builtin_prefetch(&o->lines[origin % o->line_count]);
}

enum status origins_prefix(struct origins *o, uint32_t origin, struct buf *out)
{
    sqlite3_stmt *q;
    const struct line *l = line_of(o, origin);
    enum status st;

    if (origin >= 1 && origin <= o->gathered_count) {
        buf_add_bytes(out, gathered(o, origin));
        return STATUS_OK;
    }
    if (l->origin == origin && origin != 0) {
        buf_add(out, l->prefix, l->len);
        return STATUS_OK;
    }
    q = db_statement(o->d, "SELECT prefix FROM origin WHERE id = ?");
    sqlite3_bind_int64(q, 1, origin);
    st = db_step(o->d, q);
    if (st == STATUS_OK) {
        struct bytes prefix = db_column(q, 0);

        buf_add_bytes(out, prefix);
        remember(o, origin, prefix);
    } else if (st == STATUS_NOT_FOUND) {
        st = db_damaged("origin", origin, "row is missing");
    }
    sqlite3_reset(q);
    return st;
}

/* `most`: octets for their ends and their texts. Hosts that were found first
 * have most of the URLs, so the first ones are those worth keeping. */
static enum status gather(struct origins *o, sqlite3_stmt *row, uint64_t most)
{
    uint32_t *to = o->gathered_to;
    enum status st;

    while ((st = db_step(o->d, row)) == STATUS_OK) {
        struct bytes prefix = db_column(row, 0);

        if (o->gathered_count == tag_index_count(o->index) ||
            o->gathered.len + prefix.len > most)
            return STATUS_OK;
        buf_add_bytes(&o->gathered, prefix);
        to[o->gathered_count++] = (uint32_t)o->gathered.len;
    }
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

enum status origins_gather(struct origins *o, uint64_t most)
{
    uint64_t ends = (uint64_t)origins_count(o) * sizeof *o->gathered_to;
    sqlite3_stmt *row = NULL;
    enum status st;

    origins_let_go(o);
    if (ends == 0 || ends >= most)
        return STATUS_OK;
    most = most - ends < UINT32_MAX ? most - ends : UINT32_MAX;
    buf_init(&o->gathered, (size_t)most);
    o->gathered_to = xmalloc(ends);
    st = db_prepare(o->d, &row, "SELECT prefix FROM origin ORDER BY id");
    if (st == STATUS_OK)
        st = gather(o, row, most);
    sqlite3_finalize(row);
    return st;
}

void origins_let_go(struct origins *o)
{
    buf_fini(&o->gathered);
    buf_init(&o->gathered, 0);
    free(o->gathered_to);
    o->gathered_to = NULL;
    o->gathered_count = 0;
}

uint32_t origins_count(const struct origins *o)
{
    return tag_index_count(o->index);
}

uint64_t origins_memory(const struct origins *o)
{
    return sizeof *o + o->line_count * sizeof *o->lines +
           o->cap * sizeof *o->queue_of + tag_index_memory(o->index);
}
