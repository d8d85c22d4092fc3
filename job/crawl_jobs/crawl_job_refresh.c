/* SPDX-License-Identifier: MIT */
/* crawl_job_refresh.c - makes done URLs of a running crawl due again. */
#include <stdlib.h>

#include "job/crawl_jobs/crawl_jobs_impl.h"
#include "job/refresh.h"

#define SLICE 4096 /* URLs examined between two turns of the crawl */

struct refresh_task {
    struct crawl_task task;
    struct refresh_request q;
    bool over;
};

static enum status run_slice(struct crawl_task *task, struct engine *e,
                             int64_t now, int64_t wall_ms)
{
    struct refresh_task *t = (struct refresh_task *)(void *)task;

    return e->ops->refresh_urls(e, &t->q, SLICE, now, wall_ms, &t->over);
}

static struct bytes text_of(const json_t *in, const char *member)
{
    const json_t *text = json_object_get(in, member);

    return bytes_of(json_string_value(text), json_string_length(text));
}

enum status crawl_job_refresh(struct crawl_job *m, json_t *in, json_t **out,
                              struct buf *why)
{
    const struct bytes match = text_of(in, "match");
    struct refresh_task t = {.task = {.run = run_slice, .durable = true}};
    struct url_pattern *pattern = NULL;
    enum status st = STATUS_OK;

    if (match.len > 0 && url_pattern_new(&pattern, match, why) != STATUS_OK)
        st = STATUS_ARG;
    t.q = refresh_wish(text_of(in, "host"), pattern,
                       json_is_true(json_object_get(in, "now")));
    while (st == STATUS_OK && !t.over)
        st = crawl_perform(m->crawl, &t.task);
    if (st == STATUS_OK)
        *out = json_pack("{s:I}", "dated", (json_int_t)t.q.dated);
    else if (st == STATUS_CLOSED)
        buf_add_str(why, "the crawl is stopping");
    free(t.q.walk.seen);
    url_pattern_free(pattern);
    return st;
}
