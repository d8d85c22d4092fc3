/* SPDX-License-Identifier: MIT */
/*
 * warc_recorder.c - makes the records of one fetcher.
 *
 * A record names the warcinfo record of its file, but which file that is
 * becomes certain only when it is appended. So we use the current file's, and
 * the archive corrects the few records that come after a new file was begun.
 */
#include "crawler/archive/warc_recorder.h"

#include <stdlib.h>

#include "base/mem.h"
#include "crawler/archive/archive.h"
#include "crawler/html/link_kinds.h"

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
                                        const struct engine_done *done,
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
