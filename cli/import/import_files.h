/*
 * import_files.h - reads the files of an import, and tells what they had.
 *
 * Lines that are refused are shown on stderr with file and line, the first
 * IMPORT_SHOWN of them, and all go to a file if one was asked for: file, line,
 * reason and the line's first octets, with TAB between them. A file whose gzip
 * data is cut short, as a crash leaves it, is taken as far as it goes, and
 * counts as one refused line. One thread.
 */
#ifndef URLWEIR_CLI_IMPORT_IMPORT_FILES_H
#define URLWEIR_CLI_IMPORT_IMPORT_FILES_H

#include <stdbool.h>

#include "config/option.h"
#include "job/crawl_setup.h"
#include "job/import/import_sink.h"

#define IMPORT_SHOWN 20

struct import_files {
    const struct option_list *files; /* "-" is stdin */
    unsigned format;                 /* index into import_formats */
    const char *refused;             /* a file for refused lines, or NULL */
};

/* Can all files be opened? If not, the reason was printed on stderr. Call it
 * before the crawl is made. */
bool import_files_check(const struct import_files *f);

/* Reads them into the crawl. STATUS_IO: a file could not be read or written,
 * and the reason was printed on stderr; other errors are the engine's. */
MUST_CHECK enum status import_files_read(const struct import_files *f,
                                         struct engine *e,
                                         struct crawl_setup *c,
                                         struct import_counts *counts);

#endif
