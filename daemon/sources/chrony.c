/* SPDX-License-Identifier: MIT */
/*
 * chrony[:HOST[:PORT] or /SOCKET][,interval=TIME]. chronyd is asked before each sample. Unless it
 * is busy, it answers before the sample is taken. A later answer is heard later, and is dated from
 * the question. Without HOST its socket is tried, then UDP on the loopback.
 */
#include "chrony.h"

#include <string.h>

#include <timebase/error.h>

#include "clock/counter/readable.h"
#include "clock/reference/reference.h"
#include "drivers.h"
#include "option.h"

/* An answer costs some 20 us of processor time on both sides. */
#define INTERVAL_NS 50000000
#define INTERVAL_MIN_NS 1000000
/* After a failure at every place. */
#define RETRY_NS 1000000000
/* Nearly all answers come within a tenth of it; lines begin 30 ms later than they are planned. */
#define WAIT_NS 1000000
/* After this time the question or the answer is lost, or nobody listens. */
#define TIMEOUT_NS 1000000000

enum { HOST_SIZE = CHRONY_PLACE_SIZE };

/* Where to look if nobody says. chronyd lets root and its own user at the socket. */
static const char *const usual_hosts[] = {"/run/chrony/chronyd.sock", "127.0.0.1", "::1"};
enum { USUAL_HOSTS = sizeof(usual_hosts) / sizeof(usual_hosts[0]) };

struct chrony {
    const char *reason;
    struct chrony_socket socket;
    char host[HOST_SIZE]; /* "": the usual ones */
    uint16_t port;
    uint64_t interval_ns;
    unsigned which;        /* of the usual places: the one that is asked */
    unsigned refused;      /* places that have failed since the last answer */
    bool has_asked;        /* ever: what follows is known */
    bool is_waiting;       /* for an answer */
    int64_t asked_ns;      /* when the question was sent */
    int64_t next_ns;       /* when to ask again */
    int64_t utc_offset_ns; /* of the kernel, when the question was sent */
    int outcome;           /* of the last one; TIMEBASE_E_BUSY: there was none yet */
    bool has_tracking;     /* the last answer, since the last step */
    struct chrony_tracking tracking;
    struct claim claim;
};
_Static_assert(sizeof(struct chrony) <= SOURCE_CONTEXT_SIZE, "fits into any context");

static int fail(struct chrony *chrony, int error, const char *reason)
{
    chrony->reason = reason;
    return error;
}

/* ---- the argument -------------------------------------------------------------------------- */

static bool take_port(struct chrony *chrony, const char *text)
{
    int64_t port;
    if (!decimal_parse(text, strlen(text), 0, &port) || port < 1 || port > 65535)
        return false;
    chrony->port = (uint16_t)port;
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
    struct chrony_place any;
    if ((port != NULL && !take_port(chrony, port)) || !chrony_place(&any, host, chrony->port))
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
    char place[HOST_SIZE];
    const char *options = NULL;
    *chrony = (struct chrony){.socket.fd = -1,
                              .port = CHRONY_PORT,
                              .interval_ns = INTERVAL_NS,
                              .outcome = TIMEBASE_E_BUSY,
                              .next_ns = INT64_MIN};
    if (argument == NULL)
        return TIMEBASE_OK;
    if (argument[0] == ',')
        options = argument + 1;
    else if (!option_place(argument, &options, place, sizeof(place)) || !take_place(chrony, place))
        return fail(
            chrony, TIMEBASE_E_INVALID,
            "not a place of chronyd: ADDRESS, ADDRESS:PORT, [V6]:PORT or /SOCKET (no names)");
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
        {TIMEBASE_E_REFERENCE,
         "chronyd answers neither at its socket nor by UDP: is it running? "
         "is cmdport 0?"},
        {TIMEBASE_E_STALE, "chronyd has not answered within a second"},
        {TIMEBASE_E_PERMISSION, "chronyd's socket is not for this user, and UDP does not answer"},
        {TIMEBASE_E_UNSUPPORTED, "chronyd speaks another version of its command protocol than 6"},
        {TIMEBASE_E_FORMAT, "chronyd said something that is not its tracking report"},
        {TIMEBASE_E_DISRUPTED, "the system clock was stepped since chrony's answer"},
    };
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        if (reasons[i].error == error)
            chrony->reason = reasons[i].reason;
    return error;
}

static unsigned places(const struct chrony *chrony)
{
    return chrony->host[0] != '\0' ? 1 : USUAL_HOSTS;
}

/* Nobody answers at this place. The next place is tried now; after the last one, all again later.
 */
static void give_up_place(struct chrony *chrony, int64_t now_ns, int error)
{
    chrony_socket_close(&chrony->socket);
    chrony->is_waiting = false;
    chrony->which = (chrony->which + 1) % places(chrony);
    chrony->next_ns = now_ns;
    if (++chrony->refused < places(chrony))
        return;
    chrony->refused = 0;
    chrony->next_ns = now_ns + RETRY_NS;
    chrony->outcome = explain(chrony, error);
}

