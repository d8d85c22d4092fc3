/* SPDX-License-Identifier: MIT */
/* summary.c - what a crawl did, told at its end. */
#include "cli/report/summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/format.h"
#include "base/mem.h"

#define LINE_MOST  8192
#define WAITS_MOST 5 /* hosts shown that must wait */

/* ---- rows ---- */

/* "  pages           1,234   REST", and nothing where there is nothing. */
static void row(FILE *to, const char *name, uint64_t n, const char *rest)
{
    struct buf b;

    buf_init(&b, 64);
    format_count(&b, n);
    fprintf(to, "  %-11s %13s%s%s\n", name, buf_str(&b),
            rest[0] != '\0' ? "   " : "", rest);
    buf_fini(&b);
}

static int by_count(const void *a, const void *b)
{
    const struct summary_reason *x = a, *y = b;

    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return strcmp(x->name, y->name);
}

/* "dns 20, timeout 10, other 3", the most frequent first. */
static void add_reasons(struct buf *out, const struct summary_reason *reasons,
                        size_t n)
{
    struct summary_reason *sorted = xcalloc(n + 1, sizeof *sorted);
    uint64_t other = 0;
    const char *between = "";

    if (n > 0)
        memcpy(sorted, reasons, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_count);
    for (size_t i = 0; i < n; i++) {
        if (i >= SUMMARY_REASONS) {
            other += sorted[i].count;
            continue;
        }
        if (sorted[i].count == 0)
            continue;
        buf_addf(out, "%s%s ", between, sorted[i].name);
        format_count(out, sorted[i].count);
        between = ", ";
    }
    if (other > 0) {
        buf_addf(out, "%sother ", between);
        format_count(out, other);
    }
    free(sorted);
}

static void reasons_row(FILE *to, const char *name, uint64_t count,
                        const struct summary_reason *reasons, size_t n)
{
    struct buf b;

    if (count == 0)
        return;
    buf_init(&b, LINE_MOST);
    add_reasons(&b, reasons, n);
    row(to, name, count, buf_str(&b));
    buf_fini(&b);
}

static void pages_row(FILE *to, const struct summary *s)
{
    struct buf b;

    buf_init(&b, LINE_MOST);
    if (s->pages_run != s->pages) {
        format_count(&b, s->pages_run);
        buf_add_str(&b, " of them in this run, ");
    }
    if (s->elapsed_ms > 0) {
        format_rate(&b, (double)s->pages_run * 1000 / (double)s->elapsed_ms);
        buf_add_str(&b, " a second");
    }
    if (s->same_content > 0) {
        buf_add_str(&b, ", ");
        format_count(&b, s->same_content);
        buf_add_str(&b, " with a body seen before");
    }
    row(to, "pages", s->pages, buf_str(&b));
    buf_fini(&b);
}

/* Where a crawl of one's own network was meant, and only half said so. */
static void address_hint(FILE *to, const struct summary *s)
{
    for (size_t i = 0; i < s->skipped_reasons; i++)
        if (s->skipped_by[i].count > 0 &&
            strcmp(s->skipped_by[i].name, "address") == 0)
            fprintf(to, "  address: not asked, since it is a private or "
                        "special one; --allow-private asks\n");
}

static void seen_rows(FILE *to, const struct summary *s)
{
    struct buf b;

    buf_init(&b, LINE_MOST);
    format_count(&b, s->duplicates);
    buf_add_str(&b, " seen before");
    if (s->dropped > 0) {
        buf_add_str(&b, ", ");
        format_count(&b, s->dropped);
        buf_add_str(&b, " out of scope or over a limit");
    }
    row(to, "links", s->links, buf_str(&b));
    buf_clear(&b);
    if (s->false_positives > 0) {
        format_count(&b, s->false_positives);
        buf_add_str(&b, " of them a Bloom filter alone would have lost");
    }
    row(to, "unique URLs", s->urls, buf_str(&b));
    buf_fini(&b);
}

static void received_row(FILE *to, const struct summary *s)
{
    struct buf size, rest;

    buf_init(&size, 64);
    buf_init(&rest, LINE_MOST);
    format_size(&size, s->bytes);
    buf_add_str(&rest, "in ");
    format_duration(&rest,
                    s->elapsed_all_ms > 0 ? s->elapsed_all_ms : s->elapsed_ms);
    fprintf(to, "  %-11s %13s   %s\n", "received", buf_str(&size),
            buf_str(&rest));
    buf_fini(&size);
    buf_fini(&rest);
}

/* ---- why it ended, and what comes next ---- */

