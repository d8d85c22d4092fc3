/*
 * curl_faults.h - faults of the libcurl in use that a web server could use
 * against us, or that cost others, and whether we must work around them.
 *
 * docs/decisions/libcurl-faults.md lists all those considered. We decide by the
 * version of the loaded library, not of the headers we were compiled with. Any
 * thread.
 */
#ifndef URLWEIR_CRAWLER_TRANSFER_CURL_FAULTS_H
#define URLWEIR_CRAWLER_TRANSFER_CURL_FAULTS_H

#include <stdbool.h>

/* Before 8.1.0 an easy handle that is used again keeps a pointer to the last
 * header line of its previous response, which is freed; a response that begins
 * with a folded line writes through it. Such a handle can be used for one
 * transfer only.
 */
bool curl_faults_header_dangles(void);

/* From 8.1.0 until 8.16.0 a transfer that is told to keep DNS answers for ever
 * (CURLOPT_DNS_CACHE_TIMEOUT of -1) forgets them all as it ends: each new
 * connection then costs a look-up. */
bool curl_faults_forever_forgets(void);

/* One log line that names the library and the faults we work around, if any.
 * Call it after curl_global_init. */
void curl_faults_log(void);

#endif
