package main

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"reflect"

	"github.com/codexctl/codexctl/codex/protocol"
)

//go:embed testdata/stream.jsonl.gz
var recorded []byte

// stream is the recorded stream, and the types that its messages decode into.
type stream struct {
	all, deltas replay
	methods     map[string]int
	types       map[string]reflect.Type
}

// replay is what the second process writes, once or many times.
type replay struct {
	bytes []byte
	lines [][]byte
}

func (r *replay) add(line []byte) {
	r.bytes = append(append(r.bytes, line...), '\n')
	r.lines = append(r.lines, line)
}

const delta = protocol.NotifyItemAgentMessageDelta

func loadStream() (*stream, error) {
	zip, err := gzip.NewReader(bytes.NewReader(recorded))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(zip)
	if err != nil {
		return nil, err
	}
	s := &stream{methods: make(map[string]int), types: make(map[string]reflect.Type)}
	for line := range bytes.Lines(text) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		var m struct {
			Method string
			Params json.RawMessage
		}
		if err := json.Unmarshal(line, &m); err != nil {
			return nil, err
		}
		n, err := protocol.DecodeNotification(m.Method, m.Params)
		if err != nil {
			return nil, err
		}
		if _, unknown := n.(*protocol.UnknownNotification); unknown {
			return nil, fmt.Errorf("unknown method %s in the recorded stream", m.Method)
		}
		s.types[m.Method] = reflect.TypeOf(n).Elem()
		s.methods[m.Method]++
		s.all.add(line)
		if m.Method == delta {
			s.deltas.add(line)
		}
	}
	return s, nil
}

func (r *report) census(s *stream) {
	r.Messages = len(s.all.lines)
	r.BytesPerMessage = float64(len(s.all.bytes)) / float64(r.Messages)
	r.DeltaShare = float64(s.methods[delta]) / float64(r.Messages)
	r.methods = s.methods
}
