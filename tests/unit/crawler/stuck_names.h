/* SPDX-License-Identifier: MIT */
/*
 * stuck_names.h - host names, beginning with "stuck", whose look-up hangs until
 * the test releases it. A test can thus show without a clock who waits for a
 * look-up and who does not. All unit tests use a replaced getaddrinfo
 * (test_fetcher_dns.c), in which names under "invalid" have no address,
 * whatever the machine's name server says.
 */
#ifndef URLWEIR_TESTS_CRAWLER_STUCK_NAMES_H
#define URLWEIR_TESTS_CRAWLER_STUCK_NAMES_H

/* Wait until `n` look-ups hang. */
void stuck_names_wait(unsigned n);
/* Make the hanging look-ups fail. Returns when their threads are done. */
void stuck_names_let_go(void);

#endif
