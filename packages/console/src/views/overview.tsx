import { type Deployment, deployment } from "@slipway/protocol/director/deployment";
import { orphanDisk } from "@slipway/protocol/director/disk";
import { health, type InstanceHealth } from "@slipway/protocol/director/health";
import { directorStatus } from "@slipway/protocol/director/status";
import { task } from "@slipway/protocol/director/task";
import * as v from "valibot";
import { type Live, useLive } from "../api/live.ts";
import { type Finding, findingsIn, levelOf } from "../model/findings.ts";
import { countText, mebibytesText, shellWord, timeOf, wordsOf } from "../model/texts.ts";
import { Command, Commands } from "../parts/command.tsx";
import { Facts } from "../parts/facts.tsx";
import { Loaded, Panel } from "../parts/panel.tsx";
import { Table } from "../parts/table.tsx";
import { Moment } from "../parts/time.tsx";
import { hrefOf } from "./route.ts";
import { useSession } from "./session.ts";
import { RUNNING, TASK_COLUMNS } from "./task-row.tsx";

const deployments = v.array(deployment);
const tasks = v.array(task);
const orphanDisks = v.array(orphanDisk);

/** The first page: what is wrong now and what to type, then the fleet. */
export function Overview() {
  const { info } = useSession();
  const admin = info.slipway?.access?.admin === true;
  const listed = useLive("/deployments", deployments);
  const fleet = useLive("/health", health);
  const recent = useLive("/tasks?limit=30&verbose=1", tasks);
  const status = useLive("/director/status", directorStatus);
  // Only administrators may ask.
  const orphans = useLive(admin ? "/disks" : undefined, orphanDisks);
  const findings = findingsIn({
    status: status.value,
    health: fleet.value,
    deployments: listed.value,
    recentTasks: recent.value,
    orphans: orphans.value,
  });
  const running = (recent.value ?? []).filter(({ state }) => RUNNING.includes(state));
  return (
    <>
      <h1>{info.name}</h1>
      <Findings findings={findings} fleet={fleet} />
      <Panel title="Deployments" note={<Command text="slipway deployments" />}>
        <Loaded of={listed}>
          {(rows) => <Deployments rows={rows} instances={fleet.value?.instances} />}
        </Loaded>
      </Panel>
      <Panel
        title={running.length === 0 ? "Tasks" : `Tasks: ${running.length} running`}
        note={<Command text="slipway tasks --recent=10" />}
      >
        <Loaded of={recent}>
          {(rows) => (
            <Table
              label="Tasks"
              columns={TASK_COLUMNS}
              rows={rows.slice(0, Math.max(10, running.length))}
              keyOf={({ id }) => String(id)}
              empty="There was no task yet."
            />
          )}
        </Loaded>
      </Panel>
      {admin && (
        <Panel title="Orphaned disks" note={<Command text="slipway disks --orphaned" />}>
          <Loaded of={orphans}>{(rows) => <Orphans rows={rows} />}</Loaded>
        </Panel>
      )}
      <Panel title="Director" note={<Command text="slipway status --director" />}>
        <Loaded of={status}>{(now) => <DirectorFacts now={now} />}</Loaded>
      </Panel>
    </>
  );
}

