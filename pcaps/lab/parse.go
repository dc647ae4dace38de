package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// keywords are the lines that a scenario may have, each with what understands it.
var keywords = map[string]func(*scenario, []string) error{
	"about":  (*scenario).setAbout,
	"net":    (*scenario).setNet,
	"mtu":    func(s *scenario, w []string) (err error) { s.MTU, err = number(w, 576, 9000); return err },
	"vlan":   func(s *scenario, w []string) (err error) { s.VLAN, err = number(w, 1, 4094); return err },
	"mirror": (*scenario).setMirror,
	"filter": (*scenario).setFilter,
	"tap":    (*scenario).addTaps,
	"sample": (*scenario).setSample,
	"fault":  (*scenario).addFault,
	"run":    (*scenario).addProgram,
	"beside": (*scenario).addProgram,
	"before": (*scenario).addProgram,
}

// A parser goes through the lines of a file of scenarios.
type parser struct {
	file string
	line int
	all  []*scenario
}

// parse reads scenarios. An error names the line.
func parse(file, text string) ([]*scenario, error) {
	p := &parser{file: file}
	for line := range strings.Lines(text) {
		p.line++
		if err := p.take(strings.TrimRight(line, "\n")); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, p.line, err)
		}
	}
	if err := p.end(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", file, p.line, err)
	}
	return p.all, nil
}

func (p *parser) take(line string) error {
	words := strings.Fields(line)
	switch {
	case len(words) == 0 || words[0][0] == '#':
		return nil
	case words[0] == "scenario":
		return p.begin(line, words[1:])
	case len(p.all) == 0:
		return fmt.Errorf("%q stands before the first scenario", words[0])
	}
	understand, ok := keywords[words[0]]
	if !ok {
		return fmt.Errorf("there is no keyword %q", words[0])
	}
	s := p.all[len(p.all)-1]
	s.Lines = append(s.Lines, strings.TrimSpace(line))
	if err := understand(s, words); err != nil {
		return fmt.Errorf("%s: %w", words[0], err)
	}
	return nil
}

var kebab = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func (p *parser) begin(line string, words []string) error {
	if err := p.end(); err != nil {
		return err
	}
	if len(words) != 1 || !kebab.MatchString(words[0]) {
		return fmt.Errorf("a scenario has one name, as loss-switch")
	}
	if slices.ContainsFunc(p.all, func(s *scenario) bool { return s.Name == words[0] }) {
		return fmt.Errorf("there are two scenarios %s", words[0])
	}
	p.all = append(p.all, &scenario{Name: words[0], Lines: []string{line}, MTU: 4200, Net: network{Hosts: 2}})
	return nil
}

// end checks the scenario that ends here.
func (p *parser) end() error {
	if len(p.all) == 0 {
		return nil
	}
	s := p.all[len(p.all)-1]
	switch {
	case s.About == "":
		return fmt.Errorf("scenario %s does not say what it is about", s.Name)
	case s.VLAN != 0 && s.Net.LeafSpine:
		return fmt.Errorf("scenario %s has a vlan, and its leaves are routers", s.Name)
	case len(s.Taps) == 0:
		return fmt.Errorf("scenario %s has no tap", s.Name)
	case len(s.Runs) == 0:
		return fmt.Errorf("scenario %s runs nothing", s.Name)
	}
	return nil
}
