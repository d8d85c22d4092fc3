/*
 * mem.h - allocation that ends the process on failure, and try_ forms that
 * report.
 *
 * If memory runs out, the x forms end the process with one line and exit status
 * 2: commits and checkpoints make that safe, as they do for kill -9, and
 * callers need no error path. Sizes that are large or come from outside use the
 * try_ forms. Any thread may call these.
 */
#ifndef URLWEIR_BASE_MEM_H
#define URLWEIR_BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

/* Never NULL; the caller frees with free(). Size 0 gives a unique pointer. */
void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *p, size_t size);
char *xstrdup(const char *s);
/* A copy of `len` bytes with a zero byte after them. */
char *xstrndup(const void *bytes, size_t len);

/* Ends the process as the x forms do when `size` bytes (0: unknown) cannot be
 * allocated; for memory that libraries allocate. */
#define MEM_OUT_STATUS 2 /* EXIT_CANNOT of job/exit_code.h */
_Noreturn void mem_out(size_t size);
/* If the process may have little memory, one line on stderr says so, and what
 * to do. Any thread. */
void mem_tell_limit(void);

/* As above, but they return NULL if memory runs out or count * size
 * overflows. */
void *try_malloc(size_t size);
void *try_calloc(size_t count, size_t size);
void *try_realloc(void *p, size_t size);

/* `size` bytes, zeroed, aligned to 64 bytes (2 MiB when that large), with huge
 * pages asked for; *huge, when not NULL, says whether the kernel took the
 * request. NULL if memory runs out. Freed with mem_free_pages(p, size). */
void *try_pages(size_t size, int *huge);
void mem_free_pages(void *p, size_t size);
/* Gives whole pages of [p, p + size), a part of what try_pages returned, back
 * to the system; all of it reads as zero afterwards. */
void mem_clear_pages(void *p, size_t size);

/* Test switch: the nth try_ allocation from now (1 = the next) fails, later
 * ones succeed; 0 switches it off. Returns the countdown so far. */
uint64_t mem_fail_after(uint64_t nth);

/* Memory that the machine has or, if that is less, that the control group of
 * this process may take, in bytes; 0 where neither can be read. */
uint64_t mem_total(void);

/* Resident memory of this process in bytes, 0 where it cannot be read. */
uint64_t mem_resident(void);

#endif
