/* SPDX-License-Identifier: MIT */
/*
 * check.c - compares requests with the truth.
 *
 * Exactness: each arrival is looked up and counted on its row of the ledger,
 * then the rows are judged. Politeness: the arrivals of each host are sorted by
 * time; between the end of one and the start of the next there must be the
 * delay. robots.txt counts for politeness, not as a page.
 */
#include "tests/support/web/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file/file.h"
#include "base/mem.h"
#include "tests/support/web/journal.h"
#include "tests/support/web/ledger.h"
#include "tests/support/web/web_robots.h"

#define EXAMPLES 10
#define LOG_MOST ((size_t)16 << 30)

/* The times of one arrival. */
struct visit {
    uint32_t address;
    int64_t start, end;
};

enum fault {
    MISSED,
    DUPLICATE,
    DISALLOWED,
    UNKNOWN,
    OVERLAP,
    TOO_CLOSE,
    TORN,
    FAULT_COUNT_
};
static const char *const FAULTS[FAULT_COUNT_] = {"missed",     "duplicate",
                                                 "disallowed", "unknown",
                                                 "overlap",    "too_close",
                                                 "torn_lines"};

struct check {
    const struct check_options *o;
    struct ledger *ledger;
    struct visit *visits;
    size_t count, cap;
    uint64_t faults[FAULT_COUNT_];
    uint64_t examples[FAULT_COUNT_];
    uint64_t asked;
    int64_t smallest_gap; /* INT64_MAX: no two arrivals on a host */
    struct buf url;
};

static void fault(struct check *c, enum fault f, uint64_t times,
                  const char *fmt, ...) PRINTF_LIKE(4, 5);
static void fault(struct check *c, enum fault f, uint64_t times,
                  const char *fmt, ...)
{
    va_list ap;

    c->faults[f] += times;
    if (times == 0 || c->examples[f]++ >= EXAMPLES)
        return;
    fprintf(stderr, "%s: ", FAULTS[f]);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
}

/* ---- arrivals ------------------------------------------------------------ */

static uint32_t parse_address(struct bytes s)
{
    uint32_t ip = 0, octet = 0;

    for (size_t i = 0; i < s.len; i++) {
        if (s.at[i] == '.') {
            ip = ip << 8 | octet;
            octet = 0;
        } else {
            octet = octet * 10 + (uint32_t)(s.at[i] - '0');
        }
    }
    return ip << 8 | octet;
}

static void add_visit(struct check *c, const struct arrival *a)
{
    if (c->count == c->cap) {
        c->cap = c->cap > 0 ? 2 * c->cap : 4096;
        c->visits = xrealloc(c->visits, c->cap * sizeof *c->visits);
    }
    c->visits[c->count++] =
        (struct visit){parse_address(a->address), a->start, a->end};
}

static bool is_ignored(const struct check *c, struct bytes path)
{
    for (const char *const *p = c->o->ignore; *p != NULL; p++)
        if (bytes_is(path, *p))
            return true;
    return robots_is_path(path);
}

static void count_arrival(struct check *c, const struct arrival *a)
{
    struct row *row;
    struct bytes url;

    add_visit(c, a);
    if (is_ignored(c, a->path))
        return;
    c->asked++;
    buf_clear(&c->url);
    buf_addf(&c->url, "http://%.*s", (int)a->address.len, a->address.at);
    if (ledger_port(c->ledger) != 80)
        buf_addf(&c->url, ":%u", (unsigned)ledger_port(c->ledger));
    buf_add_bytes(&c->url, a->path);
    url = buf_bytes(&c->url);
    row = ledger_find(c->ledger, url);
    if (row == NULL) {
        if (!ledger_in_trap(c->ledger, url))
            fault(c, UNKNOWN, 1, "%s", buf_str(&c->url));
        return;
    }
    row->asked++;
    if ((a->status >= 200 && a->status < 300) || a->status == 304)
        row->good++;
}

static enum status read_log(struct check *c, const char *path)
{
    struct buf text;
    struct bytes rest;
    struct arrival a;
    enum status st;

    buf_init(&text, LOG_MOST);
    st = file_read(path, &text);
    if (st != STATUS_OK)
        fprintf(stderr, "site: %s: %s\n", path, status_text(st));
    for (rest = buf_bytes(&text); st == STATUS_OK && rest.len > 0;) {
        const char *end = memchr(rest.at, '\n', rest.len);
        size_t len = end != NULL ? (size_t)(end - rest.at) : rest.len;

        if (journal_parse(bytes_of(rest.at, len), &a))
            count_arrival(c, &a);
        else
            fault(c, TORN, 1, "%.*s", (int)len, rest.at);
        len += end != NULL;
        rest = bytes_of(rest.at + len, rest.len - len);
    }
    buf_fini(&text);
    return st;
}

