// Package release holds where Cardea is published.
package release

// Repository is the address of the source. Everything that names it uses this constant,
// such as install.sh, the packages, the plugin and the update command.
const Repository = "https://github.com/cardea-dev/cardea"
