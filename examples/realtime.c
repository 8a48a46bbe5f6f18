/* SPDX-License-Identifier: MIT */
/* realtime: what does the kernel grant a punctual thread, and what is to be done about the rest? */
#include <stdio.h>
#include <string.h>

#include <timebase.h>

static void print(const struct timebase_realtime *rt)
{
    for (int i = 0; i < TIMEBASE_REALTIME_COUNT; i++) {
        unsigned bit = 1u << i;
        if (rt->granted & bit)
            printf("granted  %s\n", timebase_realtime_name(bit));
        else
            printf("refused  %s: %s\n         %s\n", timebase_realtime_name(bit),
                   strerror(rt->reason_errno[i]), timebase_realtime_advice(bit));
    }
}

int main(void)
{
    const struct timebase_realtime_request request = {
        .wanted = TIMEBASE_REALTIME_ALL, .priority = 50, .cpu = -1};
    struct timebase_realtime rt;

    if (timebase_realtime_acquire(&rt, &request) < 0) {
        fprintf(stderr, "such a request cannot be\n");
        return 1;
    }
    print(&rt);
    /* ... the punctual part: whatever was refused, it runs, only less punctually ... */

    int error = timebase_realtime_release(&rt);
    printf("given back: %s\n", error < 0 ? timebase_strerror(error) : "all");
    return 0;
}
