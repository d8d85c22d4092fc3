/* SPDX-License-Identifier: MIT */
/* filter_peers.c - libbloom, RocksDB's filter, and a B-tree of SQLite. */
#include "bench/support/filter_peers.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/filter/filter_measure.h"

#if __has_include(<bloom.h>)
#include <bloom.h>
#define HAVE_LIBBLOOM 1
#else
#define HAVE_LIBBLOOM 0
#endif

#define ASKED UINT64_C(2000896) /* whole batches of 1024 */

/* Key i of a round of checks: one of 0 .. held - 1, or a new one. */
static uint64_t question(uint64_t i, uint64_t held)
{
    return filter_measure_key(held > 0 ? filter_measure_key(i) % held
                                       : (UINT64_C(1) << 62) + i);
}

/* ---- libbloom ---- */

#if HAVE_LIBBLOOM

struct libbloom {
    int (*init)(struct bloom *b, int entries, double error);
    int (*check)(struct bloom *b, const void *key, int len);
    int (*add)(struct bloom *b, const void *key, int len);
    void (*fini)(struct bloom *b);
};

static bool find_libbloom(struct libbloom *l)
{
    void *lib = dlopen("libbloom.so.1", RTLD_NOW);

    if (lib == NULL)
        return false;
    *(void **)&l->init = dlsym(lib, "bloom_init");
    *(void **)&l->check = dlsym(lib, "bloom_check");
    *(void **)&l->add = dlsym(lib, "bloom_add");
    *(void **)&l->fini = dlsym(lib, "bloom_free");
    return l->init != NULL && l->check != NULL && l->add != NULL &&
           l->fini != NULL;
}

static double ask_libbloom(const struct libbloom *l, struct bloom *b,
                           uint64_t held, uint64_t *maybes)
{
    uint64_t *keys = xmalloc(ASKED * sizeof *keys);
    int64_t t;

    for (uint64_t i = 0; i < ASKED; i++)
        keys[i] = question(i, held);
    *maybes = 0;
    t = filter_measure_now();
    for (size_t i = 0; i < ASKED; i++)
        *maybes += l->check(b, &keys[i], 8) == 1;
    t = filter_measure_now() - t;
    free(keys);
    return (double)t / (double)ASKED;
}

bool peer_libbloom(struct peer_result *r, uint64_t keys, double fpr,
                   const char **why)
{
    struct libbloom l;
    struct bloom b;
    uint64_t right;
    int64_t t;

    *why = "not installed (libbloom-dev)";
    if (!find_libbloom(&l) || l.init(&b, (int)keys, fpr) != 0)
        return false;
    t = filter_measure_now();
    for (uint64_t i = 0; i < keys; i++) {
        uint64_t key = filter_measure_key(i);

        l.add(&b, &key, 8);
    }
    r->insert = (double)(filter_measure_now() - t) / (double)keys;
    r->miss = ask_libbloom(&l, &b, 0, &r->wrong);
    r->hit = ask_libbloom(&l, &b, keys, &right);
    r->asked = ASKED;
    r->bits = 8.0 * (double)b.bytes / (double)keys;
    l.fini(&b);
    return true;
}

#else

bool peer_libbloom(struct peer_result *r, uint64_t keys, double fpr,
                   const char **why)
{
    (void)r;
    (void)keys;
    (void)fpr;
    *why = "not installed when this was built (libbloom-dev)";
    return false;
}

#endif

/* ---- RocksDB, a separate program since it is C++ ---- */

bool peer_rocksdb(struct peer_result *r, const char *self, uint64_t keys,
                  double bits, const char **why)
{
    const char *slash = strrchr(self, '/');
    char command[4096];
    FILE *from;
    bool got;

    *why = "not built (g++, librocksdb-dev 7)";
    snprintf(command, sizeof command,
             "exec '%.*speer_rocksdb' %" PRIu64 " %.3f %" PRIu64 " 2>/dev/null",
             slash != NULL ? (int)(slash - self + 1) : 0, self, keys, bits,
             ASKED);
    from = popen(command, "r");
    if (from == NULL)
        return false;
    got = fscanf(from, "%lf %lf %lf %lf %" SCNu64, &r->insert, &r->hit,
                 &r->miss, &r->bits, &r->wrong) == 5;
    r->asked = ASKED;
    return pclose(from) == 0 && got;
}

/* ---- SQLite ---- */

static void run_sql(sqlite3 *db, const char *text)
{
    if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK)
        abort();
}

static double ask_sqlite(sqlite3_stmt *find, uint64_t asked, uint64_t held,
                         uint64_t *found)
{
    int64_t all = 0;

    *found = 0;
    for (uint64_t i = 0; i < asked; i++) {
        sqlite3_int64 key = (sqlite3_int64)question(i, held);
        int64_t t = filter_measure_now();

        sqlite3_bind_int64(find, 1, key);
        *found += sqlite3_step(find) == SQLITE_ROW;
        sqlite3_reset(find);
        all += filter_measure_now() - t;
    }
    return (double)all / (double)asked;
}

bool peer_sqlite(struct peer_result *r, uint64_t keys, const char **why)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *add = NULL, *find = NULL;
    uint64_t right;
    int64_t t;

    *why = "no memory";
    if (sqlite3_open(":memory:", &db) != SQLITE_OK)
        return false;
    run_sql(db, "CREATE TABLE seen(key INTEGER PRIMARY KEY); BEGIN");
    if (sqlite3_prepare_v2(db, "INSERT OR IGNORE INTO seen VALUES(?)", -1, &add,
                           NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db, "SELECT 1 FROM seen WHERE key = ?", -1, &find,
                           NULL) != SQLITE_OK)
        abort();
    t = filter_measure_now();
    for (uint64_t i = 0; i < keys; i++) {
        sqlite3_bind_int64(add, 1, (sqlite3_int64)filter_measure_key(i));
        sqlite3_step(add);
        sqlite3_reset(add);
    }
    run_sql(db, "COMMIT");
    r->insert = (double)(filter_measure_now() - t) / (double)keys;
    r->asked = keys < 500000 ? keys : 500000;
    r->miss = ask_sqlite(find, r->asked, 0, &r->wrong);
    r->hit = ask_sqlite(find, r->asked, keys, &right);
    r->bits = 8.0 * (double)sqlite3_memory_used() / (double)keys;
    sqlite3_finalize(add);
    sqlite3_finalize(find);
    sqlite3_close(db);
    return true;
}
