//go:build !linux && !darwin

package org

// exchange swaps two folders.
func exchange(a, b string) error { return byRenames(a, b) }
