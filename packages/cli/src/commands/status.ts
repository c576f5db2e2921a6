import type { Command } from "../command.ts";
import { localTimeText } from "../ui/time-text.ts";
import type { Status } from "../up/status.ts";

export const status: Command = {
  name: "status",
  summary: "show what `slipway up` runs on this machine",
  topic: "this machine",
  async run(_given, { ui, home, clock }) {
    const { statusOf } = await import("../up/status.ts");
    const now = await statusOf(home, clock);
    ui.table({
      content: "",
      transpose: true,
      header: {
        director: "Director",
        process: "Process",
        since: "Since",
        version: "Version",
        database: "Database",
        sandboxes: "Sandboxes",
        disks: "Disks",
        state: "State directory",
      },
      rows: [
        [
          directorText(now),
          now.pid === undefined ? "" : String(now.pid),
          now.since === undefined ? "" : localTimeText(now.since),
          now.version ?? "",
          now.database === undefined ? "stopped" : `running (process ${now.database})`,
          sandboxText(now),
          String(now.disks),
          home.dir,
        ],
      ],
      notes: notesOf(now),
    });
    return 0;
  },
};

const DIRECTOR: Record<Status["director"], string> = {
  stopped: "stopped",
  killed: "stopped (it was killed)",
  starting: "starting",
  silent: "does not answer",
  running: "running",
};

const directorText = ({ director, url }: Status): string =>
  url === undefined ? DIRECTOR[director] : `${DIRECTOR[director]} at ${url}`;

const sandboxText = ({ sandboxes }: Status): string => {
  const running = sandboxes.filter(({ running }) => running).length;
  const parts = [
    ...(running > 0 ? [`${running} running`] : []),
    ...(sandboxes.length > running ? [`${sandboxes.length - running} stopped`] : []),
  ];
  return parts.join(", ") || "none";
};

function notesOf({ director, database, sandboxes }: Status): readonly string[] {
  if (director === "silent") return ["`slipway down` stops it."];
  if (director !== "stopped" && director !== "killed") return [];
  const left = database !== undefined || sandboxes.some(({ running }) => running);
  return left
    ? ["Its database or sandboxes run on: `slipway up` takes them over, `slipway down` stops them."]
    : ["`slipway up` starts it."];
}
