import type { Client } from "../api/client.ts";
import type { Globals } from "../parse/globals.ts";
import { AllProxy } from "../proxy/all-proxy.ts";
import type { Tools } from "../tools.ts";
import type { Terminal } from "../ui/terminal.ts";
import { NoDeployment } from "./errors.ts";

export type ToolInputs = Pick<Tools, "clock" | "random" | "env" | "home" | "programs" | "stop">;

/** Tools, and what has to be put away after the command. */
export interface CommandTools {
  readonly tools: Tools;
  close(): void;
}

/** Returns the dependencies of a command. `quiet`: the environment in use is not printed. */
export function toolsFor(world: ToolInputs, globals: Globals, ui: Terminal, quiet: boolean): CommandTools {
  const proxy = new AllProxy(world);
  let client: Promise<Client> | undefined;
  const opened: Client[] = [];
  const open = async (): Promise<Client> => {
    // Loaded when it is needed: most of what `--help` does not.
    const [{ findSession }, { openClient }] = await Promise.all([
      import("./session.ts"),
      import("./open-client.ts"),
    ]);
    const session = await findSession(globals, world.home);
    const parts = { clock: world.clock, stop: world.stop, teller: ui, proxy };
    const made = openClient(session, parts, world.home);
    opened.push(made);
    const { url, user, passedOver } = session;
    const kind = session.uaa?.tokens === undefined ? "client" : "user";
    if (!quiet) ui.aside(`Using environment '${url}'${user === undefined ? "" : ` as ${kind} '${user}'`}`);
    // Printed even if asides are not: a script must not change the wrong Director unnoticed.
    if (passedOver !== undefined)
      ui.note(
        `Using '${url}', where the last log-in was, and not '${passedOver}' of \`slipway up\`; -e names the one that is meant.`,
      );
    return made;
  };
  let told = false;
  return {
    close: () => {
      for (const one of opened) one.close();
      proxy.close();
    },
    tools: {
      ...world,
      ui,
      proxy,
      deployment: globals.deployment,
      director: () => {
        client ??= open();
        return client;
      },
      mustDeployment: () => {
        if (globals.deployment === undefined) throw NoDeployment({});
        if (!told && !quiet) ui.aside(`Using deployment '${globals.deployment}'`);
        told = true;
        return globals.deployment;
      },
    },
  };
}
