import type { Command } from "../command.ts";
import { portOf } from "../up/port.ts";

export const demo: Command = {
  name: "demo",
  summary: "see it work: a Director, a sandbox with a disk, and a disk that outlives its sandbox",
  topic: "this machine",
  options: [
    { flags: "--port <number>", about: "where the Director listens; remembered, at first 25555" },
    { flags: "--range <addresses>", about: "addresses of sandboxes; at first 127.20.0.0/24" },
  ],
  run: async (given, tools) => {
    const port = given.text("port");
    const { runDemo } = await import("../demo/run.ts");
    return await runDemo(
      { port: port === undefined ? undefined : portOf(port), range: given.text("range") },
      tools,
    );
  },
};
