import { deployment, storedManifest } from "@slipway/protocol/director/deployment";
import { deploymentDisk } from "@slipway/protocol/director/disk";
import { problem } from "@slipway/protocol/director/problem";
import { task } from "@slipway/protocol/director/task";
import { variable, variableExpiry } from "@slipway/protocol/director/variable";
import * as v from "valibot";
import { useLive } from "../api/live.ts";
import { mebibytesText, shellWord, timeOf, wordsOf } from "../model/texts.ts";
import { Command, Commands } from "../parts/command.tsx";
import { Document, JsonText } from "../parts/document.tsx";
import { Loaded, Panel } from "../parts/panel.tsx";
import { Table } from "../parts/table.tsx";
import { Moment } from "../parts/time.tsx";
import { Instances } from "./instances.tsx";
import { hrefOf } from "./route.ts";
import { mayChange, useSession } from "./session.ts";
import { TASK_COLUMNS } from "./task-row.tsx";

const deployments = v.array(deployment);
const disks = v.array(deploymentDisk);
const variables = v.array(variable);
const expiries = v.array(variableExpiry);
const tasks = v.array(task);
const problems = v.array(problem);

const PARTS = ["instances", "disks", "variables", "manifest", "tasks", "problems"] as const;

/** One deployment: a page for each of its parts. */
export function DeploymentView({ name, rest }: { readonly name: string; readonly rest: readonly string[] }) {
  const session = useSession();
  const [part = "instances", one] = rest;
  const listed = useLive("/deployments", deployments);
  const found = listed.value?.find((entry) => entry.name === name);
  const admin = mayChange(session, found?.teams ?? []);
  return (
    <>
      <h1>{name}</h1>
      <nav class="parts" aria-label={`Parts of ${name}`}>
        {PARTS.map((entry) => (
          <a
            key={entry}
            href={hrefOf("deployments", name, entry)}
            aria-current={entry === part ? "page" : undefined}
          >
            {entry}
          </a>
        ))}
      </nav>
      {listed.value !== undefined && found === undefined && (
        <p class="trouble">There is no deployment with this name that you may see.</p>
      )}
      {part === "instances" && <Instances deployment={name} selected={one} admin={admin} />}
      {part === "disks" && <Disks name={name} />}
      {part === "variables" && <Variables name={name} />}
      {part === "manifest" && <Manifest name={name} />}
      {part === "tasks" && <Tasks name={name} />}
      {part === "problems" && <Problems name={name} />}
    </>
  );
}

const pathOf = (name: string, rest = "") => `/deployments/${encodeURIComponent(name)}${rest}`;

function Disks({ name }: { readonly name: string }) {
  const live = useLive(pathOf(name, "/disks"), disks);
  return (
    <Panel
      title="Persistent disks"
      note="The hint is what the agent was given to find the disk; secrets are left out."
    >
      <Loaded of={live}>
        {(rows) => (
          <Table
            label="Persistent disks"
            columns={[
              { name: "Instance", cell: (disk) => disk.instance_name },
              { name: "Disk", cell: (disk) => <code>{disk.disk_cid}</code> },
              { name: "Name", cell: (disk) => disk.name || "mounted at /var/vcap/store" },
              { name: "Size", cell: ({ size }) => (size == null ? "" : mebibytesText(size)) },
              { name: "State", cell: (disk) => (disk.active === false ? "not active" : "active") },
              {
                name: "VM",
                cell: (disk) => (disk.vm_cid == null ? "not attached" : <code>{disk.vm_cid}</code>),
              },
              {
                name: "Hint",
                cell: ({ hint, disk_cid: cid }) =>
                  hint == null ? "none" : <JsonText label={`Hint of ${cid}`} value={hint} />,
              },
            ]}
            rows={rows}
            keyOf={(disk) => disk.disk_cid}
            empty="This deployment has no persistent disks."
          />
        )}
      </Loaded>
    </Panel>
  );
}

function Variables({ name }: { readonly name: string }) {
  const live = useLive(pathOf(name, "/variables"), variables);
  const ends = useLive(pathOf(name, "/certificate_expiry"), expiries);
  const byName = new Map((ends.value ?? []).map((one) => [one.name, one]));
  return (
    <Panel title="Variables" note={<Command text={`slipway -d ${shellWord(name)} variables`} />}>
      <p class="faint">Names only. The page never asks for a value.</p>
      <Loaded of={live}>
        {(rows) => (
          <Table
            label="Variables"
            columns={[
              { name: "Name", cell: (one) => <code>{one.name}</code> },
              { name: "Version", cell: (one) => one.id },
              {
                name: "Certificate ends",
                cell: (one) => {
                  const end = byName.get(one.name);
                  return end && <Moment at={timeOf(end.expiry_date)} />;
                },
              },
            ]}
            rows={rows}
            keyOf={(one) => one.id}
            empty="This deployment has no variables."
          />
        )}
      </Loaded>
    </Panel>
  );
}

function Manifest({ name }: { readonly name: string }) {
  const live = useLive(pathOf(name), storedManifest);
  return (
    <Panel title="Manifest" note={<Command text={`slipway -d ${shellWord(name)} manifest`} />}>
      <Loaded of={live}>
        {({ manifest }) =>
          manifest == null ? (
            <p class="faint">No deploy has succeeded yet.</p>
          ) : (
            <Document label="Manifest" text={manifest} />
          )
        }
      </Loaded>
    </Panel>
  );
}

function Tasks({ name }: { readonly name: string }) {
  const live = useLive(`/tasks?limit=50&verbose=1&deployment=${encodeURIComponent(name)}`, tasks);
  return (
    <Panel title="Tasks" note={<Command text={`slipway -d ${shellWord(name)} tasks --recent=50`} />}>
      <Loaded of={live}>
        {(rows) => (
          <Table
            label="Tasks"
            columns={TASK_COLUMNS}
            rows={rows}
            keyOf={({ id }) => String(id)}
            empty="There was no task yet."
          />
        )}
      </Loaded>
    </Panel>
  );
}

function Problems({ name }: { readonly name: string }) {
  const live = useLive(pathOf(name, "/problems"), problems);
  const scan = `slipway -d ${shellWord(name)} cloud-check`;
  return (
    <Panel title="Problems of the last scan" note={<Command text={`${scan} --report`} />}>
      <p class="faint">
        A scan asks the cloud and every agent. The command above makes a new one; without{" "}
        <code>--report</code>, it asks how to resolve each problem.
      </p>
      <Loaded of={live}>
        {(rows) => (
          <Table
            label="Problems"
            columns={[
              { name: "#", cell: ({ id }) => id },
              { name: "Problem", cell: ({ type }) => wordsOf(type) },
              { name: "Description", cell: ({ description }) => <span class="wrap">{description}</span> },
              {
                name: "Resolutions",
                cell: ({ resolutions }) => (
                  <ul class="plain-list">
                    {resolutions.map(({ name: resolution, plan }) => (
                      <li key={resolution ?? plan}>
                        {plan}
                        {resolution !== null && <Commands texts={[`${scan} --resolution=${resolution}`]} />}
                      </li>
                    ))}
                  </ul>
                ),
              },
            ]}
            rows={rows}
            keyOf={({ id }) => String(id)}
            empty="The last scan found none that are still open."
          />
        )}
      </Loaded>
    </Panel>
  );
}
