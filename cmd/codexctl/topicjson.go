package main

const topicJSON = `With --json a command prints one JSON object a line on standard output.

goal and demo print events, as the control wire has them: every line has "format",
"seq" (from 1, one more with each line), "run" and "event", and the fields of that
event beside them. version prints one object.`
