package rego

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// pure are the functions that every policy may use: they look at nothing but
// their arguments, and take no more time and memory than these. A function
// that a new version of OPA brings is not on the list until somebody looked at
// it. Left out are, besides what reaches outside (http.send,
// net.lookup_ip_addr, opa.runtime, rand.intn, time.now_ns, uuid.rfc4122,
// providers.aws.sign_req): keys and certificates, which no verdict needs;
// what can take a time or a space that is exponential in its arguments
// (bits.lsh, graph.reachable_paths, regex.globs_match, net.cidr_expand,
// strings.render_template); and rego.parse_module.
const pure = `abs all and any array.concat array.flatten array.reverse array.slice assign
base64.decode base64.encode base64.is_valid base64url.decode base64url.encode base64url.encode_no_pad
bits.and bits.negate bits.or bits.rsh bits.xor cast_array cast_boolean cast_null cast_object cast_set cast_string
ceil concat contains count crypto.hmac.equal crypto.hmac.sha256 crypto.md5 crypto.sha1 crypto.sha256
div endswith eq equal floor format_int glob.match glob.quote_meta graph.reachable gt gte hex.decode hex.encode
indexof indexof_n internal.member_2 internal.member_3 internal.print internal.template_string internal.test_case intersection
is_array is_boolean is_null is_number is_object is_set is_string
json.filter json.is_valid json.marshal json.patch json.remove json.unmarshal lower lt lte max min minus mul neq
net.cidr_contains net.cidr_contains_matches net.cidr_intersects net.cidr_is_valid net.cidr_overlap
numbers.range numbers.range_step object.filter object.get object.keys object.remove object.subset object.union object.union_n
or plus print product re_match regex.find_all_string_submatch_n regex.find_n regex.is_valid regex.match regex.replace regex.split
regex.template_match rego.metadata.chain rego.metadata.rule rem replace round semver.compare semver.is_valid set_diff sort split
sprintf startswith strings.any_prefix_match strings.any_suffix_match strings.count strings.replace_n strings.reverse
strings.split_n substring sum time.add_date time.clock time.date time.diff time.format time.parse_duration_ns time.parse_ns
time.parse_rfc3339_ns time.weekday to_number trace trim trim_left trim_prefix trim_right trim_space trim_suffix type_name
union units.parse units.parse_bytes upper uri.is_valid uri.parse urlquery.decode urlquery.decode_object urlquery.encode
urlquery.encode_object walk yaml.is_valid yaml.marshal yaml.unmarshal`

// Builtins are the functions that every policy may use.
func Builtins() []string { return strings.Fields(pure) }

// refused are OPA's functions that a policy may not use.
func refused() []string {
	allowed := Builtins()
	var out []string
	for _, b := range ast.Builtins {
		if !slices.Contains(allowed, b.Name) {
			out = append(out, b.Name)
		}
	}
	slices.Sort(out)
	return out
}

// Refused are OPA's functions that a policy may use only where system or
// organisation say so.
func Refused() []string { return refused() }

// capabilities is what the compiler lets policies use: what is pure, and extra.
func capabilities(extra []string) *ast.Capabilities {
	caps := &ast.Capabilities{Features: slices.Clone(ast.Features), AllowNet: []string{}}
	allowed := make(map[string]bool, 160)
	for _, name := range Builtins() {
		allowed[name] = true
	}
	for _, name := range extra {
		allowed[name] = true
	}
	for _, b := range ast.Builtins {
		if allowed[b.Name] {
			caps.Builtins = append(caps.Builtins, b)
		}
	}
	return caps
}

// maxText bounds, in bytes, what one call of a function builds.
const maxText = 8 << 20

// bounded are the functions that build more than they are given, behind a look
// at how much that would be. Without it one line could ask for more memory
// than the machine has, which ends the process, and with it the gate.
func bounded() map[string]*topdown.Builtin {
	out := map[string]*topdown.Builtin{}
	add := func(decl *ast.Builtin, size func([]*ast.Term) int) {
		run := topdown.GetBuiltin(decl.Name)
		out[decl.Name] = &topdown.Builtin{Decl: decl, Func: func(c topdown.BuiltinContext, args []*ast.Term, iter func(*ast.Term) error) error {
			if n := size(args); n > maxText {
				return topdown.Halt{Err: fmt.Errorf("%s: the result is larger than %d MiB", decl.Name, maxText>>20)}
			}
			return run(c, args, iter)
		}}
	}
	add(ast.Replace, func(a []*ast.Term) int { return len(text(a[0])) * (1 + len(text(a[2]))) })
	add(ast.Concat, func(a []*ast.Term) int { return lengths(a[1], len(text(a[0]))) })
	add(ast.Sprintf, func(a []*ast.Term) int { return widths(text(a[0])) + lengths(a[1], 0) })
	add(ast.InternalTemplateString, func(a []*ast.Term) int { return lengths(a[0], 0) })
	add(ast.ReplaceN, func(a []*ast.Term) int { return len(text(a[1])) * (1 + longest(a[0])) })
	return out
}

func text(t *ast.Term) string {
	s, _ := t.Value.(ast.String)
	return string(s)
}

// lengths adds up the texts of a collection, and so much more for each.
func lengths(t *ast.Term, each int) int {
	n := 0
	count := func(e *ast.Term) { n += len(text(e)) + each }
	switch v := t.Value.(type) {
	case *ast.Array:
		v.Foreach(count)
	case ast.Set:
		v.Foreach(count)
	}
	return n
}

// longest is the length of the longest value of an object.
func longest(t *ast.Term) int {
	n := 0
	if o, ok := t.Value.(ast.Object); ok {
		o.Foreach(func(_, v *ast.Term) { n = max(n, len(text(v))) })
	}
	return n
}

// widths adds up the numbers in a format, which are widths and precisions.
func widths(format string) int {
	sum, number := len(format), 0
	for _, c := range []byte(format) {
		if c < '0' || c > '9' {
			number = 0
			continue
		}
		sum -= number
		number = min(number*10+int(c-'0'), maxText+1)
		sum += number
		if sum > maxText {
			return sum
		}
	}
	return sum
}
