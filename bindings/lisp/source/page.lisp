;;;; SPDX-License-Identifier: MIT
;;;; page: a page by itself, such as a copy that was kept to convert the ticks of a log.

(in-package #:timebase)

(define-foreign %page-validate "timebase_page_validate" :int32 (page :address))
(define-foreign %page-convert "timebase_page_convert" :int32
  (page :address) (ticks :uint64) (out :address))
(define-foreign %page-ticks-at-mono "timebase_page_ticks_at_mono" :int32
  (page :address) (target-ns :int64) (out :address))
(define-foreign %page-ticks-at-utc "timebase_page_ticks_at_utc" :int32
  (page :address) (target-ns :int64) (out :address))

(defstruct (page (:include held) (:copier nil) (:constructor %make-page (address)))
  "640 bytes that say what a tick means, in memory of C.")

(document
  page-p "True of a PAGE.")

(defun make-page (octets)
  "A PAGE of OCTETS, 640 as a rule, such as a copy of a daemon's file. Fewer are filled up with zeros,
which PAGE-VALIDATE refuses. Give it back with FREE-PAGE, or use WITH-PAGE."
  (let ((address (allocate (size-of page))))
    (loop for octet across octets
          for offset below (size-of page)
          do (poke :uint8 address offset octet))
    (%make-page address)))

(defun read-octets (path)
  "The octets of the file PATH, no more than a page has."
  (with-open-file (file path :element-type '(unsigned-byte 8) :if-does-not-exist nil)
    (unless file
      (error 'not-found :operation 'with-page :path path))
    (let ((octets (make-array (min (file-length file) (size-of page))
                              :element-type '(unsigned-byte 8))))
      (subseq octets 0 (read-sequence octets file)))))

(defun free-page (page)
  "Give the memory of PAGE back."
  (give-back page #'%free))

(defmacro with-page ((page octets-or-path) &body body)
  "BODY with a PAGE of octets, or of the file with this path; given back afterwards. A page that cannot
be read is refused as PAGE-VALIDATE does."
  `(let ((,page (octets-or-file-page ,octets-or-path)))
     (unwind-protect (progn (page-validate ,page) ,@body)
       (free-page ,page))))

(defun octets-or-file-page (source)
  (make-page (if (or (stringp source) (pathnamep source)) (read-octets source) source)))

(defun page-validate (page)
  "PAGE, if this library can read it; signals BAD-FORMAT, UNSUPPORTED, STALE (no lines yet) or TORN."
  (checking 'page-validate (%page-validate (held-by page 'page-validate)))
  page)

(defun read-page-at (address ticks into)
  (with-memory (out (size-of instant))
    (if (logtest 255 (%page-convert address ticks out))
        (read-instant out into)
        nil)))

(defun page-at (page ticks &optional (into (make-instant)))
  "Everything that TICKS says by the lines of PAGE, however far from them: an INSTANT. NIL if the page
has no lines."
  (check-number ticks :uint64 page-at)
  (read-page-at (held-by page 'page-at) ticks into))

(defun page-now (page &optional (into (make-instant)))
  "What the counter and PAGE say now: an INSTANT. NIL if the page has no line for now, or changed
meanwhile: ask again, or go on with PAGE-AT."
  (read-page-now (held-by page 'page-now) into))

(defmacro define-page-inverse (name foreign documentation)
  `(defun ,name (page target-ns)
     ,documentation
     (check-number target-ns :int64 ,name)
     (with-memory (out 8)
       (if (logtest 255 (,foreign (held-by page ',name) target-ns out))
           (peek :uint64 out 0)
           nil))))

(define-page-inverse page-ticks-at-mono %page-ticks-at-mono
  "The first tick at which the monotonic time of PAGE is TARGET-NS or later; NIL without lines.")

(define-page-inverse page-ticks-at-utc %page-ticks-at-utc
  "The first tick at which the UTC of PAGE is TARGET-NS or later; NIL without lines.")
