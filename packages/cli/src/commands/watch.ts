import type { Command } from "../command.ts";
import { BadArgument } from "../parse/errors.ts";

const INTERVAL_S = 2;

/** Ours. */
export const watch: Command = {
  name: "watch",
  summary: "follow a deployment, or all, as it goes: instances, health, tasks and events",
  topic: "deployments",
  options: [
    {
      flags: "--interval <seconds>",
      about: `how long to wait between two looks at the Director; default: ${INTERVAL_S}`,
    },
  ],
  examples: [
    ["slipway -d shop watch", "redrawn in place; q ends it"],
    ["slipway -d shop watch --interval 10", "looks every 10 s; in a pipe, a line for each change"],
    ["slipway watch --json", "of all deployments, a JSON document for each change"],
  ],
  async run(given, { ui, clock, stop, deployment, director }) {
    const asked = given.text("interval") ?? String(INTERVAL_S);
    const interval = Number(asked);
    if (!(interval > 0 && interval <= 3600))
      throw BadArgument({ what: "a number of seconds, more than 0 and at most 3600", given: asked });
    const [{ Reader }, { follow }] = await Promise.all([
      import("../watch/reader.ts"),
      import("../watch/follow.ts"),
    ]);
    const reader = new Reader({ api: await director(), clock, deployment });
    await follow({ ui, clock, stop, look: () => reader.look(), intervalMs: interval * 1000 });
    return 0;
  },
};