function Findings({
  findings,
  fleet,
}: {
  readonly findings: readonly Finding[];
  readonly fleet: Live<v.InferOutput<typeof health>>;
}) {
  const at = timeOf(fleet.value?.at);
  return (
    <Panel
      title={findings.length === 0 ? "What is wrong now" : `What is wrong now: ${findings.length}`}
      note={
        at !== undefined && (
          <>
            instances last looked at <Moment at={at} />
          </>
        )
      }
    >
      {fleet.problem?.kind === "forbidden" && (
        <p class="faint">You may not see the health of the whole fleet; deployments show that of theirs.</p>
      )}
      {findings.length === 0 && fleet.value !== undefined && (
        <p class="well">
          {at === undefined ? "The Director has just started and has not looked around yet." : "Nothing."}
        </p>
      )}
      <ul class="findings">
        {findings.map((one) => (
          <li key={`${one.title} ${one.href}`} class={`finding ${one.level}`}>
            <strong>{one.href === undefined ? one.title : <a href={one.href}>{one.title}</a>}</strong>
            {one.why.map((why) => (
              <p key={why}>{why}</p>
            ))}
            <Commands texts={one.commands} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Deployments({
  rows,
  instances,
}: {
  readonly rows: readonly Deployment[];
  readonly instances: readonly InstanceHealth[] | undefined;
}) {
  const byDeployment = Map.groupBy(instances ?? [], (one) => one.deployment);
  const names = (list: Deployment["releases"]) =>
    (list ?? []).map(({ name, version }) => `${name}/${version}`).join(", ");
  return (
    <Table
      label="Deployments"
      columns={[
        { name: "Name", cell: ({ name }) => <a href={hrefOf("deployments", name)}>{name}</a> },
        {
          name: "Instances",
          cell: ({ name }) => instances !== undefined && <States instances={byDeployment.get(name) ?? []} />,
        },
        { name: "Releases", cell: ({ releases }) => names(releases) },
        { name: "Stemcells", cell: ({ stemcells }) => names(stemcells) },
        { name: "Teams", cell: ({ teams }) => teams?.join(", ") },
        { name: "", cell: ({ locked }) => locked === true && "a task works on it" },
      ]}
      rows={rows}
      keyOf={({ name }) => name}
      empty="There is no deployment yet. `slipway deploy manifest.yml` makes one."
    />
  );
}

/** How many instances are in which state, as a bar and in words. */
export function States({ instances }: { readonly instances: readonly Pick<InstanceHealth, "health">[] }) {
  const groups = [...Map.groupBy(instances, ({ health: how }) => how)].map(
    ([how, { length }]) => [how, length] as const,
  );
  return (
    <span class="states">
      <span class="bar" aria-hidden="true">
        {groups.map(([how, count]) => (
          <span key={how} class={levelOf(how)} style={{ flexGrow: String(count) }} />
        ))}
      </span>
      {groups.length === 0
        ? "none"
        : groups.map(([how, count]) => `${count.toLocaleString("en")} ${wordsOf(how)}`).join(", ")}
    </span>
  );
}

const Orphans = ({ rows }: { readonly rows: readonly v.InferOutput<typeof orphanDisk>[] }) => (
  <Table
    label="Orphaned disks"
    columns={[
      { name: "Disk", cell: (disk) => <code>{disk.disk_cid}</code> },
      { name: "Size", cell: ({ size }) => (size == null ? "" : mebibytesText(size)) },
      { name: "Was of", cell: (disk) => `${disk.deployment_name ?? "?"}: ${disk.instance_name ?? "?"}` },
      { name: "Orphaned", cell: (disk) => <Moment at={timeOf(disk.orphaned_at)} /> },
      {
        name: "What to type",
        cell: (disk) => (
          <Commands
            texts={[
              `slipway -d ${shellWord(disk.deployment_name ?? "DEPLOYMENT")} attach-disk ${shellWord(disk.instance_name ?? "INSTANCE")} ${shellWord(disk.disk_cid)}`,
            ]}
          />
        ),
      },
    ]}
    rows={rows}
    keyOf={(disk) => disk.disk_cid}
    empty="None. A disk that leaves a deployment waits here before it is deleted."
  />
);

function DirectorFacts({ now }: { readonly now: v.InferOutput<typeof directorStatus> }) {
  const { info } = useSession();
  const mib = (bytes: number) => mebibytesText(Math.round(bytes / (1 << 20)));
  return (
    <Facts
      facts={[
        ["Version", now.version],
        ["UUID", <code key="uuid">{now.uuid}</code>],
        ["Since", <Moment key="since" at={now.since * 1000} />],
        ["CPI", `${info.cpi ?? "unknown"}, CPI API up to version ${info.slipway?.cpi_api_version ?? "?"}`],
        ["Workers", `${now.workers.busy} busy of ${now.workers.slots}`],
        [
          "Database",
          now.database.reachable
            ? `${now.database.kind}${now.database.size_bytes == null ? "" : `, ${mib(now.database.size_bytes)}`}`
            : `${now.database.kind}, does not answer`,
        ],
        [
          "Disk",
          now.disk == null ? "unknown" : `${mib(now.disk.free_bytes)} free of ${mib(now.disk.size_bytes)}`,
        ],
        [
          "Certificates",
          now.certificates.map(({ days_left: days }) => countText(days, "day")).join(", ") || "none",
        ],
        ["NATS", now.nats == null ? "none" : now.nats.connected ? "connected" : "not connected"],
      ]}
    />
  );
}
