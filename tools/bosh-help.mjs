// What the `bosh` CLI says of itself: its commands, their aliases and their flags.
import { spawnSync } from "node:child_process";

const said = (bosh, ...args) => {
  const { stdout, stderr } = spawnSync(bosh, args, { encoding: "utf8", env: { HOME: "/nonexistent" } });
  return `${stdout}${stderr}`;
};

/** Names and aliases, in its own order. */
export function listedCommands(help) {
  const [, list = ""] = help.split("Available commands:\n");
  return [...list.matchAll(/^ {2}([a-z0-9-]+) .*?(?:\(aliases: ([a-z0-9, -]+)\))?$/gm)].map(
    ([, name, also]) => ({
      name,
      aliases: also === undefined ? [] : also.split(", "),
    }),
  );
}

/** Of the part that begins with `[deploy command options]`; without a command those that all have. */
export function listedFlags(help, command) {
  const title = command === undefined ? "Application Options:\n" : `[${command} command options]\n`;
  const [part = ""] = (help.split(title)[1] ?? "").split("\n\n");
  // What a description goes on with begins further right.
  return [...part.matchAll(/^ {2}(?: {4})?(?:-([a-zA-Z0-9]), | {4})--([a-z0-9-]+)(=\[?)?/gm)].map(
    ([, short, name, value]) => ({ name, short, takes: value === "=" }),
  );
}

/** `{ globals, commands: [{ name, aliases, flags }] }` */
export function boshHelp(bosh) {
  const top = said(bosh, "--help");
  const commands = listedCommands(top).map((one) => ({
    ...one,
    flags: listedFlags(said(bosh, one.name, "--help"), one.name),
  }));
  return { globals: listedFlags(top, undefined), commands };
}
