/*
 * asleep.h - waits for a thread that is to wait, instead of for a while.
 * Header only.
 */
#ifndef URLWEIR_TESTS_ASLEEP_H
#define URLWEIR_TESTS_ASLEEP_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

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

#endif
