/*
 * steer.h - what the commands share that steer a running crawl: pause, unpause,
 * stop, seed, retry, block, delay, limit.
 *
 * Each has a table of its own, made of the rows below and some more over one
 * struct of settings.
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
    /* of all */
    char *crawl, *token_file, *tls_ca;
    bool insecure, json;
    int64_t timeout_ms;
    /* of some */
    bool all, off;
    char *input, *until, *host;
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
     .section = STEER_WHICH, .arg = "NAME", .flags = OPTION_LINE_ONLY,         \
     .help = "of several crawls in a service this one"}
#define STEER_ROWS                                                             \
    {.name = "token-file", .type = OPTION_TEXT, STEER_AT(token_file),          \
     .section = STEER_ACCESS, .arg = "FILE", .flags = OPTION_LINE_ONLY,        \
     .help = "send the token in this file; else URLWEIR_TOKEN of the "         \
             "environment, if there is one"},                                  \
    {.name = "tls-ca", .type = OPTION_TEXT, STEER_AT(tls_ca),                  \
     .section = STEER_ACCESS, .arg = "FILE", .flags = OPTION_LINE_ONLY,        \
     .help = "trust the CAs in this file (PEM) instead of the system's"},      \
    {.name = "insecure", .type = OPTION_FLAG, STEER_AT(insecure),              \
     .section = STEER_ACCESS, .flags = OPTION_LINE_ONLY,                       \
     .help = "take any TLS certificate"},                                      \
    {.name = "timeout", .letter = 'T', .type = OPTION_TIME,                    \
     STEER_AT(timeout_ms), .fallback = "60s", .min = 1, .max = 86400e3,        \
     .section = STEER_ACCESS, .arg = "TIME", .flags = OPTION_LINE_ONLY,        \
     .help = "how long to wait for an answer"},                                \
    {.name = "json", .type = OPTION_FLAG, STEER_AT(json),                      \
     .section = STEER_OUTPUT, .flags = OPTION_LINE_ONLY,                       \
     .help = "say what was done as JSON (docs/formats/steer.md)"}
/* clang-format on */

/* A command under way. */
struct steer {
    const struct usage *usage;
    struct steer_settings s;
    struct option_list operands;
    struct control_client *client;
    const struct control_place *place;
    json_t *crawls; /* all of the process, as GET /v1/crawls has them */
    json_t *crawl;  /* the one that is meant, borrowed; NULL: not chosen */
    struct buf why; /* of what failed last */
};

/* Reads the command line. False: the command is over, *code is its status. */
MUST_CHECK bool steer_begin(struct steer *t, const struct usage *u, int argc,
                            char **argv, int *code);
void steer_end(struct steer *t);

/* These say on stderr what is wrong, and return an enum exit_code. */

/* Speaks to the process of the first operand, and learns of its crawls. */
int steer_connect(struct steer *t);
/* Puts the crawl that is meant into t->crawl: --crawl, else the only one that
 * the process runs itself. `served`: one that it only serves may be meant, too,
 * and is where there is no other. */
int steer_choose(struct steer *t, bool served);
/* One request about the process; *out is a new reference. */
int steer_ask(struct steer *t, const char *method, const char *path,
              json_t *body, json_t **out);
/* POST /v1/crawls/NAME/VERB, with `{}` for a body. */
int steer_crawl_verb(struct steer *t, const char *name, const char *verb,
                     json_t **out);
/* "urlweir NAME: WHY", and the exit status for it. */
int steer_failed(struct steer *t, enum status st);

/* The queue key of a host as people write it, or of a URL: "Example.org:8080"
 * is "example.org". */
int steer_host_key(const struct steer *t, const char *text, struct buf *key);

const char *steer_crawl_name(const json_t *crawl);
bool steer_is_own(const json_t *crawl);
/* Runs in a process of `urlweir crawl` or `resume`, so that to stop the crawl
 * is to end the process. Of a URL nobody knows: false. */
bool steer_is_alone(const struct steer *t);
/* What people know the crawl by: DIR, or its name in a service; escaped. */
void steer_add_label(const struct steer *t, const json_t *crawl,
                     struct buf *out);

/* Prints JSON on stdout, and takes it. */
void steer_print(json_t *j);

#endif
