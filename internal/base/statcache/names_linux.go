package statcache

import (
	"errors"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// stamp is the metadata of a folder. The zero value means that there is no folder.
type stamp struct {
	device, inode, links uint64
	mode, owner, group   uint32
	size                 int64
	modified, changed    int64 // in nanoseconds
}

func stampFrom(at *unix.Stat_t) stamp {
	return stamp{uint64(at.Dev), at.Ino, uint64(at.Nlink), at.Mode, at.Uid, at.Gid, at.Size, at.Mtim.Nano(), at.Ctim.Nano()}
}

// stampOf returns the stamp of the folder at a path, with links followed.
func stampOf(dir string) stamp {
	var at unix.Stat_t
	if again(func() error { return unix.Stat(dir, &at) }) != nil || at.Mode&unix.S_IFMT != unix.S_IFDIR {
		return stamp{}
	}
	return stampFrom(&at)
}

// stamped lists the file systems that update the time of a folder when its entries change.
// Network file systems and those of programs (FUSE) need not do this.
var stamped = []int64{
	unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC,
}

// tells reports whether the stamp is reliable: the folder did not change just now, and its
// file system maintains the time of changes.
func (s stamp) tells(dir string, now time.Time) bool {
	if now.UnixNano()-max(s.modified, s.changed) < int64(Settled) {
		return false
	}
	fd, ok := s.open(dir)
	if !ok {
		return false
	}
	defer unix.Close(fd)
	var on unix.Statfs_t
	return unix.Fstatfs(fd, &on) == nil && slices.Contains(stamped, int64(on.Type))
}

// open opens the folder with this stamp. It returns false if the path now leads to another
// folder or to nothing.
func (s stamp) open(dir string) (fd int, ok bool) {
	err := again(func() (err error) {
		fd, err = unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return 0, false
	}
	var at unix.Stat_t
	if unix.Fstat(fd, &at) != nil || stampFrom(&at) != s {
		unix.Close(fd)
		return 0, false
	}
	return fd, true
}

// maxTarget is the maximum length of a path on Linux in bytes.
const maxTarget = 4096

// look reads an entry of the folder with stamp s, through a descriptor. Reading by path
// could read another folder that replaced this one, and cache its entry here. It returns
// false if the entry is unknown.
func look(dir string, s stamp, name string) (n Name, ok bool) {
	fd, ok := s.open(dir)
	if !ok {
		return n, false
	}
	defer unix.Close(fd)
	var at unix.Stat_t
	err := again(func() error { return unix.Fstatat(fd, name, &at, unix.AT_SYMLINK_NOFOLLOW) })
	switch kind := at.Mode & unix.S_IFMT; {
	case errors.Is(err, unix.ENOENT):
		return Name{Gone: true}, true
	case err != nil:
		return n, false
	case kind != unix.S_IFLNK:
		return Name{Folder: kind == unix.S_IFDIR}, true
	}
	var target [maxTarget]byte
	size := 0
	err = again(func() error { size, err = unix.Readlinkat(fd, name, target[:]); return err })
	return Name{Target: string(target[:max(size, 0)])}, err == nil && size > 0
}

// again repeats a system call while signals interrupt it.
func again(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
