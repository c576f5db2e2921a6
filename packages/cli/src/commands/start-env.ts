import type { Command } from "../command.ts";
import { documentOptions, readDocument } from "../interpolate/document.ts";
import { stateOption } from "./create-env.ts";

export const startEnv: Command = {
  name: "start-env",
  summary: "start the jobs of the VM that create-env has made",
  topic: "this machine",
  arguments: [{ name: "<manifest>", about: "the manifest it was made with" }],
  options: [...documentOptions, stateOption],
  async run(given, tools) {
    const manifestPath = given.argument(0) ?? "-";
    const { value } = await readDocument(manifestPath, given, tools, { all: true });
    const { powerEnv } = await import("../create-env/power.ts");
    const statePath = given.text("state");
    await powerEnv("started", { manifestPath, document: value, statePath, skipDrain: false }, tools);
    tools.ui.line("Succeeded");
    return 0;
  },
};
