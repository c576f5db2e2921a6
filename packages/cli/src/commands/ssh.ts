import type { Command } from "../command.ts";
import { Contradiction } from "../parse/errors.ts";
import { ManyInstances } from "../ssh/errors.ts";
import { ENDPOINT_OPTIONS, GATEWAY_OPTIONS, KEY_OPTIONS } from "../ssh/options.ts";
import { runHere } from "../ssh/run.ts";
import { resultsOfEach, runOnEach } from "../ssh/run-on-each.ts";

export const ssh: Command = {
  name: "ssh",
  summary: "open a shell in a VM, or run a command in several",
  topic: "deployments",
  arguments: [
    {
      name: "[slug]",
      about: "group, group/id or group/index; without it all instances",
      completes: "instance",
    },
  ],
  options: [
    { flags: "-c, --command <command>", about: "run it in each VM, and print what it says" },
    { flags: "-r, --results", about: "with -c: a table of what each VM said, and how it ended" },
    { flags: "--opts <option>", about: "handed to ssh as it is", repeats: true },
    ...KEY_OPTIONS,
    ...GATEWAY_OPTIONS,
    ...ENDPOINT_OPTIONS,
  ],
  examples: [
    ["slipway -d shop ssh db/0", "a shell"],
    ["slipway -d shop ssh web -c 'df -h /var/vcap/data'", "in all VMs of a group"],
  ],
  async run(given, tools) {
    const command = given.text("command");
    if (given.flag("results") && command === undefined)
      throw Contradiction({ problem: "--results is of a command: -c 'df -h'" });
    const { withSession } = await import("../ssh/session.ts");
    return await withSession(given.argument(0), given, tools, async (session) => {
      const { hosts, flags, user } = session;
      const opts = given.texts("opts");
      const to = (host: (typeof hosts)[number]) => [...flags(host), ...opts, `${user}@${host.ip}`];
      if (command !== undefined) {
        const each = given.flag("results") ? resultsOfEach : runOnEach;
        await each(session, tools, "ssh", (host) => [...to(host), "--", command]);
        return 0;
      }
      const [host] = hosts;
      if (host === undefined || hosts.length > 1) throw ManyInstances({ count: hosts.length });
      return await runHere("ssh", to(host), { ...tools.env, ...session.env });
    });
  },
};
