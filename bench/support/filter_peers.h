/*
 * filter_peers.h - other programs' answers to "was this key added?", measured
 * with the same keys and clock as ours.
 *
 * Peers are found at run time; a missing one is no error. Times are ns of CPU a
 * key, including a server's. libbloom and RocksDB hash the 8 octets they are
 * given; SQLite and Redis are given numbers.
 */
#ifndef URLWEIR_BENCH_FILTER_PEERS_H
#define URLWEIR_BENCH_FILTER_PEERS_H

#include <stdbool.h>
#include <stdint.h>

struct peer_result {
    double insert, hit, miss, bits; /* bits a key */
    uint64_t wrong, asked;          /* new keys called "maybe" */
};

/* False: it is not installed; *why says what is missing. */
bool peer_libbloom(struct peer_result *r, uint64_t keys, double fpr,
                   const char **why);
/* `bits`: bits a key; `self`: argv[0], to find peer_rocksdb in the same
 * directory. */
bool peer_rocksdb(struct peer_result *r, const char *self, uint64_t keys,
                  double bits, const char **why);
/* A table of INTEGER PRIMARY KEY in memory, one transaction. */
bool peer_sqlite(struct peer_result *r, uint64_t keys, const char **why);
/* A Bloom filter of m bits and k marks in one string of a redis-server of our
 * own, over a Unix socket: SETBIT and GETBIT in pipelines, or one EVAL for 64
 * keys. */
bool peer_redis(struct peer_result *r, uint64_t keys, double fpr, bool script,
                const char **why);

#endif
