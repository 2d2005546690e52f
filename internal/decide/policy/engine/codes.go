package engine

import "cardea.dev"

// Codes of findings in policies, in addition to those of package cardea.
const (
	// CodeParse: the file is not valid Rego.
	CodeParse cardea.Code = "parse"
	// CodeEmpty: the file has no contents, so it decides nothing.
	CodeEmpty cardea.Code = "empty"
	// CodeCompile: OPA's compiler rejects the file.
	CodeCompile cardea.Code = "compile"
	// CodeStrict: OPA's compiler rejects the file in strict mode.
	CodeStrict cardea.Code = "strict"
	// CodeMetadata: a METADATA comment is ignored.
	CodeMetadata cardea.Code = "metadata"
	// CodeEvaluate: the policy cannot be evaluated.
	CodeEvaluate cardea.Code = "evaluate"
	// CodeNoMetadata: a package with verbs has no routing, so it never runs.
	CodeNoMetadata cardea.Code = "no-metadata"
	// CodeNoEvents: the routing names no events, so the policy never runs.
	CodeNoEvents cardea.Code = "no-events"
	// CodeNoVerb: a routed policy has no verb, so it decides nothing.
	CodeNoVerb cardea.Code = "no-verb"
	// CodeNoSet: a verb is not a set of decisions.
	CodeNoSet cardea.Code = "no-set"
	// CodeDecision: a decision lacks a field or has a wrong one.
	CodeDecision cardea.Code = "decision"
	// CodeVerb: a rule looks like a verb but has another name, or its verb has no meaning
	// on the event.
	CodeVerb cardea.Code = "verb"
	// CodeEvent: the routing names an event that does not exist.
	CodeEvent cardea.Code = "event"
	// CodeTool: the routing names an unknown tool, or tools for events without one.
	CodeTool cardea.Code = "tool"
	// CodeSignal: a signal that is used is not defined or not required.
	CodeSignal cardea.Code = "signal"
	// CodeField: the policy reads a field that no event has.
	CodeField cardea.Code = "field"
	// CodeData: data documents contradict each other, or one cannot be merged.
	CodeData cardea.Code = "data"
	// CodeConstant: a call always fails because of its constant argument.
	CodeConstant cardea.Code = "constant"
	// CodeNegation: a negated condition also holds where the field is missing.
	CodeNegation cardea.Code = "negation"
	// CodePackage: the policy refers to a package that does not exist.
	CodePackage cardea.Code = "package"
	// CodeRouting: files of one package are routed differently.
	CodeRouting cardea.Code = "routing"
	// CodeSystemPackage: the file is Cupcake's aggregation, which is skipped.
	CodeSystemPackage cardea.Code = "system-package"
	// CodeLibraryRouting: a package that is not a policy has a routing.
	CodeLibraryRouting cardea.Code = "library-routing"
	// CodeLibraryVerb: a package that is not a policy has a verb.
	CodeLibraryVerb cardea.Code = "library-verb"
)
