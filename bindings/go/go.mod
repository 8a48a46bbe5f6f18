module timebase.example/timebase

go 1.19