static enum status read_logs(struct check *c)
{
    char *names = xstrdup(c->o->logs), *at = names, *name;
    enum status st = STATUS_OK;

    while (st == STATUS_OK && (name = strsep(&at, ",")) != NULL)
        st = read_log(c, name);
    free(names);
    return st;
}

/* ---- judging ------------------------------------------------------------- */

static void judge_row(struct check *c, const struct row *r)
{
    uint32_t n = r->fate == FATE_FETCH ? r->good : r->asked;
    int len = (int)r->url.len;

    if (r->fate == FATE_DENIED || r->fate == FATE_UNREACHABLE) {
        fault(c, DISALLOWED, n, "%.*s (%s)", len, r->url.at,
              fate_name(r->fate));
        return;
    }
    if (n < r->least)
        fault(c, MISSED, 1, "%.*s (%s, asked %u times)", len, r->url.at,
              fate_name(r->fate), (unsigned)r->asked);
    else if (n > r->most)
        fault(c, DUPLICATE, n - r->most, "%.*s (%s, %u instead of %u)", len,
              r->url.at, fate_name(r->fate), (unsigned)n, (unsigned)r->most);
}

static int by_host_and_time(const void *a, const void *b)
{
    const struct visit *x = a, *y = b;

    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

static void address_text(uint32_t ip, char out[HOST_ADDRESS_SIZE])
{
    snprintf(out, HOST_ADDRESS_SIZE, "%u.%u.%u.%u", ip >> 24, ip >> 16 & 255,
             ip >> 8 & 255, ip & 255);
}

/* The delay of a host, in ns. */
static double delay_of(const struct check *c, const char *address)
{
    double own = c->o->crawl_delay
                     ? ledger_delay(c->ledger, bytes_of_str(address)) * 1e9
                     : 0;

    return own > c->o->delay_ms * 1e6 ? own : c->o->delay_ms * 1e6;
}

/* `end`: the latest end before this start. */
static void judge_gap(struct check *c, const char *address, double delay,
                      int64_t end, const struct visit *v)
{
    double tolerance = c->o->tolerance_ms * 1e6;
    int64_t gap = v->start - end;

    if (gap < c->smallest_gap)
        c->smallest_gap = gap;
    if ((double)gap < -tolerance)
        fault(c, OVERLAP, 1, "%s: asked %.3f ms before the last answer's end",
              address, -(double)gap / 1e6);
    else if (delay > 0 && (double)gap < delay - tolerance)
        fault(c, TOO_CLOSE, 1, "%s: asked %.3f ms after an answer, not %.3f",
              address, (double)gap / 1e6, delay / 1e6);
}

static void judge_politeness(struct check *c)
{
    char address[HOST_ADDRESS_SIZE] = "";
    double delay = 0;
    int64_t end = 0;

    if (c->count > 0)
        qsort(c->visits, c->count, sizeof *c->visits, by_host_and_time);
    for (size_t i = 0; i < c->count; i++) {
        const struct visit *v = &c->visits[i];

        if (i > 0 && v->address == v[-1].address) {
            judge_gap(c, address, delay, end, v);
            end = v->end > end ? v->end : end;
            continue;
        }
        address_text(v->address, address);
        delay = delay_of(c, address);
        end = v->end;
    }
}

static bool report(const struct check *c)
{
    uint64_t allowed = c->o->kills * c->o->in_flight;
    bool clean = true;

    printf("known %zu\nasked %llu\n", ledger_count(c->ledger),
           (unsigned long long)c->asked);
    for (int f = 0; f < FAULT_COUNT_; f++) {
        uint64_t n = c->faults[f];

        printf("%s %llu\n", FAULTS[f], (unsigned long long)n);
        if (f == DUPLICATE)
            n = n > allowed ? n - allowed : 0;
        clean = clean && (n == 0 || (f == MISSED && c->o->partial));
    }
    if (allowed > 0)
        printf("duplicate_allowed %llu\n", (unsigned long long)allowed);
    if (c->smallest_gap != INT64_MAX)
        printf("smallest_gap_ms %.3f\n", (double)c->smallest_gap / 1e6);
    return clean;
}

enum status check_run(const struct check_options *o, bool *clean)
{
    struct check c = {.o = o, .smallest_gap = INT64_MAX};
    enum status st;

    buf_init(&c.url, (size_t)1 << 20);
    st = ledger_read(&c.ledger, o->truth);
    if (st != STATUS_OK) {
        fprintf(stderr, "site: %s: %s\n", o->truth, status_text(st));
        goto out;
    }
    st = read_logs(&c);
    if (st != STATUS_OK)
        goto out;
    for (size_t i = 0; i < ledger_count(c.ledger); i++)
        judge_row(&c, ledger_row(c.ledger, i));
    judge_politeness(&c);
    *clean = report(&c);
out:
    ledger_free(c.ledger);
    free(c.visits);
    buf_fini(&c.url);
    return st;
}
