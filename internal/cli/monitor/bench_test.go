package monitor

import (
	"fmt"
	"testing"
)

// BenchmarkUpdate measures one key and the next screen, with the most decisions that the
// monitor stores.
func BenchmarkUpdate(b *testing.B) {
	m := Model{}
	for i := range 50 {
		m, _ = m.Update(many(i*100, 100))
	}
	m, _ = m.Update(waiting(1, 1000))
	m, _ = m.Update(Size{80, 24})
	for _, tab := range []string{"1", "2", "3"} {
		b.Run(fmt.Sprint("list ", tab), func(b *testing.B) {
			m, _ := m.Update(Key(tab))
			for b.Loop() {
				m, _ = m.Update(Key("j"))
				_ = m.View()
			}
		})
	}
}
