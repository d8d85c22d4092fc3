/*
 * answer.h - one request, and what is to be done with it.
 *
 * The server fills a struct request, a handler fills a struct answer, the
 * server carries it out. An answer may break HTTP on purpose: the octets of
 * `head` and `body` go out as they stand.
 */
#ifndef URLWEIR_TESTS_SUPPORT_WEB_ANSWER_H
#define URLWEIR_TESTS_SUPPORT_WEB_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

struct request {
    struct bytes method, target; /* path and query as sent */
    uint32_t host;               /* number of the address it came to */
    bool head;                   /* HEAD: the server drops the body */
    bool gzip, deflate;          /* codings the client takes */
    struct bytes if_none_match;
    unsigned asked_before; /* times this URL was asked; see WEB_COUNTED */
};

/* What follows the last octet. */
enum answer_end {
    END_KEEP,    /* the connection stays, if the client wants it */
    END_CLOSE,   /* close it */
    END_RESET,   /* reset it */
    END_SILENT,  /* nothing, and the connection stays open */
    END_ENDLESS, /* `body` repeated until the client leaves */
};

struct answer {
    struct buf head, body; /* head with its empty line */
    int status;            /* for the log; 0: no status line */
    enum answer_end end;
    int64_t delay_ns; /* before the first octet */
    size_t drip;      /* octets at a time, 0 = all at once */
    int64_t drip_ns;  /* time between drips */
};

#define ANSWER_CEILING ((size_t)64 << 20)
void answer_init(struct answer *an);
void answer_fini(struct answer *an);
void answer_clear(struct answer *an);

/* Begin the head with its status line; answer_field adds a field, the length
 * of the body as it is now and the empty line come with answer_done. */
void answer_status(struct answer *an, int status);
void answer_field(struct answer *an, const char *name, const char *value);
void answer_done(struct answer *an);
/* All in one: a status, a type, and `text` appended to the body. */
void answer_text(struct answer *an, int status, const char *type,
                 const char *text);

/* Replace the body by its gzip or zlib form and add Content-Encoding. */
void answer_gzip(struct answer *an);
void answer_deflate(struct answer *an);

#endif
