/* SPDX-License-Identifier: MIT */
/* steer.c - what the commands that steer a crawl share. */
#include "cli/steer/steer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/format.h"
#include "base/record.h"
#include "cli/command.h"
#include "cli/crawl_command_line.h"
#include "cli/open_crawl.h"
#include "cli/run/crawl_run.h"
#include "frontier/reader.h"
#include "frontier/url/url.h"

#define WHY_MOST   ((size_t)64 << 10)
#define HOST_MOST  4096
#define NAMES_MOST 20 /* crawls listed in an error, at most */

int steer_run(const struct usage *u, void *settings,
              const struct option_list *operands, int (*act)(struct steer *t))
{
    struct steer t = {.usage = u, .s = settings, .operands = operands};
    int code;

    buf_init(&t.why, WHY_MOST);
    code = act(&t);
    json_decref(t.crawls);
    control_client_free(t.client);
    buf_fini(&t.why);
    return code;
}

int steer_failed(struct steer *t, enum status st)
{
    if (t->held != NULL && t->why.len == 0) /* its store failed */
        return crawl_open_failed(st, t->operands->item[0]);
    fprintf(stderr, "urlweir %s: %s\n", t->usage->name, buf_str(&t->why));
    buf_clear(&t->why);
    return st == STATUS_ARG ? EXIT_USAGE : EXIT_CANNOT;
}

/* ---- asking ---- */

/* `held`: the verb in this process, an enum crawls_verb, or for a queue an enum
 * frontier_verb. */
static const struct {
    const char *method, *path; /* below /v1/crawls/NAME; of a queue, whole */
    int held;
} verbs[] = {
    [STEER_PAUSE] = {"POST", "pause", CRAWLS_PAUSE},
    [STEER_UNPAUSE] = {"POST", "unpause", CRAWLS_UNPAUSE},
    [STEER_STOP] = {"POST", "stop", CRAWLS_STOP},
    [STEER_RESUME] = {"POST", "resume", CRAWLS_RESUME},
    [STEER_SET] = {"PATCH", "settings", CRAWLS_SET_SETTINGS},
    [STEER_SEED] = {"POST", "seeds", CRAWLS_SEED},
    [STEER_RETRY] = {"POST", "retry", CRAWLS_RETRY},
    [STEER_REFRESH] = {"POST", "refresh", CRAWLS_REFRESH},
    [STEER_BLOCK] = {"POST", "/v1/queues/block", FRONTIER_BLOCK_QUEUE},
    [STEER_DELAY] = {"POST", "/v1/queues/delay", FRONTIER_SET_DELAY},
    [STEER_LIMIT] = {"POST", "/v1/queues/limit", FRONTIER_SET_LIMIT},
    [STEER_COUNT] = {"GET", "/v1/stats", FRONTIER_STATS},
};

static void add_query(struct buf *path, const json_t *in, const char *name,
                      char before)
{
    const json_t *value = json_object_get(in, name);

    buf_addf(path, "%c%s=", before, name);
    control_add_encoded(path, bytes_of(json_string_value(value),
                                       json_string_length(value)));
}

static enum status try_process(struct steer *t, enum steer_verb verb,
                               json_t *in, json_t **out)
{
    bool query = verb == STEER_COUNT;
    struct buf path;
    enum status st;

    buf_init(&path, 16 * HOST_MOST);
    if (verb < STEER_BLOCK)
        control_crawl_path(&path, steer_crawl_name(t->crawl), verbs[verb].path);
    else
        buf_add_str(&path, verbs[verb].path);
    if (query) {
        add_query(&path, in, "crawl", '?');
        add_query(&path, in, "key", '&');
    }
    st = control_client_ask(t->client, verbs[verb].method, buf_str(&path),
                            query ? NULL : in, out, &t->why);
    buf_fini(&path);
    return st;
}

/* The value of a block, a delay or a limit, which service/http/http_api.c
 * reads too. */
static struct frontier_setting setting_of(const json_t *in)
{
    const json_t *delay = json_object_get(in, "delay_seconds");
    double ms = json_number_value(delay) * 1000 + 0.5;
    int64_t until = 0;

    if (delay != NULL)
        return (struct frontier_setting){.value = (uint64_t)ms / 1000,
                                         .ms = (uint16_t)((uint64_t)ms % 1000),
                                         .standard = json_is_null(delay)};
    if (clock_parse_iso(bytes_of_str(
                            json_string_value(json_object_get(in, "until"))),
                        &until) == STATUS_OK)
        return (struct frontier_setting){.value = (uint64_t)until / 1000};
    return (struct frontier_setting){
        .value = (uint64_t)json_integer_value(json_object_get(in, "limit"))};
}

