/*
 * control_place.h - finds where the process that runs a crawl takes commands.
 *
 * A person names a crawl by its directory, or a service by its URL. The process
 * that holds the lock of a directory takes commands on the Unix socket
 * DIR/control, which only the owner of the directory may use; or, if there is
 * no socket, at the HTTP address in the lock file. The directory of a crawl in
 * a service, DIR/crawls/NAME, leads to the service.
 */
#ifndef URLWEIR_CLI_CONTROL_CONTROL_PLACE_H
#define URLWEIR_CLI_CONTROL_CONTROL_PLACE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"

#define CONTROL_SOCKET "control" /* its name in DIR */

struct control_place {
    char *url;    /* prefix of all paths, without a '/' at its end */
    char *socket; /* the Unix socket to it, or NULL */
    char *dir;    /* the locked directory; NULL: a URL was given */
    char *crawl;  /* the crawl that was named by its directory, or NULL */
    char *kafka;  /* kafka://HOST/NAME: a crawl whose shards are there, given so
                     or by the directory of a worker; or NULL */
    char *worker; /* that directory, or NULL */
    long process; /* the one that holds the lock; 0: a URL was given */
    bool service; /* it is `urlweir serve`; not known for a URL */
    int dir_fd;   /* the directory, if the socket's path is too long; or -1 */
};

/* `where`: a directory, or a URL of a service or of a crawl in Kafka. STATUS_NOT_FOUND: no process runs there;
 * STATUS_BUSY: a process holds the directory and takes no commands; STATUS_ARG:
 * not the URL of a service; STATUS_IO: the directory cannot be read. `why`
 * tells people the reason and what to do. On failure there is nothing to
 * free. */
MUST_CHECK enum status control_place_find(struct control_place *out,
                                          const char *where, struct buf *why);
void control_place_fini(struct control_place *p);

/* Is it the directory of a crawl that no process runs? */
bool control_place_is_stopped(const char *where);

/* Has the process released the directory? Always true for a URL, where this is
 * not known. */
bool control_place_is_left(const struct control_place *p);

/* Writes the note for the lock file of the process that runs `what` and serves
 * HTTP at `address`, which may be NULL. */
void control_note(struct buf *out, const char *what, const char *address,
                  bool tls);
/* Appends what the process that holds the lock noted of its sandbox, escaped
 * for a terminal. False: it noted nothing. */
bool control_note_sandbox(const char *dir, struct buf *out);

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
