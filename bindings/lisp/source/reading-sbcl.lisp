;;;; SPDX-License-Identifier: MIT
;;;; reading-sbcl: counter and page in SBCL's own inline code. No foreign call, nothing consed.
;;;;
;;;; The protocol is that of include/timebase/page.h; the letters are its fences. x86-64 keeps the
;;;; order of loads, so the barriers only hold the compiler. tests/order.lisp looks at the
;;;; instructions.

(in-package #:timebase)

(eval-when (:compile-toplevel :load-toplevel :execute)
  (defmacro word-at (sap offset)
    "The aligned word at OFFSET: one load, so atomic."
    `(sb-sys:sap-ref-64 ,sap ,offset))

  (defmacro half-at (sap offset)
    `(sb-sys:sap-ref-32 ,sap ,offset))

  (defmacro word+ (&rest words)
    "The sum modulo 2^64."
    `(ldb (byte 64 0) (+ ,@words)))

  (defmacro word- (a b)
    `(ldb (byte 64 0) (- ,a ,b)))

  (defmacro signed (word)
    "WORD as a signed number."
    `(sb-c::mask-signed-field 64 ,word)))

(deftype word () '(unsigned-byte 64))

(declaim (inline line-elapsed growth line-mono line-utc line-maxerror line-utc-maxerror))

(defun line-elapsed (line d)
  "What D ticks of LINE last: nanoseconds, rounded down."
  (declare (type sb-sys:system-area-pointer line) (type word d))
  (let ((ns (values (sb-bignum:%multiply d (word-at line (offset-of line period-frac)))))
        (period-ns (half-at line (offset-of line period-ns))))
    (declare (type word ns))
    (if (zerop period-ns)
        ns
        (word+ ns (ldb (byte 64 0) (* d period-ns))))))

(defun growth (d rate)
  "What a rate of 2^-32 ns per tick makes of D ticks, rounded down."
  (declare (type word d) (type (unsigned-byte 32) rate))
  (values (sb-bignum:%multiply d (ash rate 32))))

(defun line-mono (line elapsed)
  (declare (type sb-sys:system-area-pointer line) (type word elapsed))
  (signed (word+ (word-at line (offset-of line mono-ns)) elapsed)))

(defun line-utc (line elapsed)
  (declare (type sb-sys:system-area-pointer line) (type word elapsed))
  (signed (word+ (word-at line (offset-of line utc-ns)) elapsed)))

(defun line-maxerror (line d)
  (declare (type sb-sys:system-area-pointer line) (type word d))
  (word+ (word-at line (offset-of line maxerror-ns))
         (growth d (half-at line (offset-of line drift-rate)))
         (growth d (half-at line (offset-of line slew-rate)))))

(defun line-utc-maxerror (line d)
  (declare (type sb-sys:system-area-pointer line) (type word d))
  (word+ (word-at line (offset-of line maxerror-ns))
         (growth d (half-at line (offset-of line drift-rate)))
         (word-at line (offset-of line utc-maxerror-ns))))

(defmacro line-flags (line)
  `(half-at ,line (offset-of line flags)))

(defmacro lines-esterror (lines line d)
  "The estimated error: one for each line, and one rate for all."
  `(let ((validity (sb-sys:sap+ ,lines (offset-of lines validity)))
         (which (sb-sys:sap- ,line ,lines)))
     (word+ (word-at validity
                     (cond ((= which (offset-of lines after)) (offset-of validity after-esterror-ns))
                           ((= which (offset-of lines slew)) (offset-of validity slew-esterror-ns))
                           (t (offset-of validity before-esterror-ns))))
            (growth ,d (half-at validity (offset-of validity esterror-rate))))))

(defmacro with-line-now ((page counter-reading ticks line d &optional (lines (gensym "LINES")))
                         reading otherwise)
  "The values, up to three, of READING, worked out of the LINE that the counter's TICKS take now, D
after its start; or those of OTHERWISE if PAGE is null, has no line for now, or changed meanwhile.
One attempt."
  (let ((seq (gensym "SEQ")) (read (gensym "READ")) (none (gensym "NONE")))
    `(block ,read
       (tagbody
          (when (zerop (sb-sys:sap-int ,page)) (go ,none))
          (let ((,seq (word-at ,page (offset-of page seq))))
            (declare (type word ,seq))
            (sb-thread:barrier (:read))                               ; (A)
            (when (zerop ,seq) (go ,none))
            (let* ((,ticks ,counter-reading)
                   ;; After the counter, so that it does not delay it.
                   (,lines (sb-sys:sap+ ,page (if (logtest ,seq 1)
                                                  (+ (offset-of page copy) (size-of lines))
                                                  (offset-of page copy))))
                   (,line (sb-sys:sap+ ,lines (offset-of lines after)))
                   (,d (word- ,ticks (word-at ,line (offset-of line start-ticks)))))
              (declare (type word ,ticks ,d) (type sb-sys:system-area-pointer ,lines ,line))
              (when (> ,d (word-at ,page (offset-of page refresh-ticks)))
                (unless (logbitp 63 ,d) (go ,none))
                (setf ,line (sb-sys:sap+ ,lines (offset-of lines slew))
                      ,d (word- ,ticks (word-at ,line (offset-of line start-ticks))))
                (when (logbitp 63 ,d)
                  (setf ,line (sb-sys:sap+ ,lines (offset-of lines before))
                        ,d (word- ,ticks (word-at ,line (offset-of line start-ticks))))
                  (when (logbitp 63 ,d) (go ,none))))
              (multiple-value-bind (one two three) ,reading
                (sb-thread:barrier (:read))                           ; (C)
                (when (= (word-at ,page (offset-of page seq)) ,seq)
                  (return-from ,read (values one two three))))))
          ,none)
       ,otherwise)))

(defmacro clock-sap (clock)
  `(sb-sys:int-sap (clock-address ,clock)))

(defmacro define-readings (ordered unordered (line d) reading slow)
  "Two functions of a clock, inline, that give READING, or call SLOW where it cannot be had."
  `(progn
     (declaim (inline ,ordered ,unordered))
     ,@(loop for (name counter) in `((,ordered (%ticks-ordered)) (,unordered (%ticks)))
             collect `(defun ,name (&optional (clock *clock*))
                        (let ((page (clock-sap clock)))
                          (values (with-line-now (page ,counter ticks ,line ,d)
                                    ,reading
                                    (,slow clock))))))))

(define-readings utc-ns utc-ns-unordered (line d)
  (line-utc line (line-elapsed line d))
  utc-ns-slow)

(define-readings mono-ns mono-ns-unordered (line d)
  (line-mono line (line-elapsed line d))
  mono-ns-slow)

(declaim (inline tai-from-utc saturated))

(defun tai-from-utc (utc-ns flags)
  (declare (type (signed-byte 64) utc-ns) (type (unsigned-byte 32) flags))
  (let ((seconds (sb-c::mask-signed-field 16 (ash flags -16))))
    (signed (word+ (ldb (byte 64 0) utc-ns) (ldb (byte 64 0) (* seconds 1000000000))))))

(define-readings tai-ns tai-ns-unordered (line d)
  (tai-from-utc (line-utc line (line-elapsed line d)) (line-flags line))
  tai-ns-slow)

(declaim (inline bounds-around utc-bounds realtime-bounds ticks ticks-ordered))

(defun bounds-around (ns error-ns)
  "The ends of all moments within ERROR-NS of NS, cut off where 64 bits end."
  (declare (type (signed-byte 64) ns) (type word error-ns))
  (if (and (< (- (expt 2 62)) ns (expt 2 62)) (< error-ns (expt 2 62)))
      (values (- ns error-ns) (+ ns error-ns))
      (values (max (- ns error-ns) (- (expt 2 63)))
              (min (+ ns error-ns) (1- (expt 2 63))))))

(defmacro define-bounds (name maxerror slow)
  `(defun ,name (&optional (clock *clock*))
     (let ((page (clock-sap clock)))
       (with-line-now (page (%ticks-ordered) ticks line d)
         (multiple-value-bind (earliest latest)
             (bounds-around (line-utc line (line-elapsed line d)) (,maxerror line d))
           (values earliest latest (status-keyword (line-flags line))))
         (,slow clock)))))

(define-bounds utc-bounds line-utc-maxerror utc-bounds-slow)
(define-bounds realtime-bounds line-maxerror realtime-bounds-slow)

(defmacro with-instant-of-line ((page counter-reading into) otherwise)
  `(with-line-now (,page ,counter-reading ticks line d lines)
     (let ((elapsed (line-elapsed line d)))
       (setf (instant-ticks ,into) ticks
             (instant-mono-ns ,into) (line-mono line elapsed)
             (instant-utc-ns ,into) (line-utc line elapsed)
             (instant-maxerror-ns ,into) (line-maxerror line d)
             (instant-utc-maxerror-ns ,into) (line-utc-maxerror line d)
             (instant-esterror-ns ,into) (lines-esterror lines line d)
             (instant-flags ,into) (line-flags line))
       ,into)
     ,otherwise))

(defun now (&optional (clock *clock*) (into (make-instant)))
  (declare (optimize speed))
  (let ((page (clock-sap clock)))
    (values (with-instant-of-line (page (%ticks-ordered) into)
              (now-slow clock into)))))

(defun read-page-now (address into)
  "INTO, filled with what the page at ADDRESS says now; NIL if it must be asked again."
  (declare (type word address) (type instant into) (optimize speed))
  (let ((page (sb-sys:int-sap address)))
    (values (with-instant-of-line (page (%ticks-ordered) into) nil))))

(defun read-page-at-current (address ticks into)
  "The same as if the counter had just shown TICKS: for tests of the code above."
  (declare (type word address ticks) (type instant into) (optimize speed))
  (let ((page (sb-sys:int-sap address)))
    (values (with-instant-of-line (page ticks into) nil))))

(define-foreign %ticks-probe "timebase_ticks_probe" :uint64)
(define-foreign %ticks-ordered-probe "timebase_ticks_ordered_probe" :uint64)

(declaim (inline counter-readable-p))
(defun counter-readable-p ()
  "False until the first probe, and where the processor's counter cannot be read."
  (/= 0 (sb-alien:extern-alien "timebase_counter_readable" sb-alien:int)))

(defun ticks ()
  (if (counter-readable-p) (%ticks) (%ticks-probe)))

(defun ticks-ordered ()
  (if (counter-readable-p) (%ticks-ordered) (%ticks-ordered-probe)))

(declaim (inline ticks-begin ticks-end))

(defun ticks-begin ()
  "The counter where what is measured begins."
  (if (counter-readable-p) (%ticks-begin) (%ticks-ordered-probe)))

(defun ticks-end ()
  "The counter where what is measured has ended."
  (if (counter-readable-p) (%ticks-end) (%ticks-ordered-probe)))
