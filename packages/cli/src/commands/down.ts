import type { Command } from "../command.ts";
import { secondsText } from "../ui/time-text.ts";

export const down: Command = {
  name: "down",
  summary:
    "stop the Director of `slipway up`, its database and sandboxes; containers, state and disks are kept",
  topic: "this machine",
  async run(_given, tools) {
    const [{ stopCloud }, { leftRunning }, { counted }] = await Promise.all([
      import("../up/stop.ts"),
      import("../up/left-running.ts"),
      import("../up/words.ts"),
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
      if (parts.length === 0) say(`Nothing runs in ${home.dir}.`);
      else say(`Stopped ${listed(parts)} in ${secondsText(clock.monotonic() - begun)}. ${backend.kept}`);
      for (const line of leftRunning(backend, seen)) ui.line(line);
    } catch (error) {
      progress?.failed();
      throw error;
    }
    return 0;
  },
};

const listed = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
