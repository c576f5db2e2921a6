import type { Command } from "../command.ts";
import { documentOptions, readDocument } from "../interpolate/document.ts";
import { environmentOptions } from "./create-env.ts";

export const deleteEnv: Command = {
  name: "delete-env",
  summary: "delete what create-env has made: VM, disk and stemcell",
  topic: "this machine",
  arguments: [{ name: "<manifest>", about: "the manifest it was made with" }],
  options: [...documentOptions, ...environmentOptions],
  async run(given, tools) {
    const manifestPath = given.argument(0) ?? "-";
    const { value } = await readDocument(manifestPath, given, tools, { all: true });
    const { deleteEnv: remove } = await import("../create-env/delete.ts");
    await remove(
      {
        manifestPath,
        document: value,
        statePath: given.text("state"),
        skipDrain: given.flag("skip-drain"),
      },
      tools,
    );
    tools.ui.line("Succeeded");
    return 0;
  },
};
