;;;; SPDX-License-Identifier: MIT
;;;; timeline: converts ticks of the past, by the lines that the daemon kept.

(in-package #:timebase)

(define-foreign %timeline-open "timebase_timeline_open" :int32 (out :address) (folder :address))
(define-foreign %timeline-close "timebase_timeline_close" :void (timeline :address))
(define-foreign %timeline-at "timebase_timeline_at" :int32
  (timeline :address) (boot :address) (ticks :uint64) (out :address))
(define-foreign %timeline-ticks-at-utc "timebase_timeline_ticks_at_utc" :int32
  (timeline :address) (boot :address) (utc-ns :int64) (out :address))
(define-foreign %timeline-set-drawing-on "timebase_timeline_set_drawing_on" :void
  (timeline :address) (drawing-on :int32))
(define-foreign %timeline-boots "timebase_timeline_boots" :int64
  (timeline :address) (out :address) (room :uint64))
(define-foreign %timeline-gaps "timebase_timeline_gaps" :int64
  (timeline :address) (out :address) (room :uint64))
(define-foreign %timeline-damages "timebase_timeline_damages" :int64
  (timeline :address) (out :address) (room :uint64))

(defstruct (timeline (:include held) (:copier nil) (:constructor %make-timeline (address folder)))
  "A folder in which the daemon keeps each line that it has published. For one thread at a time."
  (folder nil))

(document
  timeline-p "True of a TIMELINE."
  timeline-folder "The folder of a TIMELINE.")

(defun open-timeline (folder)
  "The TIMELINE in FOLDER. Signals NOT-FOUND, PERMISSION-DENIED, BAD-FORMAT, OUT-OF-RESOURCES or
INVALID-ARGUMENT. Close it with CLOSE-TIMELINE, or use WITH-TIMELINE."
  (require-library 'open-timeline)
  (with-path (name folder 'open-timeline)
    (with-memory (out 8)
      (checking 'open-timeline (%timeline-open out name) :path folder)
      (%make-timeline (peek :address out 0) folder))))

(defun close-timeline (timeline)
  "Close TIMELINE. Does nothing if it is closed."
  (give-back timeline #'%timeline-close))

(defmacro with-timeline ((timeline folder) &body body)
  "BODY with the TIMELINE in FOLDER, closed afterwards."
  `(let ((,timeline (open-timeline ,folder)))
     (unwind-protect (progn ,@body)
       (close-timeline ,timeline))))

(defmacro with-boot ((address boot operation) &body body)
  "BODY with the ADDRESS of the id BOOT, 16 octets, or 0 if it is NIL."
  `(with-memory (,address 16)
     (let ((,address (poke-boot ,address ,boot ,operation)))
       ,@body)))

(defun poke-boot (address boot operation)
  (cond ((null boot) 0)
        ((/= (length boot) 16)
         (error 'invalid-argument :operation operation :detail "a boot's id has 16 octets"))
        (t (loop for octet across boot for i from 0 do (poke :uint8 address i octet))
           address)))

(defun timeline-at (timeline ticks &key boot)
  "What TICKS meant: an INSTANT. BOOT is a boot's id; without it, whichever boot showed this tick.
Signals TOO-EARLY, TOO-LATE, IN-A-GAP, AMBIGUOUS or NO-BOOT: nothing is guessed."
  (check-number ticks :uint64 timeline-at)
  (with-boot (id boot 'timeline-at)
    (with-memory (out (size-of instant))
      (checking 'timeline-at (%timeline-at (held-by timeline 'timeline-at) id ticks out)
                :path (timeline-folder timeline))
      (read-instant out))))

(defun timeline-ticks-at-utc (timeline utc-ns &key boot)
  "The first tick at which UTC was UTC-NS or later. Signals as TIMELINE-AT does."
  (check-number utc-ns :int64 timeline-ticks-at-utc)
  (with-boot (id boot 'timeline-ticks-at-utc)
    (with-memory (out 8)
      (checking 'timeline-ticks-at-utc
                (%timeline-ticks-at-utc (held-by timeline 'timeline-ticks-at-utc) id utc-ns out)
                :path (timeline-folder timeline))
      (peek :uint64 out 0))))

(defun timeline-draw-on (timeline drawing-on-p)
  "Convert ticks after the end of the newest boot by its last lines, with a bound that grows, or not."
  (%timeline-set-drawing-on (held-by timeline 'timeline-draw-on) (if drawing-on-p 1 0))
  drawing-on-p)

(defun all-of (ask size read)
  "What ASK, with an address and room for so many, stores there: a list of what READ makes of each."
  (let* ((count (checking 'timeline (funcall ask 0 0)))
         (memory (allocate (* 64 (ceiling (* (1+ count) size) 64)))))
    (unwind-protect
         (loop for i below (min count (checking 'timeline (funcall ask memory count)))
               collect (funcall read (+ memory (* i size))))
      (%free memory))))

(defmacro define-timeline-list (name foreign structure reader documentation)
  `(defun ,name (timeline)
     ,documentation
     (let ((address (held-by timeline ',name)))
       (all-of (lambda (memory room) (,foreign address memory room)) (size-of ,structure)
               (lambda (address) (,reader address))))))

(define-timeline-list timeline-boots %timeline-boots timeline-boot read-timeline-boot
  "What TIMELINE holds, oldest first: a list of TIMELINE-BOOT.")
(define-timeline-list timeline-gaps %timeline-gaps timeline-gap read-timeline-gap
  "Stretches of ticks for which TIMELINE has no line, oldest first: a list of TIMELINE-GAP.")
(define-timeline-list timeline-damages %timeline-damages timeline-damage read-timeline-damage
  "Bytes of TIMELINE's files that are no record: a list of TIMELINE-DAMAGE.")
