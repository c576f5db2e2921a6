import type { Command } from "../command.ts";
import type { Tools } from "../tools.ts";
import { secondsText } from "../ui/time-text.ts";

export const down: Command = {
  name: "down",
  summary:
    "stop the Director of `slipway up`, its database and sandboxes; containers, state and disks are kept",
  topic: "this machine",
  options: [
    { flags: "--remove", about: "then remove the state directory with its VMs, disks and everything else" },
  ],
  examples: [
    ["slipway down", "`slipway up` goes on where it stopped"],
    ["slipway down --remove", "uninstall: nothing of it is left on this machine"],
  ],
  async run(given, tools) {
    const remove = given.flag("remove");
    if (remove) await (await import("../up/remove.ts")).confirmRemoval(tools);
    const [{ stopCloud }, { leftRunning }, { counted }] = await Promise.all([
      import("../up/stop.ts"),
      import("../up/stop.ts"),
      import("../cpis/descriptor.ts"),
    ]);
    const { ui, home, clock } = tools;
    const begun = clock.monotonic();
    const progress = ui.live ? ui.progress("Stopping") : undefined;
    const say = (text: string) => (progress === undefined ? ui.line(text) : progress.done(text));
    try {
      const { director, database, vms, seen, backend } = await stopCloud(tools);
      const parts = [
        ...(director === undefined ? [] : [`the Director (process ${director})`]),
        ...(database === undefined ? [] : [`the database a killed Director had left (process ${database})`]),
        ...(vms === 0 ? [] : [counted(vms, backend.words)]),
      ];
      const kept = remove ? "" : ` ${backend.kept}`;
      if (parts.length === 0) say(`Nothing runs in ${home.dir}.`);
      else say(`Stopped ${listed(parts)} in ${secondsText(clock.monotonic() - begun)}.${kept}`);
      for (const line of leftRunning(backend, seen)) ui.line(line);
      if (remove) await removed(tools, backend.leftovers);
    } catch (error) {
      progress?.failed();
      throw error;
    }
    return 0;
  },
};

async function removed(tools: Tools, leftovers: readonly string[]): Promise<void> {
  const { removeHome } = await import("../up/remove.ts");
  const { ui, home } = tools;
  const left = await removeHome(tools);
  ui.line(
    left.length === 0
      ? `Removed ${home.dir}.`
      : `Removed what was slipway's in ${home.dir}. Not ours, and kept: ${left.join(", ")}`,
  );
  if (leftovers.length === 0) return;
  ui.line("What is left on the Docker Engine:");
  for (const line of leftovers) ui.line(`  ${line}`);
}

const listed = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
