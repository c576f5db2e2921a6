import type { Command } from "../command.ts";

/** Ours: upstream's CPIs are written in Ruby or Go, from nothing. */
export const cpiInit: Command = {
  name: "cpi init",
  summary: "make a directory with a CPI of your own: sources, tests, and what it takes to deploy with it",
  topic: "documents",
  arguments: [{ name: "<directory>", about: "to be made; what is there is never overwritten" }],
  examples: [["slipway cpi init my-cpi", "then: cd my-cpi && npm install && npm test"]],
  async run(given, { ui, programs }) {
    const [{ kitBeside, makeProject }, { shellWord }] = await Promise.all([
      import("../cpi-init/project.ts"),
      import("@slipway/kernel/shell"),
    ]);
    const asked = given.argument(0) ?? "";
    const dir = await makeProject(asked, kitBeside(programs.agent));
    ui.line(`A CPI of your own is in ${dir}: its methods are in src/cpi.ts.`);
    ui.line("");
    ui.line(`  cd ${shellWord(asked)}`);
    ui.line("  npm install");
    ui.line("  npm test");
    ui.line("  npm run build");
    ui.line("");
    ui.line("README.md there says how to deploy with it.");
    return 0;
  },
};
