package readonly

import (
	"path"
	"strings"

	"cardea.dev/internal/paths"
)

// secretPath reports whether a path or a pattern looks like one that holds a
// secret. It errs on that side: what it takes for one is not allowed by itself,
// and rules say whether it is asked about or denied.
func secretPath(p string) bool {
	p = strings.ToLower(p)
	return strings.Contains(p, "/.") && secretFolder(p) || strings.Contains(p, "/library/keychains/") || secretName(path.Base(p))
}

// secretFolder reports hidden folders and files below which nothing is free.
func secretFolder(p string) bool {
	for _, dir := range [...]string{"/.ssh/", "/.aws/", "/.gnupg/", "/.kube/", "/.docker/config.json/", "/.azure/", "/.config/gcloud/", "/.config/gh/", "/.password-store/",
		"/.claude/projects/", "/.claude/.credentials.json/", "/.claude/history.jsonl/", "/.claude/shell-snapshots/", "/.claude/todos/", "/.copilot/session-state/", "/.codex/sessions/",
		"/.local/state/cardea/", "/.mozilla/", "/.config/google-chrome/", "/.terraform.d/"} {
		if strings.Contains(p+"/", dir) {
			return true
		}
	}
	// Git's configuration has addresses and headers with tokens.
	return strings.HasSuffix(p, "/.git/config") || strings.Contains(p, "/.git/config.")
}

// secretName reports names of files, in small letters.
func secretName(base string) bool {
	base = strings.Trim(base, "#~")
	for _, end := range [...]string{".bak", ".old", ".orig", ".save", ".backup", ".swp", "~"} {
		base = strings.TrimSuffix(base, end)
	}
	switch base {
	case ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".my.cnf", ".git-credentials", ".htpasswd", ".dockercfg", ".vault-token",
		"credentials", "credentials.json", "credentials.yml", "secrets.json", "secrets.yml", "secrets.yaml", "secret.json", "service-account.json",
		"kubeconfig", "master.key", "shadow", "gshadow", "sudoers", "terraform.tfstate", "terraform.tfvars", ".envrc", "known_hosts", "authorized_keys",
		"wp-config.php", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".boto", ".s3cfg", "auth.json", "cookies", "login data":
		return true
	}
	switch {
	case strings.HasPrefix(base, ".env"):
		return !example(base)
	case strings.HasPrefix(base, "id_") && !strings.HasSuffix(base, ".pub"):
		return strings.HasPrefix(base, "id_rsa") || strings.HasPrefix(base, "id_ed25519") || strings.HasPrefix(base, "id_ecdsa") || strings.HasPrefix(base, "id_dsa")
	case strings.HasSuffix(base, "_history"), strings.HasSuffix(base, ".tfstate"), strings.HasSuffix(base, ".tfstate.backup"):
		return true
	}
	if keyLike(base) || strings.HasSuffix(base, ".env") {
		return true
	}
	// A pattern for hidden files reaches .env.
	return strings.HasPrefix(base, ".") && strings.ContainsAny(base, "*?[") && paths.MayBeNamed(base, ".env")
}

// keyLike reports names that end like those of keys.
func keyLike(name string) bool {
	name = strings.ToLower(name)
	for _, end := range []string{".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".asc", ".gpg", ".ovpn"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// example reports names of files that only show which variables there are.
func example(base string) bool {
	for _, end := range []string{".example", ".sample", ".template", ".dist", ".tpl"} {
		if strings.HasSuffix(base, end) {
			return true
		}
	}
	return false
}
