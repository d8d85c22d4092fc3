/* SPDX-License-Identifier: MIT */
/* explain_trap.c - which trap a URL belongs to, for `urlweir explain`. */
#include "cli/explain/explain_trap.h"

#include <string.h>

#include "base/record.h"
#include "frontier/traps/trap_table.h"
#include "frontier/url/queue_key.h"

static void no_news(void *ctx, const struct trap_view *trap)
{
    (void)ctx;
    (void)trap;
}

static bool keep_body(void *ctx, const struct fetch_row *row)
{
    *(struct digest *)ctx = row->body_digest;
    return true;
}

/* Is the page, on the host it is on, one of a trap that is told by its body?
 * The body that is known has the page's address in it; so if the URL was
 * dropped as a trap's, any such trap of the host will do. */
static bool asks_body(struct reader *r, const struct trap_table *t,
                      uint64_t page, bool dropped, struct trap_view *trap)
{
    struct digest body = {0, 0};
    struct url_row row;
    struct bytes crawl, host;
    struct buf text;
    bool is = false;

    if (page == 0)
        return false;
    buf_init(&text, URL_LENGTH_CEILING + 64);
    if (frontier_store_get(r->store, page, &row, &text) == STATUS_OK &&
        page_store_each_of(r->pages, page, keep_body, &body) == STATUS_OK) {
        frontier_store_queue_name(r->store, row.queue, &crawl, &host);
        is = trap_table_has_body(t, host, body, trap) ||
             (dropped && trap_table_has_spiral(t, host, trap));
    }
    buf_fini(&text);
    return is;
}

bool explain_trap(struct reader *r, const struct crawl_settings *s,
                  const struct url *u, uint64_t via, json_t *out)
{
    const struct frontier_traps traps = settings_traps(s);
    struct trap_options o = {.memory = UINT64_MAX, .found = no_news};
    struct trap_store *store = NULL;
    struct trap_table *t = NULL;
    struct trap_view trap = {0};
    const char *reason = json_string_value(json_object_get(out, "reason"));
    bool dropped =
        reason != NULL && strcmp(reason, outcome_reason_name(REASON_TRAP)) == 0;
    bool is = false;

    if (traps.policy == TRAPS_OFF)
        return false;
    for (unsigned i = 0; i < TRAP_RULES_; i++)
        o.threshold[i] = traps.threshold[i];
    if (trap_store_open(&store, r->db) == STATUS_OK &&
        trap_table_open(&t, store, &o) == STATUS_OK)
        is = trap_table_explain(t, queue_key_of(u), url_text(u), &trap) ||
             asks_body(r, t, via, dropped, &trap);
    if (is) {
        json_set_str(out, "trap_rule", trap_rule_name(trap.rule));
        json_set_text(out, "trap_pattern", trap.form);
        json_set_uint(out, "trap_pages", trap.pages);
    }
    trap_table_close(t);
    trap_store_close(store);
    return is;
}
