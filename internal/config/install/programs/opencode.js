
// before is what OpenCode 1 and 2 ask before each call. A call that is refused fails with
// the reason, which the model reads. A plugin cannot make OpenCode ask, so a question is
// a refusal.
async function before(message, args, tell) {
  const answer = await judge(message)
  if (answer.notice) await tell(answer.notice)
  if (answer.decision !== "none" && answer.decision !== "allow") throw new Error(answer.reason || refusal("it gave no reason").reason)
  change(args, answer.input)
}

// Cardea is the plugin: OpenCode 1 calls it, OpenCode 2 reads its id and calls its setup.
const Cardea = async ({ directory, client }) => {
  // Nobody may be looking, and what is told decides nothing.
  const tell = async (message) => {
    try {
      await client.tui.showToast({ body: { title: "Cardea", message, variant: "warning" } })
    } catch {}
  }
  return {
    "tool.execute.before": (input, output) =>
      before({ event: "tool.execute.before", cwd: directory, input: { tool: input.tool, sessionID: input.sessionID, callID: input.callID }, output: { args: output.args } }, output.args, tell),
  }
}
Cardea.id = "cardea"
Cardea.setup = async (context) => {
  await context.tool.hook("execute.before", (event) =>
    before({ event: "execute.before", cwd: context.directory ?? process.cwd(), tool: event.tool, sessionID: event.sessionID, agent: event.agent, id: event.id, input: event.input }, event.input, async () => {}),
  )
}

export default Cardea
