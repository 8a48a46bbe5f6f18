/* SPDX-License-Identifier: MIT */
#include "boot.h"

#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

#include <timebase/error.h>

#define PATH "/proc/sys/kernel/random/boot_id"
#define TEXT_SIZE 36 /* 01234567-89ab-cdef-0123-456789abcdef */

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool parse(const char text[TEXT_SIZE], uint8_t id[16])
{
    const char *at = text;
    for (int i = 0; i < 16; i++, at += 2) {
        if (*at == '-')
            at++;
        if (text + TEXT_SIZE - at < 2 || digit(at[0]) < 0 || digit(at[1]) < 0)
            return false;
        id[i] = (uint8_t)(digit(at[0]) << 4 | digit(at[1]));
    }
    return true;
}

int boot_id(uint8_t id[16])
{
    char text[TEXT_SIZE];
    int fd = open(PATH, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return TIMEBASE_E_UNSUPPORTED;
    bool is_read = read(fd, text, sizeof(text)) == (ssize_t)sizeof(text);
    close(fd);
    return is_read && parse(text, id) ? TIMEBASE_OK : TIMEBASE_E_UNSUPPORTED;
}
