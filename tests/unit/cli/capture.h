/*
 * capture.h - captures stderr or stdout of a test as text. For tests that check
 * runs in a child process; one stream at a time.
 */
#ifndef URLWEIR_TESTS_CLI_CAPTURE_H
#define URLWEIR_TESTS_CLI_CAPTURE_H

#include <stdio.h>
#include <unistd.h>

#include "tests/unit/unit.h"

struct capture { /* large: keep it off the stack */
    FILE *file;
    int fd, saved;
    char text[(size_t)4 << 20];
};

static inline void capture_start(struct capture *c, int fd)
{
    c->file = tmpfile();
    ck_assert_ptr_nonnull(c->file);
    fflush(fd == STDOUT_FILENO ? stdout : stderr);
    c->fd = fd;
    c->saved = dup(fd);
    dup2(fileno(c->file), fd);
}

static inline const char *capture_end(struct capture *c)
{
    size_t n;

    fflush(c->fd == STDOUT_FILENO ? stdout : stderr);
    dup2(c->saved, c->fd);
    close(c->saved);
    rewind(c->file);
    n = fread(c->text, 1, sizeof c->text - 1, c->file);
    c->text[n] = '\0';
    fclose(c->file);
    return c->text;
}

#endif
