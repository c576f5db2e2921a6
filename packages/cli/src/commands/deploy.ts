import type { Command } from "../command.ts";
import { documentOptions } from "../interpolate/document.ts";

export const deploy: Command = {
  name: "deploy",
  aliases: ["d"],
  summary: "create or update a deployment from its manifest",
  topic: "deployments",
  // Not `<manifest>`: see what --skip-drain takes.
  arguments: [{ name: "[manifest]", about: "path of the manifest; - reads standard input" }],
  options: [
    ...documentOptions,
    { flags: "--no-redact", about: "show secrets in the difference" },
    { flags: "--recreate", about: "replace every VM" },
    { flags: "--recreate-persistent-disks", about: "replace every persistent disk; data is copied" },
    {
      flags: "--recreate-vms-created-before <time>",
      about: "replace VMs older than this: 2030-01-01T00:00:00Z",
    },
    { flags: "--fix", about: "replace VMs whose agent does not answer instead of failing" },
    {
      flags: "--skip-drain [group]",
      about: "do not drain, everywhere or in a group or instance",
      repeats: true,
    },
    { flags: "--canaries <number>", about: "instead of the manifest's" },
    { flags: "--max-in-flight <number>", about: "instead of the manifest's; a number or a percentage" },
    { flags: "--dry-run", about: "show the plan, and change nothing" },
    { flags: "--verbose", about: "with --dry-run: each step of the plan, and its calls" },
    { flags: "--force-latest-variables", about: "take the newest values of all variables" },
    {
      flags: "--fix-releases",
      about: "upload the manifest's releases again, and replace what is there of them",
    },
    { flags: "--skip-upload-releases", about: "the Director has the releases of the manifest" },
  ],
  examples: [
    ["slipway -d shop deploy shop.yml", "shows what changes, and asks"],
    ["slipway -d shop deploy --dry-run -o bigger.yml shop.yml", "the plan, with reasons"],
    ["slipway -n -d shop deploy --recreate shop.yml", "new VMs with the same disks, unasked"],
  ],
  async run(given, tools) {
    const { runDeploy } = await import("../deploy/run-deploy.ts");
    await runDeploy(given, tools);
    return 0;
  },
};
