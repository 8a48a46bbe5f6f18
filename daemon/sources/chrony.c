/* SPDX-License-Identifier: MIT */
/*
 * chrony[:HOST[:PORT] or /SOCKET][,interval=TIME]. The client is asked now and then, and answers
 * while the caller does other things; between two answers the last one stands, and ages.
 */
#include "chrony.h"

#include <string.h>

#include <timebase/error.h>

#include "clock/counter/readable.h"
#include "drivers.h"
#include "option.h"
#include "clock/reference/reference.h"

/* A run of the client takes 3 ms of processor time (AMD EPYC guest): 0.02 % of 16 seconds. */
#define INTERVAL_NS 16000000000
#define INTERVAL_MIN_NS 20000000
/* After a failure, and while chronyd is not synchronised, news are worth more. */
#define RETRY_NS 1000000000
/* The client itself gives up after 1 s, asks a second and third time, and gives up for good. */
#define TIMEOUT_NS 3000000000

struct chrony {
    const char *reason;
    struct chrony_client client;
    char host[CHRONY_HOST_SIZE];
    char port[CHRONY_PORT_SIZE];
    uint64_t interval_ns;
    bool has_asked;        /* ever: what follows is known */
    int64_t started_ns;    /* the client that is running */
    int64_t next_ns;       /* when to ask again */
    int64_t utc_offset_ns; /* of the kernel, when the client was started */
    int outcome;           /* of the last one; TIMEBASE_E_BUSY: there was none yet */
    struct reference_claim claim;
};
_Static_assert(sizeof(struct chrony) <= REFERENCE_CONTEXT_SIZE, "fits into any context");

static int fail(struct chrony *chrony, int error, const char *reason)
{
    chrony->reason = reason;
    return error;
}

/* ---- the argument -------------------------------------------------------------------------- */

static bool is_host(const char *text)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789.:-_/";
    return text[0] != '-' && text[0] != '\0' && text[strspn(text, allowed)] == '\0';
}

static bool take_port(struct chrony *chrony, const char *text)
{
    int64_t port;
    size_t length = strlen(text);
    if (length >= CHRONY_PORT_SIZE || !decimal_parse(text, length, 0, &port) || port < 1 ||
        port > 65535)
        return false;
    memcpy(chrony->port, text, length + 1);
    return true;
}

/* "host", "host:port", "[v6]:port", "v6", "/socket" */
static bool take_place(struct chrony *chrony, char *place)
{
    char *host = place, *port = NULL, *colon = strchr(place, ':');
    if (place[0] == '[') {
        char *end = strchr(place, ']');
        if (end == NULL || (end[1] != ':' && end[1] != '\0'))
            return false;
        port = end[1] == ':' ? end + 2 : NULL;
        host = place + 1;
        *end = '\0';
    } else if (place[0] != '/' && colon != NULL && strchr(colon + 1, ':') == NULL) {
        port = colon + 1;
        *colon = '\0';
    }
    if (!is_host(host) || (port != NULL && !take_port(chrony, port)))
        return false;
    strcpy(chrony->host, host);
    return true;
}

static bool take_options(struct chrony *chrony, const char *options)
{
    struct decimal_field key, value;
    int more;
    while ((more = option_next(&options, &key, &value)) > 0)
        if (!option_is(&key, "interval") || !option_duration(&value, &chrony->interval_ns) ||
            chrony->interval_ns < INTERVAL_MIN_NS || chrony->interval_ns > INT32_MAX * 1000000000LL)
            return false;
    return more == 0;
}

static int open_chrony(void *context, const char *argument)
{
    struct chrony *chrony = (struct chrony *)context;
    char place[CHRONY_HOST_SIZE];
    const char *options = NULL;
    *chrony = (struct chrony){.client.fd = -1,
                              .interval_ns = INTERVAL_NS,
                              .outcome = TIMEBASE_E_BUSY,
                              .next_ns = INT64_MIN};
    if (argument == NULL)
        return TIMEBASE_OK;
    if (argument[0] == ',')
        options = argument + 1;
    else if (!option_place(argument, &options, place, sizeof(place)) || !take_place(chrony, place))
        return fail(chrony, TIMEBASE_E_INVALID,
                    "not a place of chronyd: HOST, HOST:PORT, [V6]:PORT or /SOCKET");
    if (!take_options(chrony, options))
        return fail(chrony, TIMEBASE_E_INVALID, "not an option of chrony: interval=TIME");
    return TIMEBASE_OK;
}

