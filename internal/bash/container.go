package bash

import (
	"path"
	"slices"
	"strings"
)

// Options with a value of the container clients, before and after the
// subcommand (docker 24, podman 4, kubectl 1.28). Unknown ones are taken as
// flags, and a guess that is wrong shows a wrong inner command: the outer one
// is a part as well, and an allow needs that one too.
const containerValued = " -H --host -c --context --config -l --log-level --tlscacert --tlscert --tlskey --url --connection --namespace -n --kubeconfig --cluster --user -s --server --token --as " +
	"-e --env --env-file -u -w --workdir --detach-keys -v --volume --mount -p --publish --name --network --net -h --hostname --entrypoint --add-host --cpus -m --memory --label --pid --ipc --platform --restart --runtime --security-opt --shm-size --tmpfs --ulimit --userns --volumes-from --cap-add --cap-drop --device --dns --gpus --group-add --health-cmd --index --link --log-driver --log-opt --cidfile --pull --stop-signal -a --attach --cgroupns --ip --isolation --mac-address --annotation -f --filename --container --pod-running-timeout "

// container handles docker exec, docker run, kubectl exec and their kin: what
// they start is a part, and so is the call itself.
func (w *walker) container(inv invocation) {
	w.emitProgram(inv)
	name := strings.TrimSuffix(path.Base(inv.argv[0].Text), "-compose")
	words := inv.argv[1:]
	skip := func() bool { // options; false when one cannot be read
		for len(words) > 0 {
			f := words[0]
			if !f.Static || f.Text == "--" || !strings.HasPrefix(f.Text, "-") {
				return f.Static
			}
			words = words[1:]
			if !strings.Contains(f.Text, "=") && strings.Contains(containerValued, " "+f.Text+" ") && len(words) > 0 {
				words = words[1:]
			}
		}
		return false
	}
	if !skip() {
		return
	}
	sub := words[0].Text
	words = words[1:]
	if (sub == "container" || sub == "compose") && skip() {
		sub, words = words[0].Text, words[1:]
	}
	if sub != "exec" && sub != "run" || !skip() {
		return
	}
	if words[0].Text != "--" {
		words = words[1:] // the container, image or pod
	}
	if name == "kubectl" || name == "oc" {
		skip()
	}
	if len(words) > 0 && words[0].Static && words[0].Text == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		return
	}
	inv.argv = words
	inv.access = nil
	inv.wrappers = append(slices.Clone(inv.wrappers), name+" "+sub)
	inv.elevated, inv.remote, inv.program = true, true, true
	w.start(inv)
}
