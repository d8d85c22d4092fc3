/* SPDX-License-Identifier: MIT */
/* summary.c - prints what a crawl did, at its end. */
#include "cli/report/summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/format.h"

#define LINE_MOST  8192
#define WAITS_MOST 8 /* waiting hosts shown, at most */

/* ---- rows ---- */

/* "  pages           1,234   REST"; REST may be empty. */
static void row(FILE *to, const char *name, uint64_t n, const char *rest)
{
    fprintf(to, "  %-11s %13s%s%s\n", name, COUNT(n),
            rest[0] != '\0' ? "   " : "", rest);
}

struct reason {
    const char *name;
    uint64_t count;
};

static int by_count(const void *a, const void *b)
{
    const struct reason *x = a, *y = b;

    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return strcmp(x->name, y->name);
}

/* "dns 20, timeout 10, other 3", the most frequent first; sorts `all`. */
static void add_reasons(struct buf *out, struct reason *all, size_t n)
{
    uint64_t other = 0;
    size_t shown = 0;

    qsort(all, n, sizeof *all, by_count);
    for (size_t i = 0; i < n; i++) {
        if (shown == SUMMARY_REASONS || strcmp(all[i].name, "other") == 0) {
            other += all[i].count;
            continue;
        }
        buf_addf(out, "%s%s %s", shown++ > 0 ? ", " : "", all[i].name,
                 COUNT(all[i].count));
    }
    if (other > 0)
        buf_addf(out, "%sother %s", shown > 0 ? ", " : "", COUNT(other));
}

static void reasons_row(FILE *to, const char *name, uint64_t count,
                        struct reason *all, size_t n)
{
    struct buf b;

    if (count == 0)
        return;
    buf_init(&b, LINE_MOST);
    add_reasons(&b, all, n);
    row(to, name, count, buf_str(&b));
    buf_fini(&b);
}

/* HTTP statuses one by one, as the failures are. */
static void failed_row(FILE *to, const struct crawl_stats *c)
{
    struct reason all[STATS_FAILURES];
    size_t n = c->frontier.failure_count;

    for (size_t i = 0; i < n; i++)
        all[i] = (struct reason){c->frontier.failures[i].why,
                                 c->frontier.failures[i].count};
    reasons_row(to, "failed", c->counts.failed, all, n);
}

static void status_row(FILE *to, const char *name, uint64_t count,
                       const struct crawl_stats *c, enum outcome_status status)
{
    struct reason all[REASON_COUNT_];
    size_t n = 0;

    for (unsigned r = REASON_NONE + 1; r < REASON_COUNT_; r++)
        if (c->frontier.done[status][r] > 0)
            all[n++] =
                (struct reason){outcome_reason_name((enum outcome_reason)r),
                                c->frontier.done[status][r]};
    reasons_row(to, name, count, all, n);
}

static void pages_row(FILE *to, const struct summary *s)
{
    const struct frontier_counts *n = &s->crawl->counts;
    uint64_t run = frontier_counts_fetches(n);
    uint64_t before =
        s->before != NULL ? frontier_counts_fetches(s->before) : 0;
    struct buf b;

    /* Pages that are to be read again count no more until they were. */
    run = run > before ? run - before : 0;
    buf_init(&b, LINE_MOST);
    if (run != n->pages || n->refreshed > 0)
        buf_addf(&b, "%s %s in this run, ", COUNT(run),
                 n->refreshed > 0 ? "fetches" : "of them");
    if (s->elapsed_ms > 0)
        buf_addf(&b, "%s a second",
                 RATE((double)run * 1000 / (double)s->elapsed_ms));
    if (s->crawl->frontier.same_content > 0)
        buf_addf(&b, ", %s with a body seen before",
                 COUNT(s->crawl->frontier.same_content));
    if (s->crawl->frontier.near_dup > 0)
        buf_addf(&b, ", %s nearly like another",
                 COUNT(s->crawl->frontier.near_dup));
    row(to, "pages", n->pages, buf_str(&b));
    buf_fini(&b);
}

static void fetched_row(FILE *to, const struct crawl_stats *c)
{
    uint64_t unchanged = c->frontier.done[OUTCOME_FETCHED][REASON_UNCHANGED];
    struct buf b;

    buf_init(&b, 64);
    if (unchanged > 0)
        buf_addf(&b, "%s unchanged", COUNT(unchanged));
    row(to, "fetched", c->counts.fetched, buf_str(&b));
    buf_fini(&b);
}

