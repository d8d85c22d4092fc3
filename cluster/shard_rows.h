/*
 * shard_rows.h - the rows of one shard: in its directory, and in partition N of
 * the compacted topic NAME.state.
 *
 * Each commit of the directory's database is one Kafka transaction of the rows
 * that it changed and of what the owner adds. That transaction is committed
 * first, then the database: Kafka is never behind the directory, and the
 * directory is a cache of Kafka. Who takes the shard over reads the rows and
 * goes on as after a crash. The transactional id NAME.N fences the owner
 * before.
 *
 * Made, restored and freed by one thread; in between it belongs to the thread
 * that writes the database.
 */
#ifndef URLWEIR_CLUSTER_SHARD_ROWS_H
#define URLWEIR_CLUSTER_SHARD_ROWS_H

#include <stdbool.h>

#include "base/kafka/kafka.h"
#include "frontier/url/host.h"
#include "storage/db/db.h"

struct shard_rows;

struct shard_rows_options {
    struct kafka_access access;
    const char *name; /* of crawl or service */
    struct shard_number number;
    /* Called in each transaction of the database, in which `before` may still
     * call shard_rows_note, and `after`, when the rows are sent,
     * shard_rows_send. What they return other than STATUS_OK makes the commit
     * fail. NULL: nothing to add. */
    enum status (*before)(void *ctx);
    enum status (*after)(void *ctx);
    void *ctx;
};

/* Takes the shard: fences its owner before. `o` is copied, its texts are
 * borrowed. */
MUST_CHECK enum status shard_rows_open(struct shard_rows **out,
                                       const struct shard_rows_options *o,
                                       struct buf *why);
/* After the database is closed; NULL is fine. */
void shard_rows_close(struct shard_rows *r);

/* Brings the store in `dir` up to what Kafka has. *there: there is a store to
 * open; otherwise one has to be created. *note: what shard_rows_note kept last.
 */
MUST_CHECK enum status shard_rows_restore(struct shard_rows *r, const char *dir,
                                          bool *there, struct buf *note,
                                          struct buf *why);
/* Makes a copy of what Kafka has of a shard now, in the empty directory `dir`,
 * to be read: the shard stays with its owner. *note as above. */
MUST_CHECK enum status shard_rows_copy(const struct kafka_access *a,
                                       const char *name, uint32_t shard,
                                       const char *dir, bool *there,
                                       struct buf *note, struct buf *why);
/* Has to see the database from its next opening on. */
const struct db_follower *shard_rows_follower(struct shard_rows *r);

/* ---- within a transaction ---- */

/* Keeps a short text of the owner's among the rows. */
MUST_CHECK enum status shard_rows_note(struct shard_rows *r, const char *text);
/* Adds a message to the Kafka transaction. */
MUST_CHECK enum status shard_rows_send(struct shard_rows *r,
                                       const struct buf *topic,
                                       uint32_t partition, struct bytes key,
                                       struct bytes value);
/* The same in a Kafka transaction of its own, while the database is closed. */
MUST_CHECK enum status shard_rows_say(struct shard_rows *r,
                                      const struct buf *topic,
                                      uint32_t partition, struct bytes key,
                                      struct bytes value, struct buf *why);
/* Deletes messages before `offset` in a partition of the shard's own, which no
 * restore needs. Does not wait. Any time. */
void shard_rows_trim(struct shard_rows *r, const struct buf *topic,
                     int64_t offset);
/* Is there anything in the Kafka transaction? */
bool shard_rows_has_sent(const struct shard_rows *r);

#endif
