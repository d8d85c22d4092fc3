/* SPDX-License-Identifier: MIT */
/*
 * frontier_log.c - what became of each URL, and why, for people who look on.
 *
 *   --verbose    fetched  200                  12.3 KiB    45ms  URL
 *   --decisions  retried  timeout              try 2 of 3 in 1.8s  URL
 *                dropped  scope                URL  (on PAGE)
 *                delayed  back_off             2m43s  HOST
 *
 * Here and not in the fetcher: what is the last word on a URL, and how long a
 * host waits, is decided in this folder.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/format.h"
#include "base/logger.h"
#include "frontier/crawl/frontier_impl.h"

#define LINE_MOST ((size_t)8192)
#define TEXT_MOST 64

/* "fetched  200", "failed   http_404", "fetched  200 truncated_length" */
static void add_outcome(struct buf *line, const char *word, struct outcome o)
{
    char reason[TEXT_MOST], both[TEXT_MOST + 8];

    outcome_reason_text(o, reason, sizeof reason);
    if (o.http_status == 0 || strncmp(reason, "http_", 5) == 0)
        snprintf(both, sizeof both, "%s", reason[0] != '\0' ? reason : "-");
    else
        snprintf(both, sizeof both, "%u%s%s", (unsigned)o.http_status,
                 reason[0] != '\0' ? " " : "", reason);
    buf_addf(line, "%-8s %-20s ", word, both);
}

static void add_padded(struct buf *line, const struct buf *text, int width)
{
    buf_addf(line, "%*s  ", width, buf_str(text));
}

static void put(enum log_level level, struct buf *line)
{
    logger_line(level, buf_bytes(line));
    buf_fini(line);
}

void frontier_log_done(struct bytes url, const struct fetch_row *row,
                       struct outcome o)
{
    struct buf line, text;

    if (!logger_is_on(LOG_LEVEL_INFO))
        return;
    buf_init(&line, LINE_MOST);
    buf_init(&text, TEXT_MOST);
    add_outcome(&line, outcome_status_name(o.status), o);
    format_size(&text, row->wire_bytes);
    add_padded(&line, &text, 9);
    buf_clear(&text);
    format_duration(&text, row->elapsed_ms);
    add_padded(&line, &text, 6);
    buf_add_bytes(&line, url);
    buf_fini(&text);
    put(LOG_LEVEL_INFO, &line);
}

void frontier_log_cut(const struct frontier *f, const struct host_queue *h,
                      int64_t delay)
{
    struct bytes crawl, key;

    frontier_store_queue_name(f->store, h->queue, &crawl, &key);
    log_warn("a Crawl-delay is cut to --max-crawl-delay",
             "host=%.*s crawl_delay=%gs max_crawl_delay=%gs", (int)key.len,
             key.at, (double)delay / NS_PER_S,
             (double)f->o.schedule.max_crawl_delay / NS_PER_S);
}

void frontier_log_retry(const struct frontier *f, struct bytes url,
                        struct outcome o, unsigned tries, int64_t wait)
{
    struct buf line;

    if (!logger_is_on(LOG_LEVEL_DEBUG))
        return;
    buf_init(&line, LINE_MOST);
    add_outcome(&line, "retried", o);
    buf_addf(&line, "try %u of %u in ", tries + 1, (unsigned)f->o.tries);
    format_duration(&line, wait / NS_PER_MS);
    buf_add_str(&line, "  ");
    buf_add_bytes(&line, url);
    put(LOG_LEVEL_DEBUG, &line);
}

void frontier_log_drops(struct bytes page, const struct url_done *done)
{
    if (!logger_is_on(LOG_LEVEL_DEBUG))
        return;
    for (size_t i = 0; i < done->drop_count; i++) {
        const struct url_drop *d = &done->drops[i];
        struct buf line;

        buf_init(&line, LINE_MOST);
        buf_addf(&line, "%-8s %-20s ", "dropped",
                 outcome_reason_name(d->reason));
        buf_add_bytes(&line, d->url);
        if (page.len > 0) {
            buf_add_str(&line, "  (on ");
            buf_add_bytes(&line, page);
            buf_add_char(&line, ')');
        }
        put(LOG_LEVEL_DEBUG, &line);
    }
}

void frontier_log_delay(const struct frontier *f, const struct host_queue *h,
                        int64_t now)
{
    struct bytes crawl, key;
    struct buf line;

    if (!logger_is_on(LOG_LEVEL_DEBUG) || host_trouble(h)->blocked_until <= now)
        return;
    frontier_store_queue_name(f->store, h->queue, &crawl, &key);
    buf_init(&line, LINE_MOST);
    buf_addf(&line, "%-8s %-20s ", "delayed",
             host_trouble(h)->why_blocked != NULL ? host_trouble(h)->why_blocked
                                                  : "-");
    format_duration(&line, (host_trouble(h)->blocked_until - now) / NS_PER_MS);
    buf_add_str(&line, "  ");
    buf_add_bytes(&line, key);
    put(LOG_LEVEL_DEBUG, &line);
}
