/*
 * steer.h - what the commands that steer a running crawl share: pause, unpause,
 * stop, seed, retry, refresh, block, delay, limit.
 *
 * Each command has its own table of options: the rows below and some more, all
 * for one struct of settings.
 */
#ifndef URLWEIR_CLI_CONTROL_STEER_H
#define URLWEIR_CLI_CONTROL_STEER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/command_line.h"
#include "cli/control/control_client.h"

#define STEER_OPTIONS 10 /* rows of a table, at most */

struct steer_settings {
    /* of all commands */
    char *crawl, *token_file, *tls_ca;
    bool insecure, json;
    int64_t timeout_ms;
    /* of some commands */
    bool all, off, now;
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

/* A command under way. */
struct steer {
    const struct usage *usage;
    struct steer_settings s;
    struct option_list operands;
    struct control_client *client;
    const struct control_place *place;
    json_t *crawls; /* of the process, as GET /v1/crawls lists them */
    json_t *crawl;  /* the chosen one, borrowed; NULL: not chosen yet */
    struct buf why; /* why the last step failed */
};

/* Reads the command line. False: the command is over, *code is its exit
 * status. */
MUST_CHECK bool steer_begin(struct steer *t, const struct usage *u, int argc,
                            char **argv, int *code);
void steer_end(struct steer *t);
/* Both, and what the command does between them. Returns its exit status. */
int steer_command(const struct usage *u, int argc, char **argv,
                  int (*act)(struct steer *t));

/* These print errors on stderr, and return an enum exit_code. */

/* Connects to the process that the first operand names, and gets its crawls. */
int steer_connect(struct steer *t);
/* Sets t->crawl to the crawl that --crawl or the directory names, else to the
 * only one that the process runs itself. `served`: the crawl may also be one
 * that the process only serves, and is if the process runs none itself. */
int steer_choose(struct steer *t, bool served);
/* Sends one request to the process; *out is a new reference. */
int steer_ask(struct steer *t, const char *method, const char *path,
              json_t *body, json_t **out);
/* Sends POST /v1/crawls/NAME/VERB for the chosen crawl; body NULL: `{}`. */
int steer_crawl_verb(struct steer *t, const char *verb, json_t *body,
                     json_t **out);
/* Prints "urlweir NAME: WHY"; returns the exit status for `st`. */
int steer_failed(struct steer *t, enum status st);

/* Appends the queue key of a host as people write it, or of a URL: for
 * "Example.org:8080" it is "example.org". */
int steer_host_key(const struct steer *t, const char *text, struct buf *key);

const char *steer_crawl_name(const json_t *crawl);
/* Is it one that its process fetches? */
bool steer_is_own(const json_t *crawl);
/* Is the process a `urlweir crawl` or `resume`, which ends when its crawl is
 * stopped? Always false for a URL, where this is not known. */
bool steer_is_alone(const struct steer *t);
/* Appends the name that people know the crawl by, escaped: DIR, or its name in
 * a service. */
void steer_add_label(const struct steer *t, const json_t *crawl,
                     struct buf *out);

/* Prints JSON on stdout, and takes over the caller's reference. */
void steer_print(json_t *j);

#endif
