import { chmod, cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { errorText } from "@slipway/kernel/errors";
import { systemRandom } from "@slipway/kernel/random";
import { sealerOf } from "@slipway/kernel/sealer";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import { freshDatabase } from "@slipway/testkit/database";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import type pg from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { withClient } from "../store/embedded/probe.ts";
import { OtherKey, StateDirInUse } from "../store/errors.ts";
import { failure } from "../store/testing/failure.ts";
import { type Director, startDirector } from "./director.ts";

import { type Acceptable, acceptedIn, OtherCpi, OtherKeys, OtherName, UsersGone } from "./identity.ts";

const CPI = `#!/usr/bin/env node
process.stdin.resume().on("end", () => {
  process.stdout.write(JSON.stringify({ result: { api_version: 2, stemcell_formats: [] }, error: null, log: "" }));
});
`;
const USERS = [{ name: "operator", password: "CANARY-password" }];

let base: Awaited<ReturnType<typeof freshDatabase>>;
let dir: string;
let remove: () => Promise<void>;
let running: Director[];
beforeEach(async () => {
  base = await freshDatabase();
  // The store of the test has noted its own key.
  await inDatabase("delete from identities");
  ({ path: dir, remove } = await temporaryDirectory());
  for (const name of ["one", "other"]) {
    await mkdir(join(dir, name));
    await writeFile(join(dir, name, "cpi"), CPI);
    await chmod(join(dir, name, "cpi"), 0o755);
  }
  running = [];
});
afterEach(async () => {
  for (const director of running) await director.close();
  await base.close();
  await remove();
});

const inDatabase = (sql: string) =>
  withClient(base.connection as pg.ClientConfig, (client) => client.query(sql));
const url = () =>
  `postgresql://${base.connection.user}:${base.connection.password}@/${base.connection.database}?host=${encodeURIComponent(String(base.connection.host))}`;
const cpiAt = (name: string) => join(dir, name, "cpi");

interface Started {
  readonly state?: string;
  readonly config?: DirectorConfig;
  readonly accept?: readonly Acceptable[];
  readonly embedded?: string;
}

async function start({ state = "first", config = {}, accept, embedded }: Started = {}): Promise<Director> {
  const cpi = embedded === undefined ? { exec_path: cpiAt("one") } : {};
  const director = await startDirector({
    config: {
      cpi,
      health: { enabled: false },
      users: USERS,
      ...config,
      listen: { port: 0, plain_http: true },
      database: { url: url() },
    },
    stateDir: join(dir, state),
    version: "0.0.0",
    clock: systemClock,
    random: systemRandom,
    accept,
    embeddedCpi:
      embedded === undefined
        ? undefined
        : {
            name: embedded,
            open: () => {
              throw new Error("the CPI is not called");
            },
          },
    log: () => undefined,
  });
  running.push(director);
  return director;
}

async function stop(): Promise<void> {
  for (const director of running.splice(0)) await director.close();
}

const startAndStop = async (started?: Started): Promise<void> => {
  await start(started);
  await stop();
};

const ORPHAN = `insert into orphan_disks (cid, size, cloud_properties, cpi, deployment_name, instance_name)
  values ('disk-1', 9, '{}', '', 'shop', 'db/0')`;
const DEPLOYMENT =
  "insert into deployments (name, canonical, manifest_sealed) values ('shop', 'shop', '\"x\"')";
const VM = `${DEPLOYMENT};
  insert into instances (deployment_id, uuid, group_name, index, state) values (1, 'u1', 'web', 0, 'started');
  insert into vms (instance_id, cid, agent_id, cpi, created_at, stemcell_name, stemcell_version, stemcell_api_version,
    api_version, channel, env_sealed, cloud_properties, networks, disks, agent_url)
    values (1, 'vm-1', 'agent-1', '', now(), 's', '1', 2, 2, 'user-data', '{}', '{}', '{}', '{}', 'https://127.0.0.1')`;

describe("a database that a Director with other keys has written", () => {
  it("is refused while the first Director runs, and opens with a copy of the first one's keys", async () => {
    await start();
    expect(await failure(start({ state: "second" }))).toSatisfy(OtherKey.is);
    for (const name of ["secrets.key", "agent-secret", "pki"])
      await cp(join(dir, "first", name), join(dir, "second", name), { recursive: true });
    await start({ state: "second" });
  });

  it("is refused and left alone if an earlier version wrote it and noted no key", async () => {
    await startAndStop();
    const key = (await readFile(join(dir, "first", "secrets.key"), "utf8")).trim();
    const sealed = sealerOf(Buffer.from(key, "hex"), systemRandom).seal(JSON.stringify("cpis: []"));
    await inDatabase(
      `insert into configs (type, name, content_sealed) values ('cloud', 'default', '${sealed}')`,
    );
    await inDatabase("delete from identities");
    expect(await failure(start({ state: "second" }))).toSatisfy(OtherKey.is);
    expect((await inDatabase("select 1 from identities")).rowCount).toBe(0);
    await startAndStop();
    expect((await inDatabase("select 1 from identities where name = 'secrets.key'")).rowCount).toBe(1);
  });

  it("is refused if its VMs were made with another authority or agent secret, until that is accepted", async () => {
    await startAndStop();
    await inDatabase(VM);
    for (const file of ["agent-secret", "pki/authority.pem"]) {
      await rm(join(dir, "first", file));
      const error = await failure(start());
      expect(OtherKeys.paramsOf(error)).toEqual({ file });
      await startAndStop({ accept: ["keys"] });
      await startAndStop();
    }
  });
});

describe("a Director with another CPI than the one its records belong to", () => {
  const other = { config: { cpi: { exec_path: "" } } };
  beforeEach(() => {
    other.config.cpi.exec_path = cpiAt("other");
  });

  it("is refused by name once there is an orphaned disk, and starts when the change is accepted", async () => {
    await startAndStop();
    await inDatabase(ORPHAN);
    const error = await failure(start(other));
    expect(OtherCpi.paramsOf(error)).toEqual({ was: cpiAt("one"), now: cpiAt("other") });
    expect(errorText(error as Error)).toContain("--accept cpi");
    await startAndStop({ ...other, accept: ["cpi"] });
    await startAndStop(other);
    expect(await failure(start())).toSatisfy(OtherCpi.is);
  });

  it("is refused if the executable of a configuration gave way to the CPI in the process", async () => {
    await startAndStop();
    await inDatabase(ORPHAN);
    expect(OtherCpi.paramsOf(await failure(start({ embedded: "local" })))).toEqual({
      was: cpiAt("one"),
      now: "local, in the Director's process",
    });
  });

  it("starts while nothing is recorded, and then belongs to the new CPI", async () => {
    await startAndStop();
    await startAndStop(other);
    await inDatabase(ORPHAN);
    await startAndStop(other);
    expect(await failure(start())).toSatisfy(OtherCpi.is);
  });

  it("starts if both configurations give the CPI the same name", async () => {
    await startAndStop({ config: { cpi: { exec_path: cpiAt("one"), name: "aws" } } });
    await inDatabase(ORPHAN);
    await startAndStop({ config: { cpi: { exec_path: cpiAt("other"), name: "aws" } } });
    const renamed = { config: { cpi: { exec_path: cpiAt("other"), name: "vsphere" } } };
    expect(await failure(start(renamed))).toSatisfy(OtherCpi.is);
  });
});

describe("a Director whose configuration was forgotten", () => {
  it("does not open its API to the generated user, neither at a start nor by a reload", async () => {
    const director = await start();
    expect(await failure(director.reload({}))).toSatisfy(UsersGone.is);
    await stop();
    const forgotten = { config: { users: [] } };
    expect(await failure(start(forgotten))).toSatisfy(UsersGone.is);
    await startAndStop({ ...forgotten, accept: ["users"] });
    await startAndStop(forgotten);
  });

  it("is refused under another name once it has deployments, because variables belong to the name", async () => {
    await startAndStop({ config: { name: "lab" } });
    await startAndStop({ config: { name: "field" } });
    await inDatabase(DEPLOYMENT);
    expect(OtherName.paramsOf(await failure(start()))).toEqual({ was: "field", now: "slipway" });
    await startAndStop({ accept: ["name"] });
  });
});

it("refuses a second Director on a state directory also with a database of the configuration", async () => {
  await start();
  expect(await failure(start())).toSatisfy(StateDirInUse.is);
});

it("reads what --accept takes, and refuses other words", () => {
  expect(acceptedIn("cpi, users")).toEqual(["cpi", "users"]);
  expect(acceptedIn(undefined)).toEqual([]);
  expect(() => acceptedIn("everything")).toThrow("--accept takes a list of cpi, keys, users, name");
});
