import type { Command } from "../command.ts";
import { askedCpi, cpiOptions } from "../cpis/table.ts";

export const demo: Command = {
  name: "demo",
  summary: "run the demo: a Director, a release with a page, and a count on a disk that outlives its VM",
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
  examples: [
    ["slipway demo", "until Ctrl-C"],
    ["slipway demo --port 25556", "where 25555 is taken"],
    ["slipway demo --cpi docker", "with containers"],
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
