/*
 * guarded.h - a copy of some octets that ends where a page begins that nobody
 * may touch: a read of one octet too many ends the test, in any build.
 */
#ifndef URLWEIR_TESTS_GUARDED_H
#define URLWEIR_TESTS_GUARDED_H

#include <string.h>
#include <sys/mman.h>

#include "base/bytes.h"
#include "tests/unit/unit.h"

#define GUARDED_PAGE ((size_t)4096)

static inline size_t guarded_room(size_t len)
{
    return (len + GUARDED_PAGE - 1) / GUARDED_PAGE * GUARDED_PAGE;
}

/* Writable; the caller gives it to guarded_free. */
static inline struct bytes guarded(struct bytes b)
{
    size_t room = guarded_room(b.len);
    char *at = mmap(NULL, room + GUARDED_PAGE, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    ck_assert_ptr_ne(at, MAP_FAILED);
    ck_assert_int_eq(mprotect(at + room, GUARDED_PAGE, PROT_NONE), 0);
    if (b.len > 0)
        memcpy(at + room - b.len, b.at, b.len);
    return bytes_of(at + room - b.len, b.len);
}

static inline void guarded_free(struct bytes b)
{
    size_t room = guarded_room(b.len);

    munmap((char *)b.at + b.len - room, room + GUARDED_PAGE);
}

#endif