/* ---- questions and answers ----------------------------------------------------------------- */

static int explain(struct chrony *chrony, int error)
{
    static const struct {
        int error;
        const char *reason;
    } reasons[] = {
        {TIMEBASE_OK, NULL},
        {TIMEBASE_E_UNSUPPORTED, "there is no chronyc in /usr/bin or /usr/local/bin"},
        {TIMEBASE_E_PERMISSION, "chronyc may not be run"},
        {TIMEBASE_E_REFERENCE, "chronyc failed: chronyd does not answer"},
        {TIMEBASE_E_FORMAT, "chronyc said something that is not its tracking line"},
        {TIMEBASE_E_STALE, "chronyc did not end, and was killed"},
        {TIMEBASE_E_DISRUPTED, "the system clock was stepped since chrony's answer"},
    };
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        if (reasons[i].error == error)
            chrony->reason = reasons[i].reason;
    return error;
}

/* How the run ended is known: when is the next one, and what is to be said until then? */
static void settle(struct chrony *chrony, int64_t now_ns, int outcome)
{
    bool is_good = outcome == TIMEBASE_OK && chrony->claim.is_synchronized;
    uint64_t interval_ns = chrony->interval_ns;
    if (!is_good && interval_ns > RETRY_NS)
        interval_ns = RETRY_NS;
    chrony->next_ns = now_ns + (int64_t)interval_ns;
    chrony->outcome = explain(chrony, outcome);
}

static void start(struct chrony *chrony, int64_t now_ns, int64_t utc_offset_ns)
{
    chrony->has_asked = true;
    chrony->started_ns = now_ns;
    chrony->utc_offset_ns = utc_offset_ns;
    int error = chrony_client_start(&chrony->client, chrony->host, chrony->port);
    if (error != TIMEBASE_OK)
        settle(chrony, now_ns, error);
}

/*
 * chronyd answered some time after the start. The claim is dated from the start, so that its growth
 * covers the time between.
 */
static void hear_out(struct chrony *chrony, int64_t now_ns)
{
    struct chrony_tracking tracking;
    int error = chrony_client_poll(&chrony->client);
    if (error == TIMEBASE_E_BUSY && now_ns - chrony->started_ns > TIMEOUT_NS) {
        chrony_client_stop(&chrony->client);
        error = TIMEBASE_E_STALE;
    }
    if (error == TIMEBASE_E_BUSY)
        return;
    if (error == TIMEBASE_OK)
        error = chrony_parse(chrony->client.text, chrony->client.length, &tracking);
    if (error == TIMEBASE_OK)
        chrony->claim = chrony_claim(&tracking, chrony->started_ns);
    settle(chrony, now_ns, error);
}

/* What chronyd said of the clock before a step does not hold after it: forget it, ask anew. */
static void forget_if_stepped(struct chrony *chrony, int64_t now_ns, int64_t utc_offset_ns)
{
    if (!chrony->has_asked || utc_offset_ns == chrony->utc_offset_ns)
        return;
    chrony_client_stop(&chrony->client);
    chrony->outcome = explain(chrony, TIMEBASE_E_DISRUPTED);
    chrony->next_ns = now_ns;
}

static int claim_chrony(void *context, struct reference_claim *claim)
{
    struct chrony *chrony = (struct chrony *)context;
    int64_t utc_offset_ns, now_ns = counter_clock_ns(CLOCK_MONOTONIC);
    if (now_ns == INT64_MIN || reference_utc_offset(&utc_offset_ns) != TIMEBASE_OK)
        return fail(chrony, TIMEBASE_E_REFERENCE, "the system clock cannot be read");
    forget_if_stepped(chrony, now_ns, utc_offset_ns);
    if (chrony->client.pid != 0)
        hear_out(chrony, now_ns);
    else if (now_ns >= chrony->next_ns)
        start(chrony, now_ns, utc_offset_ns);
    if (chrony->outcome == TIMEBASE_OK)
        *claim = chrony->claim;
    else if (chrony->outcome == TIMEBASE_E_BUSY)
        chrony->reason = "chronyc has not answered yet";
    return chrony->outcome;
}

static void close_chrony(void *context)
{
    struct chrony *chrony = (struct chrony *)context;
    chrony_client_stop(&chrony->client);
}

const struct reference_source reference_source_chrony = {
    .name = "chrony",
    .context_size = sizeof(struct chrony),
    .open = open_chrony,
    .claim = claim_chrony,
    .close = close_chrony,
};
