module timebase.example/timebase/cost

go 1.19

require (
	github.com/templexxx/tsc v1.2.2
	timebase.example/timebase v0.0.0
)

require github.com/templexxx/cpu v0.0.8-0.20200904080713-862a179c181c // indirect

replace timebase.example/timebase => ../
