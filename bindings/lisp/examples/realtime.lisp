;;;; SPDX-License-Identifier: MIT
;;;; realtime: what does the kernel grant a punctual thread, and what is to be done about the rest?

(timebase:with-realtime (realtime :settings '(:affinity :scheduler :timer-slack :cpu-latency))
  (dolist (setting (timebase:realtime-granted realtime))
    (format t "granted  ~a~%" (timebase:realtime-name setting)))
  (loop for (nil name errno advice) in (timebase:realtime-refusals realtime)
        do (format t "refused  ~a: errno ~d~%         ~a~%" name errno advice))
  ;; ... the punctual part: whatever was refused, it runs, only less punctually ...
  )
(format t "given back~%")
