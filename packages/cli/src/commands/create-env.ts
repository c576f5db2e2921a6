import type { Command } from "../command.ts";
import { readRequest, skipDrainOption, stateOption } from "../create-env/request.ts";
import { documentOptions } from "../interpolate/document.ts";

export const createEnv: Command = {
  name: "create-env",
  summary: "create or update one VM with its disk, without a Director",
  topic: "this machine",
  arguments: [{ name: "<manifest>", about: "a manifest with cloud_provider" }],
  options: [
    ...documentOptions,
    stateOption,
    skipDrainOption,
    { flags: "--recreate", about: "replace the VM even if nothing has changed" },
    {
      flags: "--recreate-persistent-disks",
      about: "copy the data to a new disk even if nothing has changed",
    },
  ],
  examples: [
    ["slipway create-env env.yml --state state.json", "again after an interruption: it goes on"],
    ["slipway create-env env.yml -v stemcell=/tmp/stemcell.tgz", "with a variable"],
  ],
  async run(given, tools) {
    const request = await readRequest(given, tools);
    const { createEnv: create } = await import("../create-env/create.ts");
    await create(
      {
        ...request,
        recreate: given.flag("recreate"),
        recreateDisks: given.flag("recreate-persistent-disks"),
      },
      tools,
    );
    tools.ui.line("Succeeded");
    return 0;
  },
};