static enum status try_queue(struct steer *t, enum frontier_verb verb,
                             const json_t *in, json_t **out)
{
    const json_t *key = json_object_get(in, "key");
    struct frontier_call call;
    enum status st;

    frontier_call_init(&call, verb, NULL, NULL);
    call.in.key = bytes_of(json_string_value(key), json_string_length(key));
    if (verb != FRONTIER_STATS)
        call.in.setting = setting_of(in);
    st = held_crawl_ask(t->held, &call);
    if (st == STATUS_OK && verb == FRONTIER_STATS)
        *out = json_pack("{s:I}", "queues", (json_int_t)call.counts.queues);
    if (st != STATUS_OK && call.why != NULL)
        buf_add_str(&t->why, call.why);
    frontier_call_fini(&call);
    return st;
}

static enum status try_held(struct steer *t, enum steer_verb verb, json_t *in,
                            json_t **out)
{
    struct crawls_call call = {.in = in};
    enum status st;

    if (verb >= STEER_BLOCK)
        return try_queue(t, (enum frontier_verb)verbs[verb].held, in, out);
    call.verb = (enum crawls_verb)verbs[verb].held;
    st = held_crawl_perform(t->held, &call);
    *out = call.out;
    if (st == STATUS_ARG || st == STATUS_BUSY || st == STATUS_CLOSED)
        format_terminal(&t->why, bytes_of_str(call.why));
    return st;
}

enum status steer_try(struct steer *t, enum steer_verb verb, json_t *in,
                      json_t **out)
{
    json_t *body = in != NULL ? json_incref(in) : json_object();
    enum status st = t->held != NULL ? try_held(t, verb, body, out)
                                     : try_process(t, verb, body, out);

    json_decref(body);
    return st;
}

int steer_ask(struct steer *t, enum steer_verb verb, json_t *in, json_t **out)
{
    enum status st = steer_try(t, verb, in, out);

    return st == STATUS_OK ? EXIT_DONE : steer_failed(t, st);
}

/* ---- which crawl ---- */

const char *steer_crawl_name(const json_t *crawl)
{
    const char *name = json_string_value(json_object_get(crawl, "name"));

    return name != NULL ? name : "";
}

bool steer_is_own(const json_t *crawl)
{
    const char *kind = json_string_value(json_object_get(crawl, "kind"));

    return kind != NULL && strcmp(kind, "own") == 0;
}

int steer_connect(struct steer *t)
{
    const struct control_options o = {
        .token_file = t->s->token_file,
        .tls_ca = t->s->tls_ca,
        .insecure = t->s->insecure,
        .timeout_ms = t->s->timeout_ms,
    };
    json_t *answer = NULL;
    enum status st =
        control_client_open(&t->client, t->operands->item[0], &o, &t->why);

    if (st != STATUS_OK)
        return steer_failed(t, st);
    t->place = control_client_place(t->client);
    st = control_client_ask(t->client, "GET", "/v1/crawls", NULL, &answer,
                            &t->why);
    if (st != STATUS_OK)
        return steer_failed(t, st);
    t->crawls = json_incref(json_object_get(answer, "crawls"));
    json_decref(answer);
    if (json_is_array(t->crawls))
        return EXIT_DONE;
    buf_add_str(&t->why, "the server there has no list of crawls; is it "
                         "another release of urlweir?");
    return steer_failed(t, STATUS_FORMAT);
}

int steer_connect_or_hold(struct steer *t)
{
    const char *where = t->operands->item[0];
    int code = EXIT_DONE;

    if (!control_place_is_stopped(where))
        return steer_connect(t);
    if (!held_crawl_open(&t->held, t->usage->name, where, &code))
        return code;
    t->crawls = json_pack("[{s:s, s:s}]", "name", CRAWL_ID, "kind", "own");
    return EXIT_DONE;
}

int steer_let_go(struct steer *t, const char *what, const uint64_t *n, int code)
{
    const char *dir = t->operands->item[0];
    uint64_t left = 0;
    enum status st;

    if (t->held == NULL)
        return code;
    st = held_crawl_close(t->held, &left);
    t->held = NULL;
    if (st != STATUS_OK)
        return code == EXIT_DONE ? crawl_open_failed(st, dir) : code;
    if (what != NULL)
        held_crawl_say_left(t->usage->name, dir, what, n != NULL ? *n : left);
    return code;
}

