import type { Command } from "../command.ts";
import { askedCpi, cpiOptions } from "../cpis/table.ts";

export const up: Command = {
  name: "up",
  summary: "run a Director on this machine, with sandboxes or Docker containers as VMs, until Ctrl-C",
  topic: "this machine",
  options: [
    { flags: "--detach", about: "in the background; `slipway down` stops it" },
    ...cpiOptions,
    { flags: "--port <number>", about: "where the Director listens; remembered, at first 25555" },
    {
      flags: "--nats",
      about: "agents of new VMs are reached over a nats-server of this machine; remembered",
    },
    { flags: "--https", about: "agents of new VMs are reached over HTTPS again" },
    { flags: "--config <path>", about: "the Director's configuration, YAML (.yml) or JSON; remembered" },
    { flags: "--no-config", about: "without the remembered configuration, which is forgotten" },
    {
      flags: "--accept <what>",
      about: "once, what was changed on purpose: config, cpi, keys, users, name; several with commas",
    },
    { flags: "--check", about: "say what is wrong with --config, all of it, and start nothing" },
  ],
  examples: [
    ["slipway up --detach", "in the background"],
    ["slipway up --cpi docker", "containers as VMs"],
    ["slipway up --nats", "agents over NATS"],
    ["SLIPWAY_HOME=~/other slipway up --port 25556", "a second one beside the first"],
  ],
  async run(given, tools) {
    const [{ portOf }, { askedTransport }, { upDetached, upHere }, { acceptedIn }] = await Promise.all([
      import("../up/port.ts"),
      import("../up/nats.ts"),
      import("../up/run.ts"),
      import("@slipway/director/start/identity"),
    ]);
    if (given.flag("check")) {
      const [{ readConfig }, { rememberedConfig }] = await Promise.all([
        import("@slipway/director/start/configuration"),
        import("../up/config.ts"),
      ]);
      const path = given.text("config") ?? (await rememberedConfig(tools.home));
      await readConfig(path);
      tools.ui.line(`${path ?? "the defaults"}: nothing is wrong`);
      return 0;
    }
    const words =
      given
        .text("accept")
        ?.split(",")
        .map((word) => word.trim()) ?? [];
    const options = {
      port: portOf(given.text("port")),
      config: given.text("config"),
      noConfig: given.flag("no-config"),
      acceptConfig: words.includes("config"),
      accept: acceptedIn(words.filter((word) => word !== "config").join(",") || undefined),
      transport: askedTransport(given),
    };
    const run = given.flag("detach") ? upDetached : upHere;
    return await run(options, askedCpi(given), tools);
  },
};
