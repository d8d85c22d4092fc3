/* SPDX-License-Identifier: MIT */
/*
 * served_log_verify.c - checks that the logs of put URLs agree with the url
 * rows.
 *
 * No counters are stored, so it compares none.
 */

#include "storage/db/schema.h"
#include "storage/rows/served_log.h"

#define OTHER_URLS(log, than)                                                  \
    "SELECT l.seq FROM " log " l LEFT JOIN url u ON u.id = l.url"              \
    " WHERE u." than " LIMIT 1"

_Static_assert(URL_KIND_SERVED == 28, "as it stands in the queries");

/* Fails if `sql`, which selects rows that cannot be right, finds one. */
static enum status expect_none(struct db *d, const char *sql, const char *table,
                               const char *why)
{
    int64_t row = 0;
    enum status st = db_number(d, sql, &row);

    if (st == STATUS_NOT_FOUND)
        return STATUS_OK;
    return st == STATUS_OK ? db_damaged(table, row, why) : st;
}

enum status served_log_verify(struct db *d, uint64_t *urls)
{
    static const struct {
        const char *sql, *table, *why;
    } checks[] = {
        {OTHER_URLS("item_update", "kind IS NOT 28"), "item_update",
         "of a URL that was not put"},
        {OTHER_URLS("item_lease", "id IS NULL"), "item_lease", "of no URL"},
        {"SELECT seq FROM item_update WHERE since >= seq OR due < 0 LIMIT 1",
         "item_update", "since or due cannot be"},
        {"SELECT seq FROM item_lease WHERE until < at LIMIT 1", "item_lease",
         "ends before it begins"},
        {"SELECT l.seq FROM item_lease l JOIN item_update u USING (seq)"
         " LIMIT 1",
         "item_lease", "seq stands in both logs"},
        {"SELECT i.queue FROM item_queue i LEFT JOIN queue q ON q.id = i.queue"
         " WHERE q.id IS NULL OR i.removed > (SELECT max(id) FROM url)"
         " LIMIT 1",
         "item_queue", "of no queue, or ahead of the URLs"},
        {"SELECT queue FROM item_queue WHERE removed < 0 OR delay < -1"
         " OR blocked_until < 0 OR completed_most < 0 OR served < 0"
         " OR completed < 0 OR removed_count < 0"
         " OR gone NOT IN (0, 1) LIMIT 1",
         "item_queue", "a setting cannot be"},
        /* in a crawl with its own fetchers, the id of any URL */
        {"SELECT i.queue FROM item_queue i LEFT JOIN url u ON u.id = i.removed"
         " LEFT JOIN origin o ON o.id = u.origin WHERE i.removed > 0"
         " AND (SELECT kind FROM url LIMIT 1) = 28"
         " AND (u.kind IS NOT 28 OR o.queue IS NOT i.queue) LIMIT 1",
         "item_queue", "removed up to a URL that is not its own"},
    };
    int64_t n = 0;
    enum status st =
        db_number(d, "SELECT count(*) FROM url WHERE kind = 28", &n);

    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        if (st == STATUS_OK)
            st = expect_none(d, checks[i].sql, checks[i].table, checks[i].why);
    }
    *urls = (uint64_t)n;
    return st;
}
