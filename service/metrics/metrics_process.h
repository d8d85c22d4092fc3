/*
 * metrics_process.h - facts about this process and a disk, from the system.
 *
 * Read from /proc at the time of asking, in some tens of microseconds; a field
 * is 0 if it cannot be read. Any thread.
 */
#ifndef URLWEIR_SERVICE_METRICS_METRICS_PROCESS_H
#define URLWEIR_SERVICE_METRICS_METRICS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

struct process_facts {
    uint64_t cpu_ns; /* user and system */
    uint64_t resident_bytes, virtual_bytes;
    uint64_t open_fds, max_fds;
    uint64_t threads;
    uint64_t
        started_ns; /* wall clock, since 1970; to a hundredth of a second */
};
void process_facts(struct process_facts *out);

struct disk_facts {
    uint64_t free_bytes; /* to us */
    uint64_t size_bytes;
};
/* The file system that holds `dir`. False: it cannot be read. */
bool disk_facts(const char *dir, struct disk_facts *out);

#endif
