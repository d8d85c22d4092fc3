/*
 * files.h - descriptors of a simulated process.
 *
 * A call of libc that the simulator takes over has "sim_" before its name: the
 * Makefile renames it in the objects of urlweir. files.c has those on files and
 * directories, sockets.c those on sockets and epoll sets, threads.c the rest. A
 * descriptor below FILES_FIRST is the system's own.
 */
#ifndef URLWEIR_TESTS_SIM_FILES_H
#define URLWEIR_TESTS_SIM_FILES_H

#include <stdbool.h>
#include <stdint.h>

#define FILES_FIRST 1000
#define FILES_MOST  512

enum handle_kind {
    HANDLE_FREE,
    HANDLE_FILE,
    HANDLE_DIR,
    HANDLE_EVENT, /* eventfd(2) */
    HANDLE_EPOLL,
    HANDLE_SOCKET
};

struct inode;

struct handle {
    enum handle_kind kind;
    struct inode *inode;
    uint64_t at; /* HANDLE_FILE: the offset; HANDLE_EVENT: the count */
    int flags;
    void *of; /* HANDLE_SOCKET: its connection, of network.c */
};

/* The descriptor of a new handle, the lowest that is free. */
int handle_new(enum handle_kind kind);
/* Takes a descriptor out of all epoll sets, as closing it does (sockets.c). */
void handle_unwatch(int fd);
/* NULL: it is none of ours. */
struct handle *handle_of(int fd);

/* Waits until something may have become ready, or until a time; `idle`: as
 * scheduler_idle. */
bool handle_wait(int64_t until, bool idle);
void handle_wake(void);

#endif
