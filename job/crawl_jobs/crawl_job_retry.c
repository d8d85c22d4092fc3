/* SPDX-License-Identifier: MIT */
/* crawl_job_retry.c - tries failed URLs of a running crawl again. */
#include <stdlib.h>

#include "base/mem.h"
#include "frontier/outcome.h"
#include "job/crawl_jobs/crawl_jobs_impl.h"

#define SLICE 4096 /* tries examined between two turns of the crawl */

struct retry_task {
    struct crawl_task task;
    struct failed_retry r;
    bool over;
};

static enum status run_slice(struct crawl_task *task, struct engine *e,
                             int64_t now, int64_t wall_ms)
{
    struct retry_task *t = (struct retry_task *)(void *)task;

    return e->ops->retry_failed(e, &t->r, SLICE, now, wall_ms, &t->over);
}

/* False: `why` has the reason. The caller frees the array; the JSON owns the
 * texts. */
static bool read_reasons(const json_t *in, const char ***out, size_t *n,
                         struct buf *why)
{
    const json_t *list = json_object_get(in, "reasons");

    *n = json_array_size(list);
    *out = xcalloc(*n + 1, sizeof **out);
    for (size_t i = 0; i < *n; i++) {
        const char *text = json_string_value(json_array_get(list, i));

        if (text == NULL || !outcome_reason_is(text)) {
            buf_addf(why,
                     "reasons[%zu]: not a reason for which a URL ends, such as "
                     "http_503, timeout or robots",
                     i);
            return false;
        }
        (*out)[i] = text;
    }
    return true;
}

enum status crawl_job_retry(struct crawl_job *m, json_t *in, json_t **out,
                            struct buf *why)
{
    const json_t *host = json_object_get(in, "host");
    struct retry_task t = {.task = {.run = run_slice, .durable = true},
                           .r = {.host = bytes_of(json_string_value(host),
                                                  json_string_length(host))}};
    const char **reasons = NULL;
    enum status st = STATUS_OK;

    if (!read_reasons(in, &reasons, &t.r.reason_count, why))
        st = STATUS_ARG;
    t.r.reasons = reasons;
    while (st == STATUS_OK && !t.over)
        st = crawl_perform(m->crawl, &t.task);
    if (st == STATUS_OK)
        *out = json_pack("{s:I}", "queued", (json_int_t)t.r.queued);
    else if (st == STATUS_CLOSED)
        buf_add_str(why, "the crawl is stopping");
    free(reasons);
    free(t.r.seen);
    return st;
}
