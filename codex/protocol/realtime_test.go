package protocol_test

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/codexctl/codexctl/codex/codextest"
	"github.com/codexctl/codexctl/codex/protocol"
)

// provokeByVoice plays OpenAI's realtime service: Codex looks for it at the
// model provider's address, over a WebSocket, and wants an API key for it.
func provokeByVoice(t *testing.T, j *judge) {
	server := httptest.NewServer(http.HandlerFunc(realtimeService))
	defer server.Close()
	home, err := codextest.NewHome(t.TempDir(), server.URL+"/v1", codextest.HomeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := startAppServer(t, home, j)
	s.initialize()
	s.must("account/login/start", `{"type":"apiKey","apiKey":"none"}`)
	thread := s.thread(`{}`)

	s.must("thread/realtime/start", fmt.Sprintf(`{"threadId":%q,"outputModality":"audio"}`, thread))
	s.until(s.until(0, protocol.NotifyThreadRealtimeTranscriptDone), protocol.NotifyThreadRealtimeTranscriptDone)
	s.must("thread/realtime/stop", fmt.Sprintf(`{"threadId":%q}`, thread))
	closed := s.until(0, protocol.NotifyThreadRealtimeClosed)
	s.must("thread/timeline/list", fmt.Sprintf(`{"threadId":%q}`, thread))

	s.must("thread/realtime/start", fmt.Sprintf(`{"threadId":%q,"outputModality":"audio","transport":{"type":"webrtc","sdp":"v=0\r\n"}}`, thread))
	s.until(closed, protocol.NotifyThreadRealtimeSdp)
	s.must("thread/realtime/stop", fmt.Sprintf(`{"threadId":%q}`, thread))
	s.until(closed, protocol.NotifyThreadRealtimeClosed)
}

// realtimeEvents are what the service says once Codex has described the session.
var realtimeEvents = []string{
	`{"type":"session.updated","session":{"id":"s","type":"realtime","instructions":"x"}}`,
	`{"type":"conversation.item.added","item":{"id":"i1","type":"message","role":"assistant","content":[]}}`,
	`{"type":"response.created","response":{"id":"r"}}`,
	`{"type":"response.output_audio.delta","response_id":"r","item_id":"i1","delta":"AAAA"}`,
	`{"type":"response.output_audio_transcript.delta","response_id":"r","item_id":"i1","delta":"hel"}`,
	`{"type":"response.output_audio_transcript.done","response_id":"r","item_id":"i1","transcript":"hello"}`,
	`{"type":"conversation.item.input_audio_transcription.delta","item_id":"i0","delta":"hi"}`,
	`{"type":"conversation.item.input_audio_transcription.completed","item_id":"i0","transcript":"hi there"}`,
	`{"type":"response.done","response":{"id":"r","status":"completed"}}`,
}

func realtimeService(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Header.Get("Upgrade") == "websocket":
		conn, buffer, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		sum := sha1.Sum([]byte(r.Header.Get("Sec-Websocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
		fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n", base64.StdEncoding.EncodeToString(sum[:]))
		for said := false; skipFrame(buffer.Reader) == nil; said = true {
			for _, event := range realtimeEvents {
				if !said && writeFrame(conn, event) != nil {
					return
				}
			}
		}
	case r.Method == http.MethodPost:
		w.Header().Set("Location", "/v1/realtime/calls/rtc_1")
		w.Header().Set("Content-Type", "application/sdp")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, "v=0\r\n")
	default:
		http.NotFound(w, r)
	}
}

// skipFrame reads a frame of the client's and forgets it; a close frame is an end.
func skipFrame(r *bufio.Reader) error {
	head := make([]byte, 2)
	if _, err := io.ReadFull(r, head); err != nil {
		return err
	}
	if head[0]&0x0f == 8 {
		return io.EOF
	}
	length := int64(head[1] & 0x7f)
	for code, size := range map[int64]int{126: 2, 127: 8} {
		if length == code {
			extended := make([]byte, 8)
			if _, err := io.ReadFull(r, extended[8-size:]); err != nil {
				return err
			}
			length = int64(binary.BigEndian.Uint64(extended))
			break
		}
	}
	_, err := io.CopyN(io.Discard, r, length+4) // the mask and the text
	return err
}

func writeFrame(w io.Writer, text string) error {
	frame := []byte{0x81, 126, 0, 0}
	binary.BigEndian.PutUint16(frame[2:], uint16(len(text)))
	_, err := w.Write(append(frame, text...))
	return err
}
