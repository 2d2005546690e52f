
// The extension: pi calls it once, and what it registers before each call. An exception
// blocks the call.
export default function (pi) {
  pi.on("tool_call", async (event, context) => {
    const attended = context.hasUI === true
    const answer = await judge({ type: "tool_call", cwd: context.cwd, hasUI: attended, sessionId: context.sessionManager?.getSessionId?.() ?? "", toolName: event.toolName, toolCallId: event.toolCallId, input: event.input })
    if (answer.notice && attended) context.ui.notify(answer.notice, "warning")
    let runs = answer.decision === "none" || answer.decision === "allow"
    if (answer.decision === "ask" && attended) runs = (await context.ui.confirm("Cardea", answer.reason || `May ${event.toolName} run?`)) === true
    if (!runs) return { block: true, reason: answer.reason || refusal("it gave no reason").reason }
    change(event.input, answer.input)
    return undefined
  })
}
