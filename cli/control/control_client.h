/*
 * control_client.h - sends requests to a running crawl or service.
 *
 * The requests are those of docs/formats/http-api.md; they go over the Unix
 * socket of a directory, or to a URL. Answers are bounded and parsed; redirects
 * are not followed and the environment's proxy is not used. The token comes
 * from a file or the environment (URLWEIR_TOKEN) and is sent to URLs only: a
 * user who may open the socket needs no token. One thread.
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
    const char *token_file; /* one token, or a file of `serve --token-file`,
                               whose highest role is used; or NULL */
    const char *tls_ca;     /* PEM, instead of the system's; or NULL */
    bool insecure;          /* accept any certificate */
    int64_t timeout_ms;     /* for a whole answer */
};

struct control_client;

/* Finds the process as control_place_find does, and reads the token. STATUS_IO:
 * the token file cannot be read; STATUS_FORMAT: there is no valid token in it,
 * or in URLWEIR_TOKEN. On failure `why` has a message for people. */
MUST_CHECK enum status control_client_open(struct control_client **out,
                                           const char *where,
                                           const struct control_options *o,
                                           struct buf *why);
void control_client_free(struct control_client *c); /* NULL is fine */
const struct control_place *control_client_place(
    const struct control_client *c);

/* Sends one request; `path` is already encoded, `body` is borrowed and may be
 * NULL. *out: the answer, a new reference. STATUS_ARG: the request is not
 * valid; STATUS_NOT_FOUND, STATUS_BUSY (409), STATUS_CLOSED (503, or the
 * process ended meanwhile); STATUS_AGAIN: no answer in time; STATUS_FORMAT: the
 * peer is not urlweir; STATUS_IO: the peer cannot be reached, or refuses us. On
 * failure `why` has one sentence for people. */
MUST_CHECK enum status control_client_ask(struct control_client *c,
                                          const char *method, const char *path,
                                          json_t *body, json_t **out,
                                          struct buf *why);

/* Appends `text`, percent-encoded for a path or a query. */
void control_add_encoded(struct buf *out, struct bytes text);
/* Appends "/v1/crawls/NAME/VERB", with the name encoded. */
void control_crawl_path(struct buf *out, const char *name, const char *verb);

#endif
