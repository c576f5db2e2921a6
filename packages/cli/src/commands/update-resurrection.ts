import type { Command } from "../command.ts";
import { BadArgument } from "../parse/errors.ts";

export const updateResurrection: Command = {
  name: "update-resurrection",
  summary: "let the Director replace VMs that are gone or whose agent is silent, or not",
  topic: "deployments",
  arguments: [{ name: "<on|off>", about: "on or off, for all deployments" }],
  examples: [["slipway update-resurrection off", "before maintenance of the machines below"]],
  async run(given, { director }) {
    const asked = given.argument(0) ?? "";
    if (asked !== "on" && asked !== "off") throw BadArgument({ what: "on or off", given: asked });
    const api = await director();
    await api.text({
      method: "PUT",
      path: "/resurrection",
      contentType: "application/json",
      body: JSON.stringify({ resurrection_paused: asked === "off" }),
    });
    return 0;
  },
};
