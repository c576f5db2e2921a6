import type { Command } from "../command.ts";
import { askedCpi, cpiOptions } from "../up/cpi-options.ts";

export const demo: Command = {
  name: "demo",
  summary: "run the demo: a Director, a sandbox or container with a disk, and a disk that outlives its VM",
  topic: "this machine",
  options: [
    { flags: "--port <number>", about: "where the Director listens; remembered, at first 25555" },
    ...cpiOptions,
    {
      flags: "--range <addresses>",
      about: "addresses of VMs; at first 127.20.0.0/24, docker: 10.245.77.0/24",
    },
    { flags: "--stemcell <file>", about: "deploy this one, in place of the built-in one" },
  ],
  async run(given, tools) {
    const [{ portOf }, { runDemo }] = await Promise.all([import("../up/port.ts"), import("../demo/run.ts")]);
    const options = {
      port: portOf(given.text("port")),
      range: given.text("range"),
      stemcell: given.text("stemcell"),
    };
    return await runDemo(options, askedCpi(given), tools);
  },
};
