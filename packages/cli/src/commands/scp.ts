import type { Command } from "../command.ts";
import { ENDPOINT_OPTIONS, GATEWAY_OPTIONS, KEY_OPTIONS } from "../ssh/options.ts";
import { runOnEach } from "../ssh/run-on-each.ts";

export const scp: Command = {
  name: "scp",
  summary: "copy files to VMs, or from them",
  topic: "deployments",
  arguments: [
    { name: "<from>", about: "a file here, or group/id:/path; with --director :/path" },
    { name: "[more-and-to...]", about: "where to; all but the last are also copied" },
  ],
  options: [
    { flags: "-r, --recursive", about: "directories with all that is in them" },
    { flags: "--opts <option>", about: "handed to scp as it is", repeats: true },
    ...KEY_OPTIONS,
    ...GATEWAY_OPTIONS,
    ...ENDPOINT_OPTIONS,
  ],
  examples: [
    ["slipway -d shop scp fix.sh web:/tmp", "to all VMs of a group"],
    ["slipway -d shop scp web:/tmp/x 'x-((instance_id))'", "from each, under names of their own"],
  ],
  async run(given, tools) {
    const { copyOf } = await import("../ssh/copy.ts");
    const { withSession } = await import("../ssh/session.ts");
    const copy = copyOf(given.argumentsFrom(0), given.flag("director"));
    const options = [...(given.flag("recursive") ? ["-r"] : []), ...given.texts("opts")];
    await withSession(copy.slug, given, tools, (session) =>
      runOnEach(session, tools, "scp", (host) => [
        ...session.flags(host),
        ...options,
        "--",
        ...copy.args(session.user, host),
      ]),
    );
    return 0;
  },
};
