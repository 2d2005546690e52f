package mention

import (
	"cmp"
	"slices"
	"strings"
)

// copies maps functions of script languages that copy or move folders, or unpack
// archives, to the shell line with the same effect on their first two arguments.
var copies = map[string]string{
	"cpSync": "cp -r -- 1/. 2", "cp": "cp -r -- 1/. 2", "copySync": "cp -r -- 1/. 2", "copytree": "cp -r -- 1/. 2", "copy_tree": "cp -r -- 1/. 2", "cp_r": "cp -r -- 1/. 2",
	"renameSync": "mv -- 1 2", "rename": "mv -- 1 2", "move": "mv -- 1 2", "moveSync": "mv -- 1 2", "mv": "mv -- 1 2", "unpack_archive": "tar -xf 1 -C 2",
}

// openers are functions that open an archive.
var openers = []string{"ZipFile", "TarFile", "AdmZip", "open"}

// copied adds the effect of a call of one of these functions at token i. An opened
// archive is unpacked if the text has a call for it. The copied files are unknown unless
// the function is called with constants.
func (j *joiner) copied(tokens tokens, i int) {
	t, before, next, at := tokens[i], tokens.at(i-1), tokens.at(i+1), i+2
	does, opens, unpacks := copies[t.text], slices.Contains(openers, t.text), t.text == "extractall" || t.text == "extract"
	if next.kind == constant && does != "" {
		at-- // mv "a", "b"
	}
	if t.kind != name || at == i+2 && (next.text != "(" || next.kind != operator) {
		named := t.kind == name && next.text != "=" && (next.text != "." || before.text == ".")
		indexed := before.text == "[" && (tokens.at(i-2).kind == name || tokens.at(i-2).text == ")") || tokens.at(i-4).text == "getattr"
		named = named || t.kind == constant && (indexed || len(t.text) >= len("cpSync"))
		j.Copies = j.Copies || named && (does != "" || unpacks)
		j.opensUnknown = j.opensUnknown || named && opens && t.text != "open" && (before.text != "import" || next.text == "as")
		return
	}
	args, n := []string{"", "."}, 0
	plain := at < len(tokens) && (tokens[at].text != ")" || unpacks)
	for k := at; k < len(tokens) && n < 2 && tokens[k].text != ")" && tokens[k].text != ";"; k++ {
		value, known := j.values[tokens[k].text]
		switch single := k == at || tokens[k-1].text == ","; {
		case tokens[k].kind == constant:
			args[n], plain = tokens[k].text, plain && single
		case tokens[k].text == ",":
			n++
		case known:
			args[n], plain = value, plain && single
		default:
			plain = false
		}
	}
	if at == i+1 && n == 0 {
		return
	}
	j.Copies = j.Copies || !plain && (does != "" || unpacks)
	j.opensUnknown, j.unpacks = j.opensUnknown || !plain && opens, j.unpacks || unpacks
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	switch {
	case unpacks:
		for _, archive := range j.archives {
			j.command("tar -xf " + quote(archive) + " -C " + quote(cmp.Or(args[0], ".")))
		}
	case args[0] == "":
	case does != "":
		j.command(strings.NewReplacer("1", quote(args[0]), "2", quote(args[1])).Replace(does))
	case len(j.archives) < longestList:
		j.archives = append(j.archives, args[0])
	}
}
