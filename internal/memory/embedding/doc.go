// Package embedding turns a command into a short vector of numbers, so that commands with a similar
// meaning have vectors of similar direction: "npm test" and "yarn test" are close, "git push" and
// "git pull" are not.
//
// A vector is made in three steps. [Words] splits the command and leaves out what has no meaning,
// such as quotes, folders and numbers. A tokenizer splits each word into pieces of a fixed
// vocabulary, as the model all-MiniLM-L6-v2 does. Each piece has a row in a table, and the vector
// is the weighted sum of the rows. The table was made once by scripts/distill and is part of the
// program. Nothing is downloaded, and no other process runs.
//
// A vector proves nothing. It finds lessons that may be about the same thing, and package shape
// decides which of them apply (docs/near-embedding.md).
package embedding
