/* SPDX-License-Identifier: MIT */
/*
 * stuck_names.h - host names whose look-up hangs until the test lets it go, so
 * that what waits for one never ends and what does not needs no clock to show
 * it. They begin with "stuck"; the look-up is the C library's getaddrinfo,
 * replaced for the whole of the unit tests (test_fetcher_dns.c). There, names
 * under "invalid" have no address, whatever the machine's name server says.
 */
#ifndef URLWEIR_TESTS_CRAWLER_STUCK_NAMES_H
#define URLWEIR_TESTS_CRAWLER_STUCK_NAMES_H

/* Until so many look-ups hang. */
void stuck_names_wait(unsigned n);
/* Those that hang fail. Returns when their threads are done. */
void stuck_names_let_go(void);

#endif
