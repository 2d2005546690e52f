package archives

import (
	"context"
	"os"
	"time"

	"cardea.dev/internal/disk"
	"cardea.dev/internal/scan"
)

// soon is how long git may take.
const soon = 20 * time.Millisecond

var _ = disk.RegisterDiffers(func(dir, revision string) ([]string, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	names, err := scan.Differs(ctx, dir, os.Environ(), revision)
	return names, err == nil
})
