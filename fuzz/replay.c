/* SPDX-License-Identifier: MIT */
/*
 * replay.c - runs one fuzz target over files and folders named on its command
 * line, so that `make check` runs every stored input without libFuzzer.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
    struct buf b;
    int bad = 0;

    buf_init(&b, (size_t)64 << 20);
    if (file_read(path, &b) != STATUS_OK) {
        fprintf(stderr, "replay: cannot read %s\n", path);
        bad = 1;
    } else {
        /* A copy of the exact size, so that reading past the end is
         * detected. */
        uint8_t *exact = malloc(b.len > 0 ? b.len : 1);

        if (exact == NULL)
            abort();
        if (b.len > 0)
            memcpy(exact, b.at, b.len);
        LLVMFuzzerTestOneInput(exact, b.len);
        free(exact);
    }
    buf_fini(&b);
    return bad;
}

static int run_dir(const char *dir, int *files)
{
    DIR *d = opendir(dir);
    struct dirent *e;
    int bad = 0;

    if (d == NULL) {
        *files += 1;
        return run_file(dir);
    }
    while ((e = readdir(d)) != NULL) {
        char path[4096];

        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        bad |= run_file(path);
        *files += 1;
    }
    closedir(d);
    return bad;
}

int main(int argc, char **argv)
{
    int bad = 0, files = 0;

    for (int i = 1; i < argc; i++)
        bad |= run_dir(argv[i], &files);
    printf("%s: %d inputs\n",
           strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0], files);
    return bad;
}
