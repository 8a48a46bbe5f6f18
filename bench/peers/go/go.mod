module timebase/bench/peers

go 1.19

require github.com/templexxx/tsc v1.2.2

require github.com/templexxx/cpu v0.0.8-0.20200904080713-862a179c181c // indirect
