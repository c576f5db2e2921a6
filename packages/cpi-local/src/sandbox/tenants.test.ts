import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addressOctet } from "@slipway/testkit/address-octet";
import { eventually } from "@slipway/testkit/eventually";
import { isRoot, LocalCloud, nextAddress, sandboxTrouble } from "@slipway/testkit/local-cloud";
import { needs } from "@slipway/testkit/needs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AGENT } from "./testing/escape-attempts.ts";
import { CANARY, NETWORK_PLACES, PATTERN, PLACES, PLANT, searchOf } from "./testing/tenant-search.ts";

const trouble = await sandboxTrouble();
const possible = needs("userns", trouble === undefined, trouble);

const network = (last: number) => {
  const base = `10.214.${addressOctet()}`;
  return { type: "manual", ip: `${base}.${last}`, netmask: "255.255.255.0", gateway: `${base}.1` };
};
const onLoopback = () => ({
  type: "manual",
  ip: nextAddress(),
  netmask: "255.255.255.0",
  gateway: "127.110.0.1",
});
const KINDS = [
  { kind: "the host's network", networks: [onLoopback, onLoopback], places: PLACES },
  ...(isRoot
    ? [
        {
          kind: "networks of their own",
          networks: [() => network(5), () => network(6)],
          places: { ...PLACES, ...NETWORK_PLACES },
        },
      ]
    : []),
];

describe.runIf(possible).each(KINDS)("sandboxes of two teams with $kind", ({ networks, places }) => {
  let cloud: LocalCloud;
  let shared: string;
  let [ofA, ofB] = ["", ""];
  let port = "";

  beforeAll(async () => {
    shared = await mkdtemp(join(tmpdir(), "slipway-shared-"));
    cloud = await LocalCloud.open({ disks: "directory", share: [shared] });
    await writeFile(join(cloud.dir, "agent.cjs"), AGENT);
    [ofA = "", ofB = ""] = [await vmWith(`${CANARY}-env`, 0), await vmWith("of b", 1)];
    const disk = await cloud.newDisk();
    await writeFile(join(cloud.dir, "disks", disk, "content", "file"), `${CANARY}-disk`);
    await cloud.result("attach_disk", [ofA, disk]);
    expect(await run(ofA, PLANT)).toMatchObject({ code: 0 });
    port = await eventually("what the first team planted", async () =>
      existsSync(cloud.vm(ofA, "vcap", "port"))
        ? readFileSync(cloud.vm(ofA, "vcap", "port"), "utf8")
        : undefined,
    );
  });
  afterAll(async () => {
    await cloud.close();
    await rm(shared, { recursive: true, force: true });
  });

  const vmWith = async (note: string, nth: number): Promise<string> => {
    const args = [
      ...[`agent-${nth}`, await cloud.newStemcell(), {}, { private: networks[nth]?.() }],
      ...[[], { note, bosh: { password: note } }],
    ];
    const [cid] = await cloud.result<[string]>("create_vm", args);
    await cloud.agentStarts(cid, 1);
    return cid;
  };

  /** Runs a script as a child of the sandbox's agent, which jobs are, too. */
  const run = async (cid: string, script: string): Promise<{ code: number; stdout: string }> => {
    const said = cloud.vm(cid, "vcap", "said");
    await rm(said, { force: true });
    await writeFile(cloud.vm(cid, "vcap", "attack.new"), `NODE=/run/slipway/node\n${script}`);
    await rename(cloud.vm(cid, "vcap", "attack.new"), cloud.vm(cid, "vcap", "attack"));
    await eventually("the end of a script", () => existsSync(said) || undefined);
    const found = JSON.parse(readFileSync(said, "utf8")) as { code: number; stdout: string };
    await rm(said, { force: true });
    return found;
  };
  const search = async (cid: string, what = places): Promise<readonly string[]> => {
    const { stdout } = await run(cid, searchOf(what).replaceAll("PORT", port));
    return stdout.trim() === "" ? [] : stdout.trim().split("\n");
  };

  it("show nothing of one team to the processes of the other", async () => {
    expect(await search(ofB)).toEqual([]);
  });

  it("hide the cloud's directory, with the files and disks of all VMs", async () => {
    const listed = await run(ofB, `find '${cloud.dir}/' -mindepth 1 2> /dev/null`);
    expect(listed.stdout).toBe("");
    expect((await run(ofB, `find '${cloud.vm(ofB)}' -mindepth 0`)).code).not.toBe(0);
  });

  it("show each planted value to the team's own processes: the search notices every one", async () => {
    expect(await search(ofA)).toEqual(Object.keys(places).map((place) => `found ${place}`));
  });

  it("are searched so that a value which both can read is noticed", async () => {
    await writeFile(join(shared, "leak"), `${CANARY}-leak`);
    expect(await search(ofB, { leak: `grep -rlas '${PATTERN}' '${shared}'` })).toEqual(["found leak"]);
  });
});
