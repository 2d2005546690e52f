package project

import (
	"os"
	"os/user"
	"strconv"
)

// passwordHome returns the home folder of this process's user. It looks up the user id,
// since user.Current would trust HOME.
func passwordHome() (string, error) {
	u, err := user.LookupId(strconv.Itoa(os.Geteuid()))
	if err != nil {
		return "", err
	}
	return u.HomeDir, nil
}

// passwordName returns the login name of the same entry.
func passwordName() (string, error) {
	u, err := user.LookupId(strconv.Itoa(os.Geteuid()))
	if err != nil {
		return "", err
	}
	return u.Username, nil
}
