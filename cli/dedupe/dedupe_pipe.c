/* SPDX-License-Identifier: MIT */
/*
 * dedupe_pipe.c - batches of lines, read and digested by threads, in order.
 *
 * A ring of slots, numbered as the input is read: batch number n is in slot n
 * modulo SLOTS. The states of a slot:
 *
 *     FREE --a thread fills it, holding `input`--> WORK --parsed--> READY
 *       ^---------------------- released by the owner ---------------'
 *
 * The mutex `input` lets one thread at a time read and take a number; `mtx`
 * guards the states. A thread holds `input` while it waits for a slot, so the
 * others wait for it, and batches are read in order of their numbers.
 */
#include "cli/dedupe/dedupe_pipe.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/thread/cond.h"
#include "frontier/url/url.h"

#define SLOTS        6
#define THREADS_MOST 4
/* Room for the canonical text of a batch: percent-encoding makes at most three
 * octets of one, and a line may be long. */
#define TEXT_MOST (4 * (LINE_MOST + LINE_BATCH_BYTES))
/* A buffer larger than this, after a batch of long lines, is freed. */
#define TEXT_KEPT (2 * LINE_BATCH_BYTES)

enum slot_state { SLOT_FREE, SLOT_WORK, SLOT_READY };

struct slot {
    enum slot_state state;
    struct dedupe_batch batch;
};

struct dedupe_pipe {
    struct line_input *in;
    const struct dedupe *set;
    bool with_text;
    pthread_t threads[THREADS_MOST];
    unsigned started;
    /* under input */
    pthread_mutex_t input;
    uint64_t filled; /* batches numbered so far */
    /* under mtx */
    pthread_mutex_t mtx;
    pthread_cond_t ready, freed;
    uint64_t next; /* the owner's next batch */
    uint64_t last; /* number of batches, once `ended` */
    bool ended, leaving;
    enum status status;
    struct slot slots[SLOTS];
};

/* ---- the threads ---- */

static void digest_line(const struct dedupe_pipe *p, struct dedupe_batch *b,
                        size_t i, struct url *url)
{
    const struct line *l = &b->in.lines[i];
    struct digest *to = &b->digests[b->digest_count];

    b->valid[i] = l->kind == LINE_WHOLE &&
                  dedupe_digest(p->set, bytes_of(b->in.text + l->at, l->len),
                                url, to) == URL_OK;
    if (!b->valid[i])
        return;
    if (p->with_text) {
        buf_add_bytes(&b->text, url_text(url));
        buf_add_char(&b->text, '\n');
        b->text_end[b->digest_count] = b->text.len;
    }
    b->digest_count++;
}

static void digest_batch(const struct dedupe_pipe *p, struct dedupe_batch *b,
                         struct url *url)
{
    b->digest_count = 0;
    if (b->text.cap > TEXT_KEPT)
        buf_fini(&b->text);
    buf_clear(&b->text);
    for (size_t i = 0; i < b->in.count; i++)
        digest_line(p, b, i, url);
}

/* Waits for the slot of the next number; NULL: the pipe is being freed. */
static struct slot *wait_for_slot(struct dedupe_pipe *p)
{
    struct slot *s = &p->slots[p->filled % SLOTS];
    bool leaving;

    pthread_mutex_lock(&p->mtx);
    while (s->state != SLOT_FREE && !p->leaving && !p->ended)
        pthread_cond_wait(&p->freed, &p->mtx);
    leaving = p->leaving || p->ended;
    if (!leaving)
        s->state = SLOT_WORK;
    pthread_mutex_unlock(&p->mtx);
    return leaving ? NULL : s;
}

static void end_input(struct dedupe_pipe *p, struct slot *s, enum status st)
{
    pthread_mutex_lock(&p->mtx);
    s->state = SLOT_FREE;
    p->ended = true;
    p->last = p->filled;
    p->status = st == STATUS_CLOSED ? STATUS_OK : st;
    pthread_cond_broadcast(&p->ready);
    pthread_cond_broadcast(&p->freed);
    pthread_mutex_unlock(&p->mtx);
}

/* Cuts a batch off the input, not parsed yet; NULL: there is no more. */
static struct slot *take_input(struct dedupe_pipe *p)
{
    struct slot *s;
    enum status st;

