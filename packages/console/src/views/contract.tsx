import { deployment } from "@slipway/protocol/director/deployment";
import { vm } from "@slipway/protocol/director/instance";
import { MIXES, type RecordedMix, rowsOf, type VmVersions } from "@slipway/protocol/mixes";
import { useEffect, useState } from "preact/hooks";
import * as v from "valibot";
import type { Client } from "../api/client.ts";
import { repeat, useClient, useLive } from "../api/live.ts";
import { countText } from "../model/texts.ts";
import { Command } from "../parts/command.tsx";
import { Loaded, Panel } from "../parts/panel.tsx";
import { Table } from "../parts/table.tsx";
import { useSession } from "./session.ts";

const deployments = v.array(deployment);
const vms = v.array(vm);

/** VMs that are named in a row. */
const MOST_NAMED = 12;

/** The eight mixes of old and new Director, CPI and stemcell, and which VM runs in which. */
export function Contract() {
  const { info } = useSession();
  const listed = useLive("/deployments", deployments);
  const versions = useVersions(listed.value?.map(({ name }) => name) ?? []);
  // A Director that does not say is not ours: those speak 2 and newer.
  const director = info.slipway?.cpi_api_version ?? 2;
  const here = (row: RecordedMix) => versions.filter((one) => rowsOf(one, director).includes(row));
  const old = versions.filter((one) => rowsOf(one, director).some(({ agreed }) => !agreed.registryless));
  return (
    <Panel title="The contract" note={<Command text="slipway matrix" />}>
      <p>
        Director, CPI and stemcell agree on a version for each VM. With version 2 or newer everywhere, what a
        VM must know travels with <code>create_vm</code> and as disk hints; any other mix needs the registry.
      </p>
      <Loaded of={listed}>
        {() => (
          <>
            <p>
              {versions.length === 0
                ? "There are no VMs yet."
                : `${countText(versions.length, "VM")}: ${versions.length - old.length} without a registry, ${old.length} with one.`}
            </p>
            <Table<RecordedMix>
              label="The eight mixes"
              columns={[
                { name: "Mix", cell: (row) => row.number },
                { name: "Director", cell: (row) => versionText(row.director) },
                { name: "CPI", cell: (row) => versionText(row.cpi) },
                { name: "Stemcell", cell: (row) => versionText(row.stemcell) },
                { name: "create_vm returns", cell: ({ agreed }) => <code>{agreed.createVmResult}</code> },
                {
                  name: "attach_disk returns",
                  cell: ({ agreed }) => (agreed.attachDiskReturnsHint ? "a disk hint" : "nothing"),
                },
                {
                  name: "Settings from",
                  cell: ({ agreed }) => (agreed.userData === "settings" ? "user data" : "the registry"),
                },
                { name: "Why", cell: ({ agreed }) => <span class="wrap">{agreed.reason}</span> },
                { name: "VMs", cell: (row) => <Names names={here(row).map(({ name }) => name)} /> },
              ]}
              rows={MIXES}
              keyOf={(row) => String(row.number)}
              empty=""
            />
          </>
        )}
      </Loaded>
    </Panel>
  );
}

const versionText = (version: number): string => (version === 1 ? "v1" : "v2 or newer");

const Names = ({ names }: { readonly names: readonly string[] }) =>
  names.length === 0 ? (
    <span class="faint">none</span>
  ) : (
    <details>
      <summary>{names.length.toLocaleString("en")}</summary>
      {names.slice(0, MOST_NAMED).join(", ")}
      {names.length > MOST_NAMED && ` and ${(names.length - MOST_NAMED).toLocaleString("en")} more`}
    </details>
  );

/** The versions that were agreed on for the VMs of these deployments. */
function useVersions(names: readonly string[]): readonly VmVersions[] {
  const client = useClient();
  const [versions, setVersions] = useState<readonly VmVersions[]>([]);
  const key = names.join("\n");
  useEffect(
    () =>
      repeat(async () => {
        const found: VmVersions[] = [];
        // One after the other: a page that is open is no reason for a burst of requests.
        for (const name of key === "" ? [] : key.split("\n")) found.push(...(await versionsIn(client, name)));
        setVersions(found);
        return "same";
      }),
    [client, key],
  );
  return versions;
}

async function versionsIn(client: Client, name: string): Promise<readonly VmVersions[]> {
  const answer = await client.get(`/deployments/${encodeURIComponent(name)}/vms`, vms);
  if (answer.kind !== "value") return [];
  return answer.value.flatMap(({ job, index, slipway }) =>
    slipway == null
      ? []
      : [
          {
            name: `${name}: ${job}/${index}`,
            apiVersion: slipway.cpi_api_version,
            stemcell: slipway.stemcell_api_version,
          },
        ],
  );
}
