/* SPDX-License-Identifier: MIT */
/*
 * archive.c - appends records to WARC files.
 *
 * The first page with a body stores it; later ones refer to its URL and time,
 * by which readers find it (WARC/1.1 section 6.7.2). If the first page was
 * fetched without --warc, it has no record, and the body is stored again.
 */
#include "crawler/archive/archive.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "crawler/archive/warc_capture.h"
#include "frontier/engine.h"

#define URL_ROOM ((size_t)128 << 10)
/* Extra room to rename the warcinfo record: random digits compress
 * differently. */
#define MOVE_ROOM 512

struct archive {
    struct warc *warc;
    struct warc_maker *maker;
    struct buf text; /* a URL read from the store */
    pthread_mutex_t mtx;
    char info_id[WARC_ID_SIZE]; /* under mtx; only the frontier thread writes it
                                 */
};

static void tell_info_id(struct archive *a)
{
    pthread_mutex_lock(&a->mtx);
    memcpy(a->info_id, warc_info_id(a->warc), sizeof a->info_id);
    pthread_mutex_unlock(&a->mtx);
}

void archive_info_id(struct archive *a, char out[WARC_ID_SIZE])
{
    pthread_mutex_lock(&a->mtx);
    memcpy(out, a->info_id, sizeof a->info_id);
    pthread_mutex_unlock(&a->mtx);
}

enum status archive_open(struct archive **out, const struct warc_options *o)
{
    struct archive *a = xcalloc(1, sizeof *a);
    enum status st = warc_open(&a->warc, o);

    if (st != STATUS_OK) {
        free(a);
        return st;
    }
    a->maker = warc_maker_new();
    buf_init(&a->text, URL_ROOM);
    pthread_mutex_init(&a->mtx, NULL);
    tell_info_id(a);
    *out = a;
    return STATUS_OK;
}

enum status archive_close(struct archive *a)
{
    enum status st;

    if (a == NULL)
        return STATUS_OK;
    st = warc_close(a->warc);
    warc_maker_free(a->maker);
    buf_fini(&a->text);
    pthread_mutex_destroy(&a->mtx);
    free(a);
    return st;
}

/* If the first page has no record (a run without --warc), there is nothing to
 * refer to; and if it was requested later than this one, though it arrived
 * first, this is not a revisit of it. */
static enum status refer_to_first(struct archive *a, struct engine *e,
                                  struct warc_capture *page,
                                  const struct fetch_row *repeat)
{
    struct first_body first;
    struct url_row row;
    enum status st = e->ops->first_body(e, repeat->body_digest, &first);

    if (st != STATUS_OK || !first.recorded || first.at_ms > page->date_ms)
        return st;
    buf_clear(&a->text);
    st = e->ops->url(e, first.url, &row, &a->text);
    if (st != STATUS_OK)
        return st;
    return warc_capture_revisit(page, a->maker, row.url, first.at_ms);
}

/* Records that name another file's warcinfo record were made before that file
 * ended. */
static enum status append(struct archive *a, struct warc_capture *c,
                          int64_t wall_ms, struct bytes *file, uint64_t *offset)
{
    const char *now = warc_info_id(a->warc);
    enum status st =
        warc_make_room(a->warc, c->members.len + MOVE_ROOM, wall_ms);

    if (st == STATUS_OK && c->info_id[0] != '\0' &&
        strcmp(c->info_id, now) != 0) {
        tell_info_id(a);
        st = warc_capture_move(c, a->maker, now);
    }
    if (st == STATUS_OK)
        st =
            warc_append(a->warc, buf_bytes(&c->members), wall_ms, file, offset);
    return st;
}

static enum status add_page(struct archive *a, struct engine *e,
                            struct warc_capture *page, struct fetch_row *row,
                            int64_t wall_ms)
{
    enum status st = STATUS_OK;

    if (page->may_repeat)
        st = refer_to_first(a, e, page, row);
    if (st == STATUS_OK)
        st = append(a, page, wall_ms, &row->warc_file, &row->warc_offset);
    if (st == STATUS_OK)
        row->warc_length = page->first_length;
    return st;
}

enum status archive_add(struct archive *a, struct engine *e,
                        struct warc_capture *page, struct warc_capture *robots,
                        struct fetch_row *row, int64_t wall_ms)
{
    struct bytes file;
    uint64_t offset;
    enum status st = STATUS_OK;

    if (robots != NULL)
        st = append(a, robots, wall_ms, &file, &offset);
    if (st == STATUS_OK && page != NULL)
        st = add_page(a, e, page, row, wall_ms);
    return st;
}

enum status archive_sync(void *archive)
{
    struct archive *a = archive;

    return warc_sync(a->warc);
}
