/*
 * asleep.h - waits for a thread that is to wait, instead of for a while.
 * Header only.
 */
#ifndef URLWEIR_TESTS_ASLEEP_H
#define URLWEIR_TESTS_ASLEEP_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Does the thread of this process sleep in the kernel, as one does that waits
 * for a lock or for input (proc(5), the state in `stat`)? */
static inline bool is_asleep(int thread)
{
    char path[64], text[512] = "";
    const char *state = NULL;
    FILE *f;

    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
    f = fopen(path, "re");
    if (f != NULL && fgets(text, sizeof text, f) != NULL)
        state = strrchr(text, ')');
    if (f != NULL)
        fclose(f);
    return state != NULL && strncmp(state, ") S", 3) == 0;
}

/* Waits until every thread of this process but the first, which calls this,
 * sleeps or has ended. */
static inline void wait_for_others_asleep(void)
{
    bool awake = true;

    while (awake) {
        DIR *d = opendir("/proc/self/task");

        awake = d == NULL;
        for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
            int thread = atoi(e->d_name);

            if (thread > 0 && thread != getpid() && !is_asleep(thread))
                awake = true;
        }
        if (d != NULL)
            closedir(d);
    }
}

#endif
