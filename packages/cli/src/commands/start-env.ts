import type { Command } from "../command.ts";
import { readRequest, stateOption } from "../create-env/request.ts";
import { documentOptions } from "../interpolate/document.ts";

export const startEnv: Command = {
  name: "start-env",
  summary: "start the jobs of the VM that create-env has made",
  topic: "this machine",
  arguments: [{ name: "<manifest>", about: "the manifest it was made with" }],
  options: [...documentOptions, stateOption],
  examples: [["slipway start-env env.yml --state state.json", "after stop-env"]],
  async run(given, tools) {
    const request = await readRequest(given, tools);
    const { powerEnv } = await import("../create-env/power.ts");
    await powerEnv("started", request, tools);
    tools.ui.line("Succeeded");
    return 0;
  },
};
