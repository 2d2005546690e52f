import { spawn } from "node:child_process"

// Written by cardea install. Whatever goes wrong here denies the call.
const command = COMMAND
const limit = LIMIT // milliseconds until a program that does not answer is stopped
const most = 1 << 20 // bytes of an answer

function refusal(why) {
  return { decision: "deny", reason: `Cardea could not judge this call, so it is denied: ${why}. Tell the person to run "cardea doctor".` }
}

// readable is an answer as it can be acted on, or a refusal.
function readable(code, signal, stdout, stderr) {
  if (code === 2) return { decision: "deny", reason: stderr.trim() || refusal("it ended with exit code 2").reason }
  if (code !== 0) return refusal(signal ? `it was stopped by ${signal}` : `it ended with exit code ${code}`)
  let answer
  try {
    answer = JSON.parse(stdout)
  } catch {
    return refusal("its answer is no JSON")
  }
  if (answer === null || typeof answer !== "object" || Array.isArray(answer)) return refusal("its answer is no object")
  if (!["none", "allow", "ask", "deny"].includes(answer.decision)) return refusal("its answer has no decision")
  for (const key of ["reason", "notice"]) {
    if (answer[key] !== undefined && typeof answer[key] !== "string") return refusal(`the ${key} of its answer is no text`)
  }
  return answer
}

// judge asks Cardea, once. It never throws, and always ends.
function judge(message) {
  return new Promise((resolve) => {
    let child, timer
    const end = (answer) => {
      clearTimeout(timer)
      resolve(answer)
    }
    try {
      const text = JSON.stringify(message)
      child = spawn(command[0], command.slice(1), { cwd: message.cwd, env: { ...process.env, CARDEA_HOOK: "HARNESS" }, stdio: ["pipe", "pipe", "pipe"], windowsHide: true })
      const said = { stdout: "", stderr: "" }
      for (const name of ["stdout", "stderr"]) {
        child[name].setEncoding("utf8")
        child[name].on("data", (data) => {
          said[name] += data
          if (said[name].length > most) {
            child.kill("SIGKILL")
            end(refusal("it says too much"))
          }
        })
      }
      child.on("error", (error) => end(refusal(`it does not start (${error.code ?? error.message})`)))
      child.on("close", (code, signal) => end(readable(code, signal, said.stdout, said.stderr)))
      child.stdin.on("error", () => {}) // how it ended is told by "close"
      child.stdin.end(text)
    } catch (error) {
      end(refusal(`it cannot be asked (${error.message})`))
      return
    }
    timer = setTimeout(() => {
      child.kill("SIGKILL")
      end(refusal(`it gave no answer within ${limit} ms`))
    }, limit)
  })
}

// change puts what a call was rewritten to in the place of its input, which the harness
// holds by reference.
function change(args, input) {
  if (input === undefined) return
  if (!isInput(args) || !isInput(input)) throw new Error(refusal("it rewrote the call to something that is no input").reason)
  for (const key of Object.keys(args)) delete args[key]
  Object.assign(args, input)
}

function isInput(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value)
}
