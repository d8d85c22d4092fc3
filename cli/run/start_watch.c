/* SPDX-License-Identifier: MIT */
/*
 * start_watch.c - SIGINT and SIGTERM end a service that is still starting.
 *
 * A thread polls a signalfd(2), and an eventfd(2) that start_watch_end writes
 * to. It checks the eventfd first, so that it never takes a signal that is
 * meant for the running service.
 */
#include "cli/run/start_watch.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/mem.h"

enum { OVER, SIGNALS, FDS };

struct start_watch {
    const char *command;
    struct pollfd fds[FDS];
    pthread_t thread;
};

static void end_by(int signo)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, signo);
    signal(signo, SIG_DFL);
    raise(signo);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void *watch(void *ctx)
{
    struct start_watch *w = ctx;
    struct signalfd_siginfo info;

    while (poll(w->fds, FDS, -1) < 0 && errno == EINTR)
        ;
    if (w->fds[OVER].revents != 0 ||
        read(w->fds[SIGNALS].fd, &info, sizeof info) != (ssize_t)sizeof info)
        return NULL;
    fprintf(stderr,
            "urlweir %s: ended while it was starting; everything on disk is "
            "kept; start it again\n",
            w->command);
    end_by((int)info.ssi_signo);
    return NULL;
}

static void release(struct start_watch *w)
{
    for (int i = 0; i < FDS; i++)
        if (w->fds[i].fd >= 0)
            close(w->fds[i].fd);
    free(w);
}

struct start_watch *start_watch_begin(const char *command)
{
    struct start_watch *w = xcalloc(1, sizeof *w);
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    w->command = command;
    w->fds[OVER].fd = eventfd(0, EFD_CLOEXEC);
    w->fds[SIGNALS].fd = signalfd(-1, &set, SFD_CLOEXEC);
    for (int i = 0; i < FDS; i++)
        w->fds[i].events = POLLIN;
    if (w->fds[OVER].fd < 0 || w->fds[SIGNALS].fd < 0 ||
        pthread_create(&w->thread, NULL, watch, w) != 0) {
        release(w);
        return NULL;
    }
    return w;
}

void start_watch_end(struct start_watch *w)
{
    const uint64_t one = 1;

    if (w == NULL)
        return;
    while (write(w->fds[OVER].fd, &one, sizeof one) < 0 && errno == EINTR)
        ;
    pthread_join(w->thread, NULL);
    release(w);
}
