// Package release knows where Cardea is published, and what this copy of it is.
package release

// Repository is the address of the source. Everything that names it, such as install.sh,
// the packages, the plugin and the update command, takes it from here.
const Repository = "https://github.com/cardea-dev/cardea"
