// Package release holds the address at which Cardea is published, so that installers,
// packages and the update command agree on it.
package release

// Repository is the address of the source. Everything that names it uses this constant,
// such as install.sh, the packages, the plugin and the update command.
const Repository = "https://github.com/cardea-dev/cardea"
