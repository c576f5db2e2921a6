import type { Command } from "../command.ts";
import { BadArgument } from "../parse/errors.ts";

/** Ours: upstream's CPIs are written in Ruby or Go, from nothing. */
export const cpiInit: Command = {
  name: "cpi init",
  summary: "make a directory with a CPI of your own: sources, tests, and what it takes to deploy with it",
  topic: "documents",
  arguments: [{ name: "<directory>", about: "to be made; what is there is never overwritten" }],
  options: [
    { flags: "--language <name>", about: "typescript, on the SDK (default), or python, without any" },
  ],
  examples: [
    ["slipway cpi init my-cpi", "then: cd my-cpi && npm install && npm test"],
    ["slipway cpi init my-cpi --language python", "then: cd my-cpi && ./test"],
  ],
  async run(given, { ui, programs }) {
    const [{ isLanguage, kitBeside, LANGUAGES, makeProject }, { shellWord }] = await Promise.all([
      import("../cpi-init/project.ts"),
      import("@slipway/kernel/shell"),
    ]);
    const asked = given.argument(0) ?? "";
    const language = given.text("language") ?? "typescript";
    if (!isLanguage(language))
      throw BadArgument({
        given: language,
        what: `a language that there is a template for: ${LANGUAGES.join(", ")}`,
      });
    const dir = await makeProject(asked, kitBeside(programs.agent), language);
    if (language === "python") {
      ui.line(`A CPI of your own is in ${dir}: all of it is the file cpi.`);
      ui.line("");
      ui.line(`  cd ${shellWord(asked)}`);
      ui.line("  ./test");
      ui.line("");
      ui.line("README.md there says what it does, and how to go on.");
      return 0;
    }
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
