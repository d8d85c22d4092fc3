/* SPDX-License-Identifier: MIT */
/* tls_files.c - copies of paths, for as long as a port may be told to
 * reload. */
#include "service/net/tls_files.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"

static const char *copy(const char *path)
{
    return path != NULL ? xstrdup(path) : NULL;
}

struct tls_files tls_files_copy(const struct tls_files *f)
{
    return (struct tls_files){copy(f->cert), copy(f->key), copy(f->client_ca)};
}

void tls_files_fini(struct tls_files *f)
{
    free((void *)(uintptr_t)f->cert);
    free((void *)(uintptr_t)f->key);
    free((void *)(uintptr_t)f->client_ca);
    *f = (struct tls_files){0};
}
