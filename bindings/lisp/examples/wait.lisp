;;;; SPDX-License-Identifier: MIT
;;;; wait: begin at an instant, and see how well that went.

(defun median (numbers)
  (elt (sort (copy-list numbers) #'<) (floor (length numbers) 2)))

(defun try-waits (waiter name &rest flags)
  (let ((errors (loop repeat 50
                      for result = (apply #'timebase:wait-until-mono waiter
                                          (+ (timebase:mono-ns) 500000) flags)
                      unless (timebase:wait-result-disturbances result)
                        collect (timebase:wait-result-error-ns result))))
    (when errors
      (format t "~12a ~8,1f ns, ~d of 50 undisturbed~%" name (median errors) (length errors)))))

;; What the kernel refuses is left as it was; the waits are less punctual then. All of it is given
;; back at the end. A Lisp's heap is large: its memory is not locked here.
(timebase:with-realtime (realtime :settings '(:affinity :scheduler :timer-slack :cpu-latency))
  (loop for (nil name nil advice) in (timebase:realtime-refusals realtime)
        do (format t "no ~a. ~a~%" name advice))
  (timebase:with-waiter (waiter)
    (let ((learnt (timebase:describe-waiter waiter)))
      (format t "waits end by: ~a, in steps of ~,2f ns~%"
              (timebase:mechanism-name (timebase:waiter-description-mechanism learnt))
              (timebase:waiter-description-instruction-ns learnt)))
    (try-waits waiter "plain" :plain)
    (try-waits waiter "exact")
    (try-waits waiter "never early" :never-early)
    (try-waits waiter "sleeping" :sleep :prepare)

    ;; A tenth of a second of UTC that is about to begin. Lisp's next form comes a little later.
    (let* ((tenth (* 100000000 (1+ (floor (timebase:utc-ns) 100000000))))
           (result (timebase:wait-until-utc waiter tenth :sleep)))
      (format t "~,1f ns from the full tenth of a second~%"
              (timebase:wait-result-error-ns result)))))
