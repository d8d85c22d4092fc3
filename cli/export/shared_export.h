/*
 * shared_export.h - `urlweir export` of the URLs of `urlweir serve --cluster`.
 */
#ifndef URLWEIR_CLI_EXPORT_SHARED_EXPORT_H
#define URLWEIR_CLI_EXPORT_SHARED_EXPORT_H

#include "base/record.h"

/* Prints them; returns the exit status, errors were printed. */
int shared_export(const char *url, enum record_format format);

#endif
