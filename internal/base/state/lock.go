package state

import (
	"errors"
	"os"
	"time"
)

// ErrBusy is the error of Lock if another process held the lock for the whole wait.
var ErrBusy = errors.New("it is locked by another process")

// OpenLocked opens or creates a file, and takes its lock as [Lock] does. Closing the file
// releases the lock.
func OpenLocked(path string, wait time.Duration) (*os.File, error) {
	f, _, err := Open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	if err := Lock(f, wait); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Lock takes the lock of an open file, and waits for it for at most wait. The system
// releases it when the file is closed or the process ends.
func Lock(f *os.File, wait time.Duration) error {
	end := time.Now().Add(wait)
	for pause := 50 * time.Microsecond; ; pause = min(2*pause, 2*time.Millisecond) {
		ok, err := tryLock(f)
		if ok || err != nil {
			return err
		}
		left := time.Until(end)
		if left <= 0 {
			return ErrBusy
		}
		time.Sleep(min(pause, left))
	}
}
