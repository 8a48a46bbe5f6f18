/* SPDX-License-Identifier: MIT */
/*
 * json: lines of JSON over the serial port, an object each:
 *
 *     json_begin("frequency");              {"line":3,"kind":"frequency"
 *     json_text("by", "hpet");              ,"by":"hpet"
 *     json_number("hz_low", low);           ,"hz_low":2599998221
 *     json_list("errors_ticks");            ,"errors_ticks":[
 *     json_item(12);                        12
 *     json_list_end();                      ]
 *     json_end();                           }
 *
 * Lines count from 0, and the last one holds how many came before it and the CRC-32 of all their
 * bytes: so a reader knows whether the log is whole.
 */
#ifndef BOARD_JSON_H
#define BOARD_JSON_H

#include <stdbool.h>
#include <stdint.h>

void json_begin(const char *kind);
void json_end(void);

/* For what interrupts a line: it is closed as well as may be, and is no JSON then. */
void json_end_if_open(void);

void json_text(const char *name, const char *text);
void json_number(const char *name, int64_t value);
void json_unsigned(const char *name, uint64_t value);
void json_thousandths(const char *name, int64_t value); /* value / 1000 */
void json_bool(const char *name, bool value);

void json_list(const char *name);
void json_item(int64_t value);
void json_item_thousandths(int64_t value);
void json_list_end(void);

/* The line {"kind":"end","lines":...,"crc32":...}; nothing may follow. */
void json_finish(void);

#endif
