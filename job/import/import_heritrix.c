/* SPDX-License-Identifier: MIT */
/*
 * import_heritrix.c - the recovery journal of Heritrix.
 *
 * org.archive.crawler.frontier.FrontierJournal appends a line for each event of
 * its frontier. Heritrix escapes blanks in URLs.
 *
 *     F+ URL HOPS VIA   queued            Fe URL   given to a worker
 *     Fs URL HOPS VIA   succeeded         Fr URL   queued again
 *     Ff URL HOPS VIA   failed            Fi URL   counted as known
 *     Fd URL            disregarded (robots.txt, scope)
 *     T ..., E ...      time stamps, serious errors
 *
 * Releases before 3 write HOPS and VIA with F+ alone, and an empty line before
 * each. HOPS is the hop path from the seed: E is a part of a page, P what must
 * be fetched first (robots.txt, DNS), which is no page of the crawl.
 */
#include "job/import/import_format_impl.h"

static const struct {
    const char *tag;
    enum outcome_status status;
} events[] = {
    {"F+", OUTCOME_QUEUED},  {"Fs", OUTCOME_FETCHED}, {"Ff", OUTCOME_FAILED},
    {"Fd", OUTCOME_SKIPPED}, {"Fi", OUTCOME_SKIPPED},
};

static bool find_event(struct bytes tag, struct import_record *out)
{
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (bytes_is(tag, events[i].tag)) {
            out->status = events[i].status;
            out->word = events[i].tag;
            return true;
        }
    return false;
}

/* Fe and Fr are about a URL that was queued before. */
static bool says_nothing(struct bytes tag)
{
    return bytes_is(tag, "Fe") || bytes_is(tag, "Fr") || bytes_is(tag, "T") ||
           bytes_is(tag, "E");
}

static enum import_said read_line(struct import_reader *r, struct bytes line,
                                  struct import_record *out)
{
    struct bytes rest = line, tag = import_cut(&rest, ' '), hops;
    char last;

    if (line.len == 0 || says_nothing(tag))
        return IMPORT_NOTHING;
    if (!find_event(tag, out))
        return import_refuse(r, "not a line of a recovery journal");
    out->url = import_cut(&rest, ' ');
    hops = import_cut(&rest, ' ');
    last = hops.len > 0 ? hops.at[hops.len - 1] : '\0';
    out->embedded = last == 'E' || last == 'X';
    if (last == 'P')
        return IMPORT_OTHER;
    return IMPORT_RECORD;
}

const struct import_format import_heritrix = {"heritrix-recover", read_line,
                                              NULL};
