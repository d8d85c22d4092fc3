/*
 * forwarder.h - sends calls on shards to the processes that own them.
 *
 *   any thread: forwarder_add ─► lines, one a shard ─► POST to the owner
 *                                     ▲                      │
 *                                     └── not there, not now ┘─► p->finish
 *
 * Who owns a shard is read from NAME.control (served_control.h). While nobody
 * does, or the owner does not answer, calls wait; after part.give_up they end
 * with STATUS_CLOSED and `why`. A shard's puts go in their order, many at once,
 * and one request at a time. A call that may have been carried out is sent again
 * only if that does no harm; else it ends with STATUS_CLOSED, too.
 *
 * The receiver carries a call out if it owns the shard, and never sends it on,
 * so calls go one step at most.
 *
 * Threads: it has its own, which reads NAME.control.
 */
#ifndef URLWEIR_SERVICE_SHARDS_FORWARDER_H
#define URLWEIR_SERVICE_SHARDS_FORWARDER_H

#include <stdbool.h>
#include <stdint.h>

#include "cluster/served_control.h"
#include "service/net/tls.h"
#include "service/shards/call_split.h"

struct forwarder;

struct forwarder_options {
    struct served_control *control; /* the forwarder's from now on */
    const char *token_file;         /* its token of the highest role is sent;
                                       NULL: none */
    struct tls_files tls; /* owners are asked by https, with this certificate;
                             theirs is checked by client_ca, or by the system's
                             CAs; .cert NULL: by http */
    /* Takes the part if this process has the shard. It, or another thread, then
     * calls p->finish or forwarder_again. */
    bool (*take)(void *ctx, struct call_part *p);
    void *ctx;
};

/* Logs what fails. The strings of `o` outlive it. */
MUST_CHECK enum status forwarder_open(struct forwarder **out,
                                      const struct forwarder_options *o);
/* The address by which others ask this process; call it before forwarder_add.
 */
void forwarder_set_self(struct forwarder *f, const char *http);
/* Ends all parts that wait, and from now on each that comes. */
void forwarder_stop(struct forwarder *f);
void forwarder_close(struct forwarder *f); /* NULL is fine */

void forwarder_add(struct forwarder *f, struct call_part *p);
/* The part could not be carried out here after all. `perhaps`: it may have been
 * nevertheless. */
void forwarder_again(struct forwarder *f, struct call_part *p, bool perhaps);
/* Do puts for the shard wait, or are they under way? Then later ones have to
 * queue behind them. */
bool forwarder_has_puts(struct forwarder *f, uint32_t shard);

#endif
