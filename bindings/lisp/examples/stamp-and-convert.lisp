;;;; SPDX-License-Identifier: MIT
;;;; stamp-and-convert: log raw ticks where every nanosecond counts, convert them afterwards.

;; Now: a register is read, nothing else.
(defvar *stamps* (loop repeat 5 collect (timebase:ticks-ordered)))

;; Later, in this or another thread: a tick means the same time whoever converts it.
(defvar *first-ns* (timebase:mono-at-ns (first *stamps*)))

(loop for stamp in *stamps* for i from 0
      for event = (timebase:at stamp)
      do (format t "event ~d: tick ~d = ~d ns UTC +/- ~d, ~@d ns from the first~%" i
                 (timebase:instant-ticks event) (timebase:instant-utc-ns event)
                 (timebase:instant-maxerror-ns event)
                 (- (timebase:instant-mono-ns event) *first-ns*)))

;; The way back: at which tick will it be a second later? The bound says how sure that is.
(let* ((then (timebase:ticks-at-mono (+ *first-ns* 1000000000)))
       (later (timebase:at then)))
  (format t "a second after the first: tick ~d, ~d ticks later, +/- ~d ns~%" then
          (- then (first *stamps*)) (timebase:instant-maxerror-ns later)))
