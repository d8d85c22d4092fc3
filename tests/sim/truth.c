/* SPDX-License-Identifier: MIT */
/*
 * truth.c - what must have come of a simulation.
 *
 * First the acts are gone through in order with the requests of each; then, for
 * each crawl whose last run ended by itself, what it says of itself in the end.
 */
#include "tests/sim/truth.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/sim/truth_impl.h"

#define FAULTS_MOST 20

void truth_say(struct truth *t, const char *fmt, ...)
{
    char line[1000];
    va_list args;

    if (t->faults++ >= FAULTS_MOST)
        return;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    buf_addf(t->why, "%s\n", line);
}

static void say_act(struct truth *t, const struct sim_act *a, const char *what)
{
    struct buf words;

    buf_init(&words, 10000);
    person_describe(a, &words);
    truth_say(t, "%s: exit status %d of %s", what, a->exit_status,
              buf_str(&words));
    buf_fini(&words);
}

static bool is_run(const struct sim_act *a)
{
    return a->kind == ACT_CRAWL || a->kind == ACT_RESUME;
}

/* Did the last process that wrote to this crawl end in its own time? */
static bool was_left_whole(const struct truth *t, const struct sim_act *a)
{
    bool whole = false;

    for (const struct sim_act *b = t->acts; b < a; b++) {
        if (b->dir != a->dir || b->kind >= ACT_STATUS)
            continue;
        /* WARC files are mended by the next run alone. */
        if (!is_run(b) && !whole && person_says(&b->settings, SET_WARC, "yes"))
            continue;
        whole =
            b->exit_status >= 0 && !b->fault_hit && b->end != END_STOP_TWICE;
    }
    return whole;
}

/* Nothing that befalls a simulation damages a crawl, and each command is one
 * that is taken. */
static void judge_exit(struct truth *t, const struct sim_act *a)
{
    if (a->exit_status < 0 || a->fault_hit)
        return;
    if (a->exit_status == 1 && a->kind != ACT_DIFF)
        say_act(t, a, "refused");
    else if (a->exit_status >= 6)
        say_act(t, a, "damaged");
    else if (a->kind == ACT_VERIFY && a->exit_status != 0 &&
             a->exit_status != 2 &&
             (a->exit_status != 3 || was_left_whole(t, a)))
        say_act(t, a, "verify disagrees");
}

/* The answer to a question of this kind after act `from`, about the same
 * crawl. */
static const struct sim_act *answer_after(const struct truth *t, size_t from,
                                          enum act_kind kind)
{
    for (size_t i = from + 1; i < t->act_count; i++) {
        const struct sim_act *a = &t->acts[i];

        if (a->dir == t->acts[from].dir && a->kind == kind)
            return a->exit_status == 0 && a->out != NULL ? a : NULL;
        if (a->dir == t->acts[from].dir && is_run(a))
            return NULL;
    }
    return NULL;
}

static void judge_end(struct truth *t, size_t last)
{
    const struct sim_act *a = &t->acts[last];
    const struct sim_act *rows = answer_after(t, last, ACT_EXPORT_URLS);
    const struct sim_act *status = answer_after(t, last, ACT_STATUS);
    const struct sim_act *diff = answer_after(t, last, ACT_DIFF);
    const struct sim_act *pages = answer_after(t, last, ACT_EXPORT_PAGES);
    const struct sim_act *drops = answer_after(t, last, ACT_EXPORT_DROPS);
    const struct sim_act *audit = answer_after(t, last, ACT_AUDIT);
    const struct sim_act *explain = answer_after(t, last, ACT_EXPLAIN);

    if (a->exit_status != 0 && a->exit_status != 3 && a->exit_status != 5)
        return;
    truth_judge_reach(t, a->dir);
    truth_judge_files(t, a, rows);
    if (rows != NULL)
        truth_judge_rows(t, rows);
    if (rows != NULL && status != NULL)
        truth_judge_status(t, status, rows);
    if (rows != NULL && status != NULL)
        truth_judge_seeds(t, a, rows, status);
    if (pages != NULL)
        truth_judge_pages(t, pages);
    if (drops != NULL && status != NULL)
        truth_judge_drops(t, drops, status);
    if (audit != NULL && status != NULL)
        truth_judge_audit(t, audit, status);
    if (explain != NULL && rows != NULL)
        truth_judge_explain(t, explain, rows);
    if (diff != NULL)
        truth_judge_diff(t, diff);
}

bool truth_judge(const struct plan *plan, const struct sim_act *acts,
                 size_t count, const struct sim_log *log, struct buf *why)
{
    struct truth t = {
        .plan = plan, .acts = acts, .act_count = count, .log = log, .why = why};

    for (unsigned i = 0; i < 2; i++)
        t.crawls[i] = xcalloc(1, sizeof *t.crawls[i]);
    for (size_t i = 0; i < count; i++) {
        judge_exit(&t, &acts[i]);
        truth_replay_act(&t, i);
        if (acts[i].kind == ACT_STATUS && acts[i].exit_status == 0 &&
            acts[i].out != NULL) {
            truth_judge_sums(&t, &acts[i]);
            truth_judge_state(&t, i);
        }
        if (acts[i].last && is_run(&acts[i]) && acts[i].exit_status >= 0 &&
            !acts[i].fault_hit)
            judge_end(&t, i);
    }
    for (unsigned i = 0; i < 2; i++)
        free(t.crawls[i]);
    return t.faults == 0;
}
