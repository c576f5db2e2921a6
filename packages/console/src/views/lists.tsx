import { config } from "@slipway/protocol/director/config";
import { event } from "@slipway/protocol/director/event";
import { release } from "@slipway/protocol/director/release";
import { stemcell } from "@slipway/protocol/director/stemcell";
import type { Schema } from "@slipway/protocol/schema/marks";
import * as v from "valibot";
import { useLive } from "../api/live.ts";
import { timeOf } from "../model/texts.ts";
import { Command } from "../parts/command.tsx";
import { Document } from "../parts/document.tsx";
import { Loaded, Panel } from "../parts/panel.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Moment } from "../parts/time.tsx";
import { hrefOf } from "./route.ts";

const events = v.array(event);
const configs = v.array(config);
const releases = v.array(release);
const stemcells = v.array(stemcell);

function Listing<S extends Schema>({
  title,
  path,
  schema,
  command,
  columns,
  keyOf,
}: {
  readonly title: string;
  readonly path: string;
  readonly schema: v.GenericSchema<unknown, readonly v.InferOutput<S>[]>;
  readonly command: string;
  readonly columns: readonly Column<v.InferOutput<S>>[];
  readonly keyOf: (row: v.InferOutput<S>) => string;
}) {
  const live = useLive(path, schema);
  return (
    <Panel title={title} note={<Command text={command} />}>
      <Loaded of={live}>
        {(rows) => (
          <Table label={title} columns={columns} rows={rows} keyOf={keyOf} empty="There are none." />
        )}
      </Loaded>
    </Panel>
  );
}

/** Lists the audit log: the newest 200 events, the newest first. */
export const Events = () => (
  <Listing<typeof event>
    title="Events"
    path="/events"
    schema={events}
    command="slipway events"
    keyOf={({ id }) => id}
    columns={[
      { name: "Time", cell: ({ timestamp: at }) => <Moment at={at == null ? undefined : at * 1000} /> },
      { name: "User", cell: ({ user }) => user },
      { name: "Action", cell: ({ action }) => action },
      { name: "Object", cell: (one) => [one.object_type, one.object_name].filter(Boolean).join(" ") },
      {
        name: "Deployment",
        cell: (one) =>
          one.deployment !== undefined && (
            <a href={hrefOf("deployments", one.deployment)}>{one.deployment}</a>
          ),
      },
      { name: "Instance", cell: ({ instance }) => instance },
      {
        name: "Task",
        cell: (one) => one.task !== undefined && <a href={hrefOf("tasks", one.task)}>{one.task}</a>,
      },
      { name: "Error", cell: ({ error }) => <span class="wrap trouble">{error}</span> },
    ]}
  />
);

/** The latest version of every config; a click shows its content. */
export const Configs = () => (
  <Listing<typeof config>
    title="Configs"
    path="/configs?latest=true"
    schema={configs}
    command="slipway configs"
    keyOf={({ id }) => id}
    columns={[
      { name: "Type", cell: ({ type }) => type },
      { name: "Name", cell: ({ name }) => name },
      { name: "Team", cell: ({ team }) => team },
      { name: "Made", cell: (one) => <Moment at={timeOf(one.created_at)} /> },
      {
        name: "Content",
        cell: ({ id, content }) =>
          content == null ? (
            ""
          ) : (
            <details>
              <summary>version {id}</summary>
              <Document label={`Config ${id}`} text={content} />
            </details>
          ),
      },
    ]}
  />
);

export const Releases = () => (
  <Listing<typeof release>
    title="Releases"
    path="/releases"
    schema={releases}
    command="slipway releases"
    keyOf={({ name }) => name}
    columns={[
      { name: "Name", cell: ({ name }) => name },
      {
        name: "Versions",
        cell: (one) => (
          <ul class="plain-list">
            {one.release_versions.map(({ version, currently_deployed: used }) => (
              <li key={version}>
                {version} {used === true && <span class="faint">deployed</span>}
              </li>
            ))}
          </ul>
        ),
      },
      {
        name: "Jobs of the newest",
        cell: (one) => one.release_versions.at(-1)?.job_names?.join(", "),
      },
    ]}
  />
);

export const Stemcells = () => (
  <Listing<typeof stemcell>
    title="Stemcells"
    path="/stemcells"
    schema={stemcells}
    command="slipway stemcells"
    keyOf={(one) => `${one.name}/${one.version} ${one.cpi} ${one.cid}`}
    columns={[
      { name: "Name", cell: ({ name }) => name },
      { name: "Version", cell: ({ version }) => version },
      { name: "Operating system", cell: (one) => one.operating_system },
      { name: "API version", cell: (one) => one.api_version },
      { name: "CPI", cell: ({ cpi }) => cpi },
      { name: "Cid", cell: ({ cid }) => <code>{cid}</code> },
      { name: "Used by", cell: (one) => one.deployments?.map(({ name }) => name).join(", ") },
    ]}
  />
);
