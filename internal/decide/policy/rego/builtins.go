package rego

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"cardea.dev/internal/base/lists"
)

// pure lists the functions that every policy may use. They depend only on their arguments,
// and their time and memory are bounded by these. A function that a new version of OPA adds
// is missing until it is reviewed. The list excludes:
//
//   - functions with access to the outside: http.send, net.lookup_ip_addr, opa.runtime, rand.intn,
//     time.now_ns, uuid.rfc4122, providers.aws.sign_req;
//   - functions for keys and certificates, which no verdict needs;
//   - functions with a time or space exponential in their arguments: bits.lsh,
//     graph.reachable_paths, regex.globs_match, net.cidr_expand, strings.render_template;
//   - rego.parse_module.
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

// Builtins returns the functions that every policy may use.
func Builtins() []string { return strings.Fields(pure) }

// refused returns OPA's functions that are not in [Builtins], sorted.
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

// Refused returns OPA's functions that a policy may use only if the settings of system or
// organisation name them.
func Refused() []string { return refused() }

// capabilities returns the capabilities of the compiler: the pure functions, and extra.
func capabilities(extra []string) *ast.Capabilities {
	caps := &ast.Capabilities{Features: slices.Clone(ast.Features), AllowNet: []string{}}
	allowed := make(map[string]bool, 160)
	for _, name := range Builtins() {
		allowed[name] = true
	}
	for _, name := range extra {
		allowed[name] = true
	}
	caps.Builtins = append(caps.Builtins, lists.Where(ast.Builtins, func(b *ast.Builtin) bool { return allowed[b.Name] })...)
	return caps
}
