import type { Command } from "../command.ts";

/** Ours: upstream's agent is tested with its own sources only. */
export const certifyAgent: Command = {
  name: "certify-agent",
  summary: "check an agent against the contract, rule by rule",
  topic: "documents",
  arguments: [
    {
      name: "<agent>",
      about: "executable of the agent; it is started, checked over HTTPS and removed again",
    },
  ],
  options: [
    {
      flags: "--platform <name>",
      about: "what it is given as -P (default namespace, which changes nothing of this machine)",
    },
    { flags: "--agent-arg <word>", about: "one more argument for it, such as --agent-arg=-M", repeats: true },
    { flags: "--only <rule>", about: "check this rule only, such as AGENT-DISK-002", repeats: true },
    {
      flags: "--differs <rule=why>",
      about: "a rule that it breaks by decision; listed apart, and an extended one does not count",
      repeats: true,
    },
    { flags: "--report <dir>", about: "write receipt.json, report.html, junit.xml and badge.svg into it" },
  ],
  examples: [
    ["slipway certify-agent ./slipway-agent --report out", ""],
    ["slipway certify-agent ./bosh-agent --platform dummy --agent-arg=-M --agent-arg=dummy", "upstream's"],
  ],
  async run(given, tools) {
    const { certifyAgent, SANDBOX } = await import("../certify-agent/run.ts");
    return await certifyAgent(
      {
        agent: given.argument(0) ?? "",
        platform: given.text("platform") ?? SANDBOX,
        agentArgs: given.texts("agent-arg"),
        only: given.texts("only"),
        differs: given.texts("differs"),
        report: given.text("report"),
      },
      tools,
    );
  },
};
