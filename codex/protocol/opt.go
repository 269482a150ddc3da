package protocol

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Opt is a member that may be absent, null or a value, where Codex tells the
// three apart: absent keeps what is stored, null clears it, a value sets it.
// The zero Opt is absent. Fields of this type carry omitzero, so an absent one
// is not written; an absent Opt that is written anyway, in a list or on its
// own, is null.
type Opt[T any] struct {
	state optState
	value T
}

type optState uint8

const (
	optAbsent optState = iota
	optNull
	optValue
)

// Some returns an Opt that holds v.
func Some[T any](v T) Opt[T] { return Opt[T]{state: optValue, value: v} }

// Null returns an Opt that is null.
func Null[T any]() Opt[T] { return Opt[T]{state: optNull} }

// Get returns the value and true, or the zero T and false when there is none.
func (o Opt[T]) Get() (T, bool) { return o.value, o.state == optValue }

// Or returns the value, or fallback when there is none.
func (o Opt[T]) Or(fallback T) T {
	if o.state == optValue {
		return o.value
	}
	return fallback
}

// IsNull reports whether o is null.
func (o Opt[T]) IsNull() bool { return o.state == optNull }

// IsAbsent reports whether o is absent.
func (o Opt[T]) IsAbsent() bool { return o.state == optAbsent }

// IsZero reports whether o is absent. Both JSON libraries ask it for omitzero.
func (o Opt[T]) IsZero() bool { return o.state == optAbsent }

// MarshalJSONTo writes the value, or null.
func (o Opt[T]) MarshalJSONTo(enc *jsontext.Encoder) error {
	if o.state != optValue {
		return enc.WriteToken(jsontext.Null)
	}
	return json.MarshalEncode(enc, &o.value)
}

// UnmarshalJSONFrom reads a value or null.
func (o *Opt[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == 'n' {
		*o = Null[T]()
		_, err := dec.ReadToken()
		return err
	}
	var v T
	if err := json.UnmarshalDecode(dec, &v); err != nil {
		return err
	}
	*o = Some(v)
	return nil
}

// MarshalJSON is MarshalJSONTo for encoding/json.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	if o.state != optValue {
		return []byte("null"), nil
	}
	return json.Marshal(&o.value, jsontext.AllowDuplicateNames(true))
}

// UnmarshalJSON is UnmarshalJSONFrom for encoding/json.
func (o *Opt[T]) UnmarshalJSON(raw []byte) error {
	if bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		*o = Null[T]()
		return nil
	}
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	*o = Some(v)
	return nil
}
