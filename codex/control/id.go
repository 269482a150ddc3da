package control

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// NewID makes an id for a command that no other has: a UUID of version 7, which
// begins with the time. When its result is not kept any more it is known to be too
// old, and refused rather than carried out again.
func NewID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	ms := time.Now().UnixMilli()
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	b[6] = b[6]&0x0f | 0x70
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// idTime is when an id was made, if it is a UUID of version 7 in lower case.
func idTime(id string) (made time.Time, ok bool) {
	if len(id) != 36 || id[8] != '-' || id[13] != '-' || id[14] != '7' || id[18] != '-' || id[23] != '-' || strings.ToLower(id) != id {
		return time.Time{}, false
	}
	b, err := hex.DecodeString(strings.ReplaceAll(id, "-", ""))
	if err != nil || len(b) != 16 || b[8]&0xc0 != 0x80 {
		return time.Time{}, false
	}
	var ms int64
	for _, v := range b[:6] {
		ms = ms<<8 | int64(v)
	}
	return time.UnixMilli(ms), true
}
