/*
 * web.h - the web of a seed.
 *
 * A number gives a small web: 10 to 80 pages on 1 to 8 hosts, with all that
 * makes a real one hard for a crawler. Hosts are slow, silent, dead or limit
 * their visitors; robots.txt and pages change on days of their own; redirects
 * lead through each other and in circles; sitemaps and feeds list what nothing
 * links to.
 *
 * A response depends on the seed, the request and its moment alone, but for
 * hosts that limit their visitors: these count requests in memory that the
 * caller gives and that all processes of a simulation share. truth.c reads the
 * same web through web_plan.h, which says what stands where and when; it never
 * parses a response.
 *
 * No thread may ask while another does.
 */
#ifndef URLWEIR_TESTS_SIM_WEB_H
#define URLWEIR_TESTS_SIM_WEB_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* The first moment of every simulation, in milliseconds since 1970: a Monday,
 * 2024-01-01T00:00:00Z. Plans count their days from here. */
#define SIM_START_MS INT64_C(1704067200000)

struct sim_request {
    const char *method, *scheme, *host;
    unsigned port;
    const char *target;         /* path and query, octets as asked */
    const char *const *headers; /* "Name: value" */
    size_t header_count;
    int64_t at_ms; /* wall clock, when the request has arrived */
};

enum sim_fate {
    SIM_ANSWERS,
    SIM_NO_NAME, /* the name server knows no such host */
    SIM_REFUSED, /* no connection: the port is closed */
    SIM_SILENT,  /* no connection, and no refusal either */
    SIM_MUTE,    /* connected, and never a response */
    SIM_RESET,   /* the connection ends after cut_at octets, with an error */
    SIM_CUT,     /* it ends after cut_at octets as if all had been sent */
    SIM_BAD_TLS, /* the certificate is for nobody we trust */
};

struct sim_answer {
    enum sim_fate fate;
    unsigned status;
    struct buf headers; /* "Name: value\r\n" lines, without the status line;
                           with a true Content-Length unless the fate says
                           otherwise */
    struct buf body;    /* empty for HEAD, 204 and 304 */
    int64_t first_ms;   /* from the request to the first octet of the head */
    int64_t ms_per_kib; /* of the body */
    size_t cut_at;      /* octets of the body that come */
    const char *address;
};

void sim_answer_init(struct sim_answer *);
void sim_answer_fini(struct sim_answer *);

/* Octets of the memory that sim_web_share() is given. */
#define SIM_WEB_SHARED 4096

struct sim_web;
struct sim_web *sim_web_new(uint64_t seed);
void sim_web_free(struct sim_web *);

/* Counts of requests are kept at `memory`, zeroed at the start of a simulation
 * and shared by its processes; without it in the web's own. */
void sim_web_share(struct sim_web *, void *memory);

/* `out` is initialised, and is cleared first. */
void sim_web_answer(struct sim_web *, const struct sim_request *,
                    struct sim_answer *out);

/* The address that a name server gives for `host` at this moment, NULL if it
 * knows none. Names do not change their addresses. */
const char *sim_web_address(struct sim_web *, const char *host, int64_t at_ms);

#endif
