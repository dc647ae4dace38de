package report

import (
	"fmt"
	"reflect"
	"slices"
)

// flowPlan says for each column of a flow how it adds.
var flowPlan = planOf(reflect.TypeFor[Flow]())

// plan adds one struct to another, column by column.
type plan []column

type column struct {
	field int
	add   func(sum, v reflect.Value) // sum can be set
}

// adders are the ways to add that the tag merge can name. What names the row is
// equal in both, and the peer needs two columns at once: Flow.add takes it.
var adders = map[string]func(sum, v reflect.Value){
	"key":  nil,
	"peer": nil,
	"sum":  func(sum, v reflect.Value) { sum.SetInt(sum.Int() + v.Int()) },
	"min":  func(sum, v reflect.Value) { sum.SetInt(min(sum.Int(), v.Int())) },
	"max":  func(sum, v reflect.Value) { sum.SetInt(max(sum.Int(), v.Int())) },
	"union": func(sum, v reflect.Value) {
		list := sum.Addr().Interface().(*[]uint16)
		*list = ascending(slices.Concat(*list, v.Interface().([]uint16)))
	},
	"hist": func(sum, v reflect.Value) {
		sum.Addr().Interface().(*Hist).Merge(v.Addr().Interface().(*Hist))
	},
	"evidence": func(sum, v reflect.Value) {
		list := sum.Addr().Interface().(*[]Evidence)
		*list = addEvidence(*list, v.Interface().([]Evidence))
	},
}

// planOf reads the tags of a struct. A field without one is a mistake in this
// package and panics.
func planOf(t reflect.Type) plan {
	var p plan
	for i := range t.NumField() {
		f := t.Field(i)
		add, ok := adders[f.Tag.Get("merge")]
		if !ok {
			panic(fmt.Sprintf("report: %s.%s does not say how it merges", t.Name(), f.Name))
		}
		if add != nil {
			p = append(p, column{i, add})
		}
	}
	return p
}

// add adds a row to another of the same flow.
func (p plan) add(sum, f *Flow) {
	addPeer(sum, f)
	to, from := reflect.ValueOf(sum).Elem(), reflect.ValueOf(f).Elem()
	for _, c := range p {
		c.add(to.Field(c.field), from.Field(c.field))
	}
}

// addTotals adds every counter of v; Totals holds nothing else.
func addTotals(sum, v *Totals) {
	to, from := reflect.ValueOf(sum).Elem(), reflect.ValueOf(v).Elem()
	for i := range to.NumField() {
		to.Field(i).SetInt(to.Field(i).Int() + from.Field(i).Int())
	}
}
