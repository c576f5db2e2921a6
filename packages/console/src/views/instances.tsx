import { health as healthWire } from "@slipway/protocol/director/health";
import { instance as instanceWire } from "@slipway/protocol/director/instance";
import { task } from "@slipway/protocol/director/task";
import { useMemo, useState } from "preact/hooks";
import * as v from "valibot";
import { useClient, useLive } from "../api/live.ts";
import { commandsFor, levelOf } from "../model/findings.ts";
import { fits, joined, rowsOf, type ShownInstance } from "../model/instances.ts";
import { countText, shellWord, timeOf, wordsOf } from "../model/texts.ts";
import { Action } from "../parts/action.tsx";
import { Commands } from "../parts/command.tsx";
import { JsonText } from "../parts/document.tsx";
import { Facts } from "../parts/facts.tsx";
import { LongList } from "../parts/long-list.tsx";
import { Badge, Loaded, Panel } from "../parts/panel.tsx";
import { Table } from "../parts/table.tsx";
import { Moment } from "../parts/time.tsx";
import { States } from "./overview.tsx";
import { goTo, hrefOf } from "./route.ts";

const instances = v.array(instanceWire);

/** Instances of a deployment by group and zone, and one of them in detail. */
export function Instances({
  deployment,
  selected,
  admin,
}: {
  readonly deployment: string;
  readonly selected: string | undefined;
  readonly admin: boolean;
}) {
  const [search, setSearch] = useState("");
  const encoded = encodeURIComponent(deployment);
  const recorded = useLive(`/deployments/${encoded}/instances`, instances);
  const fleet = useLive(`/health?full=true&deployment=${encoded}`, healthWire);
  const all = useMemo(
    () => joined(recorded.value ?? [], fleet.value?.instances),
    [recorded.value, fleet.value],
  );
  const found = useMemo(() => all.filter((one) => fits(one, search)), [all, search]);
  const rows = useMemo(() => rowsOf(found), [found]);
  const one = all.find(({ id }) => id === selected);
  return (
    <div class="split">
      <Panel
        title="Instances"
        note={<States instances={all.map(({ health }) => health ?? { health: "unknown" })} />}
      >
        <label class="search">
          Find
          <input
            type="search"
            value={search}
            placeholder="group, zone, address, VM or health"
            onInput={({ currentTarget }) => setSearch(currentTarget.value)}
          />
        </label>
        <Loaded of={recorded}>
          {() => (
            <>
              <LongList
                label={`Instances of ${deployment}`}
                count={rows.length}
                row={(index) => <InstanceRowText row={rows[index]} selected={selected} />}
                onOpen={(index) => {
                  const row = rows[index];
                  if (row?.kind === "instance")
                    goTo(hrefOf("deployments", deployment, "instances", row.instance.id));
                }}
              />
              <p class="faint">
                {found.length === all.length
                  ? countText(all.length, "instance")
                  : `${found.length.toLocaleString("en")} of ${countText(all.length, "instance")}`}
              </p>
            </>
          )}
        </Loaded>
      </Panel>
      {one !== undefined && <Detail deployment={deployment} one={one} admin={admin} />}
    </div>
  );
}

function InstanceRowText({
  row,
  selected,
}: {
  readonly row: ReturnType<typeof rowsOf>[number] | undefined;
  readonly selected: string | undefined;
}) {
  if (row === undefined) return null;
  if (row.kind === "heading")
    return (
      <strong>
        {row.text} <span class="faint">{countText(row.members.length, "instance")}</span>
      </strong>
    );
  const { id, group, index, ips, health, recorded } = row.instance;
  const how = healthOf(row.instance);
  return (
    <span class={id === selected ? "instance open" : "instance"}>
      <span class="name">
        {group}/{index}
      </span>
      <Badge level={levelOf(how)} text={wordsOf(how)} />
      <span class="address">{ips.join(", ")}</span>
      <span class="faint rest">{health?.problems[0] ?? recorded.cid ?? "no VM"}</span>
    </span>
  );
}

const healthOf = ({ health, recorded }: ShownInstance): string =>
  health?.health ?? (recorded.errand === true ? "idle" : "unknown");

const ACTIONS = [
  ["restart", "Restart", "stops and starts its processes"],
  ["recreate", "Recreate", "replaces its VM; the persistent disk stays"],
] as const;

const FINE = ["running", "started"];

