#!/bin/sh
# Gates Claude Code in any CI. It runs as root, before the agent begins.
set -eu

curl -fsSL https://github.com/cardea-dev/cardea/releases/latest/download/install.sh | CARDEA_BIN=/usr/local/bin sh
cardea install claude --managed
cardea doctor

# No person watches, so questions that need one become denials.
export CARDEA_UNATTENDED=1
claude -p "${1:-Fix the failing test}"
