package render

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// page collects lines of text no wider than the terminal.
type page struct {
	strings.Builder
	width int
	color bool
}

// The styles of a terminal, as the parameter of its escape sequence.
const (
	bold   = "1"
	red    = "1;31"
	yellow = "1;33"
	cyan   = "36"
	dim    = "2"
)

// paint puts text into a style where the reader wants colours.
func (p *page) paint(style, text string) string {
	if !p.color || style == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

func (p *page) line(text string) {
	p.WriteString(strings.TrimRight(text, " "))
	p.WriteByte('\n')
}

// entry writes a label and, beside it, text wrapped at the width:
//
//	label     the text goes on
//	          below itself
func (p *page) entry(indent, labelWidth int, label, text string) {
	p.lines(indent, labelWidth, label, wrap(text, p.width-indent-labelWidth))
}

// whole writes a label and text that stays on one line however long it is, so
// that it can be copied.
func (p *page) whole(indent, labelWidth int, label, text string) {
	p.lines(indent, labelWidth, label, []string{clean(text)})
}

func (p *page) lines(indent, labelWidth int, label string, lines []string) {
	for i, text := range lines {
		if i > 0 {
			label = ""
		}
		p.line(strings.Repeat(" ", indent) + p.paint(dim, label) + pad(label, labelWidth) + text)
	}
}

// pad returns the spaces that bring text to the width.
func pad(text string, width int) string {
	return strings.Repeat(" ", max(0, width-columns(text)))
}

func columns(text string) int { return utf8.RuneCountInString(text) }

// wrap breaks text between words. A word longer than the width stands on a line
// of its own.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(clean(text)) {
		switch {
		case line == "":
			line = word
		case columns(line)+1+columns(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// clean replaces what would move the cursor or change colours: names of files
// and private data of a connection are anybody's bytes.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsControl(r), r == utf8.RuneError, unicode.Is(unicode.Bidi_Control, r):
			return '?'
		}
		return r
	}, text)
}
