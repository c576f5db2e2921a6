import type { Command } from "../command.ts";
import { readRequest, skipDrainOption, stateOption } from "../create-env/request.ts";
import { documentOptions } from "../interpolate/document.ts";

export const stopEnv: Command = {
  name: "stop-env",
  summary: "stop the jobs of the VM that create-env has made",
  topic: "this machine",
  arguments: [{ name: "<manifest>", about: "the manifest it was made with" }],
  options: [...documentOptions, stateOption, skipDrainOption],
  examples: [["slipway stop-env env.yml --state state.json", "its disk and files stay"]],
  async run(given, tools) {
    const request = await readRequest(given, tools);
    const { powerEnv } = await import("../create-env/power.ts");
    await powerEnv("stopped", request, tools);
    tools.ui.line("Succeeded");
    return 0;
  },
};
