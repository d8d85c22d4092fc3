/* SPDX-License-Identifier: MIT */
/*
 * crawl_task.c - lets other threads run work on the frontier thread.
 *
 * A list is enough, without a bound: the posters are few (a request, a
 * command), and each waits for its own task.
 */
#include "crawler/crawl_task.h"

void task_list_init(struct task_list *l)
{
    pthread_mutex_init(&l->mtx, NULL);
    l->first = NULL;
    l->end = &l->first;
    l->closed = false;
}

void task_list_fini(struct task_list *l)
{
    pthread_mutex_destroy(&l->mtx);
}

enum status task_list_add(struct task_list *l, struct crawl_task *t)
{
    enum status st = STATUS_OK;

    t->next = NULL;
    t->status = STATUS_OK;
    pthread_mutex_lock(&l->mtx);
    if (l->closed) {
        st = STATUS_CLOSED;
    } else {
        *l->end = t;
        l->end = &t->next;
    }
    pthread_mutex_unlock(&l->mtx);
    return st;
}

struct crawl_task *task_list_take(struct task_list *l)
{
    struct crawl_task *all;

    pthread_mutex_lock(&l->mtx);
    all = l->first;
    l->first = NULL;
    l->end = &l->first;
    pthread_mutex_unlock(&l->mtx);
    return all;
}

void task_list_close(struct task_list *l)
{
    pthread_mutex_lock(&l->mtx);
    l->closed = true;
    pthread_mutex_unlock(&l->mtx);
}