    pthread_mutex_lock(&p->input);
    s = wait_for_slot(p);
    if (s != NULL) {
        st = line_input_fill(p->in, &s->batch.in);
        if (st == STATUS_OK) {
            p->filled++;
        } else {
            end_input(p, s, st);
            s = NULL;
        }
    }
    pthread_mutex_unlock(&p->input);
    return s;
}

static void *work(void *arg)
{
    struct dedupe_pipe *p = arg;
    struct slot *s;
    struct url url;

    url_init(&url);
    while ((s = take_input(p)) != NULL) {
        digest_batch(p, &s->batch, &url);
        pthread_mutex_lock(&p->mtx);
        s->state = SLOT_READY;
        pthread_cond_signal(&p->ready);
        pthread_mutex_unlock(&p->mtx);
    }
    url_fini(&url);
    return NULL;
}

/* ---- the owner ---- */

static void init_waiting(struct dedupe_pipe *p)
{
    pthread_mutex_init(&p->input, NULL);
    pthread_mutex_init(&p->mtx, NULL);
    cond_init(&p->ready);
    pthread_cond_init(&p->freed, NULL);
}

enum status dedupe_pipe_start(struct dedupe_pipe **out, struct line_input *in,
                              const struct dedupe *set,
                              const struct dedupe_pipe_options *o)
{
    struct dedupe_pipe *p = xcalloc(1, sizeof *p);
    unsigned n = o->threads < THREADS_MOST ? o->threads : THREADS_MOST;

    p->in = in;
    p->set = set;
    p->with_text = o->with_text;
    init_waiting(p);
    for (int i = 0; i < SLOTS; i++) {
        line_batch_init(&p->slots[i].batch.in);
        buf_init(&p->slots[i].batch.text, TEXT_MOST);
    }
    while (p->started < n &&
           pthread_create(&p->threads[p->started], NULL, work, p) == 0)
        p->started++;
    if (p->started == 0) {
        dedupe_pipe_free(p);
        return STATUS_LIMIT;
    }
    *out = p;
    return STATUS_OK;
}

static void join(struct dedupe_pipe *p)
{
    pthread_mutex_lock(&p->mtx);
    p->leaving = true;
    pthread_cond_broadcast(&p->freed);
    pthread_mutex_unlock(&p->mtx);
    line_input_stop(p->in);
    for (unsigned i = 0; i < p->started; i++)
        pthread_join(p->threads[i], NULL);
}

void dedupe_pipe_free(struct dedupe_pipe *p)
{
    if (p == NULL)
        return;
    join(p);
    for (int i = 0; i < SLOTS; i++) {
        line_batch_fini(&p->slots[i].batch.in);
        buf_fini(&p->slots[i].batch.text);
    }
    pthread_cond_destroy(&p->ready);
    pthread_cond_destroy(&p->freed);
    pthread_mutex_destroy(&p->mtx);
    pthread_mutex_destroy(&p->input);
    free(p);
}

static bool all_done(const struct dedupe_pipe *p)
{
    return p->ended && p->next == p->last;
}

struct dedupe_batch *dedupe_pipe_next(struct dedupe_pipe *p, int64_t timeout_ns,
                                      bool *ended)
{
    struct slot *s = &p->slots[p->next % SLOTS];
    int64_t until = clock_mono() + timeout_ns;
    bool ready, late = false;

    pthread_mutex_lock(&p->mtx);
    while (s->state != SLOT_READY && !all_done(p) && !late)
        late = !cond_wait_until(&p->ready, &p->mtx, until);
    ready = s->state == SLOT_READY;
    *ended = all_done(p);
    pthread_mutex_unlock(&p->mtx);
    return ready ? &s->batch : NULL;
}

void dedupe_pipe_release(struct dedupe_pipe *p)
{
    pthread_mutex_lock(&p->mtx);
    p->slots[p->next % SLOTS].state = SLOT_FREE;
    p->next++;
    pthread_cond_signal(&p->freed);
    pthread_mutex_unlock(&p->mtx);
}

enum status dedupe_pipe_status(const struct dedupe_pipe *p)
{
    return p->status;
}
