/*
 * url_life.h - the life of a URL: what it is, and what an event makes of it.
 *
 * One table for all URLs: those of our own crawls (frontier/crawl) and those
 * that other programs put (frontier/served). Each keeps the state in a form of
 * its own, asks here what comes next, and does that.
 *
 *   queued   waits for its turn; nobody has done it yet
 *   leased   is with a fetcher, or with another program
 *   done     waits for nothing
 *   due      waits for its date, and then for its turn
 *   again    leased at its date
 *   gone     waits for nothing: its page was missing too often
 *
 *               queued   leased   done     due      again    gone
 *   lease       leased   -        -        again    -        -
 *   give back   -        queued   -        -        due      -
 *   retry       -        queued   -        -        due      -
 *   end         done     done     done     done     done     -
 *   date        due      due      due      due      due      -
 *   miss        -        -        -        -        gone     -
 *   ask         -        -        due      due      -        due
 *   undate      -        -        -        done     -        -
 *
 * The guards are with the parts that know what they ask for: has its turn or
 * date come (schedule.h, served_queue.c), is the outcome final
 * (frontier_settle.c), which event is that (refresh_rule.h). Any thread.
 */
#ifndef URLWEIR_FRONTIER_URL_LIFE_H
#define URLWEIR_FRONTIER_URL_LIFE_H

enum url_life {
    LIFE_NONE, /* after an event: none of these, the URL stays as it is */
    LIFE_QUEUED,
    LIFE_LEASED,
    LIFE_DONE,
    LIFE_DUE,
    LIFE_AGAIN,
    LIFE_GONE,
    LIFE_STATES_
};

enum life_event {
    LIFE_LEASE,     /* its turn has come, and its date if it has one */
    LIFE_GIVE_BACK, /* the lease ended without an outcome */
    LIFE_RETRY,     /* an outcome that is not final */
    LIFE_END,       /* a final one, or what a program says, without a date */
    LIFE_DATE,      /* the same with a date */
    LIFE_MISS,      /* a final one: its page was missing once too often */
    LIFE_ASK,       /* a setting, a sitemap or a person gives it a date */
    LIFE_UNDATE,    /* a setting takes its date away */
    LIFE_EVENTS_
};

enum url_life url_life_after(enum url_life is, enum life_event event);

#endif