/* "12 changed; in this run 61, 2 changed; 3 gone for good" */
static void refreshed_row(FILE *to, const struct summary *s)
{
    static const struct frontier_counts none = {.refreshed = 0};
    const struct frontier_counts *n = &s->crawl->counts;
    const struct frontier_counts *before =
        s->before != NULL ? s->before : &none;
    struct buf b;

    if (n->refreshed == 0)
        return;
    buf_init(&b, LINE_MOST);
    buf_addf(&b, "%s changed", COUNT(n->changed));
    if (before->refreshed > 0)
        buf_addf(&b, "; in this run %s, %s changed",
                 COUNT(n->refreshed - before->refreshed),
                 COUNT(n->changed - before->changed));
    if (n->gone > 0)
        buf_addf(&b, "; %s gone for good", COUNT(n->gone));
    row(to, "refreshed", n->refreshed, buf_str(&b));
    buf_fini(&b);
}

/* Bodies that are not whole. */
static void cut_row(FILE *to, const struct crawl_stats *c)
{
    uint64_t length =
        c->frontier.done[OUTCOME_FETCHED][REASON_TRUNCATED_LENGTH];
    uint64_t time = c->frontier.done[OUTCOME_FETCHED][REASON_TRUNCATED_TIME];
    struct buf b;

    if (length + time == 0)
        return;
    buf_init(&b, LINE_MOST);
    buf_addf(&b, "%s at --max-body, %s at --timeout", COUNT(length),
             COUNT(time));
    row(to, "cut off", length + time, buf_str(&b));
    buf_fini(&b);
}

/* What to do about a seed that was not fetched, by its reason. */
static const struct hint {
    const char *why;
    bool of_seeds; /* hardly ever the reason of another URL */
    const char *text;
} hints[] = {
    {"dns", false, "the name does not resolve; is it spelled right?"},
    {"connect", false, "nothing accepts connections there"},
    {"tls", false,
     "the certificate is not trusted or TLS failed; --cacert FILE trusts "
     "another authority, --insecure trusts any"},
    {"timeout", false,
     "no response in time; --timeout and --connect-timeout allow more"},
    {"http_401", false,
     "it asks for a login; --auth ORIGIN=USER:PASSWORD gives one"},
    {"http_403", false,
     "it refuses this client; --contact and --user-agent say who asks"},
    {"http_407", true,
     "the proxy asks for a login; --proxy http://USER:PASSWORD@HOST:PORT gives "
     "one"},
    {"robots", false, "robots.txt denies it"},
    {"robots_unreachable", false,
     "its robots.txt cannot be read, so nothing is allowed; `urlweir retry` "
     "asks again"},
    {"port", true,
     "not fetched, since browsers block it; --allow-port allows it"},
    {"address", true,
     "not fetched, since it is a private or special one; --allow-private "
     "allows it"},
    {"mime", false, "it is of a type that --mime does not name"},
};

static const char *hint_for(const char *why)
{
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (strcmp(hints[i].why, why) == 0)
            return hints[i].text;
    return NULL;
}

static bool has_reason(const struct crawl_stats *c, const char *why)
{
    for (size_t i = 0; i < c->frontier.failure_count; i++)
        if (strcmp(c->frontier.failures[i].why, why) == 0)
            return true;
    for (unsigned r = REASON_NONE + 1; r < REASON_COUNT_; r++)
        if (c->frontier.done[OUTCOME_DENIED][r] +
                    c->frontier.done[OUTCOME_SKIPPED][r] >
                0 &&
            strcmp(outcome_reason_name((enum outcome_reason)r), why) == 0)
            return true;
    return false;
}

static void print_hints(FILE *to, const struct crawl_stats *c)
{
    bool all = c->counts.seeds_failed == c->counts.seeds;

    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if ((all || hints[i].of_seeds) && has_reason(c, hints[i].why))
            fprintf(to, "  %s: %s\n", hints[i].why, hints[i].text);
}

/* A crawl that stands still before it got anything: whom it waits for. */
static void print_silence(FILE *to, const struct crawl_stats *c)
{
    const struct crawl_standstill *w = &c->standstill;
    const char *hint = w->host[0] != '\0' ? hint_for(w->why) : NULL;
    struct buf b;

    if (c->counts.fetched > 0 || hint == NULL)
        return;
    buf_init(&b, LINE_MOST);
    format_terminal(&b, bytes_of_str(w->host));
    fprintf(to, "  %s does not respond (%s): %s\n", buf_str(&b), w->why, hint);
    buf_fini(&b);
}

