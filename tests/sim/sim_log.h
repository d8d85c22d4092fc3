/*
 * sim_log.h - all requests that reached the web of a simulation, in order.
 */
#ifndef URLWEIR_TESTS_SIM_SIM_LOG_H
#define URLWEIR_TESTS_SIM_SIM_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/sim/web.h"

enum sim_log_end {
    SIM_LOG_UNDER_WAY, /* also what a kill has cut off */
    SIM_LOG_WHOLE,     /* the response was received to its end */
    SIM_LOG_FAILED,    /* by its fate */
    SIM_LOG_ABORTED    /* by the client, which wanted no more */
};

struct sim_log_entry {
    unsigned life;     /* the process that sent it */
    int64_t at_ms;     /* by the web's clock, as it was sent */
    int64_t passed_ms; /* the same moment, as time that has passed since the
                          simulation began */
    int64_t jumped_ms; /* by which the clock of urlweir has jumped so far */
    int64_t ended_ms;  /* as passed_ms; 0: under way */
    int64_t let_go_ms; /* the process was killed or stopped then, and what this
                          brought may be lost; 0: not so */
    const char *method, *scheme, *host, *target;
    unsigned port;
    unsigned status; /* 0: no head has come */
    enum sim_fate fate;
    enum sim_log_end end;
    size_t octets;    /* of the body that were received */
    bool conditional; /* with If-None-Match or If-Modified-Since */
};

struct sim_log {
    struct sim_log_entry *at;
    size_t count, room;
};

#endif
