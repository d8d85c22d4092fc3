/*
 * served_clients.h - programs that use a served frontier, and what each call of
 * theirs must answer.
 *
 * They live in `urlweir serve`, where its ports would be: served_service.c
 * stands in for service/service.h, and clients call the router as gRPC and HTTP
 * do. Each is a thread; some never acknowledge, or twice, or too late, or what
 * they never got. What the frontier must hold by then is kept beside it
 * (served_model.h), in memory that outlives the process: a call changes it when
 * it is answered. Calls that were not answered when a process ended may have
 * been carried out or not, which the next one finds out before anything else:
 * it asks for all there is, and looks for a way in which that can have come
 * about.
 */
#ifndef URLWEIR_TESTS_SIM_SERVED_CLIENTS_H
#define URLWEIR_TESTS_SIM_SERVED_CLIENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "service/calls/router.h"
#include "tests/sim/dice.h"
#include "tests/sim/served_model.h"

/* How a process is used. */
struct served_use {
    unsigned clients; /* at most SERVED_CLIENTS */
    unsigned calls;   /* of each */
    int64_t pause_ms; /* between two of them, at most */
    unsigned kill_at; /* the answer at which it is killed; 0: none */
    bool big;         /* long metadata */
    bool jumps;       /* of the clock, back */
    bool swept;       /* logs are swept all the time */
};
#define SERVED_CLIENTS 4

/* Before the first process of a seed; the use of the next one. */
void served_clients_prepare(void);
void served_clients_use(const struct served_use *);
/* What the frontier must hold; NULL: calls are open whose effect is not known.
 */
const struct plain *served_clients_know(void);
/* Was the frontier ever open? Before, there may be no directory. */
bool served_clients_have_begun(void);

/* ---- for served_service.c ---- */

/* The frontier is about to be opened; it reads its clock by the second. */
void served_clients_open(void);
uint64_t served_clients_sweep_from(void); /* as served_options has it */
int64_t served_clients_clock(void *);
void served_clients_begin(struct router *);
void served_clients_stop(void); /* no more calls */
bool served_clients_are_over(void);
void served_clients_end(void); /* waits for them */

#endif
