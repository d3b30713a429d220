/* The parts of a guard's state: what each is called, and what is in it (docs/format/state.md). */
#ifndef EK_GUARD_GUARD_PARTS_H
#define EK_GUARD_GUARD_PARTS_H

#include "detect/detector_parts.h"
#include "guard/guard_internal.h"

/* Names, by themselves or with a number behind them. */
#define EK_PART_OF_ACCEPTS  "accepts"
#define EK_PART_OF_CELLS    "cells"
#define EK_PART_OF_CHANGES  "changes"
#define EK_PART_OF_CLOCK    "clock"
#define EK_PART_OF_CONTROL  "control"
#define EK_PART_OF_DRIFT    "drift"
#define EK_PART_OF_EVIDENCE "evidence"
#define EK_PART_OF_GUARD    "guard"
#define EK_PART_OF_HISTORY  "history"
#define EK_PART_OF_INDEX    "index"
#define EK_PART_OF_LIFE     "life"
#define EK_PART_OF_LISTS    "lists"
#define EK_PART_OF_NOW      "now"
#define EK_PART_OF_PLAN     "plan"
#define EK_PART_OF_QUERIES  "queries"
#define EK_PART_OF_ROWS     "rows"
#define EK_PART_OF_WINDOW   "window"

/* With numbers of as many digits, so that names rise as they do: of a cell or a stretch of rows,
 * and of a closed window of a cell. */
void ek_part_numbered(char name[EK_PART_NAME], const char *part, int number);
void ek_part_of_window(char name[EK_PART_NAME], int cell, int place);
/* What a part of the detector is called. */
void ek_part_of_detector(char name[EK_PART_NAME], enum ek_detector_part part, int number);
/* What findings want; and what is in force, with all that it follows from. */
void ek_guard_plan_snap(struct ek_guard *g, struct ek_snap *s);
void ek_guard_control_snap(struct ek_guard *g, struct ek_snap *s);
/* What no other part has: limits that were told, open findings, events that wait. */
void ek_guard_part_snap(struct ek_guard *g, struct ek_snap *s);
/* Queries whose items come one by one, and the plans they have, of as many cells. */
void ek_guard_queries_snap(struct ek_guard *g, struct ek_snap *s, int cells);

#endif
