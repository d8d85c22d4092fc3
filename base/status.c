/* SPDX-License-Identifier: MIT */
/* status.c - texts of statuses. */
#include "base/status.h"

#include <errno.h>
#include <stddef.h>

static const char *const texts[STATUS_COUNT_] = {
    [STATUS_OK] = "ok",
    [STATUS_ARG] = "bad argument",
    [STATUS_NOMEM] = "out of memory",
    [STATUS_IO] = "input or output failed",
    [STATUS_FULL] = "no space left",
    [STATUS_FORMAT] = "not in the expected format",
    [STATUS_LIMIT] = "over a limit",
    [STATUS_NOT_FOUND] = "not found",
    [STATUS_EXISTS] = "already exists",
    [STATUS_BUSY] = "in use",
    [STATUS_DAMAGED] = "damaged",
    [STATUS_VERSION] = "written by another release",
    [STATUS_CLOSED] = "closed",
    [STATUS_AGAIN] = "not now",
    [STATUS_REFUSED] = "not possible with this one",
    [STATUS_READ_ONLY] = "the file system is read-only",
};

const char *status_text(enum status st)
{
    if ((unsigned)st >= STATUS_COUNT_ || texts[st] == NULL)
        return "unknown status";
    return texts[st];
}

enum status status_of_errno(int err)
{
    switch (err) {
    case 0:
        return STATUS_OK;
    case ENOENT:
        return STATUS_NOT_FOUND;
    case EEXIST:
        return STATUS_EXISTS;
    case ENOMEM:
        return STATUS_NOMEM;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return STATUS_FULL;
    case EAGAIN:
        return STATUS_AGAIN;
    case EBUSY:
        return STATUS_BUSY;
    case EROFS:
        return STATUS_READ_ONLY;
    case EINVAL:
        return STATUS_ARG;
    default:
        return STATUS_IO;
    }
}
