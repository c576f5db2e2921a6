import type { Command } from "../command.ts";
import type { HomeState } from "../cpis/descriptor.ts";
import type { Tools } from "../tools.ts";
import { localTimeText } from "../ui/time-text.ts";
import type { CloudStatus } from "../up/status.ts";

export const status: Command = {
  name: "status",
  summary: "show what `slipway up` runs on this machine",
  topic: "this machine",
  options: [
    {
      flags: "--director",
      about:
        "how the Director is that commands talk to, wherever it runs: queue, database, disk, certificates",
    },
  ],
  examples: [
    ["slipway status", ""],
    ["slipway -e prod status --director --json", "for a script"],
  ],
  async run(given, tools) {
    const { ui, home } = tools;
    if (given.flag("director")) return await ofDirector(tools);
    const { statusOf } = await import("../up/status.ts");
    const now = await statusOf(tools);
    const { words, engine } = now.backend;
    ui.table({
      content: "",
      transpose: true,
      labeled: true,
      header: {
        director: "Director",
        process: "Process",
        since: "Since",
        version: "Version",
        database: "Database",
        ...(now.problems.length > 0 && { problems: "Problems" }),
        ...(now.upkeep.length > 0 && { upkeep: "Upkeep" }),
        ...(engine !== undefined && { engine: "Docker Engine" }),
        [words.many]: words.title,
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
          ...(now.problems.length > 0 ? [now.problems.join("\n")] : []),
          ...(now.upkeep.length > 0 ? [now.upkeep.join("\n")] : []),
          ...(engine === undefined ? [] : [engineText(engine, now.seen)]),
          vmText(now.seen),
          diskText(now.seen),
          home.dir,
        ],
      ],
      notes: notesOf(now),
    });
    return 0;
  },
};

async function ofDirector({ ui, director }: Tools): Promise<number> {
  const [{ directorStatus }, { directorTable }] = await Promise.all([
    import("@slipway/protocol/director/status"),
    import("../status/director-table.ts"),
  ]);
  const api = await director();
  ui.table(directorTable(await api.json({ method: "GET", path: "/director/status" }, directorStatus)));
  return 0;
}

const DIRECTOR: Record<CloudStatus["director"], string> = {
  stopped: "stopped",
  killed: "stopped (it was killed)",
  starting: "starting",
  silent: "does not answer",
  running: "running",
};

const directorText = ({ director, url }: CloudStatus): string =>
  url === undefined ? DIRECTOR[director] : `${DIRECTOR[director]} at ${url}`;

const engineText = (engine: string, { trouble }: HomeState): string =>
  trouble === undefined ? `running at ${engine}` : `does not answer: ${trouble}`;

const vmText = ({ vms, trouble }: HomeState): string => {
  if (trouble !== undefined) return "unknown";
  const running = vms.filter((vm) => vm.running).length;
  const parts = [
    ...(running > 0 ? [`${running} running`] : []),
    ...(vms.length > running ? [`${vms.length - running} stopped`] : []),
  ];
  return parts.join(", ") || "none";
};

const diskText = ({ disks }: HomeState): string => (disks === undefined ? "unknown" : String(disks));

function notesOf({ director, database, backend, seen }: CloudStatus): readonly string[] {
  if (director === "silent") return ["`slipway down` stops it."];
  if (director !== "stopped" && director !== "killed") return [];
  const running = seen.vms.some((vm) => vm.running);
  const { outlives, words } = backend;
  const left = database !== undefined || (running && !outlives);
  const alone = running && outlives ? ` Its ${words.many} run without it.` : "";
  return [`${left ? words.left : "`slipway up` starts it."}${alone}`];
}