static const char *stop_text(const struct summary *s)
{
    switch (s->stop) {
    case SUMMARY_FINISHED:
        return s->seeds_failed > 0
                   ? "finished, but some seeds could not be fetched"
                   : "finished: every URL in scope is fetched, or has a reason "
                     "why not";
    case SUMMARY_LIMIT:
        return "stopped by --limit";
    case SUMMARY_TIME:
        return "stopped by --time";
    case SUMMARY_QUOTA:
        return "stopped by --quota";
    case SUMMARY_GIVE_UP:
        return "stopped by --give-up: everything left must wait longer";
    case SUMMARY_WITHHELD:
        return "stopped: everything left is beyond the limit set for its queue";
    case SUMMARY_DISK:
        return "stopped by --min-disk: less than that is free on its disk";
    case SUMMARY_INTERRUPTED:
        return "interrupted; nothing is lost";
    default:
        return "stopped: the store failed; what was committed is whole";
    }
}

/* A directory as a shell takes it. */
static void add_dir(struct buf *out, const char *dir)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_./-+,:@";

    if (dir[0] == '-')
        buf_add_str(out, "./"); /* or it would be an option */
    if (dir[0] != '\0' && dir[strspn(dir, plain)] == '\0') {
        buf_add_str(out, dir);
        return;
    }
    buf_add_char(out, '\'');
    for (; *dir != '\0'; dir++) {
        if (*dir == '\'')
            buf_add_str(out, "'\\'");
        buf_add_char(out, *dir);
    }
    buf_add_char(out, '\'');
}

static void next(FILE *to, const char *what, const char *command,
                 const char *dir, const char *more)
{
    struct buf quoted, safe;

    buf_init(&quoted, SIZE_MAX);
    buf_init(&safe, SIZE_MAX);
    add_dir(&quoted, dir);
    format_terminal(&safe, buf_bytes(&quoted));
    fprintf(to, "%s: urlweir %s %s%s\n", what, command, buf_str(&safe), more);
    buf_fini(&quoted);
    buf_fini(&safe);
}

static void print_next(FILE *to, const struct summary *s)
{
    static const char *const lifts[] = {
        [SUMMARY_LIMIT] = " --limit none",
        [SUMMARY_QUOTA] = " --quota none",
        [SUMMARY_DAMAGED] = "",
    };

    if (s->stop == SUMMARY_DAMAGED) {
        next(to, "to see what is wrong", "verify", s->dir, "");
    } else if (s->stop != SUMMARY_FINISHED) {
        const char *lift = lifts[s->stop];

        next(to, "to go on", "resume", s->dir, lift != NULL ? lift : "");
    } else if (s->failed + s->denied + s->seeds_failed > 0) {
        next(to, "to see what failed", "export", s->dir, " --what errors");
    } else {
        next(to, "to list the pages", "export", s->dir, "");
    }
}

static void print_waits(FILE *to, const struct summary *s)
{
    for (size_t i = 0; i < s->wait_count && i < WAITS_MOST; i++) {
        struct buf b;

        buf_init(&b, LINE_MOST);
        format_terminal(&b, bytes_of_str(s->waits[i].host));
        buf_add_str(&b, " waits ");
        format_duration(&b, s->waits[i].ms);
        fprintf(to, "  %s\n", buf_str(&b));
        buf_fini(&b);
    }
    if (s->wait_count > WAITS_MOST)
        fprintf(to, "  and %zu more hosts\n", s->wait_count - WAITS_MOST);
}

void summary_print(FILE *to, const struct summary *s)
{
    fprintf(to, "%s\n", stop_text(s));
    if (s->stop == SUMMARY_GIVE_UP)
        print_waits(to, s);
    pages_row(to, s);
    if (s->fetched != s->pages) /* the rows below are of all unique URLs */
        row(to, "fetched", s->fetched, "");
    if (s->redirects > 0)
        row(to, "redirects", s->redirects, "");
    reasons_row(to, "failed", s->failed, s->failed_by, s->failed_reasons);
    reasons_row(to, "denied", s->denied, s->denied_by, s->denied_reasons);
    reasons_row(to, "skipped", s->skipped, s->skipped_by, s->skipped_reasons);
    if (s->queued > 0)
        row(to, "queued", s->queued, "not fetched yet");
    seen_rows(to, s);
    received_row(to, s);
    if (s->seeds_failed > 0) {
        fprintf(to, "  %" PRIu64 " of %" PRIu64 " seeds failed\n",
                s->seeds_failed, s->seeds);
        address_hint(to, s);
    }
    fprintf(to, "exit status %d; ", (int)s->code);
    print_next(to, s);
}