static void settle(struct chrony *chrony, int64_t now_ns, const struct chrony_tracking *tracking)
{
    const struct chrony_tracking *before = chrony->has_tracking ? &chrony->tracking : NULL;
    chrony->claim = chrony_claim(tracking, before, chrony->asked_ns, now_ns);
    chrony->claim.measured_ns = chrony_measured_ns(tracking, now_ns, chrony->utc_offset_ns);
    chrony->tracking = *tracking;
    chrony->has_tracking = true;
    chrony->is_waiting = false;
    chrony->refused = 0;
    chrony->next_ns = chrony->asked_ns + (int64_t)chrony->interval_ns;
    /* A late answer is told before the next question is asked, which may find nobody there. */
    if (chrony->next_ns <= now_ns)
        chrony->next_ns = now_ns + 1;
    chrony->outcome = explain(chrony, TIMEBASE_OK);
}

static void ask(struct chrony *chrony, int64_t now_ns, int64_t utc_offset_ns)
{
    struct chrony_place place;
    const char *host = chrony->host[0] != '\0' ? chrony->host : usual_hosts[chrony->which];
    chrony->has_asked = true;
    chrony->asked_ns = now_ns;
    chrony->utc_offset_ns = utc_offset_ns;
    chrony_place(&place, host, chrony->port);
    int error = chrony_socket_ask(&chrony->socket, &place);
    chrony->is_waiting = error == TIMEBASE_OK;
    if (error != TIMEBASE_OK)
        give_up_place(chrony, now_ns, error);
}

/*
 * chronyd answered some time after the question. The claim is dated from the question, so that its
 * growth covers the time between.
 */
static void hear(struct chrony *chrony)
{
    struct chrony_tracking tracking;
    int error = chrony_socket_hear(&chrony->socket, &tracking);
    int64_t now_ns = counter_clock_ns(CLOCK_MONOTONIC);
    if (error == TIMEBASE_E_BUSY && now_ns - chrony->asked_ns > TIMEOUT_NS)
        error = TIMEBASE_E_STALE;
    if (error == TIMEBASE_OK)
        settle(chrony, now_ns, &tracking);
    else if (error != TIMEBASE_E_BUSY)
        give_up_place(chrony, now_ns, error);
}

/* After a step of the clock the answer from before it is wrong: forget it and ask anew. */
static void forget_if_stepped(struct chrony *chrony, int64_t now_ns, int64_t utc_offset_ns)
{
    if (!chrony->has_asked || utc_offset_ns == chrony->utc_offset_ns)
        return;
    chrony->is_waiting = false; /* its answer is passed over, by its number */
    chrony->has_tracking = false;
    chrony->outcome = explain(chrony, TIMEBASE_E_DISRUPTED);
    chrony->next_ns = now_ns;
}

/* Asks one place after the other, as long as each refuses at once. */
static void ask_around(struct chrony *chrony, int64_t now_ns, int64_t utc_offset_ns)
{
    for (unsigned i = 0; i < USUAL_HOSTS && !chrony->is_waiting && now_ns >= chrony->next_ns; i++) {
        ask(chrony, now_ns, utc_offset_ns);
        if (chrony->is_waiting) {
            chrony_socket_wait(&chrony->socket, WAIT_NS);
            hear(chrony);
        }
    }
}

static int claim_chrony(void *context, struct claim *claim)
{
    struct chrony *chrony = (struct chrony *)context;
    int64_t utc_offset_ns, now_ns = counter_clock_ns(CLOCK_MONOTONIC);
    if (now_ns == INT64_MIN || reference_utc_offset(&utc_offset_ns) != TIMEBASE_OK)
        return fail(chrony, TIMEBASE_E_REFERENCE, "the system clock cannot be read");
    forget_if_stepped(chrony, now_ns, utc_offset_ns);
    if (chrony->is_waiting)
        hear(chrony);
    if (!chrony->is_waiting)
        ask_around(chrony, now_ns, utc_offset_ns);
    if (chrony->outcome == TIMEBASE_OK)
        *claim = chrony->claim;
    else if (chrony->outcome == TIMEBASE_E_BUSY)
        chrony->reason = "chronyd has not answered yet";
    return chrony->outcome;
}

/* While an answer is due: it is worth hearing before the next sample. */
static int fd_chrony(const void *context)
{
    const struct chrony *chrony = (const struct chrony *)context;
    return chrony->is_waiting ? chrony->socket.fd : -1;
}

static void close_chrony(void *context)
{
    struct chrony *chrony = (struct chrony *)context;
    chrony_socket_close(&chrony->socket);
}

const struct source_driver source_driver_chrony = {
    .name = "chrony",
    .is_witness = true,
    .context_size = sizeof(struct chrony),
    .open = open_chrony,
    .claim = claim_chrony,
    .fd = fd_chrony,
    .close = close_chrony,
};
