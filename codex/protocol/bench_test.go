package protocol

import (
	stdjson "encoding/json"
	"testing"
)

var delta = []byte(`{"threadId":"0199d0c4-2ad1-7c01-9c5e-0c5b0a9f2f6a","turnId":"0199d0c4-2ad1-7c01-9c5e-0c5b0a9f2f6b","itemId":"msg_0199d0c42ad17c019c5e","delta":"some words of an answer and more.."}`)

func BenchmarkDelta(b *testing.B) {
	b.Run("valid", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			stdjson.Valid(delta)
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := DecodeNotification(NotifyItemAgentMessageDelta, delta); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("skip", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c := cursor{text: delta}
			c.skip()
		}
	})
}
