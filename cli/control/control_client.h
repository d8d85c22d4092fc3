/*
 * control_client.h - what a running crawl or service is told from the shell.
 *
 * Requests of docs/formats/http-api.md, over the Unix socket of a directory or
 * to a URL. Answers are bounded and parsed; redirects are not followed and the
 * environment's proxy is not used. A token is read from a file or from the
 * environment (URLWEIR_TOKEN) and goes to URLs only: who may open the socket
 * needs none. One thread.
 */
#ifndef URLWEIR_CLI_CONTROL_CONTROL_CLIENT_H
#define URLWEIR_CLI_CONTROL_CONTROL_CLIENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"
#include "cli/control/control_place.h"

struct control_options {
    const char *token_file; /* one token, or a file of `serve --token-file`, of
                               which the one that may most counts; or NULL */
    const char *tls_ca;     /* PEM, instead of the system's; or NULL */
    bool insecure;          /* any certificate */
    int64_t timeout_ms;     /* for a whole answer */
};

struct control_client;

/* Finds the process, as control_place_find, and reads the token. STATUS_IO,
 * STATUS_FORMAT: of the token file. On failure `why` says it for people. */
MUST_CHECK enum status control_client_open(struct control_client **out,
                                           const char *where,
                                           const struct control_options *o,
                                           struct buf *why);
void control_client_free(struct control_client *c); /* NULL is fine */
const struct control_place *control_client_place(
    const struct control_client *c);

/* One request; `path` is encoded already, `body` is borrowed, NULL: none. *out:
 * the answer, a new reference. STATUS_ARG: the request was refused as wrong;
 * STATUS_NOT_FOUND, STATUS_BUSY (409), STATUS_CLOSED (503, or it ended
 * meanwhile); STATUS_AGAIN: no answer in time; STATUS_FORMAT: what answers is
 * no urlweir; STATUS_IO: nobody can be reached, or does not let us in. `why`
 * says each for people, in one sentence. */
MUST_CHECK enum status control_client_ask(struct control_client *c,
                                          const char *method, const char *path,
                                          json_t *body, json_t **out,
                                          struct buf *why);

/* Behind what is there: percent-encoded, for a path or a query. */
void control_add_encoded(struct buf *out, struct bytes text);
/* "/v1/crawls/NAME/VERB", the name encoded. */
void control_crawl_path(struct buf *out, const char *name, const char *verb);

#endif
