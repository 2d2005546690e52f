# Starts cardea for a harness that has this plugin. It does what cardea-hook.sh does, for PowerShell.

$needs = [version]"0.1.0" # the oldest version of cardea that knows all commands of this plugin

function Find-Cardea {
    foreach ($dir in @("$HOME\.local\bin", "$HOME\go\bin", "$env:ProgramFiles\Cardea", "$env:LOCALAPPDATA\Programs\Cardea", "/usr/local/bin", "/opt/homebrew/bin")) {
        foreach ($name in @("cardea.exe", "cardea")) {
            $path = Join-Path $dir $name
            if (Test-Path -LiteralPath $path -PathType Leaf) { return $path }
        }
    }
    $found = Get-Command cardea -CommandType Application -ErrorAction SilentlyContinue | Select-Object -First 1
    if (-not $found) { return $null }
    $source = [IO.Path]::GetFullPath($found.Source)
    foreach ($project in @($env:CLAUDE_PROJECT_DIR, $env:COPILOT_PROJECT_DIR, (Get-Location).Path)) {
        if ($project -and $source.StartsWith([IO.Path]::GetFullPath($project), [StringComparison]::OrdinalIgnoreCase)) { return $null } # the project's own
    }
    return $source
}

function Send-Notice([string]$text) {
    [Console]::Error.WriteLine("cardea: $text")
    @{ systemMessage = "Cardea: $text" } | ConvertTo-Json -Compress
    exit 0
}

$what = $args[0]
$rest = @($args | Select-Object -Skip 1)
$message = [Console]::In.ReadToEnd()
$data = $env:CLAUDE_PLUGIN_DATA
$cardea = Find-Cardea
if ($cardea) {
    if ($data -and -not (Test-Path -LiteralPath "$data/found")) {
        New-Item -ItemType Directory -Force -Path $data | Out-Null
        New-Item -ItemType File -Path "$data/found" -ErrorAction SilentlyContinue | Out-Null
    }
    if ($what -eq "call" -or $what -eq "note") {
        $OutputEncoding = [Text.UTF8Encoding]::new($false)
        $message | & $cardea check @rest
        exit $LASTEXITCODE
    }
    $line = (& $cardea --version | Select-Object -First 1) -replace "^cardea ", ""
    if ($line -eq "(devel)" -or $line.StartsWith("v0.0.0-")) { exit 0 } # built from a clone
    $number = ($line -replace "^v", "") -replace "[-+].*$", ""
    $version = $number -as [version]
    if (-not $version -or $version -lt $needs) {
        Send-Notice "$cardea is version $line, and this plugin needs $needs or newer; install a newer one"
    }
    exit 0
}

$how = "the program cardea is not installed. In a clone of Cardea run: go install ./cmd/..."
$when = "open"
if ($env:CLAUDE_PLUGIN_OPTION_WHEN_MISSING) { $when = $env:CLAUDE_PLUGIN_OPTION_WHEN_MISSING }
if ($env:CARDEA_WHEN_MISSING) { $when = $env:CARDEA_WHEN_MISSING }
if ($when -eq "open" -and $data -and (Test-Path -LiteralPath "$data/found")) {
    $when = "gone"
    $how = "cardea was found on this machine before and is gone: $how. A person must install it, or switch the plugin off"
}
if ($what -eq "call" -and $when -ne "open") {
    [Console]::Error.WriteLine("cardea: the call is blocked, since $how")
    exit 2
}

# Once a session, where there is a folder to remember it in.
if ($data -and $message -match '"session_?[iI]d"\s*:\s*"([A-Za-z0-9_-]{1,64})"') {
    $told = "$data/told/$($Matches[1])"
    if (Test-Path -LiteralPath $told) { exit 0 }
    New-Item -ItemType Directory -Force -Path $told | Out-Null
}
if ($when -eq "open") { Send-Notice "no call is looked at, since $how" }
Send-Notice "every call is blocked, since $how"
