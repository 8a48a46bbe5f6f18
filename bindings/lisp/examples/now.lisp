;;;; SPDX-License-Identifier: MIT
;;;; now: what time is it, and how sure is that?

(defun print-utc (utc-ns)
  (multiple-value-bind (universal ns) (timebase:universal-time-of-utc-ns utc-ns)
    (multiple-value-bind (second minute hour day month year) (decode-universal-time universal 0)
      (format t "UTC        ~d-~2,'0d-~2,'0dT~2,'0d:~2,'0d:~2,'0d.~9,'0d~%"
              year month day hour minute second ns))))

;; The short way: a number.
(format t "ns since 1970-01-01: ~d~%~%" (timebase:utc-ns))

;; The long way: one tick of the counter, and everything it says.
(let ((now (timebase:now)))
  (print-utc (timebase:instant-utc-ns now))
  (format t "           +/- ~d ns from the system clock~%" (timebase:instant-maxerror-ns now))
  (format t "           +/- ~d ns from true UTC, as the system clock says of itself~%"
          (timebase:instant-utc-maxerror-ns now))
  (format t "monotonic  ~d ns since boot~%" (timebase:instant-mono-ns now))
  (if (timebase:instant-tai-valid-p now)
      (format t "TAI        ~d ns~%" (timebase:instant-tai-ns now))
      (format t "TAI        unknown: nobody has told the kernel the number of leap seconds~%"))
  (format t "counter    ~a, tick ~d~%" (timebase:counter-name (timebase:current-counter))
          (timebase:instant-ticks now))
  (format t "status     ~a~%" (timebase:status-name (timebase:instant-status now))))

;; Only this status makes the second bound a promise, and only where it is no estimate.
(let ((now (timebase:now)))
  (when (and (eq (timebase:instant-status now) :synchronized)
             (not (timebase:instant-estimate-p now)))
    (format t "true UTC lies within ~d ns~%" (* 2 (timebase:instant-utc-maxerror-ns now)))))
