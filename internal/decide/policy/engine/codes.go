package engine

import "cardea.dev/internal/base/diagnostic"

// Codes of findings in policies, in addition to those of package cardea.
const (
	// CodeParse: the file is not valid Rego.
	CodeParse diagnostic.Code = "parse"
	// CodeEmpty: the file has no contents, so it decides nothing.
	CodeEmpty diagnostic.Code = "empty"
	// CodeCompile: OPA's compiler rejects the file.
	CodeCompile diagnostic.Code = "compile"
	// CodeStrict: OPA's compiler rejects the file in strict mode.
	CodeStrict diagnostic.Code = "strict"
	// CodeMetadata: a METADATA comment is ignored.
	CodeMetadata diagnostic.Code = "metadata"
	// CodeEvaluate: the policy cannot be evaluated.
	CodeEvaluate diagnostic.Code = "evaluate"
	// CodeNoMetadata: a package with verbs has no routing, so it never runs.
	CodeNoMetadata diagnostic.Code = "no-metadata"
	// CodeNoEvents: the routing names no events, so the policy never runs.
	CodeNoEvents diagnostic.Code = "no-events"
	// CodeNoVerb: a routed policy has no verb, so it decides nothing.
	CodeNoVerb diagnostic.Code = "no-verb"
	// CodeNoSet: a verb is not a set of decisions.
	CodeNoSet diagnostic.Code = "no-set"
	// CodeDecision: a decision lacks a field or has a wrong one.
	CodeDecision diagnostic.Code = "decision"
	// CodeVerb: a rule looks like a verb but has another name, or its verb has no meaning
	// on the event.
	CodeVerb diagnostic.Code = "verb"
	// CodeEvent: the routing names an event that does not exist.
	CodeEvent diagnostic.Code = "event"
	// CodeTool: the routing names an unknown tool, or tools for events without one.
	CodeTool diagnostic.Code = "tool"
	// CodeSignal: a signal that is used is not defined or not required.
	CodeSignal diagnostic.Code = "signal"
	// CodeField: the policy reads a field that no event has.
	CodeField diagnostic.Code = "field"
	// CodeData: data documents contradict each other, or one cannot be merged.
	CodeData diagnostic.Code = "data"
	// CodeConstant: a call always fails because of its constant argument.
	CodeConstant diagnostic.Code = "constant"
	// CodeNegation: a negated condition also holds where the field is missing.
	CodeNegation diagnostic.Code = "negation"
	// CodePackage: the policy refers to a package that does not exist.
	CodePackage diagnostic.Code = "package"
	// CodeRouting: files of one package are routed differently.
	CodeRouting diagnostic.Code = "routing"
	// CodeSystemPackage: the file is Cupcake's aggregation, which is skipped.
	CodeSystemPackage diagnostic.Code = "system-package"
	// CodeLibraryRouting: a package that is not a policy has a routing.
	CodeLibraryRouting diagnostic.Code = "library-routing"
	// CodeLibraryVerb: a package that is not a policy has a verb.
	CodeLibraryVerb diagnostic.Code = "library-verb"
)
