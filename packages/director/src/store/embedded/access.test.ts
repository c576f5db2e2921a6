import { existsSync } from "node:fs";
import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { failure } from "../testing/failure.ts";
import { ensureData } from "./data.ts";
import { makeRoot, mustReach, places, socketDir } from "./places.ts";
import { withClient } from "./probe.ts";
import { serverPrograms } from "./programs.ts";
import { spawnAs } from "./run-as.ts";
import { ask, directory, later, opened, ROOT, stateDirectory } from "./testing/lab.ts";
import { serverUser, usersOf } from "./user.ts";

const asSuperuser = (host: unknown, database = "slipway") => ({
  host: String(host),
  port: 5432,
  user: "slipway",
  database,
});

/** A data directory as earlier versions made it, with a server that a killed Director has left running. */
async function earlierVersion(): Promise<{ readonly dir: string; readonly socket: string }> {
  const dir = await directory();
  const at = places(dir);
  await makeRoot(dir, ROOT);
  const users = ROOT ? usersOf(await readFile("/etc/passwd", "utf8")) : [];
  const user = serverUser({ self: process.getuid?.() ?? 1, users, data: undefined });
  await mustReach(at.root, user);
  const programs = await serverPrograms(at.root, user, undefined);
  await ensureData(at, programs, user, false);
  const socket = await socketDir(at, user);
  const args = ["-D", at.data, "-c", "listen_addresses=", "-c", `unix_socket_directories=${socket}`];
  const child = spawnAs(programs, user, programs.postgres, [...args, "-c", "fsync=off"], "pipe");
  later(async () => child.kill("SIGQUIT"));
  const trusted = asSuperuser(socket, "postgres");
  await expect
    .poll(() => withClient(trusted, (client) => client.query("select 1")).then(() => "up", String))
    .toBe("up");
  await withClient(trusted, (client) => client.query("create database slipway"));
  await withClient(asSuperuser(socket), (client) => client.query(EARLIER));
  return { dir, socket };
}

/** Objects of each kind that migrations make, and more. */
const EARLIER = `
create type mood as enum ('fine');
create domain small as integer check (value < 100);
create table kept (id bigint generated always as identity primary key, n small, how mood default 'fine');
create sequence counter;
create view seen as select n from kept;
create function twice(n integer) returns integer language sql as 'select 2 * n';
create schema apart;
create table apart.more as select 1 as n;
insert into kept (n) values (42)`;

it("runs no program of the host and reads no file of the server for the Director's role", async () => {
  const dir = await stateDirectory();
  const embedded = await opened(dir);
  const planted = join(dir, "planted");
  for (const attempt of [
    `copy (select 'x') to program 'cat > ${planted}'`,
    `copy (select 'x') to '${planted}'`,
    "select pg_read_file('pg_hba.conf')",
    "create function f() returns int language c as 'libc', 'getpid'",
    "alter role director superuser",
    "alter system set archive_command = 'true'",
    "set role slipway",
  ])
    expect(await failure(ask(embedded, attempt)), attempt).toMatchObject({ code: "42501" });
  expect(existsSync(planted)).toBe(false);
  expect(await ask(embedded, "select rolsuper from pg_roles where rolname = current_user")).toBe(false);
});

it("refuses connections without the password of the Director, and as the superuser", async () => {
  const dir = await stateDirectory();
  const { connection } = await opened(dir);
  const connect = (more: object) => failure(withClient({ ...connection, ...more }, async () => "let in"));
  expect(await connect({ password: "guessed" })).toMatchObject({ code: "28P01" });
  expect(await connect({ password: undefined })).toBeInstanceOf(Error);
  for (const user of ["slipway", "postgres", "root"])
    expect(await connect({ user }), user).toMatchObject({ code: "28000" });
  expect((await stat(join(dir, "database", "password"))).mode & 0o777).toBe(0o600);
});

it("takes the superuser from a state directory of an earlier version, and keeps everything in it", async () => {
  const { dir, socket } = await earlierVersion();
  const embedded = await opened(dir);
  expect(embedded.adopted).toBe(false);
  expect(await failure(withClient(asSuperuser(socket), async () => "let in"))).toMatchObject({
    code: "28000",
  });
  expect(await ask(embedded, "select n from kept")).toBe(42);
  expect(await ask(embedded, "insert into kept (n) values (twice(7)) returning id")).toBe("2");
  expect(await ask(embedded, "select nextval('counter')")).toBe("1");
  for (const change of [
    "alter table kept add column more text",
    "alter type mood add value 'better'",
    "drop view seen",
    "drop function twice",
    "drop table apart.more",
    "drop schema apart",
    "alter domain small drop not null",
    "create table another (n integer)",
  ])
    await ask(embedded, change);
});

it("sets the access up again after a start that was cut off, or without its password", async () => {
  const dir = await stateDirectory();
  const at = places(dir);
  for (const cutOff of [
    () => writeFile(join(at.data, "pg_hba.conf"), "local all all trust\n"),
    () => rm(at.password),
  ]) {
    await cutOff();
    const embedded = await opened(dir);
    expect(await ask(embedded, "select 1")).toBe(1);
    await embedded.close();
  }
  expect(await readFile(join(at.data, "pg_hba.conf"), "utf8")).not.toContain("trust");
});
