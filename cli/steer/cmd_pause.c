/* SPDX-License-Identifier: MIT */
/*
 * cmd_pause.c - `urlweir pause`, `unpause` and `stop`, which change the state
 * of a running crawl, and `resume` of a crawl that a service has stopped.
 *
 * A stop is complete once another process may use the directory: for a crawl
 * that is alone in its process, we also wait for the lock, so that `urlweir
 * stop DIR && urlweir resume DIR` works.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/format.h"
#include "cli/command.h"
#include "cli/open_crawl.h"
#include "cli/steer/steer.h"

#define LOOK_AGAIN (20 * NS_PER_MS)

/* clang-format off */
static const struct option_spec specs[] = {
    STEER_CRAWL_ROW,
    {.name = "all", .type = OPTION_FLAG, STEER_AT(all),
     .section = STEER_WHICH,
     .help = "all crawls that the service runs itself"},
    STEER_ROWS,
};
/* clang-format on */
static const struct option_table table =
    OPTION_TABLE(specs, struct steer_settings);

#define OPERAND                                                                \
    "a crawl's directory, or the URL of a service or of a crawl in a cluster"

/* ---- printing ---- */

static uint64_t number(const json_t *crawl, const char *name)
{
    json_int_t n = json_integer_value(json_object_get(crawl, name));

    return n > 0 ? (uint64_t)n : 0;
}

static void add_how_to_go_on(const struct steer *t, const json_t *crawl,
                             struct buf *out)
{
    buf_add_str(out, "; go on with `urlweir resume ");
    if (steer_is_alone(t)) {
        format_terminal(out, bytes_of_str(t->place->dir));
    } else {
        format_terminal(out, bytes_of_str(t->operands->item[0]));
        if (t->place->crawl == NULL) {
            buf_add_str(out, " --crawl ");
            format_terminal(out, bytes_of_str(steer_crawl_name(crawl)));
        }
    }
    buf_add_char(out, '`');
}

/* "crawl: paused; 120 pages, 3,880 URLs queued" */
static void print_state(const struct steer *t, const json_t *crawl)
{
    const char *state = json_string_value(json_object_get(crawl, "state"));
    uint64_t under_way = number(crawl, "transfers");
    uint64_t pages = number(crawl, "pages"), queued = number(crawl, "queued");
    struct buf line;

    buf_init(&line, 65536);
    steer_add_label(t, crawl, &line);
    buf_add_str(&line, ": ");
    format_terminal(&line, bytes_of_str(state != NULL ? state : "?"));
    buf_addf(&line, "; %s page%s, %s URL%s queued", COUNT(pages),
             pages == 1 ? "" : "s", COUNT(queued), queued == 1 ? "" : "s");
    if (t->usage == &pause_usage && under_way > 0)
        buf_addf(&line, ", %" PRIu64 " answers still on their way", under_way);
    if (t->usage == &stop_usage)
        add_how_to_go_on(t, crawl, &line);
    puts(buf_str(&line));
    buf_fini(&line);
}

/* ---- changing ---- */

/* The process releases the directory a moment after the crawl has ended. */
static int wait_for_lock(struct steer *t)
{
    const struct timespec pause = {.tv_nsec = LOOK_AGAIN};
    int64_t until = clock_mono() + t->s->timeout_ms * NS_PER_MS;

    while (!control_place_is_left(t->place)) {
        if (clock_mono() >= until) {
            buf_addf(&t->why,
                     "the crawl has stopped, and process %ld has not ended yet",
                     t->place->process);
            return steer_failed(t, STATUS_AGAIN);
        }
        nanosleep(&pause, NULL);
    }
    return EXIT_DONE;
}

/* Reads the final state of the crawl from its store. */
static int end_of(struct steer *t, json_t **out)
{
    struct reader r;
    int code;

    if (!open_crawl(&r, "stop", t->place->dir, &code))
        return code;
    *out = json_pack("{s:O, s:s, s:s, s:I, s:I}", "name",
                     json_object_get(t->crawl, "name"), "kind", "own", "state",
                     crawl_state(&r), "pages",
                     (json_int_t)frontier_store_counter(r.store, "pages"),
                     "queued", (json_int_t)frontier_store_pending_all(r.store));
    reader_close(&r);
    return EXIT_DONE;
}

/* A process that ends may close the connection before we have read its answer,
 * so only the lock tells whether it has ended. */
static int stop_alone(struct steer *t, json_t **out)
{
    json_t *answer = NULL;
    enum status st = steer_try(t, STEER_STOP, NULL, &answer);
    int code;

    json_decref(answer);
    if (st != STATUS_OK && st != STATUS_CLOSED)
        return steer_failed(t, st);
    buf_clear(&t->why);
    code = wait_for_lock(t);
    return code == EXIT_DONE ? end_of(t, out) : code;
}

