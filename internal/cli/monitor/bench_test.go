package monitor

import (
	"fmt"
	"testing"
)

// BenchmarkUpdate is one key, and the screen after it, with all that the monitor keeps.
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
