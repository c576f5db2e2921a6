import type { Command, Option } from "../command.ts";
import { documentOptions, readDocument } from "../interpolate/document.ts";

export const stateOption: Option = {
  flags: "--state <path>",
  about: "the state file; default: <manifest>-state.json beside the manifest",
};

/** Of the commands that stop the VM of an environment without a Director. */
export const environmentOptions: readonly Option[] = [
  stateOption,
  { flags: "--skip-drain", about: "stop the VM that is there without draining its jobs" },
];

export const createEnv: Command = {
  name: "create-env",
  summary: "make or update one VM with its disk, without a Director",
  topic: "this machine",
  arguments: [{ name: "<manifest>", about: "a manifest with cloud_provider" }],
  options: [
    ...documentOptions,
    ...environmentOptions,
    { flags: "--recreate", about: "replace the VM even if nothing has changed" },
    {
      flags: "--recreate-persistent-disks",
      about: "copy the data to a new disk even if nothing has changed",
    },
  ],
  async run(given, tools) {
    const manifestPath = given.argument(0) ?? "-";
    const { value } = await readDocument(manifestPath, given, tools, { all: true });
    const { createEnv: create } = await import("../create-env/create.ts");
    await create(
      {
        manifestPath,
        document: value,
        statePath: given.text("state"),
        skipDrain: given.flag("skip-drain"),
        recreate: given.flag("recreate"),
        recreateDisks: given.flag("recreate-persistent-disks"),
      },
      tools,
    );
    tools.ui.line("Succeeded");
    return 0;
  },
};
