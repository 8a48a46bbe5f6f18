/* SPDX-License-Identifier: MIT */
/*
 * transactions: messages that count once, stamped by tb_nano(). The receiver keeps the latest stamp
 * of a sender and refuses what is not newer, so no two messages may have the same one: within a
 * step of 954 ns the sender counts on by itself.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "tb_nano.h"

#define MESSAGES 100000

struct message {
    uint64_t stamp_ns;
    unsigned amount;
};

static uint64_t next_stamp_ns(uint64_t last_ns, unsigned *counted)
{
    uint64_t now_ns = tb_nano();
    if (now_ns > last_ns)
        return now_ns;
    ++*counted;
    return last_ns + 1;
}

static bool accept(const struct message *message, uint64_t *latest_ns)
{
    bool is_new = message->stamp_ns > *latest_ns;
    if (is_new)
        *latest_ns = message->stamp_ns;
    return is_new;
}

int main(int count, char **arguments)
{
    int from = systemcfg_open(count > 1 ? arguments[1] : NULL);
    if (from < 0)
        return 1;
    struct message message = {0, 1};
    uint64_t latest_ns = 0;
    unsigned accepted = 0, replayed = 0, counted = 0;
    for (unsigned i = 0; i < MESSAGES; i++) {
        message.stamp_ns = next_stamp_ns(message.stamp_ns, &counted);
        accepted += accept(&message, &latest_ns);
        replayed += accept(&message, &latest_ns);
    }
    printf("fields %s; %u accepted, %u of them in a step of another; %u of %u replays accepted\n",
           from == 0 ? "of the file" : "of our own", accepted, counted, replayed, MESSAGES);
    printf("the last at %" PRIu64 " ns, %" PRIu64 " ms\n", message.stamp_ns, tb_milli());
    return accepted != MESSAGES || replayed != 0;
}
