/* SPDX-License-Identifier: MIT */
/*
 * cmd_retry.c - `urlweir retry`: queue failed URLs of a crawl again.
 */
#include "cli/command.h"
#include "cli/control/steer.h"
#include "cli/run/redo.h"
#include "job/retry.h"

#define REASON_MOST 4096

/* clang-format off */
static const struct option_spec specs[] = {
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
/* clang-format on */
static const struct option_table table =
    OPTION_TABLE(specs, struct steer_settings);

const struct usage retry_usage = {
    .name = "retry",
    .synopsis = "retry DIR|URL [--reason REASONS] [--host HOST] [--crawl NAME]",
    .about = "Queues failed URLs again and gives each its full number of "
             "tries; with --reason also those that were skipped, denied or "
             "cut short. `urlweir status` counts them by reason. A crawl that "
             "has ended fetches them when it is resumed; other pages are not "
             "fetched again.",
    .table = &table,
    .least = 1,
    .most = 1,
    .operand = "a crawl's directory, or the URL of a service",
};

static int read_reasons(struct steer *t, void *ctx)
{
    struct buf why;
    int code = EXIT_DONE;

    (void)ctx;
    buf_init(&why, REASON_MOST);
    if (!retry_reasons_are_known(&t->s.reasons, &why))
        code = usage_error(t->usage, "%s", buf_str(&why));
    buf_fini(&why);
    return code;
}

static enum status retry_stopped(struct stopped_crawl *c, const struct steer *t,
                                 struct bytes host, void *ctx, uint64_t *queued)
{
    (void)ctx;
    return stopped_crawl_retry(c, host, &t->s.reasons, queued);
}

static void ask_retry(const struct steer *t, json_t *body)
{
    json_t *reasons = json_array();

    for (size_t i = 0; i < t->s.reasons.count; i++)
        json_array_append_new(reasons, json_string(t->s.reasons.item[i]));
    json_object_set_new(body, "reasons", reasons);
}

static const struct redo redo = {.verb = "retry",
                                 .count = "queued",
                                 .done = "queued again",
                                 .left = "queued",
                                 .read = read_reasons,
                                 .stopped = retry_stopped,
                                 .ask = ask_retry};

static int retry_urls(struct steer *t)
{
    return redo_urls(t, &redo, NULL);
}

int cmd_retry(int argc, char **argv)
{
    return steer_command(&retry_usage, argc, argv, retry_urls);
}
