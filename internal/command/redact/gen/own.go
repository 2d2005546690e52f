package main

import "regexp/syntax"

// shellWord is one word of a command line, quoted or not.
const shellWord = `((?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s'"|;&<>()])+)`

// own returns the rules that gitleaks lacks, which find a secret by its place. The
// redactor implements the forms other than formLine in Go.
func own() []rule {
	out := []rule{
		{id: "private-key-block", form: "formPEM", keywords: []string{"-----begin", "private-lines:"}},
		{id: "url-password", form: "formURL", keywords: []string{"://"}},
		{id: "auth-header", form: "formHeader", keywords: []string{"authorization", "cookie", "bearer"}},
		{id: "password", form: "formName", min: 4, keywords: []string{"password", "passwd", "passphrase", "passwort", "kennwort"}},
		{id: "password", form: "formWord", min: 4, keywords: []string{"pass", "pwd", "pw"}},
		{id: "secret", form: "formName", min: 8, keywords: []string{"api_key", "api-key", "api.key", "apikey", "token", "secret", "secret_key", "secret-key", "secretkey",
			"access_key", "access-key", "accesskey", "private_key", "private-key", "privatekey", "auth_key", "authkey", "account_key", "accountkey",
			"signing_key", "encryption_key", "master_key", "masterkey", "credential", "credentials", "_auth", "connection_string", "x-amz-signature"}},
		{id: "secret", form: "formWord", min: 16, keywords: []string{"auth", "sig", "signature", "jwt", "creds", "key"}},
	}
	for _, p := range prefixes() {
		out = append(out, p)
	}
	return append(out, placed()...)
}

// prefixes returns rules for the beginnings of secrets (hookwise's first layer). They
// are shorter and looser than gitleaks' rules, for secrets that are cut off or newer
// than those rules.
func prefixes() []rule {
	var out []rule
	add := func(expr string, keywords ...string) {
		r := rule{id: "known-prefix", form: "formRun", expr: `(?:^|[^A-Za-z0-9])(` + expr + `)`, keywords: keywords}
		tree, err := syntax.Parse(expr, syntax.Perl)
		if err != nil {
			panic(err)
		}
		r.min, r.span = length(tree)
		r.weigh()
		out = append(out, r)
	}
	add(`sk-ant-[\w.-]{6,}`, "sk-ant-")
	add(`sk-(?:[a-z]+-)*[A-Za-z]*[A-Z0-9][\w-]{14,}`, "sk-")
	add(`gh[pousr]_[A-Za-z0-9]{12,}`, "ghp_", "gho_", "ghu_", "ghs_", "ghr_")
	add(`github_pat_\w{12,}`, "github_pat_")
	add(`(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,}`, "akia", "asia", "abia", "acca")
	add(`xox[a-z](?:\.xox[a-z])?-[\w-]{8,}`, "xoxa-", "xoxb-", "xoxe", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xoxd-", "xoxc-")
	add(`xapp-[\w-]{10,}`, "xapp-")
	add(`gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[\w.-]{8,}`, "glpat-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "gloas-", "glsoat-", "glffct-")
	add(`glsa_\w{16,}`, "glsa_")
	add(`npm_[A-Za-z0-9]{20,}`, "npm_")
	add(`pypi-[A-Za-z]*[A-Z0-9][\w-]{14,}`, "pypi-")
	add(`AGE-SECRET-KEY-(?:PQ-)?[0-9A-Za-z]{8,}`, "age-secret-key-")
	add(`(?:sk|rk|pk)_(?:live|test|prod)_[A-Za-z0-9]{8,}`, "sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_")
	add(`whsec_[A-Za-z0-9+/=]{16,}`, "whsec_")
	add(`AIza[\w-]{20,}`, "aiza")
	add(`ya29\.[\w-]{16,}`, "ya29.")
	add(`GOCSPX-[\w-]{16,}`, "gocspx-")
	add(`hf_[A-Za-z0-9]{20,}`, "hf_")
	add(`do[oprt]_v1_[a-f0-9]{16,}`, "doo_v1_", "dop_v1_", "dor_v1_", "dot_v1_")
	add(`hv[sbr]\.[\w-]{20,}`, "hvs.", "hvb.", "hvr.")
	add(`ey[JI][A-Za-z0-9_-]{10,}\.ey[JI][A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]*)?`, "eyj", "eyi")
	return out
}

// placed returns rules for the places on command lines and in files where a secret is.
func placed() []rule {
	var out []rule
	add := func(expr string, keywords ...string) {
		r := rule{id: "command-secret", form: "formLine", expr: expr, group: 1, keywords: keywords}
		r.weigh()
		out = append(out, r)
	}
	also := func(words ...string) { out[len(out)-1].also = words }
	add(`(?i)\bidentified\s+(?:with\s+\S+\s+)?by\s+`+shellWord, "identified")
	add(`(?i)\bpassword\s+('[^'\n]+')`, "password '")
	add(`(?i)\b(?:config|configure)\s+(?:(?:set|add|--\w+)\s+)*\S*(?:token|secret|password|passwd|api-?_?key|access_?key|_auth)\S*[ \t=]+`+shellWord, "config")
	also("token", "secret", "password", "passwd", "key", "_auth")
	// host:port:database:user:password, a line of .pgpass
	add(`[\w.*-]+:(?:\d{2,5}|\*):[^:\s"']+:[^:\s"']+:([^\s"']+)`, ":5432:", ":5433:", ":6432:", ":*:", ".pgpass")
	add(`\b[\w.-]+:([^@\s'"/]+)@(?:tcp|udp|unix)\(`, "@tcp(", "@udp(", "@unix(")
	add(`discord(?:app)?\.com/api/webhooks/\d+/([\w-]{20,})`, "api/webhooks/")
	add(`telegram\.org/(?:file/)?bot(\d+:[\w-]{20,})`, "telegram.org/")
	add(`\bsetx?\s+\w*(?:TOKEN|SECRET|PASSWORD|API_KEY|ACCESS_KEY)\w*[ \t]+([^\s"'<>|&-][^\s"']*|"[^"]*")`, "setx", "set ")
	also("token", "secret", "password", "key")
	return out
}
