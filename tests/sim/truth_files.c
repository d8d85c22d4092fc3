/* SPDX-License-Identifier: MIT */
/*
 * truth_files.c - the files that a crawl leaves beside its store.
 *
 * After a run that has ended, the file of --jsonl has a line for each final row,
 * once, in the order of their numbers, over all kills; the last one of a URL
 * says of it what `export` says. With --warc each response that was surely
 * stored has a record, and no URL has more of them than responses.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "tests/sim/truth_impl.h"

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static int page_of_url(const struct truth *t, const char *url)
{
    for (unsigned i = 0; i < t->plan->page_count; i++)
        if (is(t->plan->pages[i].url, url))
            return (int)i;
    return -1;
}

/* ---- --jsonl ------------------------------------------------------------- */

struct last_line {
    char status[16], reason[40];
    long http_status;
};

static void read_last(const char *line, struct last_line *l)
{
    truth_field(line, "status", l->status, sizeof l->status);
    truth_field(line, "reason", l->reason, sizeof l->reason);
    l->http_status = truth_number(line, "http_status");
}

/* Calls `take` with each line, without its end. */
static void each_line(struct truth *t, const char *text, void *ctx,
                      void (*take)(struct truth *, void *, const char *line))
{
    while (*text != '\0') {
        size_t len = strcspn(text, "\n");
        char line[4000];

        if (len < sizeof line) {
            memcpy(line, text, len);
            line[len] = '\0';
            take(t, ctx, line);
        }
        text += len + (text[len] == '\n');
    }
}

struct lines {
    struct last_line last[PLAN_PAGES];
    long seq;
};

static void take_line(struct truth *t, void *ctx, const char *line)
{
    struct lines *l = ctx;
    char url[PLAN_URL];
    long seq = truth_number(line, "seq");
    int page;

    truth_field(line, "url", url, sizeof url);
    if (line[0] != '{' || line[strlen(line) - 1] != '}' || seq < 0)
        truth_say(t, "no line of --jsonl: %.60s", line);
    else if (seq <= l->seq)
        truth_say(t, "--jsonl has row %ld of %s after row %ld", seq, url,
                  l->seq);
    l->seq = seq;
    page = page_of_url(t, url);
    if (page >= 0)
        read_last(line, &l->last[page]);
}

static void hold_row_to_line(struct truth *t, void *ctx, const char *line)
{
    struct lines *l = ctx;
    struct last_line row;
    char url[PLAN_URL];
    int page;

    truth_field(line, "url", url, sizeof url);
    page = page_of_url(t, url);
    read_last(line, &row);
    if (page < 0 || is(row.status, "queued"))
        return;
    if (!is(row.status, l->last[page].status) ||
        !is(row.reason, l->last[page].reason) ||
        row.http_status != l->last[page].http_status)
        truth_say(t, "%s is %s %s (%ld), and --jsonl says %s %s (%ld)", url,
                  row.status, row.reason, row.http_status, l->last[page].status,
                  l->last[page].reason, l->last[page].http_status);
}

static void judge_lines(struct truth *t, const struct sim_act *run,
                        const struct sim_act *rows)
{
    struct lines *l = calloc(1, sizeof *l);
    size_t len = strlen(run->lines);

    if (len > 0 && run->lines[len - 1] != '\n')
        truth_say(t, "the last line of --jsonl is torn");
    each_line(t, run->lines, l, take_line);
    if (rows != NULL)
        each_line(t, rows->out, l, hold_row_to_line);
    free(l);
}

/* ---- --warc -------------------------------------------------------------- */

struct records {
    unsigned count[PLAN_PAGES];
};

