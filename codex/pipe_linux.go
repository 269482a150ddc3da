package codex

// atomicWrite is PIPE_BUF: so many bytes go into a pipe in one piece.
const atomicWrite = 4096