/* ": news, shop and 3 more" */
static void add_names(struct buf *out, json_t *crawls, bool served)
{
    const char *between = ": ";
    size_t i, n = 0;
    json_t *one;

    json_array_foreach(crawls, i, one)
    {
        if (!served && !steer_is_own(one))
            continue;
        if (++n > NAMES_MOST)
            continue;
        buf_add_str(out, between);
        format_terminal(out, bytes_of_str(steer_crawl_name(one)));
        between = ", ";
    }
    if (n > NAMES_MOST)
        buf_addf(out, " and %zu more", n - NAMES_MOST);
}

/* Chooses the crawl of --crawl, or of the given directory. */
static int choose_named(struct steer *t, const char *name, bool served)
{
    size_t i;
    json_t *one;

    json_array_foreach(t->crawls, i, one)
    {
        if (strcmp(steer_crawl_name(one), name) == 0 &&
            (served || steer_is_own(one)))
            t->crawl = one;
    }
    if (t->crawl != NULL)
        return EXIT_DONE;
    buf_add_str(&t->why, "there is no crawl ");
    format_terminal(&t->why, bytes_of_str(name));
    if (json_array_size(t->crawls) > 0) {
        buf_add_str(&t->why, "; there are");
        add_names(&t->why, t->crawls, served);
    }
    return steer_failed(t, STATUS_NOT_FOUND);
}

static int none_is_own(struct steer *t)
{
    if (steer_is_alone(t)) {
        buf_add_str(&t->why, "the crawl has not begun yet or has just ended; "
                             "while its seeds are read it takes no commands");
        return steer_failed(t, STATUS_BUSY);
    }
    buf_add_str(&t->why, "the service runs no crawl of its own (`urlweir serve "
                         "--crawl FILE.yaml`), it only serves others; ");
    if (t->place->process != 0)
        buf_addf(&t->why, "`kill %ld` ends it", t->place->process);
    else
        buf_add_str(&t->why, "a SIGTERM ends it");
    return steer_failed(t, STATUS_NOT_FOUND);
}

/* Chooses the only crawl; if there are several, the one named DEFAULT. */
static int choose_served(struct steer *t)
{
    if (json_array_size(t->crawls) != 1)
        return choose_named(t, "DEFAULT", true);
    t->crawl = json_array_get(t->crawls, 0);
    return EXIT_DONE;
}

int steer_choose(struct steer *t, bool served)
{
    const char *name = t->s->crawl != NULL ? t->s->crawl
                       : t->place != NULL  ? t->place->crawl
                                           : NULL;
    json_t *own = NULL, *one;
    size_t i, n = 0;

    if (name != NULL)
        return choose_named(t, name, served);
    json_array_foreach(t->crawls, i, one)
    {
        if (!steer_is_own(one))
            continue;
        own = one;
        n++;
    }
    t->crawl = own;
    if (n == 1)
        return EXIT_DONE;
    t->crawl = NULL;
    if (n == 0)
        return served ? choose_served(t) : none_is_own(t);
    buf_addf(&t->why, "there are %zu crawls; choose one with --crawl NAME", n);
    add_names(&t->why, t->crawls, false);
    return steer_failed(t, STATUS_ARG);
}

/* ---- words ---- */

bool steer_is_alone(const struct steer *t)
{
    return t->held != NULL ||
           (t->place != NULL && t->place->dir != NULL && !t->place->service);
}

void steer_add_label(const struct steer *t, const json_t *crawl,
                     struct buf *out)
{
    const char *label = t->held != NULL           ? t->operands->item[0]
                        : t->place->kafka != NULL ? t->place->kafka
                        : steer_is_alone(t)       ? t->place->dir
                                                  : steer_crawl_name(crawl);

    format_terminal(out, bytes_of_str(label));
}

void steer_print(json_t *j)
{
    json_print(j);
    json_decref(j);
}

/* ---- hosts ---- */

int steer_host_key(const struct steer *t, const char *text, struct buf *key)
{
    struct buf url;
    struct url u;
    int code = EXIT_DONE;

    buf_init(&url, HOST_MOST + 16);
    url_init(&u);
    if (strstr(text, "://") == NULL)
        buf_add_str(&url, "http://");
    buf_add_str(&url, text);
    if (buf_failed(&url) == STATUS_OK && text[0] != '\0' &&
        url_canonical(&u, buf_bytes(&url), NULL, NULL) == URL_OK)
        buf_add_bytes(key, url_host(&u));
    else
        code = usage_error(t->usage, "'%s' is not a host", text);
    url_fini(&u);
    buf_fini(&url);
    return code;
}

/*
 * `urlweir pause`, `unpause` and `stop`, which change the state
 * of a running crawl, and `resume` of a crawl that a service has stopped.
 *
 * A stop is complete once another process may use the directory: for a crawl
 * that is alone in its process, we also wait for the lock, so that `urlweir
 * stop DIR && urlweir resume DIR` works.
 */

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
