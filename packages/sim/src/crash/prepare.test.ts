import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "@slipway/testkit/bundle";
import { passableDirectory } from "@slipway/testkit/temporary";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Lane } from "./lane.ts";
import { prepare } from "./prepare.ts";
import { ALL_SCENARIOS } from "./scenarios/table.ts";

describe("a rehearsal of a scenario", () => {
  let dir = "";
  let lane: Lane;
  let database: pg.Client;
  beforeAll(async () => {
    const program = (name: string) => bundle(fileURLToPath(new URL(`../bin/${name}.ts`, import.meta.url)));
    dir = await passableDirectory("rehearsals");
    const [file, starter] = [await program("crash-child"), await program("crash-child-start")];
    lane = await Lane.open(dir, { file, starter, code: join(dir, "code") });
    database = new pg.Client({ ...(lane.connection as pg.ClientConfig), application_name: "test" });
    await database.connect();
    await database.query("create schema planted; create sequence planted.losses");
  });
  afterAll(async () => {
    await database.end();
    await lane.close();
    await rm(dir, { recursive: true, force: true });
  });
  afterEach(() => database.query("drop trigger lose on intents; drop function lose"));

  /** The server ends the connection that records an intent, as when it is restarted: in first runs, this many times. */
  const loseConnections = (times: number) =>
    database.query(`
      alter sequence planted.losses restart;
      create function lose() returns trigger language plpgsql as $$ begin
        if exists (select from tasks where attempts = 1 and state = 'processing') and nextval('planted.losses') <= ${times} then
          raise exception 'terminating connection' using errcode = '57P01';
        end if;
        return new;
      end $$;
      create trigger lose before insert on intents for each row execute function lose()`);

  async function rehearsed(): Promise<{ readonly said: readonly string[]; readonly failed: unknown }> {
    const scenario = ALL_SCENARIOS.find(({ name }) => name === "upload a stemcell");
    if (scenario === undefined) throw new Error("bug: no such scenario");
    const said: string[] = [];
    const given = { paces: "two", say: (line: string) => said.push(line) } as const;
    const failed: unknown = await prepare(lane, scenario, given).then(
      () => undefined,
      (error: unknown) => error,
    );
    return { said, failed };
  }

  it("is repeated, and says why, when the machine broke off a run of its task", async () => {
    await loseConnections(1);
    const { said, failed } = await rehearsed();
    expect(failed).toBeUndefined();
    expect(said).toEqual([expect.stringMatching(/task \d+ took 2 runs .*the database was lost/)]);
  });

  it("fails when a run of its task is broken off every time", async () => {
    await loseConnections(1_000_000);
    const { said, failed } = await rehearsed();
    expect(String(failed)).toMatch(/nobody killed the Director, but task \d+ took 2 runs/);
    expect(said).toHaveLength(2);
  });
});
