// Package evaluation measures a judge by labelled calls: how often it decides as the label
// says, whether it is right as often as it is sure, and what it costs.
//
// What it finds is about one model, one prompt and one set of calls. Answers that were made
// up measure nothing.
package evaluation
