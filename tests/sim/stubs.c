/* SPDX-License-Identifier: MIT */
/*
 * stubs.c - what a simulated process does without.
 *
 * It gives up no rights (confine.h) and has no socket to be controlled by: what
 * a person does meanwhile is done by a thread of the process, steering.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cli/control/control_socket.h"
#include "job/crawl_jobs/confine.h"
#include "tests/sim/crowd.h"
#include "tests/sim/disk.h"
#include "tests/sim/steering.h"

struct confine {
    char none;
};

static struct confine nothing;

struct confine *confine_new(const char *command, const char *dir)
{
    (void)command, (void)dir;
    return &nothing;
}

void confine_free(struct confine *c)
{
    (void)c;
}

void confine_read(struct confine *c, const char *path)
{
    (void)c, (void)path;
}

void confine_read_again(struct confine *c, const char *path)
{
    (void)c, (void)path;
}

void confine_write(struct confine *c, const char *path)
{
    (void)c, (void)path;
}

void confine_listen(struct confine *c, const char *address)
{
    (void)c, (void)address;
}

void confine_settings(struct confine *c, const struct crawl_settings *s)
{
    (void)c, (void)s;
}

bool confine_apply(struct confine *c, const struct confine_choice *o, int *code)
{
    (void)c, (void)o, (void)code;
    return true;
}

void confine_seal(void)
{
}

const char *confine_text(void)
{
    return NULL;
}

bool confine_crawl(const char *command, const struct crawl_settings *s,
                   int *code)
{
    (void)command, (void)s, (void)code;
    return true;
}

struct control_socket *control_socket_open(const char *dir,
                                           struct router *router,
                                           struct crawls *crawls,
                                           int64_t drain_ms)
{
    struct inode *parent, *i;
    char path[200], name[256];

    (void)router, (void)drain_ms;
    snprintf(path, sizeof path, DISK_ROOT "/%s/control", dir);
    if (crowd_is_self() && disk_find(path, &parent, name, &i) == 0 && i == NULL)
        (void)disk_make(parent, name, false, S_IFSOCK | 0600, &i);
    steering_begin(crawls);
    return NULL;
}

void control_socket_stop(void *socket)
{
    (void)socket;
}

bool control_socket_is_over(struct control_socket *s)
{
    (void)s;
    return true;
}

void control_socket_close(struct control_socket *s)
{
    (void)s;
    steering_end();
}
