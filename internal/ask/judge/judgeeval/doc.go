// Package judgeeval measures a judge by labelled calls: how often its decision equals the label,
// whether its confidence matches its accuracy, and what it costs.
//
// The results are about one model, one prompt and one set of calls. Made-up answers measure
// nothing.
package judgeeval
