//go:build !linux && !darwin

package org

// exchange exchanges two folders.
func exchange(a, b string) error { return byRenames(a, b) }
