/* SPDX-License-Identifier: MIT */
/* The list of tasks that other threads post to the frontier thread. */
#include <pthread.h>

#include "crawler/crawl.h"
#include "tests/unit/unit.h"

TEST(nothing_is_taken_in_behind_the_end_and_what_was_there_is_left)
{
    struct task_list l;
    struct crawl_task before = {.ctx = NULL}, behind = {.ctx = NULL};

    task_list_init(&l);
    ck_ok(task_list_add(&l, &before));
    task_list_close(&l);
    ck_assert_int_eq(task_list_add(&l, &behind), STATUS_CLOSED);
    ck_assert_ptr_eq(task_list_take(&l), &before);
    ck_assert_ptr_null(task_list_take(&l));
    task_list_fini(&l);
}

#define POSTERS 4
#define EACH    5000

static struct task_list shared;

static void *post(void *ctx)
{
    struct crawl_task *t = ctx;

    for (size_t i = 0; i < EACH; i++)
        ck_ok(task_list_add(&shared, &t[i]));
    return NULL;
}

TEST(what_several_threads_post_is_taken_once_and_in_each_ones_order)
{
    static struct crawl_task tasks[POSTERS][EACH];
    size_t next[POSTERS] = {0}, taken = 0;
    pthread_t threads[POSTERS];

    task_list_init(&shared);
    for (size_t i = 0; i < POSTERS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, post, tasks[i]), 0);
    while (taken < (size_t)POSTERS * EACH)
        for (struct crawl_task *t = task_list_take(&shared); t != NULL;
             t = t->next, taken++) {
            size_t at = (size_t)(t - &tasks[0][0]);

            ck_assert_uint_eq(at % EACH, next[at / EACH]++);
        }
    for (size_t i = 0; i < POSTERS; i++)
        pthread_join(threads[i], NULL);
    task_list_fini(&shared);
}
