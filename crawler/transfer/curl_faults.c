/* SPDX-License-Identifier: MIT */
/*
 * curl_faults.c - faults of the libcurl in use.
 *
 * A distribution may have fixed a fault without changing the version number.
 * Then we work around a fault that is not there, which costs a little and does
 * no harm.
 */
#include "crawler/transfer/curl_faults.h"

#include <curl/curl.h>

#include "base/logger.h"

#define VERSION(major, minor, patch) ((major) << 16 | (minor) << 8 | (patch))

static unsigned version_in_use(void)
{
    return curl_version_info(CURLVERSION_NOW)->version_num;
}

bool curl_faults_header_dangles(void)
{
    return version_in_use() < VERSION(8, 1, 0);
}

bool curl_faults_forever_forgets(void)
{
    return version_in_use() >= VERSION(8, 1, 0) &&
           version_in_use() < VERSION(8, 16, 0);
}

void curl_faults_log(void)
{
    const char *version = curl_version_info(CURLVERSION_NOW)->version;

    if (curl_faults_header_dangles())
        log_info("works around faults of libcurl",
                 "version=%s faults=\"11101: an easy handle is used once\"",
                 version);
    else if (curl_faults_forever_forgets())
        log_info("works around faults of libcurl",
                 "version=%s faults=\"11084: DNS answers always have an end\"",
                 version);
    else
        log_info("libcurl has no fault to work around", "version=%s", version);
}
