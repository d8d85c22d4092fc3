/* SPDX-License-Identifier: MIT */
/*
 * cmd_redo.c - `urlweir retry` and `refresh`: URLs of a crawl that are to be
 * fetched again.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cli/command.h"
#include "cli/steer/steer.h"

#define HOST_MOST 4096

/* clang-format off */
static const struct option_spec retry_specs[] = {
    {.name = "reason", .type = OPTION_LIST, STEER_AT(reasons),
     .section = "Which URLs", .arg = "REASONS",
     .flags = OPTION_COMMAS,
     .help = "those that ended for one of these reasons, such as "
             "http_503,timeout or robots; default: all that failed"},
    {.name = "host", .type = OPTION_TEXT, STEER_AT(host),
     .section = "Which URLs", .arg = "HOST",
     .help = "only those of this host; default: all hosts"},
    STEER_CRAWL_ROW,
    STEER_ROWS,
};
static const struct option_spec refresh_specs[] = {
    {.name = "host", .type = OPTION_TEXT, STEER_AT(host),
     .section = "Which URLs", .arg = "HOST",
     .help = "only those of this host; default: all hosts"},
    {.name = "match", .type = OPTION_TEXT, STEER_AT(match),
     .section = "Which URLs", .arg = "REGEX",
     .help = "only URLs that match this (PCRE2, unanchored); default: all"},
    {.name = "now", .type = OPTION_FLAG, STEER_AT(now),
     .section = "When",
     .help = "at once; default: at once, but no URL sooner than the crawl's "
             "--refresh-min after its last fetch"},
    {.name = "lost-archives", .type = OPTION_FLAG, STEER_AT(lost_archives),
     .section = "Which URLs",
     .help = "only those whose WARC record is not in the crawl's directory, "
             "or refers to one that is not; these are asked for in full"},
    STEER_CRAWL_ROW,
    STEER_ROWS,
};
/* clang-format on */
static const struct option_table retry_table =
    OPTION_TABLE(retry_specs, struct steer_settings);
static const struct option_table refresh_table =
    OPTION_TABLE(refresh_specs, struct steer_settings);

/* How one of them differs from the other. */
struct redo {
    enum steer_verb verb;
    const char *count;  /* the answer's field that says how many */
    const char *done;   /* "URLs ..." */
    const char *left;   /* for steer_let_go */
    bool left_is_count; /* it counts these URLs, not all that wait */
};

/* Takes over `in`. */
static int redo(struct steer *t, const struct redo *r, json_t *in)
{
    uint64_t n = 0;
    json_t *answer = NULL;
    int code = steer_connect_or_hold(t);

    if (code == EXIT_DONE)
        code = steer_choose(t, false);
    if (code == EXIT_DONE)
        code = steer_ask(t, r->verb, in, &answer);
    n = (uint64_t)json_integer_value(json_object_get(answer, r->count));
    if (code == EXIT_DONE && t->s->json)
        printf("{\"%s\":%" PRIu64 "}\n", r->count, n);
    else if (code == EXIT_DONE)
        printf("%" PRIu64 " URL%s %s\n", n, n == 1 ? "" : "s", r->done);
    json_decref(answer);
    json_decref(in);
    return steer_let_go(t, code == EXIT_DONE ? r->left : NULL,
                        r->left_is_count ? &n : NULL, code);
}

/* Adds the queue key of --host. */
static int add_host(const struct steer *t, json_t *in)
{
    struct buf key;
    int code = EXIT_DONE;

    if (t->s->host == NULL)
        return code;
    buf_init(&key, HOST_MOST);
    code = steer_host_key(t, t->s->host, &key);
    json_object_set_new(in, "host", json_stringn(buf_str(&key), key.len));
    buf_fini(&key);
    return code;
}

static int retry(struct steer *t)
{
    static const struct redo how = {STEER_RETRY, "queued", "queued again",
                                    "queued", false};
    json_t *reasons = json_array(),
           *in = json_pack("{s:o}", "reasons", reasons);
    int code = add_host(t, in);

    for (size_t i = 0; i < t->s->reasons.count; i++)
        json_array_append_new(reasons, json_string(t->s->reasons.item[i]));
    if (code == EXIT_DONE)
        return redo(t, &how, in);
    json_decref(in);
    return code;
}

static int refresh(struct steer *t)
{
    static const struct redo how = {STEER_REFRESH, "dated", "made due again",
                                    "due", true};
    json_t *in = json_pack("{s:b}", "now", (int)t->s->now);
    int code = add_host(t, in);

    if (t->s->lost_archives)
        json_object_set_new(in, "lost_archives", json_true());
    if (t->s->match != NULL)
        json_object_set_new(in, "match", json_string(t->s->match));
    if (code == EXIT_DONE)
        return redo(t, &how, in);
    json_decref(in);
    return code;
}

static int retry_run(const struct usage *u, void *settings,
                     const struct option_list *operands)
{
    return steer_run(u, settings, operands, retry);
}

const struct usage retry_usage = {
    .name = "retry",
    .synopsis = "retry DIR|URL [--reason REASONS] [--host HOST] [--crawl NAME]",
    .about = "Queues failed URLs again and gives each its full number of "
             "tries; with --reason also those that were skipped, denied or "
             "cut short. `urlweir status` counts them by reason. A crawl that "
             "has ended fetches them when it is resumed; other pages are not "
             "fetched again.",
    .table = &retry_table,
    .least = 1,
    .most = 1,
    .operand = "a crawl's directory, or the URL of a service",
    .run = retry_run,
};

static int refresh_run(const struct usage *u, void *settings,
                       const struct option_list *operands)
{
    return steer_run(u, settings, operands, refresh);
}

const struct usage refresh_usage = {
    .name = "refresh",
    .synopsis = "refresh DIR|URL [--host HOST] [--match REGEX] [--now] "
                "[--lost-archives] [--crawl NAME]",
    .about = "Makes URLs that were fetched due again. Each is fetched once "
             "more; a crawl that has ended does so when it is resumed. What "
             "is due already, under way or waiting for another try stays as "
             "it is. A crawl with --refresh goes on with its dates after "
             "that.",
    .table = &refresh_table,
    .least = 1,
    .most = 1,
    .operand = "a crawl's directory, or the URL of a service",
    .run = refresh_run,
};
