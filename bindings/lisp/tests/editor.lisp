;;;; SPDX-License-Identifier: MIT
;;;; editor: a real Swank server, driven over its socket as Emacs drives it: evaluate, compile, look
;;;; at the documentation, choose a restart in the debugger.

(in-package #:timebase-test)

(defun server-forms (port-file)
  (list (format nil "(load ~s)" (namestring (asdf:system-relative-pathname
                                             "timebase" "tests/prepare.lisp")))
        "(asdf:load-system \"swank\")"
        "(asdf:load-system \"timebase\")"
        (format nil "(with-open-file (file ~s :direction :output)
                       (print (swank:create-server :port 0 :dont-close t) file))"
                port-file)
        ;; It is terminated long before; but if these tests are killed, nobody else ends it.
        "(sleep 600)" "(sb-ext:exit :abort t)"))

(defun launch-server (port-file)
  (uiop:launch-program
   (append (list "sbcl" "--noinform" "--no-sysinit" "--no-userinit" "--disable-debugger")
           (loop for form in (server-forms port-file) append (list "--eval" form)))
   :output nil :error-output nil))

(defun server-port (port-file process)
  (loop
    (check (uiop:process-alive-p process) "the server has ended")
    (let ((port (ignore-errors (with-open-file (file port-file) (read file)))))
      (when (integerp port) (return port)))
    (sleep 0.05)))

(defun connect (port)
  (let ((socket (make-instance 'sb-bsd-sockets:inet-socket :type :stream :protocol :tcp)))
    (sb-bsd-sockets:socket-connect socket #(127 0 0 1) port)
    (sb-bsd-sockets:socket-make-stream socket :input t :output t :element-type '(unsigned-byte 8))))

(defun send (text stream)
  "A message of Swank: six hexadecimal digits of its length, and the form."
  (let ((octets (sb-ext:string-to-octets text :external-format :utf-8)))
    (write-sequence (sb-ext:string-to-octets (format nil "~6,'0x" (length octets))) stream)
    (write-sequence octets stream)
    (finish-output stream)))

(defun receive (stream)
  "The next message, as text."
  (flet ((octets (count)
           (let ((octets (make-array count :element-type '(unsigned-byte 8))))
             (check (= count (read-sequence octets stream)) "the server has closed")
             (sb-ext:octets-to-string octets :external-format :utf-8))))
    (octets (parse-integer (octets 6) :radix 16))))

(defvar *request* 0)

(defun request (text stream &optional (thread "t"))
  "Send the form in TEXT and return its number."
  (let ((message (format nil "(:emacs-rex ~a \"COMMON-LISP-USER\" ~a ~d)" text thread
                         (incf *request*))))
    (send message stream)
    *request*))

(defun await (prefix stream)
  "The next message that begins with PREFIX."
  (loop for message = (receive stream)
        when (eql 0 (search prefix message :test #'char-equal)) return message))

(defun answer (text stream &optional (thread "t"))
  "What Swank answers to the form in TEXT."
  (let* ((number (request text stream thread))
         (message (await "(:return" stream)))
    (check (search (format nil " ~d)" number) message) "~a" message)
    message))

(defun evaluated (form stream)
  (answer (format nil "(swank:eval-and-grab-output ~s)" form) stream))

(defmacro with-editor ((stream) &body body)
  "BODY with the STREAM of a connection to a server in another process."
  `(let* ((port-file (format nil "~a/port-~a" (environment "TIMEBASE_SCRATCH")
                             (timebase:ticks-os)))
          (process (launch-server port-file))
          (,stream nil))
     (unwind-protect
          (progn
            (setf ,stream (connect (server-port port-file process)))
            ,@body)
       (when ,stream (ignore-errors (close ,stream)))
       ;; By SIGKILL. At SIGTERM SBCL ends its threads where they are, and if one of them is in the
       ;; dynamic loader, the C library's exit() waits for the loader's lock for ever.
       (uiop:terminate-process process :urgent t)
       (uiop:wait-process process))))

(defun digits-in (text)
  (let ((start (position-if #'digit-char-p text)))
    (check start "no number in ~a" text)
    (parse-integer text :start start :junk-allowed t)))

(deftest an-editor-reads-the-clock ()
  (with-editor (stream)
    (check (search ":ok" (answer "(swank:connection-info)" stream)))
    (let* ((before (timebase:utc-ns))
           (said (evaluated "(timebase:utc-ns)" stream))
           (then (digits-in (subseq said (search ":ok" said)))))
      ;; The two private clocks agree to their bounds: within the same second by far.
      (check (< (- before 1000000000) then (+ (timebase:utc-ns) 1000000000)) "~a" said))
    (check (search "median" (evaluated
                             "(let ((*trace-output* *standard-output*)) (timebase:bench (timebase:utc-ns)))"
                             stream)))
    (check (search ":ok" (answer "(swank:compile-string-for-emacs \"(defun stamp () (timebase:with-stopwatch (s) (timebase:elapsed-ns s)))\" \"buffer\" '((:position 1)) nil nil)" stream)))
    (check (search ":ok" (evaluated "(stamp)" stream)))
    (check (search "clock" (answer "(swank:operator-arglist \"timebase:utc-ns\" \"CL-USER\")" stream)
                   :test #'char-equal))
    (check (search "Nanoseconds since 1970"
                   (answer "(swank:documentation-symbol \"timebase:utc-ns\")" stream)))
    (check (search "with-stopwatch"
                   (answer "(swank:simple-completions \"timebase:with-st\" \"CL-USER\")" stream)))))

(defun restart-number (name message)
  "The position of the restart NAME in a :debug MESSAGE: (:debug thread level condition restarts ...)."
  (let* ((*read-eval* nil)
         (restarts (fifth (let ((*package* (find-package "KEYWORD"))) (read-from-string message)))))
    (check (>= (length restarts) 4))
    (position name restarts :test #'string-equal :key #'first)))

(deftest an-editor-s-debugger-offers-the-restarts ()
  (with-editor (stream)
    (progn
      (request "(swank:eval-and-grab-output \"(timebase:clock-kind (timebase:attach \\\"/none/at/all\\\"))\")"
               stream)
      (let* ((message (await "(:debug " stream))
             (thread (princ-to-string (second (let ((*package* (find-package "KEYWORD")))
                                                (read-from-string message))))))
        (check (search "attach /none/at/all" message))
        (check (search "Start the daemon" message))
        (check (restart-number "retry" message))
        (check (restart-number "use-page" message))
        (check (restart-number "use-implementation-clock" message))
        (await "(:debug-activate" stream)
        (request (format nil "(swank:invoke-nth-restart-for-emacs 1 ~d)"
                         (restart-number "use-private-clock" message))
                 stream thread)
        (check (search ":private" (await "(:return (:ok" stream) :test #'char-equal))))))
