/*
 * steer.h - what the commands that steer a crawl share: pause, unpause, stop,
 * set, seed, retry, refresh, block, delay, limit.
 *
 * A command says what it asks as a verb and the JSON of
 * docs/formats/http-api.md. That goes to whoever has the crawl: a process, over
 * its socket or HTTP; the workers of a crawl in Kafka; or, if nobody runs the
 * crawl, this process, which then opens it (cli/run/crawl_run.h).
 *
 * Each command has its own table of options: the rows below and some more, all
 * for one struct of settings.
 */
#ifndef URLWEIR_CLI_STEER_STEER_H
#define URLWEIR_CLI_STEER_STEER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/command_line.h"
#include "cli/control/control_place.h"
#include "cli/run/crawl_run.h"

#define STEER_OPTIONS 10 /* rows of a table, at most */

struct steer_settings {
    /* of all commands */
    char *crawl, *token_file, *tls_ca;
    bool insecure, json;
    int64_t timeout_ms;
    /* of some commands */
    bool all, off, now, lost_archives;
    char *input, *until, *host, *match;
    struct option_list reasons;
    int64_t for_ms; /* 0: not given */
    uint8_t from[STEER_OPTIONS];
};

#define STEER_AT(f)  .at = offsetof(struct steer_settings, f)
#define STEER_WHICH  "Which crawl"
#define STEER_ACCESS "Access to a URL"
#define STEER_OUTPUT "Output"

/* clang-format off */
#define STEER_CRAWL_ROW                                                        \
    {.name = "crawl", .type = OPTION_TEXT, STEER_AT(crawl),                    \
     .section = STEER_WHICH, .arg = "NAME",                                    \
     .help = "the crawl to act on, if a service has several"}
#define STEER_ROWS                                                             \
    {.name = "token-file", .type = OPTION_TEXT, STEER_AT(token_file),          \
     .section = STEER_ACCESS, .arg = "FILE",                                   \
     .help = "send the token in this file; default: URLWEIR_TOKEN of the "     \
             "environment"},                                                   \
    {.name = "tls-ca", .type = OPTION_TEXT, STEER_AT(tls_ca),                  \
     .section = STEER_ACCESS, .arg = "FILE",                                   \
     .help = "trust the CAs in this file (PEM) instead of the system's"},      \
    {.name = "insecure", .type = OPTION_FLAG, STEER_AT(insecure),              \
     .section = STEER_ACCESS,                                                  \
     .help = "accept any TLS certificate"},                                    \
    {.name = "timeout", .letter = 'T', .type = OPTION_TIME,                    \
     STEER_AT(timeout_ms), .fallback = "60s", .min = 1, .max = 86400e3,        \
     .section = STEER_ACCESS, .arg = "TIME",                                   \
     .help = "how long to wait for an answer"},                                \
    {.name = "json", .type = OPTION_FLAG, STEER_AT(json),                      \
     .section = STEER_OUTPUT,                                                  \
     .help = "print what was done as JSON (docs/formats/steer.md)"}
/* clang-format on */

/* What a command asks of a crawl, or of one of its queues. */
enum steer_verb {
    STEER_PAUSE,
    STEER_UNPAUSE,
    STEER_STOP,
    STEER_RESUME,
    STEER_SET,
    STEER_SEED,
    STEER_RETRY,
    STEER_REFRESH,
    STEER_BLOCK, /* these four: their JSON names crawl and key */
    STEER_DELAY,
    STEER_LIMIT,
    STEER_COUNT
};

/* A command under way. */
struct steer {
    const struct usage *usage;
    const struct steer_settings *s;
    const struct option_list *operands;
    struct held_crawl *held;           /* nobody else runs the crawl; or NULL */
    struct control_client *client;     /* or NULL */
    const struct control_place *place; /* of the client */
    json_t *crawls; /* of the process, as GET /v1/crawls lists them */
    json_t *crawl;  /* the chosen one, borrowed; NULL: not chosen yet */
    struct buf why; /* why the last step failed */
};

/* Runs a command: calls `act`, and returns its exit status. */
int steer_run(const struct usage *u, void *settings,
              const struct option_list *operands, int (*act)(struct steer *t));

/* These print errors on stderr, and return an enum exit_code. */

/* Connects to the process that the first operand names, and gets its crawls. */
int steer_connect(struct steer *t);
/* The same, or opens the crawl if nobody runs it. End it by steer_let_go. */
int steer_connect_or_hold(struct steer *t);
/* Closes a crawl that was opened, and says how many of its URLs wait for a
 * resume, which are `what`: "queued" or "due"; `n` NULL: all that are queued.
 * Returns `code`, or if that is EXIT_DONE the exit status of the close. */
int steer_let_go(struct steer *t, const char *what, const uint64_t *n,
                 int code);
/* Sets t->crawl to the crawl that --crawl or the directory names, else to the
 * only one that the process runs itself. `served`: the crawl may also be one
 * that the process only serves, and is if the process runs none itself. */
int steer_choose(struct steer *t, bool served);
/* Asks for `verb`, for the chosen crawl. `in` is borrowed; NULL: `{}`. *out is
 * a new reference, or NULL. */
int steer_ask(struct steer *t, enum steer_verb verb, json_t *in, json_t **out);
/* The same, but leaves the reason of a failure in t->why. */
MUST_CHECK enum status steer_try(struct steer *t, enum steer_verb verb,
                                 json_t *in, json_t **out);
/* Prints "urlweir NAME: WHY"; returns the exit status for `st`. */
int steer_failed(struct steer *t, enum status st);

/* Appends the queue key of a host as people write it, or of a URL: for
 * "Example.org:8080" it is "example.org". */
int steer_host_key(const struct steer *t, const char *text, struct buf *key);

const char *steer_crawl_name(const json_t *crawl);
/* Is it one that its process fetches? */
bool steer_is_own(const json_t *crawl);
/* Is it the only crawl of its process, which ends with it? Always false for a
 * URL, where this is not known. */
bool steer_is_alone(const struct steer *t);
/* Appends the name that people know the crawl by, escaped: DIR, or its name in
 * a service. */
void steer_add_label(const struct steer *t, const json_t *crawl,
                     struct buf *out);

/* Prints JSON on stdout, and takes over the caller's reference. */
void steer_print(json_t *j);

#endif
