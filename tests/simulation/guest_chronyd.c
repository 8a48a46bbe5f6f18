/* SPDX-License-Identifier: MIT */
/*
 * chronyd on the guest: it measures now and then, slews what it has found, and answers from what it
 * knows. What it says is true of the system clock as long as nobody stops the machine.
 */
#include <math.h>
#include <string.h>

#include <timebase/error.h>

#include "daemon/sources/chrony.h"
#include "guest.h"

/* What it does not know of its own readings. */
#define DISPERSION_NS 500
/* A slew that would end within this is over. */
#define SLEWED_NS 0.5

double chronyd_slew_ppm(void)
{
    const struct guest_chronyd *chronyd = &guest.chronyd;
    if (fabs(chronyd->left_ns) < SLEWED_NS)
        return 0;
    return chronyd->left_ns > 0 ? -chronyd->slew_ppm : chronyd->slew_ppm;
}

int64_t chronyd_slewed_until_ns(void)
{
    double ppm = fabs(chronyd_slew_ppm());
    double ns = ppm == 0 ? 1e18 : fabs(guest.chronyd.left_ns) / ppm * 1e6 + 1;
    return ns < 1e18 ? (int64_t)ns : INT64_MAX;
}

void chronyd_poll(void)
{
    struct guest_chronyd *chronyd = &guest.chronyd;
    chronyd->root_delay_ns = chronyd->next_root_delay_ns;
    chronyd->skew_ppm = chronyd->next_skew_ppm;
    double asymmetry_ns = guest_between(-0.45, 0.45) * chronyd->root_delay_ns;
    double measured_ns = guest_realtime_error_ns() + asymmetry_ns;
    chronyd->last_offset_ns = measured_ns - chronyd->left_ns;
    chronyd->left_ns = measured_ns;
    chronyd->has_polled = true;
    chronyd->polled_ns = guest.now_ns;
    chronyd->polled_mono_ns = guest_mono_ns();
    chronyd->reference_time_ns = guest_mono_ns() + guest.utc_offset_ns - (int64_t)measured_ns;
    chronyd->drift_ppm = guest_between(-1, 1) * chronyd->skew_ppm;
}

void chronyd_restart(void)
{
    guest.chronyd.has_polled = false;
    guest.chronyd.left_ns = 0;
}

/* ---- its answer, as bytes ------------------------------------------------------------------- */

static void put(unsigned char *bytes, size_t at, unsigned width, uint64_t value)
{
    for (unsigned i = width; i-- > 0; value >>= 8)
        bytes[at + i] = (unsigned char)value;
}

uint32_t chronyd_number(double value)
{
    int exponent;
    double share = frexp(value, &exponent);        /* [0.5, 1) in size */
    long coefficient = lround(share * (1 << 24)); /* 24 bits and a sign */
    if (value == 0 || exponent + 1 < -63)
        return 0;
    if (coefficient >= 1 << 24 || coefficient < -(1 << 24)) {
        coefficient /= 2;
        exponent++;
    }
    return (uint32_t)(exponent + 1) << 25 | ((uint32_t)coefficient & 0x1ffffff);
}

static double root_dispersion_ns(void)
{
    const struct guest_chronyd *chronyd = &guest.chronyd;
    double age_ns = (double)(guest_mono_ns() - chronyd->polled_mono_ns);
    return DISPERSION_NS + age_ns * (chronyd->skew_ppm + 1e-3) * 1e-6;
}

static void put_answer(uint32_t sequence)
{
    const struct guest_chronyd *chronyd = &guest.chronyd;
    unsigned char *bytes = guest.chronyd.answer;
    const double numbers[9] = {-chronyd->left_ns * 1e-9,
                               chronyd->last_offset_ns * 1e-9,
                               fabs(chronyd->last_offset_ns) * 1e-9,
                               0,
                               0,
                               chronyd->skew_ppm,
                               chronyd->root_delay_ns * 1e-9,
                               root_dispersion_ns() * 1e-9,
                               (double)chronyd->poll_ns * 1e-9};
    memset(bytes, 0, CHRONY_MESSAGE_SIZE);
    memcpy(bytes, (unsigned char[]){6, 2, 0, 0, 0, 33, 0, 5}, 8);
    put(bytes, 16, 4, sequence);
    put(bytes, 28, 4, chronyd->has_polled ? 0x0a000001 : 0);
    put(bytes, 52, 2, chronyd->has_polled ? 2 : 0);
    put(bytes, 54, 2, chronyd->has_polled ? 0 : 3);
    put(bytes, 56, 4, 0x7fffffff);
    put(bytes, 60, 4, (uint64_t)(chronyd->reference_time_ns / SECOND));
    put(bytes, 64, 4, (uint64_t)(chronyd->reference_time_ns % SECOND));
    for (unsigned i = 0; i < 9; i++)
        put(bytes, 68 + 4 * i, 4, chronyd_number(numbers[i]));
}

/* ---- what the driver meets ------------------------------------------------------------------ */

int __wrap_chrony_socket_ask(struct chrony_socket *socket, const struct chrony_place *place);
int __wrap_chrony_socket_hear(struct chrony_socket *socket, struct chrony_tracking *tracking);
void __wrap_chrony_socket_wait(const struct chrony_socket *socket, int64_t ns);
void __wrap_chrony_socket_close(struct chrony_socket *socket);

/* Most answers take some 100 us; some take long, a few are lost. */
static int64_t latency_ns(void)
{
    double which = guest_random();
    if (which < 0.002)
        return INT64_MAX;
    return which < 0.02 ? (int64_t)guest_around(1e6, 400e6) : (int64_t)guest_around(30e3, 500e3);
}

/* It answers from what it knew when it was asked. */
int __wrap_chrony_socket_ask(struct chrony_socket *socket, const struct chrony_place *place)
{
    struct guest_chronyd *chronyd = &guest.chronyd;
    (void)place;
    guest_pass(5 * US);
    if (!chronyd->is_up)
        return TIMEBASE_E_REFERENCE;
    int64_t latency = latency_ns();
    socket->fd = 1000;
    socket->sequence++;
    chronyd->is_out = true;
    chronyd->answer_polled_ns = chronyd->has_polled ? chronyd->polled_ns : INT64_MIN;
    chronyd->answer_ns = latency == INT64_MAX ? INT64_MAX : guest.now_ns + latency;
    put_answer(socket->sequence);
    return TIMEBASE_OK;
}

int __wrap_chrony_socket_hear(struct chrony_socket *socket, struct chrony_tracking *tracking)
{
    struct guest_chronyd *chronyd = &guest.chronyd;
    guest_pass(2 * US);
    if (!chronyd->is_out || guest.now_ns < chronyd->answer_ns)
        return TIMEBASE_E_BUSY;
    chronyd->is_out = false;
    if (chronyd->answer_polled_ns > chronyd->heard_polled_ns)
        chronyd->heard_polled_ns = chronyd->answer_polled_ns;
    return chrony_parse(chronyd->answer, CHRONY_MESSAGE_SIZE, socket->sequence, tracking);
}

void __wrap_chrony_socket_wait(const struct chrony_socket *socket, int64_t ns)
{
    int64_t left_ns = guest.chronyd.answer_ns - guest.now_ns;
    (void)socket;
    guest_pass(left_ns < ns ? left_ns + 1 : ns);
}

void __wrap_chrony_socket_close(struct chrony_socket *socket)
{
    socket->fd = -1;
    guest.chronyd.is_out = false;
}
