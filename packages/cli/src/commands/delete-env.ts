import type { Command } from "../command.ts";
import { readRequest, skipDrainOption, stateOption } from "../create-env/request.ts";
import { documentOptions } from "../interpolate/document.ts";

export const deleteEnv: Command = {
  name: "delete-env",
  summary: "delete what create-env has made: VM, disk and stemcell",
  topic: "this machine",
  arguments: [{ name: "<manifest>", about: "the manifest it was made with" }],
  options: [...documentOptions, stateOption, skipDrainOption],
  examples: [["slipway delete-env env.yml --state state.json", "the VM and its disk"]],
  async run(given, tools) {
    const request = await readRequest(given, tools);
    const { deleteEnv: remove } = await import("../create-env/delete.ts");
    await remove(request, tools);
    tools.ui.line("Succeeded");
    return 0;
  },
};
