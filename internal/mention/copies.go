package mention

import (
	"cmp"
	"strings"
)

// copies are functions of script languages that copy or move folders, or unpack archives,
// and the line for a shell that does the same with their first two arguments.
var copies = map[string]string{
	"cpSync": "cp -r -- 1/. 2", "cp": "cp -r -- 1/. 2", "copySync": "cp -r -- 1/. 2", "copytree": "cp -r -- 1/. 2", "copy_tree": "cp -r -- 1/. 2", "cp_r": "cp -r -- 1/. 2",
	"renameSync": "mv -- 1 2", "rename": "mv -- 1 2", "move": "mv -- 1 2", "moveSync": "mv -- 1 2", "mv": "mv -- 1 2", "unpack_archive": "tar -xf 1 -C 2",
}

// copied adds what a call of one of these functions does, which begins at a token. An
// archive that is opened is unpacked where the text says so.
func (j *joiner) copied(tokens []token, i int) {
	if i+1 >= len(tokens) || tokens[i].kind != name || tokens[i+1].text != "(" {
		return
	}
	args := []string{"", "."}
	n := 0
	for k := i + 2; k < len(tokens) && n < 2 && tokens[k].text != ")"; k++ {
		value, known := j.values[tokens[k].text]
		switch t := tokens[k]; {
		case t.kind == constant:
			args[n] = t.text
		case t.text == ",":
			n++
		case t.kind == name && known:
			args[n] = value
		}
	}
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	switch does := copies[tokens[i].text]; {
	case tokens[i].text == "extractall" || tokens[i].text == "extract":
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
