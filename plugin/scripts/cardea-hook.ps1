# Starts cardea for a harness that has this plugin. It does what cardea-hook.sh does, for PowerShell.

$needs = [version]"0.1.0" # the oldest version of cardea that knows all commands of this plugin
$repository = "https://github.com/cardea-dev/cardea"

# The file that a link leads to, $null where that cannot be told.
function Resolve-Link([string]$path) {
    foreach ($turn in 1..10) {
        $item = Get-Item -LiteralPath $path -Force -ErrorAction SilentlyContinue
        if (-not $item) { return $null }
        if ($item.LinkType -ne "SymbolicLink") { return [IO.Path]::GetFullPath($item.FullName) }
        $to = [string]@($item.Target)[0]
        if (-not $to) { return $null }
        if ([IO.Path]::IsPathRooted($to)) { $path = $to } else { $path = Join-Path (Split-Path -Parent $item.FullName) $to }
    }
    return $null
}

# Is a file in the project? Who works in the home folder has programs there, rightly.
function Test-Project([string]$path) {
    $separator = [IO.Path]::DirectorySeparatorChar
    foreach ($project in @($env:CLAUDE_PROJECT_DIR, $env:COPILOT_PROJECT_DIR, (Get-Location).Path)) {
        if (-not $project) { continue }
        $inside = [IO.Path]::GetFullPath($project).TrimEnd($separator) + $separator
        $home_too = ([IO.Path]::GetFullPath($HOME) + $separator).StartsWith($inside, [StringComparison]::OrdinalIgnoreCase)
        if (-not $home_too -and $path.StartsWith($inside, [StringComparison]::OrdinalIgnoreCase)) { return $true }
    }
    return $false
}

# The program, if neither it nor what it leads to is the project's own.
function Select-Cardea([string]$path) {
    $path = [IO.Path]::GetFullPath($path)
    $real = Resolve-Link $path
    if (-not $real -or (Test-Project $path) -or (Test-Project $real)) { return $null }
    return $path
}

function Find-Cardea {
    foreach ($dir in @("$HOME\.local\bin", "$HOME\.local\share\cardea\bin", "$HOME\go\bin", "$env:ProgramFiles\Cardea", "$env:LOCALAPPDATA\Programs\Cardea", "/usr/local/bin", "/opt/homebrew/bin")) {
        foreach ($name in @("cardea.exe", "cardea")) {
            $path = Join-Path $dir $name
            if ((Test-Path -LiteralPath $path -PathType Leaf) -and (Select-Cardea $path)) { return $path }
        }
    }
    $found = Get-Command cardea -CommandType Application -ErrorAction SilentlyContinue | Select-Object -First 1
    if (-not $found) { return $null }
    return Select-Cardea $found.Source
}

# The program that answers a hook: cardea-hook, which asks the daemon where there is one, if it
# lies beside cardea.
function Get-Hook([string]$cardea) {
    $real = Resolve-Link $cardea
    $beside = Join-Path (Split-Path -Parent $real) ("cardea-hook" + [IO.Path]::GetExtension($real))
    if ((Test-Path -LiteralPath $beside -PathType Leaf) -and (Resolve-Link $beside) -eq $beside) { return $beside }
    return $cardea
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
        $hook = Get-Hook $cardea
        $code = 2
        try {
            $message | & $hook check @rest
            $code = $LASTEXITCODE
        } catch {
            [Console]::Error.WriteLine("Cardea: $_ (failure)")
        }
        # A program that fails must not let the call run. Claude Code before 2.1.295 lets it run
        # on any code but 2, and Copilot CLI denies on every code but 0.
        if ($what -eq "call" -and $code -ne 0) { exit 2 }
        exit $code
    }
    $line = (& $cardea --version | Select-Object -First 1) -replace "^cardea ", ""
    if ($line -eq "(devel)" -or $line.StartsWith("v0.0.0-")) { exit 0 } # built from a clone
    $number = ($line -replace "^v", "") -replace "[-+].*$", ""
    $version = $number -as [version]
    if (-not $version -or $version -lt $needs) {
        Send-Notice "$cardea is version $line, and this plugin needs $needs or newer; cardea update tells how to get it"
    }
    exit 0
}

$how = "the program cardea is not installed. To install it, run in a terminal: winget install Cardea.Cardea (other ways: $repository)"
$when = "open"
if ($env:CLAUDE_PLUGIN_OPTION_WHEN_MISSING) { $when = $env:CLAUDE_PLUGIN_OPTION_WHEN_MISSING }
if ($env:CARDEA_WHEN_MISSING) { $when = $env:CARDEA_WHEN_MISSING }
if ($when -eq "open" -and $data -and (Test-Path -LiteralPath "$data/found")) {
    $when = "gone"
    $how = "cardea was found on this machine before and is gone: $how. A person must install it again"
}
if ($what -eq "call" -and $when -ne "open") {
    [Console]::Error.WriteLine("Cardea: the call is blocked, since $how (failure)")
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
