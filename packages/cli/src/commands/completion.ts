import type { Command } from "../command.ts";
import { BadArgument } from "../parse/errors.ts";

/** Takes the commands as a function because `completion` is one of them. */
export const completion = (commands: () => readonly Command[]): Command => ({
  name: "completion",
  summary: "print the completion script of slipway for a shell",
  topic: "documents",
  arguments: [{ name: "<shell>", about: "bash, zsh or fish" }],
  examples: [
    ["slipway completion bash > ~/.local/share/bash-completion/completions/slipway", ""],
    ["slipway completion zsh > ~/.zfunc/_slipway", "with ~/.zfunc in fpath before compinit"],
    ["slipway completion fish > ~/.config/fish/completions/slipway.fish", ""],
  ],
  async run(given, tools) {
    const shell = given.argument(0) ?? "";
    // For the scripts alone.
    if (shell === "refresh") {
      await (await import("../completion/refresh.ts")).refreshKnown(tools);
      return 0;
    }
    const [{ modelOf }, { bashScript }, { zshScript }, { fishScript }] = await Promise.all([
      import("../completion/model.ts"),
      import("../completion/bash.ts"),
      import("../completion/zsh.ts"),
      import("../completion/fish.ts"),
    ]);
    const script = { bash: bashScript, zsh: zshScript, fish: fishScript }[shell];
    if (script === undefined) throw BadArgument({ given: shell, what: "one of bash, zsh, fish" });
    tools.ui.block(script(modelOf(commands())));
    return 0;
  },
});
