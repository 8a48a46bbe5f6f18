// The project has no public address yet, and a module's path is one. `example` is a domain that nobody
// can have (RFC 2606), so this is nobody's: a clone takes its place (docs/guide/go.md).
module timebase.example/timebase

go 1.19
