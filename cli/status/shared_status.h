/*
 * shared_status.h - `urlweir status` of the URLs of `urlweir serve --cluster`.
 */
#ifndef URLWEIR_CLI_STATUS_SHARED_STATUS_H
#define URLWEIR_CLI_STATUS_SHARED_STATUS_H

#include <stdbool.h>

/* Prints it; returns the exit status, errors were printed. */
int shared_status(const char *url, bool json);

#endif
