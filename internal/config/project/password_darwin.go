package project

import (
	"os"
	"os/user"
	"strconv"
)

// passwordHome looks the user id up; user.Current would believe HOME.
func passwordHome() (string, error) {
	u, err := user.LookupId(strconv.Itoa(os.Geteuid()))
	if err != nil {
		return "", err
	}
	return u.HomeDir, nil
}

// passwordName is the name of the same entry.
func passwordName() (string, error) {
	u, err := user.LookupId(strconv.Itoa(os.Geteuid()))
	if err != nil {
		return "", err
	}
	return u.Username, nil
}
