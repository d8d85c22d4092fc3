/*
 * filter_peers.h - other programs' answers to "was this key added?", measured
 * with the keys and the clock that ours are.
 *
 * Each is found at run time; what is not installed is no error. Times are ns
 * of CPU a key, those of a server included. libbloom and RocksDB hash the 8
 * octets they are given; SQLite and Redis are given numbers.
 */
#ifndef URLWEIR_BENCH_FILTER_PEERS_H
#define URLWEIR_BENCH_FILTER_PEERS_H

#include <stdbool.h>
#include <stdint.h>

struct peer_result {
    double insert, hit, miss, bits; /* bits a key */
    uint64_t wrong, asked;          /* new keys called "maybe" */
};

/* False: it is not there, *why tells what is missing. */
bool peer_libbloom(struct peer_result *r, uint64_t keys, double fpr,
                   const char **why);
/* Bits a key from `bits`; `self`: argv[0], peer_rocksdb stands beside it. */
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
