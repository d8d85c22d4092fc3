/* SPDX-License-Identifier: MIT */
/* stop_signals.c - the signals that end a command in good order. */
#include "cli/stop_signals.h"

#include <stddef.h>

#include "base/clock.h"

#define ECHO_MOST (300 * NS_PER_MS)

void stop_signals(sigset_t *set)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

    sigemptyset(set);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction now;

        if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(set, signals[i]);
    }
}

void stop_signals_block(void)
{
    sigset_t set;

    stop_signals(&set);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
}

bool stop_signals_is_wish(int64_t *last)
{
    int64_t now = clock_mono();

    if (*last != 0 && now - *last <= ECHO_MOST)
        return false;
    *last = now;
    return true;
}

void stop_signals_unblock(void)
{
    sigset_t set;

    stop_signals(&set);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}