static void seen_rows(FILE *to, const struct crawl_stats *c)
{
    const struct frontier_counts *n = &c->counts;
    struct buf b;

    buf_init(&b, LINE_MOST);
    buf_addf(&b, "%s seen before", COUNT(n->duplicates));
    if (n->dropped > 0)
        buf_addf(&b, ", %s out of scope or over a limit", COUNT(n->dropped));
    row(to, "links", n->links, buf_str(&b));
    buf_clear(&b);
    if (n->drops_lost > 0)
        row(to, "drops lost", n->drops_lost,
            "no room for them (--keep-dropped): they cannot come back");
    if (c->frontier.false_positives > 0)
        buf_addf(&b, "%s of which a Bloom filter alone would have lost",
                 COUNT(c->frontier.false_positives));
    row(to, "unique URLs", n->urls, buf_str(&b));
    buf_fini(&b);
}

static void traps_row(FILE *to, const struct crawl_stats *c)
{
    struct buf b;

    if (c->frontier.traps == 0)
        return;
    buf_init(&b, LINE_MOST);
    buf_addf(&b, "%s of their URLs not asked for; resume with --traps off asks",
             COUNT(c->frontier.done[OUTCOME_SKIPPED][REASON_TRAP] +
                   c->frontier.dropped[REASON_TRAP]));
    row(to, "traps", c->frontier.traps, buf_str(&b));
    buf_fini(&b);
}

static void received_row(FILE *to, const struct summary *s)
{
    fprintf(to, "  %-11s %13s   in %s\n", "received",
            SIZE(s->crawl->counts.bytes), DURATION(s->elapsed_ms));
}

/* "connections           1,500   opened for 21,000 requests, 1,490 with TLS (12
 * resumed)" */
static void connections_row(FILE *to, const struct crawl_stats *c)
{
    struct buf rest;

    if (c->connections == 0)
        return;
    buf_init(&rest, LINE_MOST);
    buf_addf(&rest, "opened for %s request%s", COUNT(c->requests),
             c->requests == 1 ? "" : "s");
    if (c->handshakes > 0)
        buf_addf(&rest, ", %s with TLS (%s resumed)", COUNT(c->handshakes),
                 COUNT(c->handshakes_resumed));
    row(to, "connections", c->connections, buf_str(&rest));
    buf_fini(&rest);
}

/* ---- why it ended, and what comes next ---- */

static const char *stop_text(const struct summary *s)
{
    switch (s->end) {
    case CRAWL_FINISHED:
        return s->crawl->counts.seeds_failed > 0
                   ? "finished, but some seeds could not be fetched"
                   : "finished: every URL in scope was fetched, or has a "
                     "reason why not";
    case CRAWL_IDLE:
        return "idle: no URL is due before its next date";
    case CRAWL_LIMIT:
        return "stopped by --limit";
    case CRAWL_TIME:
        return "stopped by --time";
    case CRAWL_QUOTA:
        return "stopped by --quota";
    case CRAWL_GAVE_UP:
        return "stopped by --give-up: everything that is left must wait longer";
    case CRAWL_WITHHELD:
        return "stopped: everything that is left is over a budget or limit of "
               "its host";
    case CRAWL_DISK:
        return "stopped by --min-disk: less than that is free on the disk";
    case CRAWL_FULL:
        return "stopped: no space left on the disk; what was committed is "
               "intact, free some before it is resumed";
    case CRAWL_STUCK:
        return "stopped: a fetcher is stuck on the URL named above; the next "
               "start marks it failed";
    case CRAWL_INTERRUPTED:
        return s->dir == NULL ? "interrupted" : "interrupted; nothing is lost";
    default:
        return "stopped: the store failed; everything that was committed is "
               "intact";
    }
}

/* Appends a directory, quoted for a shell. */
static void add_dir(struct buf *out, const char *dir)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_./-+,:@";

    if (dir[0] == '-')
        buf_add_str(out, "./"); /* else it would be an option */
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

/* A budget that is an option can be lifted by a resume, a limit of one host by
 * `urlweir limit`. */
static void print_larger(FILE *to, const struct summary *s)
{
    char more[64];

    snprintf(more, sizeof more, " --%s none", s->waits[0].why);
    next(to, "to go on", "resume", s->dir,
         strcmp(s->waits[0].why, "limit") == 0 ? "" : more);
}

