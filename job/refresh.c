/* SPDX-License-Identifier: MIT */
/* refresh.c - makes done URLs due again, in a crawl that no process runs. */
#include "job/refresh.h"

#include <stdlib.h>

#include "base/clock.h"

#define SLICE 4096 /* URLs examined between two commits */

static bool is_match(const void *match, struct bytes url)
{
    return url_pattern_matches(match, url);
}

struct refresh_request refresh_wish(struct bytes host,
                                    const struct url_pattern *match,
                                    bool at_once)
{
    return (struct refresh_request){.host = host,
                                    .wants = match != NULL ? is_match : NULL,
                                    .ctx = match,
                                    .now = at_once};
}

enum status refresh_all(struct engine *e, struct bytes host,
                        const struct url_pattern *match, bool at_once,
                        uint64_t *dated)
{
    struct refresh_request q = refresh_wish(host, match, at_once);
    bool over = false;
    enum status st = STATUS_OK;

    while (st == STATUS_OK && !over) {
        st = e->ops->refresh_urls(e, &q, SLICE, clock_mono(), clock_wall_ms(),
                                  &over);
        if (st == STATUS_OK)
            st = e->ops->turn(e, true, clock_mono(), clock_wall_ms(), NULL);
    }
    free(q.walk.seen);
    *dated = q.dated;
    return st;
}
