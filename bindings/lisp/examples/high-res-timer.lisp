;;;; SPDX-License-Identifier: MIT
;;;; high-res-timer: the programs of the thread "high res timer for CCL" (Openmcl-devel, December
;;;; 2008). #_mach_absolute_time was a foreign call that read a page which the kernel keeps; its place
;;;; takes a reading that is compiled in, of a page in memory, too.

(declaim (inline mach-absolute-time))
(defun mach-absolute-time () (timebase:mono-ns))

;; "One curious thing is that the timer function is called 4 times": the test of the message, as it
;; stood. It got 341, 146, 140 in 32 bits, and 1995, 1809, 1795 in 64.
(defun test ()
  (let (t1 t2 t3 t4)
    (setq t1 (mach-absolute-time))
    (setq t2 (mach-absolute-time))
    (setq t3 (mach-absolute-time))
    (setq t4 (mach-absolute-time))
    (format t "~%t2-t1=~A, t3-t2=~A, t4-t3=~A" (- t2 t1) (- t3 t2) (- t4 t3))))

(test)
(test)

;; "By inserting the code to be measured between t3 and t4 one can estimate the time it takes to be
;; (t4 - t3) - (t3 - t2), and ignoring t1."
(defmacro ns-timer (form)
  `(let (t1 t2 t3 t4)
     (setq t1 (mach-absolute-time))
     (setq t2 (mach-absolute-time))
     (setq t3 (mach-absolute-time))
     ,form
     (setq t4 (mach-absolute-time))
     (values (- (- t4 t3) (- t3 t2)) t1)))

(defvar *sorted* '())
(defvar *list* (loop for i below 1000 collect (mod (* i 7919) 1000)))

(format t "~%sorted in ~a ns" (ns-timer (setf *sorted* (sort (copy-list *list*) #'<))))

;; The same by one macro, in ticks of the counter instead of nanoseconds, hence finer.
(format t "~%sorted in ~,1f ns~%" (timebase:four-readings (setf *sorted* (sort (copy-list *list*) #'<))))

;; What the thread is about: the cost of a foreign call, beside that of a compiled reading.
(timebase:print-reading-costs)
