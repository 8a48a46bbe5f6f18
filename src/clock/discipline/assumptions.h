/* SPDX-License-Identifier: MIT */
/*
 * assumptions: what a bound takes for granted. Change them here and nowhere else; docs/bound.md
 * says what follows when one is broken.
 */
#ifndef DISCIPLINE_ASSUMPTIONS_H
#define DISCIPLINE_ASSUMPTIONS_H

/*
 * How far temperature and age may carry an oscillator away from its measured pace. The default: at
 * run time discipline_allow_drift() has the last word.
 */
#define ASSUME_DRIFT_PPM 50
/* How much the reference's pace may change between two samples (adjtime; NTP's MAXFREQ). */
#define ASSUME_SLEW_PPM 500
/* Rounding: of the sample, of the line's start, of the conversion, of the growth. */
#define ASSUME_ROUNDING_NS 4
/* A reference that has not answered for this long is lost. Before that, it has missed some turns.
 */
#define ASSUME_LOST_NS 5000000000
/* A bound this wide says nothing: NTP calls it "not synchronised" (NTP_PHASE_LIMIT). */
#define ASSUME_USELESS_NS 16000000000

#endif
