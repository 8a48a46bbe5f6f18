/* SPDX-License-Identifier: MIT */
#include "json.h"

#include "digits.h"
#include "serial.h"

static uint64_t lines;
static uint32_t crc = UINT32_MAX;
static bool is_first_item, is_open;

/* CRC-32 as in Ethernet and zlib: reflected, polynomial 0x04c11db7. */
static void count_byte(unsigned char byte)
{
    crc ^= byte;
    for (int bit = 0; bit < 8; bit++)
        crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
}

static void put(char byte)
{
    count_byte((unsigned char)byte);
    serial_put(byte);
}

static void put_plain(const char *text)
{
    for (; *text != 0; text++)
        put(*text);
}

/* Text of ours and of the processor; what is not printable becomes "?". */
static void put_quoted(const char *text)
{
    put('"');
    for (; *text != 0; text++) {
        char byte = *text < ' ' || *text > '~' ? '?' : *text;
        if (byte == '"' || byte == '\\')
            put('\\');
        put(byte);
    }
    put('"');
}

static void put_name(const char *name)
{
    put(',');
    put_quoted(name);
    put(':');
}

void json_begin(const char *kind)
{
    is_open = true;
    put_plain("{\"line\":");
    put_plain(digits_unsigned(lines).text);
    json_text("kind", kind);
}

void json_end(void)
{
    put_plain("}\n");
    lines++;
    is_open = false;
}

void json_end_if_open(void)
{
    if (is_open)
        json_end();
}

void json_text(const char *name, const char *text)
{
    put_name(name);
    put_quoted(text);
}

void json_number(const char *name, int64_t value)
{
    put_name(name);
    put_plain(digits_decimal(value).text);
}

void json_unsigned(const char *name, uint64_t value)
{
    put_name(name);
    put_plain(digits_unsigned(value).text);
}

void json_thousandths(const char *name, int64_t value)
{
    put_name(name);
    put_plain(digits_thousandths(value).text);
}

void json_bool(const char *name, bool value)
{
    put_name(name);
    put_plain(value ? "true" : "false");
}

void json_list(const char *name)
{
    put_name(name);
    put('[');
    is_first_item = true;
}

static void put_separator(void)
{
    if (!is_first_item)
        put(',');
    is_first_item = false;
}

void json_item(int64_t value)
{
    put_separator();
    put_plain(digits_decimal(value).text);
}

void json_item_thousandths(int64_t value)
{
    put_separator();
    put_plain(digits_thousandths(value).text);
}

void json_list_end(void)
{
    put(']');
}

void json_finish(void)
{
    uint64_t before = lines;
    uint32_t sum = ~crc;
    json_begin("end");
    json_unsigned("lines", before);
    json_unsigned("crc32", sum);
    json_end();
}