static void print_next(FILE *to, const struct summary *s)
{
    const struct frontier_counts *n = &s->crawl->counts;

    if (s->end == CRAWL_BROKEN)
        next(to, "to see what is wrong", "verify", s->dir, "");
    else if (s->end == CRAWL_LIMIT)
        next(to, "to go on", "resume", s->dir, " --limit none");
    else if (s->end == CRAWL_QUOTA)
        next(to, "to go on", "resume", s->dir, " --quota none");
    else if (s->end == CRAWL_WITHHELD && s->wait_count > 0)
        print_larger(to, s);
    else if (s->end == CRAWL_IDLE)
        next(to, "to fetch what is due by then", "resume", s->dir,
             " --until-idle");
    else if (s->end != CRAWL_FINISHED)
        next(to, "to go on", "resume", s->dir, "");
    else if (n->failed + n->denied + n->seeds_failed > 0)
        next(to, "to see what failed", "export", s->dir, " --what errors");
    else
        next(to, "to list the pages", "export", s->dir, "");
}

/* "a.example waits 1d00h (retry_after), 12 URLs", "b.example did not respond
 * (connect), 3 URLs stay queued", "c.example is over a budget (per-host), 9
 * URLs stay queued" */
static void add_wait(struct buf *b, const struct crawl_wait *w)
{
    bool given_up = w->ns < 0, over_budget = w->ns == INT64_MAX;

    format_terminal(b, bytes_of_str(w->host));
    if (given_up || over_budget)
        buf_add_str(b, given_up ? " did not respond" : " is over a budget");
    else
        buf_addf(b, " waits %s", DURATION(w->ns / NS_PER_MS));
    if (w->why[0] != '\0')
        buf_addf(b, " (%s)", w->why);
    if (w->urls == 0)
        return;
    buf_addf(b, ", %s URL%s%s", COUNT(w->urls), w->urls == 1 ? "" : "s",
             !given_up && !over_budget ? ""
             : w->urls == 1            ? " stays queued"
                                       : " stay queued");
}

static void print_waits(FILE *to, const struct summary *s)
{
    for (size_t i = 0; i < s->wait_count && i < WAITS_MOST; i++) {
        struct buf b;

        buf_init(&b, LINE_MOST);
        add_wait(&b, &s->waits[i]);
        fprintf(to, "  %s\n", buf_str(&b));
        buf_fini(&b);
    }
    if (s->wait_count > WAITS_MOST && s->dir != NULL)
        next(to, "  and more hosts", "status", s->dir, " --hosts");
}

/* "a.example will take longest: 1,203 URLs, one each 5m00s (crawl_delay)" */
static void print_longest(FILE *to, const struct crawl_wait *w)
{
    struct buf b;

    if (w == NULL || w->urls == 0)
        return;
    buf_init(&b, LINE_MOST);
    format_terminal(&b, bytes_of_str(w->host));
    fprintf(to, "  %s will take longest: %s URL%s, one each %s (%s)\n",
            buf_str(&b), COUNT(w->urls), w->urls == 1 ? "" : "s",
            DURATION(w->ns / NS_PER_MS), w->why);
    buf_fini(&b);
}

void summary_print(FILE *to, const struct summary *s)
{
    const struct crawl_stats *c = s->crawl;
    const struct frontier_counts *n = &c->counts;

    fprintf(to, "%s\n", stop_text(s));
    print_waits(to, s);
    if (s->crawl->counts.fetched > 0)
        print_longest(to, s->longest);
    print_silence(to, c);
    pages_row(to, s);
    if (n->fetched != n->pages) /* the rows below count all unique URLs */
        fetched_row(to, s->crawl);
    refreshed_row(to, s);
    cut_row(to, c);
    if (n->redirects > 0)
        row(to, "redirects", n->redirects, "");
    failed_row(to, c);
    status_row(to, "denied", n->denied, c, OUTCOME_DENIED);
    status_row(to, "skipped", n->skipped, c, OUTCOME_SKIPPED);
    if (n->queued > 0)
        row(to, "queued", n->queued, "not fetched yet");
    if (n->withheld > 0)
        row(to, "over budget", n->withheld, "of these");
    seen_rows(to, c);
    traps_row(to, c);
    received_row(to, s);
    connections_row(to, c);
    if (n->seeds_failed > 0) {
        fprintf(to, "  %" PRIu64 " of %" PRIu64 " seeds failed\n",
                n->seeds_failed, n->seeds);
        print_hints(to, c);
    }
    fprintf(to, "exit status %d; ", (int)s->code);
    if (s->dir == NULL)
        fprintf(to,
                "nothing is kept: -o DIR keeps pages, outcomes and queue\n");
    else
        print_next(to, s);
}
