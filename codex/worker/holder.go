package worker

import (
	"os"
	"path/filepath"
	"time"

	"github.com/codexctl/codexctl/codex"
)

// Holder is the process that has an identity, as it noted itself when it took it:
// before it started Codex, and before it listens.
type Holder struct {
	Process codex.ProcessID
	Socket  string    // its control socket, also while it does not listen yet; "" none
	Since   time.Time // when it took the identity
}

// ReadHolder finds the live process that has the identity of a directory (see
// [IdentityDir]). It reads no journal and takes no lock. With none, and while one
// is just noting itself, the process is zero.
func ReadHolder(dir string) Holder {
	note, err := readNote(dir, ownerFile)
	if err != nil || !note.Process.Alive() {
		return Holder{}
	}
	info, err := os.Stat(filepath.Join(dir, ownerFile))
	if err != nil {
		return Holder{}
	}
	return Holder{Process: note.Process, Socket: note.Socket, Since: info.ModTime()}
}