static enum steer_verb verb_of(const struct steer *t)
{
    return t->usage == &pause_usage     ? STEER_PAUSE
           : t->usage == &unpause_usage ? STEER_UNPAUSE
           : t->usage == &stop_usage    ? STEER_STOP
                                        : STEER_RESUME;
}

static int change(struct steer *t, json_t *done)
{
    json_t *after = NULL;
    int code;

    if (t->usage == &stop_usage && steer_is_alone(t))
        code = stop_alone(t, &after);
    else
        code = steer_ask(t, verb_of(t), NULL, &after);
    if (code != EXIT_DONE) {
        json_decref(after);
        return code;
    }
    if (!t->s->json)
        print_state(t, after);
    json_array_append_new(done, after);
    return EXIT_DONE;
}

/* With --all, pause and unpause skip crawls that are stopped or failed, and
 * resume all others. */
static bool has_state_for(const struct steer *t, const json_t *crawl)
{
    const char *state = json_string_value(json_object_get(crawl, "state"));
    bool ended = state != NULL && (strcmp(state, "stopped") == 0 ||
                                   strcmp(state, "failed") == 0);

    return t->usage == &stop_usage ||
           ended == (t->usage == &resume_served_usage);
}

static int change_all(struct steer *t, json_t *done)
{
    int code = EXIT_DONE;
    size_t i, n = 0;
    json_t *one;

    json_array_foreach(t->crawls, i, one)
    {
        int one_code;

        if (!steer_is_own(one))
            continue;
        n++;
        if (!has_state_for(t, one))
            continue;
        t->crawl = one;
        one_code = change(t, done);
        if (one_code != EXIT_DONE)
            code = one_code;
    }
    if (n > 0)
        return code;
    return steer_choose(t, false); /* prints that there is no crawl */
}

static int change_state(struct steer *t)
{
    json_t *done = NULL;
    int code;

    if (t->s->all && t->s->crawl != NULL)
        return usage_error(t->usage, "--crawl names one, --all means all");
    code = steer_connect(t);
    if (code == EXIT_DONE && !t->s->all)
        code = steer_choose(t, false);
    if (code != EXIT_DONE)
        return code;
    done = json_array();
    code = t->s->all ? change_all(t, done) : change(t, done);
    if (t->s->json && t->s->all)
        steer_print(json_pack("{s:O}", "crawls", done));
    else if (t->s->json && json_array_size(done) > 0)
        steer_print(json_incref(json_array_get(done, 0)));
    json_decref(done);
    return code;
}

static int change_state_run(const struct usage *u, void *settings,
                            const struct option_list *operands)
{
    return steer_run(u, settings, operands, change_state);
}

const struct usage pause_usage = {
    .name = "pause",
    .synopsis = "pause DIR|URL|kafka://HOST/NAME [--crawl NAME | --all]",
    .about = "Makes a running crawl send no more requests until `urlweir "
             "unpause`. Requests under way are finished; nothing is lost, and "
             "the process keeps running. Of a crawl in a cluster it is for "
             "all workers, and for those that join later.",
    .table = &table,
    .least = 1,
    .most = 1,
    .operand = OPERAND,
    .run = change_state_run,
};

const struct usage unpause_usage = {
    .name = "unpause",
    .synopsis = "unpause DIR|URL|kafka://HOST/NAME [--crawl NAME | --all]",
    .about = "Makes a paused crawl go on.",
    .table = &table,
    .least = 1,
    .most = 1,
    .operand = OPERAND,
    .run = change_state_run,
};

const struct usage stop_usage = {
    .name = "stop",
    .synopsis = "stop DIR|URL|kafka://HOST/NAME [--crawl NAME | --all]",
    .about = "Stops a crawl so that it can be resumed, and waits until it has "
             "stopped: requests under way are finished and a checkpoint is "
             "written. A process of `urlweir crawl` or `resume` ends, with "
             "status 4; `urlweir serve` goes on without the crawl. Of a crawl "
             "in a cluster all workers stop.",
    .table = &table,
    .least = 1,
    .most = 1,
    .operand = OPERAND,
    .run = change_state_run,
};

/* The second form of `urlweir resume` (cli/crawl_command_line.c). */
const struct usage resume_served_usage = {
    .name = "resume",
    .synopsis = "resume DIR|URL [--crawl NAME | --all]",
    .about = "Makes a service go on with a crawl of its own that was stopped, "
             "with the settings that it has.",
    .table = &table,
    .least = 1,
    .most = 1,
    .operand = OPERAND,
    .run = change_state_run,
};
