/* SPDX-License-Identifier: MIT */
/* retry.c - tries failed URLs again, in a crawl that no process runs. */
#include "job/retry.h"

#include <string.h>

#include "base/clock.h"
#include "frontier/outcome.h"

#define SLICE 4096 /* tries examined between two commits */

static bool is_any(const struct option_list *reasons)
{
    for (size_t i = 0; i < reasons->count; i++)
        if (strcmp(reasons->item[i], "all") == 0)
            return true;
    return reasons->count == 0;
}

bool retry_reasons_are_known(const struct option_list *reasons, struct buf *why)
{
    for (size_t i = 0; i < reasons->count; i++) {
        const char *text = reasons->item[i];

        if (strcmp(text, "all") != 0 && !outcome_reason_is(text)) {
            buf_addf(why,
                     "no URL ends for the reason '%s'; `urlweir status` shows "
                     "those of a crawl, such as http_503, timeout or robots",
                     text);
            return false;
        }
    }
    return true;
}

enum status retry_all(struct engine *e, struct bytes host,
                      const struct option_list *reasons, uint64_t *queued)
{
    struct failed_retry r = {.host = host};
    bool over = false;
    enum status st = STATUS_OK;

    if (!is_any(reasons)) {
        r.reasons = (const char *const *)reasons->item;
        r.reason_count = reasons->count;
    }
    while (st == STATUS_OK && !over) {
        st = e->ops->retry_failed(e, &r, SLICE, clock_mono(), clock_wall_ms(),
                                  &over);
        if (st == STATUS_OK)
            st = e->ops->turn(e, true, clock_mono(), clock_wall_ms(), NULL);
    }
    *queued = r.queued;
    return st;
}
