/* SPDX-License-Identifier: MIT */
/*
 * cmd_retry.c - `urlweir retry`: queue failed URLs of a crawl again.
 *
 * A running crawl does it between its own work. If nobody runs the crawl, this
 * command opens it, and a resume then fetches the URLs.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cli/command.h"
#include "cli/control/steer.h"
#include "cli/run/crawl_run.h"
#include "cli/run/stopped_crawl.h"
#include "job/retry.h"

#define HOST_MOST 4096

/* clang-format off */
static const struct option_spec specs[] = {
    {.name = "reason", .type = OPTION_LIST, STEER_AT(reasons),
     .section = "Which URLs", .arg = "REASONS",
     .flags = OPTION_LINE_ONLY | OPTION_COMMAS,
     .help = "those that failed for one of these reasons, such as "
             "http_503,timeout; default: all"},
    {.name = "host", .type = OPTION_TEXT, STEER_AT(host),
     .section = "Which URLs", .arg = "HOST", .flags = OPTION_LINE_ONLY,
     .help = "only those of this host; default: all hosts"},
    STEER_CRAWL_ROW,
    STEER_ROWS,
};
/* clang-format on */
static const struct option_table table =
    OPTION_TABLE(specs, struct steer_settings);

const struct usage retry_usage = {
    .name = "retry",
    .synopsis = "retry DIR|URL [--reason REASONS] [--host HOST] [--crawl NAME]",
    .about = "Queues failed URLs again and gives each its full number of "
             "tries. `urlweir status` counts failed URLs by reason. A crawl "
             "that has ended fetches them when it is resumed; pages that were "
             "fetched are not fetched again.",
    .table = &table,
    .least = 1,
    .most = 1,
    .operand = "a crawl's directory, or the URL of a service",
};

/* ---- what was done ---- */

static void print_queued(const struct steer *t, uint64_t queued)
{
    if (t->s.json)
        printf("{\"queued\":%" PRIu64 "}\n", queued);
    else
        printf("%" PRIu64 " URL%s queued again\n", queued,
               queued == 1 ? "" : "s");
}

/* ---- a crawl that nobody runs ---- */

static int retry_stopped(struct steer *t, struct bytes host)
{
    const char *dir = t->operands.item[0];
    struct stopped_crawl *c = NULL;
    uint64_t queued = 0, left = 0;
    enum status st, closed;
    int code = EXIT_DONE;

    if (!stopped_crawl_open(&c, "retry", dir, &code))
        return code;
    st = stopped_crawl_retry(c, host, &t->s.reasons, &queued);
    closed = stopped_crawl_close(c, &left);
    if (st == STATUS_OK)
        st = closed;
    if (st != STATUS_OK)
        return crawl_open_failed(st, dir);
    print_queued(t, queued);
    stopped_crawl_say_left("retry", dir, "queued", left);
    return EXIT_DONE;
}

/* ---- one that runs ---- */

static json_t *body_of(const struct steer *t, struct bytes host)
{
    json_t *body = json_object(), *reasons = json_array();

    for (size_t i = 0; i < t->s.reasons.count; i++)
        json_array_append_new(reasons, json_string(t->s.reasons.item[i]));
    json_object_set_new(body, "reasons", reasons);
    if (host.len > 0)
        json_object_set_new(body, "host", json_stringn(host.at, host.len));
    return body;
}

static int retry_running(struct steer *t, struct bytes host)
{
    json_t *body = NULL, *answer = NULL;
    int code = steer_connect(t);

    if (code == EXIT_DONE)
        code = steer_choose(t, false);
    if (code != EXIT_DONE)
        return code;
    body = body_of(t, host);
    code = steer_crawl_verb(t, "retry", body, &answer);
    if (code == EXIT_DONE)
        print_queued(t, (uint64_t)json_integer_value(
                            json_object_get(answer, "queued")));
    json_decref(answer);
    json_decref(body);
    return code;
}

/* ---- the command ---- */

static int retry_urls(struct steer *t)
{
    struct buf host, why;
    int code = EXIT_DONE;

    buf_init(&host, HOST_MOST);
    buf_init(&why, HOST_MOST);
    if (!retry_reasons_are_known(&t->s.reasons, &why))
        code = usage_error(t->usage, "%s", buf_str(&why));
    else if (t->s.host != NULL)
        code = steer_host_key(t, t->s.host, &host);
    if (code == EXIT_DONE)
        code = control_place_is_stopped(t->operands.item[0])
                   ? retry_stopped(t, buf_bytes(&host))
                   : retry_running(t, buf_bytes(&host));
    buf_fini(&why);
    buf_fini(&host);
    return code;
}

int cmd_retry(int argc, char **argv)
{
    return steer_command(&retry_usage, argc, argv, retry_urls);
}
