package redact

import (
	"encoding/base64"
	"strings"
	"testing"
)

// rev reverses a text. Secrets are reversed in this file so that scanners do not report
// it as a leak.
func rev(s string) string {
	b := []byte(s)
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return string(b)
}

func TestContexts(t *testing.T) {
	pem := "-----BEGIN RSA PRIVATE" + " KEY-----"
	line64 := strings.Repeat("MIIEowIBAAKCAQEA", 4)
	for _, tt := range []struct{ name, in, want string }{
		{"hookwise's example", `curl -H "Authorization: Bearer ` + rev("zyx321cba-tna-ks") + `" https://api.example.com`, `curl -H "Authorization: Bearer <REDACTED>" https://api.example.com`},
		{"basic", `curl -H 'Authorization: Basic dXNlcjpw' x`, `curl -H 'Authorization: Basic <REDACTED>' x`},
		{"header without a scheme", `curl -H "Authorization: abcdef123" x`, `curl -H "Authorization: <REDACTED>" x`},
		{"header with a scheme nobody knows", `Authorization: Weird 0123456789abcdef`, `Authorization: Weird <REDACTED>`},
		{"header in escaped JSON", `{\"Authorization\":\"Bearer abcdef0123456\"}`, `{\"Authorization\":\"Bearer <REDACTED>\"}`},
		{"header from a variable", `curl -H "Authorization: Bearer $TOKEN" x`, ""},
		{"header in prose", `the authorization: see the manual`, ""},
		{"other header", `curl -H 'X-Api-Key: hunter2hunter2' x`, `curl -H 'X-Api-Key: <REDACTED>' x`},
		{"cookie", `curl -H 'Cookie: session=abc; csrf=def' x`, `curl -H 'Cookie: <REDACTED>' x`},
		{"cookie option", `curl -b "session=abcdef" x`, `curl -b "session=<REDACTED>" x`},
		{"environment", `API_KEY=abcd1234efgh npm test`, `API_KEY=<REDACTED> npm test`},
		{"environment, quoted", `export DB_PASSWORD='correct horse'; make`, `export DB_PASSWORD='<REDACTED>'; make`},
		{"pieces of a word", `PASSWORD='abc'"def"ghi make`, `PASSWORD=<REDACTED> make`},
		{"the next command stays", `TOKEN=abcd1234efgh;rm -rf x`, `TOKEN=<REDACTED>;rm -rf x`},
		{"and the next field", `https://x.test/?token=abcd1234efgh&page=2`, `https://x.test/?token=<REDACTED>&page=2`},
		{"variable", `API_KEY=$OTHER_KEY npm test`, ""},
		{"braces", `API_KEY="${OTHER_KEY}" npm test`, ""},
		{"a default in braces", `API_KEY="${OTHER:-abcd1234efgh}" npm test`, `API_KEY="<REDACTED>" npm test`},
		{"a dollar in a password", `PASSWORD='$ecretPass1' x`, `PASSWORD='<REDACTED>' x`},
		{"substitution", `TOKEN=$(cat token.txt) x`, ""},
		{"template", `TOKEN={{ token }} x`, ""},
		{"placeholder", `--token <your-token>`, ""},
		{"stars", `password=********`, ""},
		{"windows variable", `set TOKEN=%OTHER_TOKEN%`, ""},
		{"code", `token = process.env.API_TOKEN`, ""},
		{"call", `password = getpass()`, ""},
		{"file", `--password-file=/run/secrets/db --token=/run/secrets/token`, ""},
		{"schema", `password: string`, ""},
		{"yaml", "password: s3cr;et&x\n", "password: <REDACTED>\n"},
		{"json", `{"password":"hunter2","user":"x"}`, `{"password":"<REDACTED>","user":"x"}`},
		{"json in json", `{\"password\":\"hunter2\",\"user\":\"x\"}`, `{\"password\":\"<REDACTED>\",\"user\":\"x\"}`},
		{"ends at an escape", `PASSWORD=hunter2\nUSER=x`, `PASSWORD=<REDACTED>\nUSER=x`},
		{"index", `config["password"] = "hunter2"`, `config["password"] = "<REDACTED>"`},
		{"camel case", `dbPass="hunter2"`, `dbPass="<REDACTED>"`},
		{"bypass is no pass", `bypass=hunter22`, ""},
		{"PWD is a folder", `PWD=hunter22`, ""},
		{"DB_PWD is none", `DB_PWD=hunter22`, `DB_PWD=<REDACTED>`},
		{"scope is no operator", `token::hunter2hunter2`, ""},
		{"option", `gh auth login --token abcd1234efgh`, `gh auth login --token <REDACTED>`},
		{"option with equals", `x --password=hunter2 y`, `x --password=<REDACTED> y`},
		{"option without value", `x --token --verbose`, ""},
		{"url", `git clone https://me:hunter2@example.com/x.git`, `git clone https://me:<REDACTED>@example.com/x.git`},
		{"url, a slash in the password", `postgres://me:hun/ter2@db/x`, `postgres://me:<REDACTED>@db/x`},
		{"url, an at sign in the password", `postgres://me:hun@ter2@db/x`, `postgres://me:<REDACTED>@db/x`},
		{"url without a user", `redis://:hunter2@cache:6379`, `redis://:<REDACTED>@cache:6379`},
		{"url with a token for a user", `https://a1b2c3d4e5f6g7h8@example.com`, `https://<REDACTED>@example.com`},
		{"url with a token and x-oauth-basic", `https://abcdefghijklmnopq:x-oauth-basic@example.com`, `https://<REDACTED>:<REDACTED>@example.com`},
		{"url with a port", `http://localhost:8080/pkg@1.2.3`, ""},
		{"url of a package", `https://unpkg.com/@scope/pkg@1.2.3/x`, ""},
		{"url from a variable", `https://me:$TOKEN@example.com`, ""},
		{"ssh", `ssh://git@github.com/x/y`, ""},
		{"dsn", `root:hunter2@tcp(127.0.0.1:3306)/x`, `root:<REDACTED>@tcp(127.0.0.1:3306)/x`},
		{"connection string", `Server=db;User Id=sa;Password=hunter2;Encrypt=true`, `Server=db;User Id=sa;Password=<REDACTED>;Encrypt=true`},
		{"curl user", `curl -s -u me:hunter2 https://x.test`, `curl -s -u <REDACTED> https://x.test`},
		{"curl user on the next line", "curl -s \\\n  -u me:hunter2 \\\n  https://x.test", "curl -s \\\n  -u <REDACTED> \\\n  https://x.test"},
		{"sshpass", `sshpass -p hunter2 ssh x`, `sshpass -p <REDACTED> ssh x`},
		{"mysql", `mysql -u root -phunter2 db`, `mysql -u root -p<REDACTED> db`},
		{"mysql asks", `mysql -u root -p`, ""},
		{"docker login", `docker login -u me -p hunter2 reg.test`, `docker login -u me -p <REDACTED> reg.test`},
		{"mkdir is no login", `mkdir -p some/long/path && docker login reg.test`, ""},
		{"redis", `redis-cli -h x -a hunter2 ping`, `redis-cli -h x -a <REDACTED> ping`},
		{"openssl", `openssl enc -pass pass:hunter2 -in x`, `openssl enc -pass <REDACTED> -in x`},
		{"piped", `echo hunter2 | docker login -u me --password-stdin`, `echo <REDACTED> | docker login -u me --password-stdin`},
		{"piped from a variable", `echo "$PW" | docker login -u me --password-stdin`, ""},
		{"config", `aws configure set aws_secret_access_key hunter2hunter2`, `aws configure set aws_secret_access_key <REDACTED>`},
		{"kubectl", `kubectl create secret generic x --from-literal=a=hunter2`, `kubectl create secret generic x --from-literal=a=<REDACTED>`},
		{"netrc", `machine x login me password hunter2`, `machine x login me password <REDACTED>`},
		{"netrc in lines", "machine x\n  login me\n  password hunter2\n", "machine x\n  login me\n  password <REDACTED>\n"},
		{"netrc, default", "default login me password hunter2", "default login me password <REDACTED>"},
		{"netrc in JSON", `{"content":"machine x\n\tlogin me\n\tpassword hunter2\n"}`, `{"content":"machine x\n\tlogin me\n\tpassword <REDACTED>\n"}`},
		{"no netrc", "the machine asks for a password again", ""},
		{"pgpass", "db.test:5432:app:me:hunter2\n*:*:*:me:hunter3", "db.test:5432:app:me:<REDACTED>\n*:*:*:me:<REDACTED>"},
		{"pgpass on another port", `echo "db:6000:app:me:hunter2" >> ~/.pgpass`, `echo "db:6000:app:me:<REDACTED>" >> ~/.pgpass`},
		{"ports", `docker run -p 127.0.0.1:5432:5432 -e A=b postgres:16`, ""},
		{"yaml block", "a:\n  password: |\n    hunter2\n    and more\n  user: x\n", "a:\n  password: |\n    <REDACTED>\n  user: x\n"},
		{"yaml block in a list", "- password: >-\n    hunter2\n- user: x\n", "- password: >-\n    <REDACTED>\n- user: x\n"},
		{"yaml block in JSON", `{"content":"token: |\n  hunter2hunter2\nuser: x"}`, `{"content":"token: |\n  <REDACTED>\nuser: x"}`},
		{"yaml block without text", "password: |\nuser: x\n", ""},
		{"xml", `<db><password>hunter2</password><user>me</user></db>`, `<db><password><REDACTED></password><user>me</user></db>`},
		{"xml with a namespace", `<ns:dbPassword>hunter2</ns:dbPassword>`, `<ns:dbPassword><REDACTED></ns:dbPassword>`},
		{"xml, a variable", `<password>${env.PW}</password>`, ""},
		{"property list", "<key>password</key>\n<string>hunter2</string>", "<key>password</key>\n<string><REDACTED></string>"},
		{"xml attributes", `<add key="DbPassword" value="hunter2"/>`, `<add key="DbPassword" value="<REDACTED>"/>`},
		{"pair", `{"name": "DB_PASSWORD", "value": "hunter2"}`, `{"name": "DB_PASSWORD", "value": "<REDACTED>"}`},
		{
			"pair with a type",
			`[{"name":"API_TOKEN","type":"x","value":"hunter2hunter2"},{"name":"A","value":"hunter3"}]`,
			`[{"name":"API_TOKEN","type":"x","value":"<REDACTED>"},{"name":"A","value":"hunter3"}]`,
		},
		{"pair in escaped JSON", `{\"name\":\"DB_PASSWORD\",\"value\":\"hunter2\"}`, `{\"name\":\"DB_PASSWORD\",\"value\":\"<REDACTED>\"}`},
		{"pair in yaml", "- name: DB_PASSWORD\n  value: hunter2\n- name: A\n  value: b\n", "- name: DB_PASSWORD\n  value: <REDACTED>\n- name: A\n  value: b\n"},
		{"pair from elsewhere", "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef: {name: x}\n", ""},
		{"the next pair", "- name: DB_PASSWORD\n- name: A\n  value: hunter2\n", ""},
		{"prose about a value", "set the password value: see the manual", ""},
		{"list of arguments", `["--password", "hunter2", "--user", "me"]`, `["--password", "<REDACTED>", "--user", "me"]`},
		{"list of arguments in lines", "[\n  \"--token\",\n  \"hunter2hunter2\"\n]", "[\n  \"--token\",\n  \"<REDACTED>\"\n]"},
		{"list in escaped JSON", `[\"--password\",\"hunter2\"]`, `[\"--password\",\"<REDACTED>\"]`},
		{"list of options", `["--password", "--user"]`, ""},
		{"arguments of a server", `{"args":["-u","root","-phunter2"],"command":"mysql"}`, `{"args":["-u","root","-p<REDACTED>"],"command":"mysql"}`},
		{"arguments behind the command", `{"mcpServers":{"x":{"command":"sshpass","args":["-p","hunter2","ssh"]}}}`, `{"mcpServers":{"x":{"command":"sshpass","args":["-p","<REDACTED>","ssh"]}}}`},
		{"here-document", "sudo -S ls <<EOF\nhunter2\nEOF\necho x", "sudo -S ls <<EOF\n<REDACTED>\nEOF\necho x"},
		{"sql", `ALTER USER x IDENTIFIED BY 'hunter2'`, `ALTER USER x IDENTIFIED BY '<REDACTED>'`},
		{"key block", pem + "\n" + line64 + "\nabcd==\n-----END RSA PRIVATE" + " KEY-----\nrest", "<REDACTED>\nrest"},
		{"key block, cut off", "x\n" + pem + "\nProc-Type: 4,ENCRYPTED\n" + line64 + "\n" + line64 + "\nabcd", "x\n<REDACTED>"},
		{"key block in JSON", `{"k":"` + pem + `\n` + line64 + `\n"}`, `{"k":"<REDACTED>\n"}`},
		{"only the first line of one", `grep -r "` + pem + `" . ; rm -rf x`, ""},
		{"certificate", "-----BEGIN CERTIFICATE-----\n" + line64, ""},
		{"PuTTY", "Private-Lines: 2\n" + line64 + "\n" + line64 + "\n", "<REDACTED>\n"},
		{"prefix, cut off", `echo ` + rev("efas98h32f0a1c_phg"), "echo <REDACTED>"},
		{"entropy", `foo: q8Zr2LmX0vKp9TnY4bWc7Hd1`, `foo: <REDACTED>`},
		{"git hash", `sha: 3f786850e387550fdab836ed7e6dc881de23001b`, ""},
		{"uuid", `id=123e4567-e89b-12d3-a456-426614174000`, ""},
		{"version", `image: registry.test/group/name:1.22.333-alpine3.20-build20240101`, ""},
		{"path", `out=/home/user/Projects/cardea/internal/command/redact/testdata/x9y8z7w6v5u4`, ""},
		{"integrity", `"integrity": "sha512-q8Zr2LmX0vKp9TnY4bWc7Hd1q8Zr2LmX0vKp9TnY4bWc7Hd1=="`, ""},
		{"go.sum", `example.com/x v1.0.0 h1:q8Zr2LmX0vKp9TnY4bWc7Hd1q8Zr2LmX0vKp9TnY4b=`, ""},
		{"repeated elsewhere", `PASSWORD=hunter2hunter2 x; echo hunter2hunter2`, `PASSWORD=<REDACTED> x; echo <REDACTED>`},
		{"pieces of a token", `echo "` + rev("c0a1b2c3d4_phg") + `""e5f6a7b8c9d0"`, `echo "<REDACTED>"`},
		{"added pieces", `t = "` + rev("c0a1b2c3d4_phg") + `" + "e5f6a7b8c9d0"`, `t = "<REDACTED>"`},
		{"UTF-16 in base64", base64.StdEncoding.EncodeToString([]byte(strings.Join(strings.Split("password=hunter2hunter2", ""), "\x00"))), "<REDACTED>"},
		{"everyday", `git commit -m "Fix the token refresh: don't ask twice" && go test ./...`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.want == "" {
				tt.want = tt.in
			}
			if got := New().Text(tt.in).String(); got != tt.want {
				t.Errorf("\n in   %s\n got  %s\n want %s", tt.in, New().Show(tt.in), tt.want)
			}
		})
	}
}
