/*
 * status.h - everything that can go wrong, as one enum.
 *
 * Every function that can fail returns an enum status and is MUST_CHECK. The
 * place that first sees a failure logs it once, with its path, offset or
 * library text; those above only pass the status on.
 */
#ifndef URLWEIR_BASE_STATUS_H
#define URLWEIR_BASE_STATUS_H

#define MUST_CHECK              __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, first) __attribute__((format(printf, fmt, first)))

enum status {
    STATUS_OK = 0,
    STATUS_ARG,       /* the caller's argument is out of range */
    STATUS_NOMEM,     /* a large or outside-sized allocation failed */
    STATUS_IO,        /* read, write or sync failed */
    STATUS_FULL,      /* no space left on the device, or over a quota */
    STATUS_FORMAT,    /* bytes do not parse as what they should be */
    STATUS_LIMIT,     /* larger, deeper or longer than allowed */
    STATUS_NOT_FOUND, /* no such thing */
    STATUS_EXISTS,    /* already there */
    STATUS_BUSY,      /* in use by another process or thread */
    STATUS_DAMAGED,   /* stored state contradicts itself */
    STATUS_VERSION,   /* written by another release */
    STATUS_CLOSED,    /* the other side has closed */
    STATUS_AGAIN,     /* not now; the same call may succeed later */
    STATUS_REFUSED,   /* never for this one; `why` gives the reason */
    STATUS_READ_ONLY, /* on a file system that is mounted read-only */
    STATUS_COUNT_     /* number of the above, not a status */
};

/* A short lower-case phrase, never NULL: "no space left", "damaged". */
const char *status_text(enum status st);

/* The status that fits `err`, an errno value, best. */
enum status status_of_errno(int err);

#endif
