import type { Command } from "../command.ts";

export const demo: Command = {
  name: "demo",
  summary: "see it work: a Director, a sandbox with a disk, and a disk that outlives its sandbox",
  topic: "this machine",
  options: [
    { flags: "--port <number>", about: "where the Director listens; remembered, at first 25555" },
    { flags: "--range <addresses>", about: "addresses of sandboxes; at first 127.20.0.0/24" },
  ],
  async run(given, tools) {
    const [{ portOf }, { runDemo }] = await Promise.all([import("../up/port.ts"), import("../demo/run.ts")]);
    return await runDemo({ port: portOf(given.text("port")), range: given.text("range") }, tools);
  },
};
