import type { Command } from "../command.ts";
import { askedCpi, cpiOptions } from "../up/cpi-options.ts";

export const up: Command = {
  name: "up",
  summary: "run a Director on this machine, with sandboxes or Docker containers as VMs, until Ctrl-C",
  topic: "this machine",
  options: [
    { flags: "--detach", about: "in the background; `slipway down` stops it" },
    ...cpiOptions,
    { flags: "--port <number>", about: "where the Director listens; remembered, at first 25555" },
    { flags: "--config <path>", about: "the Director's configuration, JSON" },
  ],
  async run(given, tools) {
    const [{ portOf }, { upDetached, upHere }] = await Promise.all([
      import("../up/port.ts"),
      import("../up/run.ts"),
    ]);
    const options = { port: portOf(given.text("port")), config: given.text("config") };
    const run = given.flag("detach") ? upDetached : upHere;
    return await run(options, askedCpi(given), tools);
  },
};
