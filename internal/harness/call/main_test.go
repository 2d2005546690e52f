package call_test

import (
	"os"
	"testing"

	"cardea.dev/internal/testing/testrun"
)

func TestMain(m *testing.M) { os.Exit(testrun.InMemory(m)) }