/* The head of a record, of which its Content-Length octets are left out. */
static void take_record(struct truth *t, struct records *r, const char *head)
{
    const char *type = strstr(head, "\nWARC-Type: ");
    const char *uri = strstr(head, "\nWARC-Target-URI: ");
    char url[PLAN_URL + 4];
    int page;

    if (strncmp(head, "WARC/1.1\r\n", 10) != 0 || type == NULL) {
        truth_say(t, "no record of WARC: %.60s", head);
        return;
    }
    type += strlen("\nWARC-Type: ");
    if (uri == NULL || (strncmp(type, "response\r", 9) != 0 &&
                        strncmp(type, "revisit\r", 8) != 0))
        return;
    uri += strlen("\nWARC-Target-URI: ");
    snprintf(url, sizeof url, "%.*s", (int)strcspn(uri, "\r\n"), uri);
    page = page_of_url(t, url);
    if (page >= 0)
        r->count[page]++;
}

#define HEAD 8192

/* The octets of the record at `at`, a gzip member, and how it begins; 0: it is
 * cut short. */
static size_t take_member(const char *at, size_t len, char head[HEAD])
{
    char rest[8192];
    z_stream z = {.next_in = (unsigned char *)(uintptr_t)at,
                  .avail_in = (unsigned)len,
                  .next_out = (unsigned char *)head,
                  .avail_out = HEAD - 1};
    int rc = inflateInit2(&z, 15 + 16);

    memset(head, 0, HEAD);
    while (rc == Z_OK) {
        rc = inflate(&z, Z_NO_FLUSH);
        if (z.avail_out == 0) {
            z.next_out = (unsigned char *)rest;
            z.avail_out = sizeof rest;
        }
    }
    (void)inflateEnd(&z);
    return rc == Z_STREAM_END ? len - z.avail_in : 0;
}

size_t truth_whole_records(const char *at, size_t len)
{
    char *head = malloc(HEAD);
    size_t whole = 0, more;

    while (whole < len &&
           (more = take_member(at + whole, len - whole, head)) > 0)
        whole += more;
    free(head);
    return whole;
}

static void read_records(struct truth *t, const struct sim_act *run,
                         struct records *r)
{
    char *head = malloc(HEAD);
    size_t more;

    for (size_t at = 0; at < run->warc_len; at += more) {
        more = take_member(run->warc + at, run->warc_len - at, head);
        if (more == 0) {
            truth_say(t, "a WARC file ends in a part of a record");
            break;
        }
        take_record(t, r, head);
    }
    free(head);
}

/* What surely has a record: a page that was read to its end, and is one. */
static bool is_recorded(const struct truth *t, const struct sim_act *a,
                        const struct sim_log_entry *e)
{
    struct plan_sight s;

    (void)truth_node_of(t, e, &s);
    return e->end == SIM_LOG_WHOLE && e->status == 200 && s.state != NULL &&
           s.state->form == FORM_HTML && !s.state->noindex &&
           person_is_default(&a->settings, SET_MIME) &&
           !truth_may_be_lost(a, e);
}

static void judge_records(struct truth *t, const struct sim_act *run)
{
    struct records r = {{0}};
    unsigned asked[PLAN_PAGES] = {0}, stored[PLAN_PAGES] = {0};

    read_records(t, run, &r);
    for (size_t i = 0; i < t->log->count; i++) {
        const struct sim_log_entry *e = &t->log->at[i];
        const struct sim_act *a = truth_act_of_life(t, e->life);
        struct plan_sight s;
        int node = truth_node_of(t, e, &s);

        if (a == NULL || a->dir != run->dir || node < 0 || node >= PLAN_PAGES ||
            a < t->crawls[run->dir]->made_by)
            continue;
        asked[node]++;
        stored[node] +=
            person_says(&a->settings, SET_WARC, "yes") && is_recorded(t, a, e);
    }
    for (unsigned i = 0; i < t->plan->page_count; i++)
        if (r.count[i] < stored[i] || r.count[i] > asked[i])
            truth_say(t, "%s has %u records of WARC, of %u to %u responses",
                      truth_url(t, i), r.count[i], stored[i], asked[i]);
}

void truth_judge_files(struct truth *t, const struct sim_act *run,
                       const struct sim_act *rows)
{
    if (run->lines != NULL && !person_is_default(&run->settings, SET_JSONL))
        judge_lines(t, run, rows);
    if (run->warc != NULL)
        judge_records(t, run);
}