function Detail({
  deployment,
  one,
  admin,
}: {
  readonly deployment: string;
  readonly one: ShownInstance;
  readonly admin: boolean;
}) {
  const client = useClient();
  const [trouble, setTrouble] = useState("");
  const { group, index, id, az, ips, recorded, health } = one;
  const name = `${group}/${index}`;
  const act = async (action: string) => {
    const place = [deployment, group].map(encodeURIComponent);
    const path = `/deployments/${place[0]}/instance_groups/${place[1]}/${index}/actions/${action}`;
    const answer = await client.change("POST", path, task);
    if (answer.kind === "value") goTo(hrefOf("tasks", answer.value.id));
    else if (answer.kind === "problem") setTrouble(answer.problem.why);
  };
  const agreed = recorded.slipway;
  const slipway = `slipway -d ${shellWord(deployment)}`;
  return (
    <Panel title={name} note={<Badge level={levelOf(healthOf(one))} text={wordsOf(healthOf(one))} />}>
      {health !== undefined && health.problems.length > 0 && (
        <div class="finding bad">
          {health.problems.map((text) => (
            <p key={text}>{text}</p>
          ))}
          {health.action != null && <p>{health.action}</p>}
          {health.task != null ? (
            <p>
              <a href={hrefOf("tasks", health.task)}>Task {health.task}</a> works on it.
            </p>
          ) : (
            <Commands texts={commandsFor(health)} />
          )}
        </div>
      )}
      <Facts
        facts={[
          ["Id", <code key="id">{id}</code>],
          ["Zone", az || "none"],
          ["Addresses", ips.join(", ") || "none"],
          ["Desired state", health?.state ?? "unknown"],
          ...(health?.since == null
            ? []
            : ([["Since", <Moment key="since" at={timeOf(health.since)} />]] as const)),
          ["Last answer", <Moment key="last" at={timeOf(health?.last_contact)} />],
          ["VM", recorded.cid == null ? "none" : <code key="vm">{recorded.cid}</code>],
          ["VM since", <Moment key="vm-since" at={timeOf(recorded.vm_created_at)} />],
          ["Agent", agreed?.agent_url ?? "unknown"],
          [
            "Contract",
            agreed === undefined
              ? "no VM"
              : `CPI API version ${agreed.cpi_api_version}, stemcell ${agreed.stemcell_api_version}, settings by ${agreed.channel ?? "?"}`,
          ],
        ]}
      />
      <Vitals health={health} />
      <h3>Processes</h3>
      <Table
        label="Processes"
        columns={[
          { name: "Process", cell: (process) => process.name },
          {
            name: "State",
            cell: ({ state }) => <Badge level={FINE.includes(state) ? "well" : "bad"} text={state} />,
          },
        ]}
        rows={health?.processes ?? []}
        keyOf={(process) => process.name}
        empty="Its agent has not said what runs."
      />
      {agreed?.disks?.persistent !== undefined && (
        <>
          <h3>Disk hints</h3>
          {Object.entries(agreed.disks.persistent).map(([cid, hint]) => (
            <JsonText key={cid} label={cid} value={hint} />
          ))}
        </>
      )}
      <h3>What you can type</h3>
      <Commands
        texts={[
          `${slipway} ssh ${shellWord(name)}`,
          `${slipway} logs ${shellWord(name)}`,
          ...ACTIONS.map(([action]) => `${slipway} ${action} ${shellWord(name)}`),
        ]}
      />
      {admin && (
        <div class="actions">
          {ACTIONS.map(([action, label, what]) => (
            <Action
              key={action}
              label={label}
              question={`${label} ${name} of ${deployment}? This ${what}.`}
              command={`${slipway} ${action} --no-converge ${shellWord(name)}`}
              onConfirm={() => void act(action)}
            />
          ))}
        </div>
      )}
      <p role="alert" class="trouble">
        {trouble}
      </p>
    </Panel>
  );
}

function Vitals({ health }: { readonly health: ShownInstance["health"] }) {
  const vitals = health?.vitals;
  if (vitals === undefined) return null;
  const percents = [
    ["CPU", vitals.cpu],
    ["Memory", vitals.memory],
    ["System disk", vitals.disk.system],
    ["Ephemeral disk", vitals.disk.ephemeral],
    ["Persistent disk", vitals.disk.persistent],
  ] as const;
  return (
    <ul class="vitals" aria-label="Vitals">
      {percents.map(
        ([label, value]) =>
          value !== undefined && (
            <li key={label}>
              <label>
                {label} {Math.round(value)} %
                <meter min={0} max={100} high={80} value={value} />
              </label>
            </li>
          ),
      )}
    </ul>
  );
}
