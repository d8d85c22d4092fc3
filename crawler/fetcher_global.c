/* SPDX-License-Identifier: MIT */
/* fetcher_global.c - sets up a process before its first fetcher. */
#include <curl/curl.h>
#include <errno.h>
#include <libxml/parser.h>
#include <libxml/xmlmemory.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/logger.h"
#include "base/mem.h"
#include "crawler/fetcher.h"
#include "crawler/transfer/curl_faults.h"

#define DESCRIPTORS_MOST (UINT64_C(1) << 20)

/* Kept connections and transfers each need a descriptor, and the usual soft
 * limit of 1,024 only exists for programs that call select(). */
static void raise_descriptor_limit(void)
{
    struct rlimit r;

    if (getrlimit(RLIMIT_NOFILE, &r) != 0 || r.rlim_cur >= DESCRIPTORS_MOST)
        return;
    r.rlim_cur = r.rlim_max < DESCRIPTORS_MOST ? r.rlim_max : DESCRIPTORS_MOST;
    if (setrlimit(RLIMIT_NOFILE, &r) != 0)
        log_warn("cannot raise the limit of descriptors", "error=%s",
                 strerror(errno));
}

uint64_t fetcher_descriptors(void)
{
    struct rlimit r;

    return getrlimit(RLIMIT_NOFILE, &r) == 0 ? r.rlim_cur : 256;
}

static enum status global_status;

/* glibc keeps large blocks that were freed, and more of them the larger they
 * were (mallopt(3), M_MMAP_THRESHOLD): windows of 8 MiB that bodies were
 * decoded with stayed with the process, above --memory. */
static void give_large_blocks_back(void)
{
    (void)mallopt(M_MMAP_THRESHOLD, 1 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 4 << 20);
}

/* If memory ran out within a library, the page that it reads would seem faulty;
 * so that ends the process too. */
static void global_init(void)
{
    global_status = STATUS_OK;
    give_large_blocks_back();
    xmlMemSetup(free, xmalloc, xrealloc, xstrdup);
    if (curl_global_init_mem(CURL_GLOBAL_DEFAULT, xmalloc, free, xrealloc,
                             xstrdup, xcalloc) != CURLE_OK) {
        log_error("cannot start libcurl", "%s", "");
        global_status = STATUS_NOMEM;
        return;
    }
    curl_faults_log();
    xmlInitParser();
    raise_descriptor_limit();
}

enum status fetcher_global_init(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, global_init);
    return global_status;
}
