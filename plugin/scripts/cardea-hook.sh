#!/bin/sh
# Starts cardea for a harness that has this plugin:
#
#   cardea-hook.sh call ARGUMENT...    the hook for what is about to run
#   cardea-hook.sh note ARGUMENT...    the hook for what is not: prompts, and calls that ran
#   cardea-hook.sh begin               at the start of a session: does cardea fit to the plugin?
#   cardea-hook.sh mcp                 the MCP server
#
# Where cardea is not installed, calls run and the person is told once a session, so that
# the plugin can be installed first. With the option when_missing, or the variable
# CARDEA_WHEN_MISSING, set to shut they are blocked. They are blocked, too, where cardea
# was found before and is gone.

needs=0.1.0 # the oldest version of cardea that knows all commands of this plugin
repository=https://github.com/cardea-dev/cardea

# Folders in which people install programs come first: PATH may be set by the settings of
# a project. A program of the project's own is never taken, by whatever name its folder has.

# The project, where the harness says which, else the repository around this folder.
project=$(cd -P "${CLAUDE_PROJECT_DIR:-${COPILOT_PROJECT_DIR:-$PWD}}" 2>/dev/null && pwd -P)
if [ -z "${CLAUDE_PROJECT_DIR:-}${COPILOT_PROJECT_DIR:-}" ]; then
    up=$project
    while [ -n "$up" ]; do
        if [ -e "$up/.git" ]; then project=$up; fi
        up=${up%/*}
    done
fi

# homely: is the folder in a person's home, as the system has it, and that in the project?
# Who works in the home folder has programs there, rightly; HOME may be anything.
homely() {
    user=$(id -un 2>/dev/null)
    case $user in '' | *[!A-Za-z0-9._-]* | [!A-Za-z_]*) return 1 ;; esac
    home=$(eval "cd -P ~$user" 2>/dev/null && pwd -P) || return 1
    case $home/ in "$project"/*) ;; *) return 1 ;; esac
    case $1/ in "$home"/*) return 0 ;; esac
    return 1
}

# ours DIR: is the folder, without links, outside of the project, or homely?
ours() {
    case $1/ in "$project"/*) homely "$1" ;; esac
}

# follow FILE: real is the file that it leads to, and dir the folder of that one.
follow() {
    real=$1
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        dir=$(cd -P "${real%/*}/" 2>/dev/null && pwd -P) || return 1
        real=$dir/${real##*/}
        [ -L "$real" ] || return 0
        to=$(readlink "$real") || return 1
        case $to in /*) real=$to ;; *) real=$dir/$to ;; esac
    done
    return 1
}

# takes DIR: is there a cardea in it that may be started? Where it is a link, what it leads
# to counts as well. Beside that lies cardea-hook, which asks the daemon where there is one.
takes() {
    case $1 in /*) ;; *) return 1 ;; esac
    if [ ! -f "$1/cardea" ] || [ ! -x "$1/cardea" ]; then return 1; fi
    found=$(cd -P "$1" 2>/dev/null && pwd -P) || return 1
    ours "$found" && follow "$found/cardea" && ours "$dir" || return 1
    cardea=$found/cardea hook=$cardea
    if [ -f "$dir/cardea-hook" ] && [ -x "$dir/cardea-hook" ] && [ ! -L "$dir/cardea-hook" ]; then hook=$dir/cardea-hook; fi
}

find_cardea() {
    for dir in "$HOME/.local/bin" "$HOME/.local/share/cardea/bin" "$HOME/go/bin" /usr/local/bin /opt/homebrew/bin /usr/bin; do
        takes "$dir" && return 0
    done
    rest=$PATH:
    while [ -n "$rest" ]; do
        takes "${rest%%:*}" && return 0
        rest=${rest#*:}
    done
    return 1
}

# older A B: is version A older than B? Numbers are compared up to the third.
older() {
    a=${1#v} b=${2#v}
    a=${a%%[-+]*}. b=${b%%[-+]*}.
    for _ in 1 2 3; do
        x=${a%%.*} y=${b%%.*}
        case $x$y in *[!0-9]* | '') return 1 ;; esac
        [ "$x" -lt "$y" ] && return 0
        [ "$x" -gt "$y" ] && return 1
        a=${a#*.} b=${b#*.}
    done
    return 1
}

# tell TEXT says something to the person, and lets the call go on.
tell() {
    printf 'cardea: %s\n' "$1" >&2
    printf '{"systemMessage":"Cardea: %s"}\n' "$1"
    exit 0
}

what=${1:-}
[ $# -eq 0 ] || shift
data=${CLAUDE_PLUGIN_DATA:-}
case $data in /*) ;; *) data= ;; esac

if find_cardea; then
    if [ -n "$data" ] && [ ! -e "$data/found" ]; then
        mkdir -p "$data" && : >"$data/found"
    fi 2>/dev/null
    case $what in
    note) exec "$hook" check "$@" ;;
    call)
        # A program that fails must not let the call run. Claude Code before 2.1.295 lets it run
        # on any code but 2, and Copilot CLI denies on every code but 0.
        "$hook" check "$@" && exit 0
        exit 2
        ;;
    mcp) exec "$cardea" mcp ;;
    esac
    version=$("$cardea" --version 2>/dev/null | sed -n '1s/^cardea //p')
    case $version in
    "(devel)" | v0.0.0-*) exit 0 ;; # built from a clone
    esac
    if [ -z "$version" ] || older "$version" "$needs"; then
        tell "$cardea is version ${version:-unknown}, and this plugin needs $needs or newer; cardea update tells how to get it"
    fi
    exit 0
fi

how="the program cardea is not installed (looked in ~/.local/bin, ~/.local/share/cardea/bin, ~/go/bin, /usr/local/bin, /opt/homebrew/bin, /usr/bin and PATH). To install it, run in a terminal: curl -fsSL $repository/releases/latest/download/install.sh | sh"
[ "$what" = mcp ] && exit 1
when=${CARDEA_WHEN_MISSING:-${CLAUDE_PLUGIN_OPTION_WHEN_MISSING:-open}}
if [ "$when" = open ] && [ -n "$data" ] && [ -e "$data/found" ]; then
    when=gone
    how="cardea was found on this machine before and is gone: $how. A person must install it again"
fi
if [ "$what" = call ] && [ "$when" != open ]; then
    printf 'Cardea: the call is blocked, since %s (failure)\n' "$how" >&2
    exit 2
fi

# Once a session, where there is a folder to remember it in.
id=$(sed -n 's/.*"session_\{0,1\}[iI]d" *: *"\([A-Za-z0-9_-]\{1,64\}\)".*/\1/p' | head -n 1)
if [ -n "$data" ] && [ -n "$id" ]; then
    mkdir -p "$data/told" 2>/dev/null
    mkdir "$data/told/$id" 2>/dev/null || exit 0
fi
case $when in
open) tell "no call is looked at, since $how" ;;
*) tell "every call is blocked, since $how" ;;
esac
