/* SPDX-License-Identifier: MIT */
/*
 * version.c - the versions of the program and of its libraries.
 *
 * The libraries are asked as the program runs, since another than the one it
 * was compiled with may be loaded; ISA-L and hiredis cannot be asked, so theirs
 * are those of the build. A fault report needs no more than this output.
 */
#include "cli/version.h"

#include <brotli/decode.h>
#include <curl/curl.h>
#include <gnutls/gnutls.h>
#include <hiredis/hiredis.h>
#include <isa-l.h>
#include <jansson.h>
#include <libpsl.h>
#include <libxml/parser.h>
#include <microhttpd.h>
#include <nghttp2/nghttp2.h>
#include <openssl/crypto.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <protobuf-c/protobuf-c.h>
#include <seccomp.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unicode/uversion.h>
#include <xxhash.h>
#include <yaml.h>
#include <zlib.h>
#include <zstd.h>

#include "crawler/fetch/coding.h"

static void print(FILE *to, const char *name, const char *version)
{
    fprintf(to, "  %-14s %s\n", name, version);
}

/* A version as one number, as 20914 or 802, of two digits a part. */
static void print_number(FILE *to, const char *name, unsigned number)
{
    fprintf(to, "  %-14s %u.%u.%u\n", name, number / 10000, number / 100 % 100,
            number % 100);
}

static void print_brotli(FILE *to)
{
    uint32_t v = BrotliDecoderVersion();

    fprintf(to, "  %-14s %u.%u.%u\n", "brotli", v >> 24, v >> 12 & 0xfff,
            v & 0xfff);
}

static void print_icu(FILE *to)
{
    UVersionInfo parts;
    char text[U_MAX_VERSION_STRING_LENGTH];

    u_getVersion(parts);
    u_versionToString(parts, text);
    print(to, "ICU", text);
}

/* The first word of "10.42 2022-12-11". */
static void print_word(FILE *to, const char *name, const char *text)
{
    fprintf(to, "  %-14s %.*s\n", name, (int)strcspn(text, " "), text);
}

static void print_pcre2(FILE *to)
{
    char text[64] = "";

    pcre2_config(PCRE2_CONFIG_VERSION, text);
    print_word(to, "PCRE2", text);
}

static void print_seccomp(FILE *to)
{
    const struct scmp_version *v = seccomp_version();

    fprintf(to, "  %-14s %u.%u.%u\n", "libseccomp", v->major, v->minor,
            v->micro);
}

static void print_built_in(FILE *to)
{
    fprintf(to, "  %-14s %d.%d.%d\n", "hiredis", HIREDIS_MAJOR, HIREDIS_MINOR,
            HIREDIS_PATCH);
    fprintf(to, "  %-14s %d.%d.%d\n", "ISA-L", ISAL_MAJOR_VERSION,
            ISAL_MINOR_VERSION, ISAL_PATCH_VERSION);
}

static void print_libraries(FILE *to)
{
    print_brotli(to);
    print(to, "GnuTLS", gnutls_check_version(NULL));
    print_icu(to);
    print_built_in(to);
    print(to, "jansson", jansson_version_str());
    print(to, "libcurl", curl_version_info(CURLVERSION_NOW)->version);
    print(to, "libmicrohttpd", MHD_get_version());
    print_word(to, "libpsl", psl_get_version());
    print_seccomp(to);
    print_number(to, "libxml2", (unsigned)strtoul(xmlParserVersion, NULL, 10));
    print(to, "libyaml", yaml_get_version_string());
    print(to, "nghttp2", nghttp2_version(0)->version_str);
    print(to, "OpenSSL", OpenSSL_version(OPENSSL_VERSION_STRING));
    print_pcre2(to);
    print(to, "protobuf-c", protobuf_c_version());
    print(to, "SQLite", sqlite3_libversion());
    print_number(to, "xxHash", XXH_versionNumber());
    print(to, "zlib", zlibVersion());
    print(to, "zstd", ZSTD_versionString());
}

/* What fetching can do depends on how libcurl was built. */
static void print_fetch(FILE *to)
{
    static const struct {
        int bit;
        const char *name;
    } features[] = {
        {CURL_VERSION_HTTP2, "HTTP/2"},
        {CURL_VERSION_IPV6, "IPv6"},
        {CURL_VERSION_ASYNCHDNS, "AsynchDNS"},
        {CURL_VERSION_SSL, "TLS"},
    };
    const curl_version_info_data *curl = curl_version_info(CURLVERSION_NOW);

    fprintf(to, "  %-14s", "fetch");
    for (size_t i = 0; i < sizeof features / sizeof *features; i++)
        if ((curl->features & features[i].bit) != 0)
            fprintf(to, " %s", features[i].name);
    if (curl->ssl_version != NULL)
        fprintf(to, " (%s)", curl->ssl_version);
    fputc('\n', to);
}

void version_print(FILE *to)
{
    fputs("urlweir " URLWEIR_VERSION "\nlibraries\n", to);
    print_libraries(to);
    fputs("features\n", to);
    print_fetch(to);
    print(to, "codings", CODING_ACCEPTED);
    print(to, "sandbox", "landlock seccomp");
    print(to, "compiler", __VERSION__);
}
