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
#include "crawler/html/link_values.h"
#include "storage/warc/warc_record.h"

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

/* The id of the warcinfo record in the current file. Any thread. */
static void archive_info_id(struct archive *a, char out[WARC_ID_SIZE])
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
static enum status refer_to_first(struct archive *a, struct frontier *f,
                                  struct warc_capture *page,
                                  const struct fetch_row *repeat)
{
    struct first_body first;
    struct url_row row;
    enum status st = frontier_first_body(f, repeat->body_digest, &first);

    if (st != STATUS_OK || !first.recorded || first.at_ms > page->date_ms)
        return st;
    buf_clear(&a->text);
    st = frontier_url(f, first.url, &row, &a->text);
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

static enum status add_page(struct archive *a, struct frontier *f,
                            struct warc_capture *page, struct fetch_row *row,
                            int64_t wall_ms)
{
    enum status st = STATUS_OK;

    if (page->may_repeat)
        st = refer_to_first(a, f, page, row);
    if (st == STATUS_OK)
        st = append(a, page, wall_ms, &row->warc_file, &row->warc_offset);
    if (st == STATUS_OK)
        row->warc_length = page->first_length;
    return st;
}

enum status archive_add(struct archive *a, struct frontier *f,
                        struct warc_capture *page, struct warc_capture *robots,
                        struct fetch_row *row, int64_t wall_ms)
{
    struct bytes file;
    uint64_t offset;
    enum status st = STATUS_OK;

    if (robots != NULL)
        st = append(a, robots, wall_ms, &file, &offset);
    if (st == STATUS_OK && page != NULL)
        st = add_page(a, f, page, row, wall_ms);
    return st;
}

enum status archive_sync(void *archive)
{
    struct archive *a = archive;

    return warc_sync(a->warc);
}

/* ---- makes the records of what one fetcher fetched ---- */

/*
 * A record names the warcinfo record of its file, but which file that is
 * becomes certain only when it is appended. So we use the current file's, and
 * the archive corrects the few records that come after a new file was begun.
 */

#define PATH_MOST ((size_t)HOP_LETTERS_MOST + 32)

struct warc_recorder {
    const struct fetcher_options *o;
    struct warc_maker *maker;
};

struct warc_recorder *warc_recorder_new(const struct fetcher_options *o)
{
    struct warc_recorder *w = xcalloc(1, sizeof *w);

    w->o = o;
    w->maker = warc_maker_new();
    return w;
}

void warc_recorder_free(struct warc_recorder *w)
{
    if (w == NULL)
        return;
    warc_maker_free(w->maker);
    free(w);
}

/* Its body is not what its head says. */
static struct bytes note_on(const struct fetch_result *result)
{
    return result->mislabelled || result->unknown_coding
               ? bytes_of_str(result->error)
               : bytes_of("", 0);
}

static struct warc_capture *capture(struct warc_recorder *w,
                                    const struct warc_facts *facts,
                                    const struct fetch_result *result)
{
    char info_id[WARC_ID_SIZE] = "";
    struct warc_capture *c;

    if (w->o->archive != NULL)
        archive_info_id(w->o->archive, info_id);
    c = warc_capture_of(w->maker, info_id, facts, result);
    if (c != NULL)
        warc_capture_count(c, w->o->bodies);
    return c;
}

/* The body is recorded, perhaps in the files of an earlier crawl. Without
 * memory for the smaller record, the whole one stays. */
static void refer_to_last(struct warc_recorder *w, struct warc_capture *c,
                          const struct record_name *to)
{
    if (warc_capture_revisit(c, w->maker, to->url, to->at_ms) == STATUS_OK)
        c->may_repeat = false;
}

struct warc_capture *warc_recorder_page(struct warc_recorder *w,
                                        const struct assignment *a,
                                        const struct url_done *done,
                                        const struct fetch_result *result)
{
    const bool unchanged = done->outcome.reason == REASON_UNCHANGED ||
                           outcome_is_not_modified(done->outcome);
    const struct record_name none = {{"", 0}, 0};
    const struct warc_facts facts = {.url = a->lease.url,
                                     .same = unchanged ? a->lease.last.record
                                                       : none,
                                     .by = a->found_by,
                                     .charset = done->row.charset,
                                     .note = note_on(result),
                                     .outlinks = done->outlinks,
                                     .outlink_count = done->outlink_count};

    struct warc_capture *c;

    if (w == NULL || result->want != FETCH_BODY) /* a check has no body */
        return NULL;
    c = capture(w, &facts, result);
    if (c != NULL && facts.same.url.len > 0 && c->may_repeat)
        refer_to_last(w, c, &facts.same);
    return c;
}

struct warc_capture *warc_recorder_robots(struct warc_recorder *w,
                                          const struct assignment *a,
                                          struct bytes url, unsigned hop,
                                          const struct fetch_result *result)
{
    struct warc_facts facts = {.url = url,
                               .by = {.via = a->lease.url},
                               .note = note_on(result)};
    struct warc_capture *c;
    struct buf path;

    if (w == NULL)
        return NULL;
    buf_init(&path, PATH_MOST);
    buf_add_bytes(&path, a->found_by.path);
    buf_add_char(&path, 'P');
    while (hop-- > 0)
        buf_add_char(&path, 'R');
    facts.by.path = buf_bytes(&path);
    c = capture(w, &facts, result);
    if (c != NULL)
        c->may_repeat = false; /* the store has no row for its body */
    buf_fini(&path);
    return c;
}
