import type { Command } from "../command.ts";

export const up: Command = {
  name: "up",
  summary: "run a Director with the local CPI on this machine, until Ctrl-C",
  topic: "this machine",
  options: [
    { flags: "--detach", about: "in the background; `slipway down` stops it" },
    { flags: "--port <number>", about: "where the Director listens; remembered, at first 25555" },
    { flags: "--config <path>", about: "the Director's configuration, JSON" },
  ],
  async run(given, tools) {
    const [{ portOf }, { upDetached, upHere }] = await Promise.all([
      import("../up/port.ts"),
      import("../up/run.ts"),
    ]);
    const options = { port: portOf(given.text("port")), config: given.text("config") };
    return given.flag("detach") ? await upDetached(options, tools) : await upHere(options, tools);
  },
};
