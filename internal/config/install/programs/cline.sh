# Written by cardea install. Cline lets a call run unless it reads {"cancel": true}, so
# whatever goes wrong here says that.
deny='{"cancel": true, "errorMessage": "Cardea could not judge this call, so it is denied. Tell the person to run cardea doctor."}'
# A program that is stuck is stopped where this machine has timeout; else Cline waits.
command -v timeout >/dev/null 2>&1 && stop='timeout -s KILL LIMIT' || stop=
export CARDEA_HOOK=HARNESS
if answer=$($stop COMMAND 2>/dev/null); then
  case $answer in
    '' | '{'*'}') printf '%s\n' "$answer"; exit 0 ;;
  esac
fi
printf '%s\n' "$deny"
